// What Intel's extension for TensorFlow makes, and its kernels on CPUs run.

#include "ir/dialect.h"

namespace halftone {

const DialectTable& ItexDialect() {
  static constexpr DialectTable kTable = {[](const Graph&, NodeId) -> std::string_view { return ""; }, {}};
  return kTable;
}

}  // namespace halftone
