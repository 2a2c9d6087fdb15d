// SPDX-License-Identifier: Apache-2.0
// Checks nodes that are written against ONNX's registry of operators: a file that names an operator which its opset
// does not have, or gives it inputs, attributes or types that it does not take, is refused by every runtime.
#ifndef HALFTONE_FORMATS_ONNX_WRITTEN_NODES_H_
#define HALFTONE_FORMATS_ONNX_WRITTEN_NODES_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "ir/types.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// The element types of the values of one graph by their names; those of the graphs around it are seen, too.
class WrittenTypes {
 public:
  // `outer`: of the graph around a nested one, which must outlive this; nullptr for the outermost.
  explicit WrittenTypes(const WrittenTypes* outer) : outer_(outer) {}

  // A type that is not known, or that ONNX does not have, is not remembered.
  void Set(const std::string& name, DataType type);
  void Set(const std::string& name, onnx::DataType type) { types_[name] = type; }
  // nullptr: not known.
  onnx::DataType Find(const std::string& name) const;

 private:
  const WrittenTypes* const outer_;
  std::unordered_map<std::string, onnx::DataType> types_;
};

// A node that the exporter has written itself, after those whose outputs it reads: what is not known of the types of
// its outputs is added to `types`. INTERNAL says what does not hold. Of com.microsoft's operators, which ONNX's
// registry does not have, names and numbers of inputs are compared with the rows of op_map.h; other domains are not
// looked at.
absl::Status CheckWrittenNode(const onnx::NodeProto& node, int opset, WrittenTypes& types);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_WRITTEN_NODES_H_
