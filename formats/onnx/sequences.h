// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors whose content is known at import: lists of values that are resolved during import. Optionals
// too, as far as they are plain tensors.
#ifndef HALFTONE_FORMATS_ONNX_SEQUENCES_H_
#define HALFTONE_FORMATS_ONNX_SEQUENCES_H_

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/editor.h"
#include "ir/shape_values.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// PyTorch writes `x.chunk(3)` and lists of tensors as SplitToSequence, SequenceConstruct, SequenceAt and so on. Where
// positions and lengths are known, what is read from a sequence is one of its tensors. One object per graph.
class Sequences {
 public:
  using Values = std::unordered_map<std::string, ValueId>;

  // `edit` and `known` must outlive it.
  Sequences(GraphEditor& edit, ShapeValues& known) : edit_(edit), known_(known) {}

  struct Step {
    bool done = false;         // the node made a sequence, which is known now
    std::optional<Node> node;  // the node reads a sequence: this is what it means. Neither: import it as any other
  };
  // One node of ONNX's domain. Errors: INVALID_ARGUMENT for a position outside the sequence.
  absl::StatusOr<Step> Import(const onnx::NodeProto& proto, const Values& values);

  // To be called where the sequence `name` itself is read (by an unknown node, a subgraph or the model's caller): it
  // becomes an opaque node and an entry of `values`. Does nothing where `name` is no sequence or has an entry.
  void Materialize(const std::string& name, Values& values);

 private:
  struct List {
    std::vector<ValueId> elements;
    std::optional<int64_t> dtype;  // of SequenceEmpty
  };
  absl::StatusOr<Step> OfOptional(const onnx::NodeProto& proto, const Values& values);
  absl::StatusOr<Step> Insert(const onnx::NodeProto& proto, const Values& values);
  absl::StatusOr<Step> Erase(const onnx::NodeProto& proto, const Values& values);
  absl::StatusOr<Step> At(const onnx::NodeProto& proto, const Values& values);
  absl::StatusOr<Step> Concat(const onnx::NodeProto& proto);
  absl::StatusOr<Step> Split(const onnx::NodeProto& proto, const Values& values);

  const List* Find(const onnx::NodeProto& proto) const;  // the first input
  std::optional<int64_t> Position(const onnx::NodeProto& proto, int input, const Values& values, int64_t otherwise);
  Step Make(const onnx::NodeProto& proto, List list);
  std::vector<ValueId> AddInferred(Node node, int outputs);

  GraphEditor& edit_;
  ShapeValues& known_;
  std::map<std::string, List> lists_;
  int64_t budget_ = 1'000'000;  // elements of all lists: a file can say n lists of n elements in n nodes
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_SEQUENCES_H_
