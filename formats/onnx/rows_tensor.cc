// SPDX-License-Identifier: Apache-2.0
// Rows of ops that move, index and reduce.
#include "formats/onnx/op_rows.h"
#include "formats/onnx/tensor_rules.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using Form = MovedRow::Form;
using enum OpKind;

constexpr AttributeRow kReduceAttributes[] = {
    {"keepdims", "keepdims", K::kBool},
    {"noop_with_empty_axes", "noop_with_empty_axes", K::kBool, 18},
};
constexpr AttributeRow kArgAttributes[] = {
    {"keepdims", "keepdims", K::kBool},
    {"select_last_index", "select_last_index", K::kBool, 12},
};
constexpr AttributeRow kCumAttributes[] = {
    {"exclusive", "exclusive", K::kBool},
    {"reverse", "reverse", K::kBool},
};
constexpr AttributeRow kTopKAttributes[] = {
    {"axis", "axis", K::kInt},
    {"largest", "largest", K::kBool, 11},
    {"sorted", "sorted", K::kBool, 11},
};
constexpr AttributeRow kUniqueAttributes[] = {{"axis", "axis", K::kInt}, {"sorted", "sorted", K::kBool}};
constexpr AttributeRow kAxis[] = {{"axis", "axis", K::kInt}};
constexpr AttributeRow kBatchDims[] = {{"batch_dims", "batch_dims", K::kInt, 12}};
constexpr AttributeRow kScatterElementsAttributes[] = {
    {"axis", "axis", K::kInt},
    {"reduction", "reduction", K::kString, 16},
};
constexpr AttributeRow kScatterNdAttributes[] = {{"reduction", "reduction", K::kString, 16}};
constexpr AttributeRow kUpper[] = {{"upper", "upper", K::kBool}};
constexpr AttributeRow kK[] = {{"k", "k", K::kInt}};
constexpr AttributeRow kReverseSequenceAttributes[] = {
    {"batch_axis", "batch_axis", K::kInt},
    {"time_axis", "time_axis", K::kInt},
};
constexpr AttributeRow kAxes[] = {{"axes", "axes", K::kInts}};

constexpr MovedRow kAxesUntil18[] = {{"axes", Form::kInts, 1, 18}};
constexpr MovedRow kArgAxis[] = {{"axis", Form::kInt, 1}};
constexpr MovedRow kTopKInputs[] = {{"k", Form::kInt, 1, 10, /*required=*/true}};
constexpr MovedRow kSplitInputs[] = {{"split", Form::kInts, 1, 13}, {"axis", Form::kInt, 2}};

// As in rows_basic.cc. A bf16_since of kNever: no opset up to 22 takes bf16.
constexpr OpRow kRows[] = {
    {"ReduceMax", kReduceMax, 1, 13, 2, kReduceAttributes, kAxesUntil18, nullptr, nullptr, ReduceMinMaxMinOpset},
    {"ReduceMin", kReduceMin, 1, 13, 2, kReduceAttributes, kAxesUntil18, nullptr, nullptr, ReduceMinMaxMinOpset},
    {"ReduceProd", kReduceProd, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceL1", kReduceL1, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceL2", kReduceL2, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceLogSum", kReduceLogSum, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceLogSumExp", kReduceLogSumExp, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ReduceSumSquare", kReduceSumSquare, 1, 13, 2, kReduceAttributes, kAxesUntil18},
    {"ArgMax", kArgMax, 1, 13, 1, kArgAttributes, kArgAxis},
    {"ArgMin", kArgMin, 1, 13, 1, kArgAttributes, kArgAxis},
    {"CumSum", kCumSum, 11, 14, 2, kCumAttributes},
    {"TopK", kTopK, 1, kNever, 2, kTopKAttributes, kTopKInputs, nullptr, FinishTopK},
    {"NonZero", kNonZero, 9, 13, 1},
    {"Unique", kUnique, 11, kNever, 1, kUniqueAttributes},
    {"Compress", kCompress, 9, kNever, 2, kAxis},
    {"Expand", kExpand, 8, 13, 2},
    {"Tile", kTile, 6, 13, 2},
    {"Split", kSplit, 2, 13, 2, {}, kSplitInputs, nullptr, FinishSplit, nullptr, WriteSplit},
    {"GatherElements", kGatherElements, 11, 13, 2, kAxis},
    {"GatherND", kGatherNd, 11, 13, 2, kBatchDims, {}, nullptr, nullptr, GatherNdMinOpset},
    {"ScatterElements",
     kScatterElements,
     9,
     13,
     3,
     kScatterElementsAttributes,
     {},
     nullptr,
     nullptr,
     ScatterMinOpset,
     WriteScatterElements},
    {"Scatter", kScatterElements, 9, 13, 3, kAxis, {}, nullptr, nullptr, ScatterMinOpset, WriteScatterElements},
    {"ScatterND", kScatterNd, 11, 13, 3, kScatterNdAttributes, {}, nullptr, nullptr, ScatterMinOpset},
    {"OneHot", kOneHot, 9, kNever, 3, kAxis},
    {"Trilu", kTrilu, 14, 14, 2, kUpper},
    {"EyeLike", kEyeLike, 9, 22, 1, kK, {}, nullptr, nullptr, nullptr, WriteEyeLike},
    {"Range", kRange, 11, kNever, 3},
    {"ConstantOfShape", kFill, 9, 20, 1, {}, {}, FillIsOpaque, FinishFill, nullptr, WriteFill},
    {"Size", kSize, 1, 13, 1},
    {"ReverseSequence", kReverseSequence, 10, kNever, 2, kReverseSequenceAttributes},
    {"CenterCropPad", kCenterCropPad, 18, 18, 2, kAxes},
};

}  // namespace

std::span<const OpRow> TensorRows() { return kRows; }

}  // namespace halftone::onnx_format
