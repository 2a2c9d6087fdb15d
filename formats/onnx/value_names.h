// SPDX-License-Identifier: Apache-2.0
// Names of values in an exported graph: every value has one, no two share one, outputs and captured values have theirs.
#ifndef HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_
#define HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone::onnx_format {

class ValueNames;

// Names outside the graph and inside its nodes.
struct NameScope {
  std::set<std::string> reserved;        // names inside subgraphs: no value of the graph may take one
  const ValueNames* outer = nullptr;     // of the graph around a nested one, which must outlive the names: none inside
                                         // may be one of these
  std::map<ValueId, std::string> fixed;  // nested graphs: values of an outer scope, read by these names
};

class ValueNames {
 public:
  // Errors: INVALID_ARGUMENT where two values need one name.
  static absl::StatusOr<ValueNames> Assign(const Graph& graph, NameScope scope);

  const std::string& of(ValueId value) const { return names_[value.index]; }
  // Whether the value is one of an outer scope.
  bool IsOuter(ValueId value) const { return outer_values_.contains(value); }
  // The name of output i of the graph.
  const std::string& output(size_t i) const { return outputs_[i]; }

  // A value that is known by more than one name (two outputs, an input that is an output): further names, each to be
  // made by an Identity.
  const std::vector<std::string>& aliases(ValueId value) const { return aliases_[value.index]; }

  // A new name that begins like `base`.
  std::string Fresh(std::string_view base);

 private:
  class Assignment;
  bool IsTaken(const std::string& name) const;

  const ValueNames* outer_ = nullptr;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> aliases_;
  std::vector<std::string> outputs_;
  std::set<ValueId> outer_values_;
  std::set<std::string> reserved_;
  std::set<std::string> given_;
  std::shared_ptr<std::set<std::string>> fresh_;  // by all graphs of the model
  std::map<std::string, int> next_;
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VALUE_NAMES_H_
