// SPDX-License-Identifier: Apache-2.0
// The nodes that take the place of one fused node when it is split for export.
#ifndef HALFTONE_PASSES_EXPORT_PARTS_H_
#define HALFTONE_PASSES_EXPORT_PARTS_H_

#include <string_view>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"
#include "passes/fusion/activation.h"

namespace halftone {

// Writes parts one after the other. They are called NAME/op after the fused node and have its device and origin; the
// editor must outlive this.
class Parts {
 public:
  Parts(GraphEditor& edit, NodeId whole) : edit_(edit), whole_(whole) {}

  // NAME/word.
  ValueId Constant(std::string_view word, Tensor tensor);
  // One number, in a floating type.
  ValueId Number(std::string_view word, double number, DataType type);
  // NAME/op; the result has type and shape of `like`, which may be unknown.
  ValueId Apply(OpKind op, std::vector<ValueId> inputs, ValueSpec like, Attributes attributes = {});
  // `node` of several outputs; gets its name, device and origin.
  NodeId AddNode(Node node, std::vector<ValueSpec> outputs);
  // Applies the activation that is fused into the whole to x; x itself where there is none.
  ValueId Activate(ValueId x);
  // `y`, a part, takes the place of the whole, its name included.
  void Finish(ValueId y) { edit_.ReplaceNode(whole_, edit_.graph().producer(y)); }

 private:
  GraphEditor& edit_;
  const NodeId whole_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_PARTS_H_
