// SPDX-License-Identifier: Apache-2.0
// Reads one NodeDef along the rows of its op. Inside this folder only: node_import.h is the interface.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NODE_READER_H_
#define HALFTONE_FORMATS_TENSORFLOW_NODE_READER_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/op_map.h"

namespace halftone::graphdef {

// Functions that give StatusOr<bool> return false where the node is legal but the row does not cover all of it.
class NodeReader {
 public:
  NodeReader(const tf::NodeDef& def, const NodeContext& context, int64_t& repeat_budget)
      : def_(def), context_(context), repeat_budget_(repeat_budget) {}

  absl::StatusOr<ConvertedNode> Read();

 private:
  template <typename... Args>
  static absl::Status Bad(const Args&... args) {
    return absl::InvalidArgumentError(Concat(args...));
  }

  const tf::AttrValue* Find(std::string_view name) const {
    const auto it = attrs_.find(name);
    return it == attrs_.end() ? nullptr : it->second;
  }

  // The attribute, which must be of this kind; nullptr if it is absent and need not be there.
  absl::StatusOr<const tf::AttrValue*> Expect(std::string_view name, bool required, tf::AttrValue::ValueCase kind,
                                              std::string_view kind_name);
  absl::StatusOr<std::vector<PortType>> Expand(std::string_view signature);
  // The types of these ports.
  std::vector<DataType> TypesOf(const std::vector<PortType>& ports) const;
  DataType TypeOf(const PortType& port) const;

  // Along `row_`.
  absl::StatusOr<bool> ReadCanonical();
  absl::StatusOr<bool> ReadTypes();
  absl::StatusOr<bool> ReadPorts();
  void KeepExtra();
  // read_attrs.cc: one function a form.
  absl::StatusOr<bool> ReadAttr(const AttrRow& row);
  absl::StatusOr<bool> ReadNumber(const AttrRow& row);
  absl::StatusOr<bool> ReadString(const AttrRow& row);
  absl::StatusOr<bool> ReadLayout(const AttrRow& row);
  absl::StatusOr<bool> ReadSpatial(const AttrRow& row);
  absl::StatusOr<bool> ReadPadding(const AttrRow& row);
  absl::StatusOr<bool> ReadExplicitPads(const AttrRow& row);
  absl::StatusOr<bool> ReadMirrorMode(const AttrRow& row);
  absl::StatusOr<bool> ReadSqueezeDims(const AttrRow& row);
  absl::StatusOr<bool> ReadTensor(const AttrRow& row);
  absl::StatusOr<bool> ReadQuantizedTensor(const AttrRow& row, const tf::TensorProto& proto);
  absl::StatusOr<bool> ReadOutputShape(const AttrRow& row);
  absl::StatusOr<bool> ReadMustBe(const AttrRow& row);

  absl::Status ReadOpaque();

  const tf::NodeDef& def_;
  const NodeContext& context_;
  int64_t& repeat_budget_;
  const OpRow* row_ = nullptr;
  AttrMap attrs_;
  std::set<std::string_view> used_;  // attributes that do not go into extra
  std::vector<std::string> absent_, quantized_;
  std::vector<PortType> inputs_;  // of the NodeDef
  ConvertedNode result_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_NODE_READER_H_
