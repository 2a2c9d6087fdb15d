// SPDX-License-Identifier: Apache-2.0
// com.microsoft.DynamicQuantizeLSTM as an lstm: X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?, and scale and
// zero point of W and of R, which are [directions, input or hidden, 4 hidden], so transposed.
//
// The range that x is rounded with is computed in each run. ONNX Runtime also rounds the hidden state in each step.
// This is not done here, so that the outputs are nearer to those of the stored weights.
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/onnx/import_rules.h"
#include "formats/onnx/quantize_rules.h"
#include "ir/editor.h"
#include "ir/tensor.h"

namespace halftone::onnx_format {
namespace {

constexpr size_t kX = 0, kW = 1, kR = 2, kFirstOption = 3, kWScale = 8, kRScale = 10;

const Tensor* Constant(const NodeInFile& node, size_t i) {
  return node.HasInput(i) ? node.graph.ConstantTensor(node.inputs[i]) : nullptr;
}

// [1, n] as [n]: scales along an axis have rank 1.
ValueId AlongChannels(const NodeInFile& node, GraphEditor& edit, size_t i) {
  const Tensor& tensor = *Constant(node, i);
  return tensor.rank() == 2 ? edit.AddConstant("", tensor.WithDims({tensor.num_elements()})) : node.inputs[i];
}

// One float matrix per direction, in the gate order of lstm. Its scale is input `scale`, the zero point the next one.
absl::StatusOr<ValueId> Numbers(const NodeInFile& node, GraphEditor& edit, size_t weights, size_t scale) {
  std::vector<ValueId> inputs = {node.inputs[weights], AlongChannels(node, edit, scale)};
  if (node.HasInput(scale + 1)) inputs.push_back(AlongChannels(node, edit, scale + 1));
  Attributes attributes;
  const Tensor& scales = *Constant(node, scale);
  if (scales.num_elements() != 1) attributes.Set("axis", static_cast<int64_t>(scales.rank() == 2 ? 2 : 0));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId numbers,
                            AddBefore(edit, OpKind::kDequantizeLinear, std::move(inputs), std::move(attributes)));
  const std::vector<int64_t> order = {0, 2, 1};
  const ValueId perm = edit.AddConstant("", Tensor::Ints(order, DataType::kInt64));
  return AddBefore(edit, OpKind::kTranspose, {numbers, perm}, {});
}

}  // namespace

std::string_view DynamicLstmIsOpaque(const NodeInFile& node) {
  for (const size_t i : {kX, kW, kR, kWScale, kRScale}) {
    if (!node.HasInput(i)) return "one of X, W, R and their scales is missing";
  }
  for (const size_t i : {kWScale, kRScale}) {
    const Tensor* scale = Constant(node, i);
    if (scale == nullptr || scale->type() != DataType::kFloat32 || scale->rank() < 1 || scale->rank() > 2) {
      return "its scales are no constants of f32 and rank 1 or 2";
    }
    if (scale->rank() == 2 && scale->dims()[0] != 1) return "a scale for each channel of two directions";
    const Tensor* zero = Constant(node, i + 1);
    if (node.HasInput(i + 1) && (zero == nullptr || zero->dims() != scale->dims())) {
      return "its zero points are no constants like the scales";
    }
  }
  return "";
}

absl::Status FinishDynamicLstm(const NodeInFile& node, GraphEditor& edit, Node& canonical) {
  const NodeId rounded = AddDynamicQuantize(edit, node.inputs[kX]);
  const Graph& graph = edit.graph();
  HALFTONE_ASSIGN_OR_RETURN(
      const ValueId x, AddBefore(edit, OpKind::kDequantizeLinear,
                                 {graph.output(rounded, 0), graph.output(rounded, 1), graph.output(rounded, 2)}, {}));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId w, Numbers(node, edit, kW, kWScale));
  HALFTONE_ASSIGN_OR_RETURN(const ValueId r, Numbers(node, edit, kR, kRScale));
  canonical.op = OpKind::kLstm;
  canonical.spelling.clear();
  canonical.domain.clear();
  canonical.inputs = {x, w, r};
  for (size_t i = kFirstOption; i < kWScale; ++i) {
    canonical.inputs.push_back(node.HasInput(i) ? node.inputs[i] : kNoValue);
  }
  while (!canonical.inputs.back().valid()) canonical.inputs.pop_back();
  return absl::OkStatus();
}

}  // namespace halftone::onnx_format
