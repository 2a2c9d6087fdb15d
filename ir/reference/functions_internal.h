// SPDX-License-Identifier: Apache-2.0
// The arguments of a reference function, and the list of all functions. function_table.cc has the table.
#ifndef HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_
#define HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone::reference {

// One node and its input tensors. Required inputs are present; all have elements of a fixed size.
struct Call {
  const Graph& graph;
  const Node& node;
  const std::vector<Tensor>& inputs;
  const std::vector<DataType>& types;  // of the outputs; kUnknown: this output is absent

  const Attributes& attributes() const { return node.attributes; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].type() != DataType::kUnknown; }
  const Tensor& in(size_t i) const { return inputs[i]; }  // REQUIRES: has(i)
  bool wants(size_t i) const { return i < types.size() && types[i] != DataType::kUnknown; }
  DataType type() const { return types[0]; }
};

// All requested outputs; missing or kUnknown ones are absent. Errors do not name the node.
using Outputs = absl::StatusOr<std::vector<Tensor>>;
using Function = Outputs (*)(const Call&);

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

// An operand of a contraction as it is multiplied: rounded to bf16 if its math_mode is bf16. contraction.cc
absl::StatusOr<Tensor> OperandOf(const Call& call, int index);

// contraction.cc, convolution.cc
Outputs Conv(const Call& call);
Outputs MatMul(const Call& call);
Outputs Gemm(const Call& call);
// unary.cc
Outputs Unary(const Call& call);  // reads the op from the node
Outputs Clip(const Call& call);
Outputs FillLike(const Call& call);
// binary.cc
Outputs Binary(const Call& call);  // reads the op from the node
Outputs BiasAdd(const Call& call);
// many.cc
Outputs Variadic(const Call& call);  // add_n, max_n, ..: reads the op from the node
Outputs Where(const Call& call);
// binary_chain.cc
Outputs BinaryChain(const Call& call);
// quantize.cc
Outputs QuantizeLinear(const Call& call);
Outputs DequantizeLinear(const Call& call);
Outputs DynamicQuantizeLinear(const Call& call);
Outputs FakeQuant(const Call& call);
Outputs DequantizeRange(const Call& call);
Outputs ConvInteger(const Call& call);
Outputs MatMulInteger(const Call& call);
Outputs MatMulIntegerToFloat(const Call& call);
// loss.cc
Outputs NegativeLogLikelihood(const Call& call);
Outputs SoftmaxCrossEntropy(const Call& call);
Outputs L2Loss(const Call& call);
// normalize.cc
Outputs Softmax(const Call& call);
Outputs BatchNorm(const Call& call);
// pool.cc
Outputs MaxPool(const Call& call);
Outputs AveragePool(const Call& call);
Outputs LpPool(const Call& call);
Outputs GlobalPool(const Call& call);  // global_average_pool, global_max_pool, global_lp_pool
Outputs MaxUnpool(const Call& call);
// reduce.cc
Outputs Reduce(const Call& call);  // reads the op from the node
// reshape.cc
Outputs Constant(const Call& call);
Outputs Identity(const Call& call);
Outputs Dropout(const Call& call);
Outputs Reshape(const Call& call);
Outputs Flatten(const Call& call);
Outputs Squeeze(const Call& call);
Outputs Unsqueeze(const Call& call);
Outputs ShapeOf(const Call& call);
Outputs Cast(const Call& call);
// move.cc
Outputs Transpose(const Call& call);
Outputs ConcatAlong(const Call& call);
Outputs Pad(const Call& call);
Outputs Slice(const Call& call);
Outputs DepthToSpace(const Call& call);
// gather.cc
Outputs Gather(const Call& call);
Outputs GatherElements(const Call& call);
Outputs GatherNd(const Call& call);
// scatter.cc
Outputs ScatterElements(const Call& call);
Outputs ScatterNd(const Call& call);
Outputs ScatterNdNew(const Call& call);
// accumulate.cc
Outputs ArgMaxMin(const Call& call);  // reads the op from the node
Outputs Cumulate(const Call& call);   // reads the op from the node
Outputs TopK(const Call& call);
// select.cc
Outputs NonZero(const Call& call);
Outputs Unique(const Call& call);
Outputs Compress(const Call& call);
// repeat.cc
Outputs Expand(const Call& call);
Outputs Tile(const Call& call);
Outputs Split(const Call& call);
Outputs Stack(const Call& call);
Outputs Unstack(const Call& call);
Outputs Reverse(const Call& call);
Outputs ReverseSequence(const Call& call);
// fill.cc
Outputs OneHot(const Call& call);
Outputs Trilu(const Call& call);
Outputs MatrixBandPart(const Call& call);
Outputs EyeLike(const Call& call);
Outputs Range(const Call& call);
Outputs LinSpace(const Call& call);
Outputs Fill(const Call& call);
Outputs SizeOf(const Call& call);
Outputs RankOf(const Call& call);
Outputs InvertPermutation(const Call& call);
// blocks.cc
Outputs StridedSlice(const Call& call);
Outputs SpaceToBatch(const Call& call);
Outputs BatchToSpace(const Call& call);
Outputs CenterCropPad(const Call& call);
Outputs DynamicStitch(const Call& call);
Outputs DynamicPartition(const Call& call);
// resize.cc
Outputs Resize(const Call& call);
// layer_norms.cc
Outputs LayerNorm(const Call& call);    // rms_norm, too
Outputs ChannelNorm(const Call& call);  // instance_norm, group_norm
Outputs LpNorm(const Call& call);
Outputs Lrn(const Call& call);
Outputs MeanVarianceNorm(const Call& call);
// transposed_convolution.cc
Outputs ConvTranspose(const Call& call);
Outputs Col2Im(const Call& call);
// deformed_convolution.cc
Outputs DeformConv(const Call& call);
// space_to_depth.cc
Outputs SpaceToDepth(const Call& call);
// grid.cc
Outputs GridSample(const Call& call);
Outputs AffineGrid(const Call& call);
// regions.cc
Outputs RoiAlign(const Call& call);
Outputs MaxRoiPool(const Call& call);
Outputs CropAndResize(const Call& call);
// non_max_suppression.cc
Outputs NonMaxSuppression(const Call& call);
// recurrent.cc
Outputs Recurrent(const Call& call);  // reads the op from the node
// einsum.cc
Outputs Einsum(const Call& call);
Outputs Det(const Call& call);
// attention.cc
Outputs Attention(const Call& call);
Outputs SkipLayerNorm(const Call& call);
// scaled_attention.cc
Outputs ScaledDotProductAttention(const Call& call);
// signal.cc
Outputs Dft(const Call& call);
Outputs Stft(const Call& call);
Outputs WindowFunction(const Call& call);
Outputs MelWeightMatrix(const Call& call);
// random.cc
Outputs RandomUniform(const Call& call);
Outputs RandomNormal(const Call& call);

}  // namespace halftone::reference

#endif  // HALFTONE_IR_REFERENCE_FUNCTIONS_INTERNAL_H_
