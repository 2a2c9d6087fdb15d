// Names of values in an exported graph: every value has one, no two share one, outputs and captured values have theirs.
#ifndef HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_
#define HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

class ValueNames {
 public:
  // `reserved`: names inside subgraphs. Errors: INVALID_ARGUMENT where two values need one name.
  static absl::StatusOr<ValueNames> Assign(const Graph& graph, std::set<std::string> reserved);

  const std::string& of(ValueId value) const { return names_[value.index]; }

  // A value that is known by more than one name (two outputs, an input that is an output): further names, each to be
  // made by an Identity.
  const std::vector<std::string>& aliases(ValueId value) const { return aliases_[value.index]; }

  // A new name that begins like `base`.
  std::string Fresh(std::string_view base);

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> aliases_;
  std::set<std::string> taken_;
  std::map<std::string, int> next_;
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_
