// SPDX-License-Identifier: Apache-2.0
// What a shape rule sees, and the list of rules. The rows of ops.cc name them.
#ifndef HALFTONE_IR_SHAPE_RULES_INTERNAL_H_
#define HALFTONE_IR_SHAPE_RULES_INTERNAL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "ir/graph.h"
#include "ir/shape_values.h"

namespace halftone::shape_rules {

// One node, read-only.
class Context {
 public:
  Context(const Graph& graph, NodeId id, ShapeValues& values) : graph_(graph), node_(graph.node(id)), values_(values) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  int num_inputs() const { return static_cast<int>(node_.inputs.size()); }
  ValueId input(int i) const { return i < num_inputs() ? node_.inputs[i] : kNoValue; }
  bool has(int i) const { return input(i).valid(); }
  // Of unknown rank where the input is absent.
  const Shape& shape(int i) const;
  // The shape that output i has by now.
  Shape declared(int i) const;

  // Elements of an input, as far as they are known: see ShapeValues.
  const KnownTensor* known(int i) const { return values_.Find(input(i)); }
  std::optional<std::vector<int64_t>> ints(int i) const {
    if (has(i) && shape(i).num_elements() == 0) return std::vector<int64_t>{};
    return values_.Ints(input(i));
  }

 private:
  const Graph& graph_;
  const Node& node_;
  ShapeValues& values_;
};

// The outputs' shapes, fewer where nothing is known of the rest. Errors have no node's name: the caller adds it.
using Shapes = absl::StatusOr<std::vector<Shape>>;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(halftone::Concat(parts...));
}

// `axis` counted from the end if negative. Error: out of [-rank, rank).
absl::StatusOr<int> Axis(int64_t axis, int rank);
// Each of `axes` once: marks of length rank. Error: out of range or twice.
absl::StatusOr<std::vector<bool>> AxisMarks(const std::vector<int64_t>& axes, int rank);
// The shape that both say; an error if they contradict each other. Numbers beat symbols, `preferred`'s symbol beats the
// other.
absl::StatusOr<Shape> Merge(const Shape& preferred, const Shape& other);
// OK unless it is known that `small` does not broadcast to `large`, whose shape would grow otherwise. `name` is small's.
absl::Status CheckBroadcastsTo(std::string_view name, const Shape& small, const Shape& large);
// Product of dimensions: a number, the symbol of the only unknown one where the others make 1, or unknown.
Dim Product(const std::vector<Dim>& dims);
// Pads and the like beyond this bound are refused, so that sums stay within int64.
inline constexpr int64_t kMaxDim = int64_t{1} << 48;

// shape_rules_contraction.cc
Shapes Conv(const Context& c);
Shapes MatMul(const Context& c);
Shapes Gemm(const Context& c);
Shapes ScaledDotProductAttention(const Context& c);
// shape_rules_elementwise.cc
Shapes AsDeclared(const Context& c);  // inputs, opaque and structural nodes
Shapes Nothing(const Context& c);     // no outputs
Shapes SameAsFirst(const Context& c);
Shapes Constant(const Context& c);
Shapes Dropout(const Context& c);
Shapes Binary(const Context& c);
Shapes BroadcastAll(const Context& c);
Shapes BinaryChain(const Context& c);
Shapes ScalarOut(const Context& c);
Shapes PRelu(const Context& c);
Shapes BiasAdd(const Context& c);
Shapes Softmax(const Context& c);
Shapes BatchNorm(const Context& c);
// shape_rules_pool.cc
Shapes Pool(const Context& c);
Shapes GlobalPool(const Context& c);
Shapes Reduce(const Context& c);
Shapes Resize(const Context& c);
// shape_rules_reshape.cc
Shapes Reshape(const Context& c);
Shapes Flatten(const Context& c);
Shapes Transpose(const Context& c);
Shapes Squeeze(const Context& c);
Shapes Unsqueeze(const Context& c);
Shapes DepthToSpace(const Context& c);
// shape_rules_move.cc
Shapes Concat(const Context& c);
Shapes Pad(const Context& c);
Shapes Slice(const Context& c);
Shapes ShapeOf(const Context& c);
// shape_rules_index.cc
Shapes Gather(const Context& c);
Shapes GatherElements(const Context& c);
Shapes GatherNd(const Context& c);
Shapes ScatterElements(const Context& c);
Shapes ScatterNd(const Context& c);
Shapes ScatterNdNew(const Context& c);
Shapes Fill(const Context& c);
Shapes OneHot(const Context& c);
Shapes ArgMaxMin(const Context& c);
Shapes TopK(const Context& c);
Shapes NonZero(const Context& c);
Shapes Unique(const Context& c);
Shapes Compress(const Context& c);
Shapes AlongAxis(const Context& c);   // cum_sum, cum_prod
Shapes OfMatrices(const Context& c);  // trilu, matrix_band_part, eye_like
Shapes SizeOrRank(const Context& c);
// shape_rules_repeat.cc
Shapes Expand(const Context& c);
Shapes Tile(const Context& c);
Shapes Split(const Context& c);
Shapes Stack(const Context& c);
Shapes Unstack(const Context& c);
Shapes StridedSlice(const Context& c);
Shapes Range(const Context& c);
Shapes LinSpace(const Context& c);
Shapes Reverse(const Context& c);
Shapes ReverseSequence(const Context& c);
Shapes SpaceBatch(const Context& c);  // space_to_batch, batch_to_space
Shapes CenterCropPad(const Context& c);
Shapes DynamicStitch(const Context& c);
Shapes DynamicPartition(const Context& c);
// shape_rules_nn.cc
Shapes ConvTranspose(const Context& c);
Shapes DeformConv(const Context& c);
Shapes Col2Im(const Context& c);
Shapes MaxUnpool(const Context& c);
Shapes LayerNorm(const Context& c);  // rms_norm, too
Shapes ChannelNorm(const Context& c);  // instance_norm, group_norm
Shapes LpNorm(const Context& c);
Shapes Lrn(const Context& c);
Shapes MeanVarianceNorm(const Context& c);
// shape_rules_image.cc
Shapes SpaceToDepth(const Context& c);
Shapes GridSample(const Context& c);
Shapes AffineGrid(const Context& c);
Shapes RoiAlign(const Context& c);
Shapes MaxRoiPool(const Context& c);
Shapes CropAndResize(const Context& c);
Shapes NonMaxSuppression(const Context& c);
// shape_rules_recurrent.cc
Shapes Recurrent(const Context& c);
Shapes Einsum(const Context& c);
Shapes Det(const Context& c);
Shapes Attention(const Context& c);
Shapes SkipLayerNorm(const Context& c);
// shape_rules_signal.cc
Shapes Dft(const Context& c);
Shapes Stft(const Context& c);
Shapes WindowShape(const Context& c);
Shapes MelWeightMatrix(const Context& c);
Shapes Random(const Context& c);

// shape_rules_quantize.cc
Shapes Quantize(const Context& c);  // to integers and back
Shapes DynamicQuantize(const Context& c);
Shapes Loss(const Context& c);

}  // namespace halftone::shape_rules

#endif  // HALFTONE_IR_SHAPE_RULES_INTERNAL_H_
