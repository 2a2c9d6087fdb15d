// What ONNX Runtime says as one node: operators of the domain com.microsoft.

#include "ir/dialect.h"

namespace halftone {

const DialectTable& OnnxRuntimeDialect() {
  static constexpr DialectTable kTable = {[](const Graph&, NodeId) -> std::string_view { return ""; }, {}};
  return kTable;
}

}  // namespace halftone
