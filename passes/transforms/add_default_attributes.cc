// SPDX-License-Identifier: Apache-2.0
// Writes out absent attributes with their default values.
//
// The scalars and strings of kDefaults; lists whose length depends on the rank (strides, pads, ..) stay absent.
// Attributes that the file omits but its exporter usually writes are written as well. Exact.

#include <string_view>

#include "passes/transforms/passes.h"

namespace halftone {
namespace {

using enum OpKind;

struct Default {
  OpKind op;
  std::string_view attribute;
  enum { kFloat, kInt, kBool, kString } form;
  double number = 0;
  std::string_view text = {};
};

constexpr Default kDefaults[] = {
    {kAveragePool, "count_include_pad", Default::kBool, 0},
    {kAveragePool, "layout", Default::kString, 0, "NCHW"},
    {kBatchNorm, "epsilon", Default::kFloat, 1e-5},
    {kBatchNorm, "is_training", Default::kBool, 0},
    {kBatchNorm, "layout", Default::kString, 0, "NCHW"},
    {kBiasAdd, "layout", Default::kString, 0, "NCHW"},
    {kCelu, "alpha", Default::kFloat, 1},
    {kConv, "group", Default::kInt, 1},
    {kConv, "layout", Default::kString, 0, "NCHW"},
    {kConvTranspose, "group", Default::kInt, 1},
    {kConvTranspose, "layout", Default::kString, 0, "NCHW"},
    {kDepthToSpace, "mode", Default::kString, 0, "DCR"},
    {kElu, "alpha", Default::kFloat, 1},
    {kFlatten, "axis", Default::kInt, 1},
    {kGelu, "approximate", Default::kString, 0, "none"},
    {kGemm, "alpha", Default::kFloat, 1},
    {kGemm, "beta", Default::kFloat, 1},
    {kGemm, "transpose_a", Default::kBool, 0},
    {kGemm, "transpose_b", Default::kBool, 0},
    {kHardSigmoid, "alpha", Default::kFloat, 0.2},
    {kHardSigmoid, "beta", Default::kFloat, 0.5},
    {kInstanceNorm, "epsilon", Default::kFloat, 1e-5},
    {kLayerNorm, "axis", Default::kInt, -1},
    {kLayerNorm, "epsilon", Default::kFloat, 1e-5},
    {kLeakyRelu, "alpha", Default::kFloat, 0.01},
    {kLogSoftmax, "axis", Default::kInt, -1},
    {kLrn, "alpha", Default::kFloat, 1e-4},
    {kLrn, "beta", Default::kFloat, 0.75},
    {kLrn, "bias", Default::kFloat, 1},
    {kMatMul, "transpose_a", Default::kBool, 0},
    {kMatMul, "transpose_b", Default::kBool, 0},
    {kMaxPool, "layout", Default::kString, 0, "NCHW"},
    {kPad, "mode", Default::kString, 0, "constant"},
    {kReduceMax, "keepdims", Default::kBool, 1},
    {kReduceMean, "keepdims", Default::kBool, 1},
    {kReduceSum, "keepdims", Default::kBool, 1},
    {kSelu, "alpha", Default::kFloat, 1.67326319217681884765625},
    {kSelu, "gamma", Default::kFloat, 1.05070102214813232421875},
    {kShrink, "bias", Default::kFloat, 0},
    {kShrink, "lambd", Default::kFloat, 0.5},
    {kSoftmax, "axis", Default::kInt, -1},
    {kThresholdedRelu, "alpha", Default::kFloat, 1},
};

AttributeValue ValueOf(const Default& row) {
  switch (row.form) {
    case Default::kFloat:
      return static_cast<float>(row.number);
    case Default::kInt:
      return static_cast<int64_t>(row.number);
    case Default::kBool:
      return row.number != 0;
    case Default::kString:
      return std::string(row.text);
  }
  return false;
}

class AddDefaultAttributes final : public Pass {
 public:
  std::string_view name() const override { return "add_default_attributes"; }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    const std::string_view left_out = context.file == nullptr ? "" : context.file->left_out;
    for (const NodeId id : edit.graph().nodes()) {
      if (!left_out.empty()) edit.EraseExtra(id, left_out);
      for (const Default& row : kDefaults) {
        if (row.op != edit.graph().op(id) || edit.graph().node(id).attributes.has(row.attribute)) continue;
        edit.SetAttribute(id, std::string(row.attribute), ValueOf(row));
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeAddDefaultAttributes() { return std::make_unique<AddDefaultAttributes>(); }

}  // namespace halftone
