// SPDX-License-Identifier: Apache-2.0
// Rows of elementwise ops: trigonometry, activations, comparisons, logic.
#include "formats/onnx/elementwise_rules.h"
#include "formats/onnx/export_rules.h"
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {
namespace {

using K = AttributeKind;
using enum OpKind;

constexpr AttributeRow kAlpha[] = {{"alpha", "alpha", K::kFloat}};
constexpr AttributeRow kAlphaBeta[] = {{"alpha", "alpha", K::kFloat}, {"beta", "beta", K::kFloat}};
constexpr AttributeRow kAlphaGamma[] = {{"alpha", "alpha", K::kFloat}, {"gamma", "gamma", K::kFloat}};
constexpr AttributeRow kApproximate[] = {{"approximate", "approximate", K::kString}};
constexpr AttributeRow kShrinkAttributes[] = {{"lambd", "lambd", K::kFloat}, {"bias", "bias", K::kFloat}};
constexpr AttributeRow kIsInfAttributes[] = {
    {"detect_negative", "detect_negative", K::kBool},
    {"detect_positive", "detect_positive", K::kBool},
};
constexpr AttributeRow kFmod[] = {{"fmod", "fmod", K::kBool}};
constexpr AttributeRow kDirection[] = {{"direction", "direction", K::kString}};
constexpr AttributeRow kSaturate[] = {{"saturate", "", K::kInt, 19}};  // only means something for 8-bit floats

// As in rows_basic.cc.
constexpr OpRow kRows[] = {
    {"Acos", kAcos, 7, 22, 1},
    {"Acosh", kAcosh, 9, 22, 1},
    {"Asin", kAsin, 7, 22, 1},
    {"Asinh", kAsinh, 9, 22, 1},
    {"Atan", kAtan, 7, 22, 1},
    {"Atanh", kAtanh, 9, 22, 1},
    {"Cos", kCos, 7, 22, 1},
    {"Cosh", kCosh, 9, 22, 1},
    {"Sin", kSin, 7, 22, 1},
    {"Sinh", kSinh, 9, 22, 1},
    {"Tan", kTan, 7, 22, 1},
    {"Ceil", kCeil, 6, 13, 1},
    {"Round", kRound, 11, 22, 1},
    {"Sign", kSign, 9, 13, 1},
    {"Softsign", kSoftsign, 1, 22, 1},
    {"Mish", kMish, 18, 22, 1},
    {"HardSwish", kHardSwish, 14, 22, 1},
    {"BitwiseNot", kBitwiseNot, 18, kNever, 1},
    {"Not", kNot, 1, kNever, 1},
    {"HardSigmoid", kHardSigmoid, 6, 22, 1, kAlphaBeta},
    {"Gelu", kGelu, 20, 20, 1, kApproximate},
    {"Selu", kSelu, 6, 22, 1, kAlphaGamma},
    {"Celu", kCelu, 12, kNever, 1, kAlpha},
    {"ThresholdedRelu", kThresholdedRelu, 10, 22, 1, kAlpha},
    {"Shrink", kShrink, 9, kNever, 1, kShrinkAttributes},
    {"IsNaN", kIsNaN, 9, 13, 1},
    {"IsInf", kIsInf, 10, 20, 1, kIsInfAttributes},
    {"CastLike", kCastLike, 15, 15, 2, kSaturate},
    {"PRelu", kPRelu, 7, 16, 2, {}, {}, nullptr, nullptr, PReluMinOpset},
    {"Mod", kMod, 10, 13, 2, kFmod},
    {"BitShift", kBitShift, 11, kNever, 2, kDirection},
    {"BitwiseAnd", kBitwiseAnd, 18, kNever, 2},
    {"BitwiseOr", kBitwiseOr, 18, kNever, 2},
    {"BitwiseXor", kBitwiseXor, 18, kNever, 2},
    {"Equal", kEqual, 7, 13, 2, {}, {}, nullptr, nullptr, EqualMinOpset},
    {"Less", kLess, 7, 13, 2, {}, {}, nullptr, nullptr, CompareMinOpset},
    {"LessOrEqual", kLessEqual, 12, 16, 2},
    {"Greater", kGreater, 7, 13, 2, {}, {}, nullptr, nullptr, CompareMinOpset},
    {"GreaterOrEqual", kGreaterEqual, 12, 16, 2},
    {"And", kAnd, 7, kNever, 2},
    {"Or", kOr, 7, kNever, 2},
    {"Xor", kXor, 7, kNever, 2},
    {"Where", kWhere, 9, 16, 3},
    // Of two operands: see rows_basic.cc, whose rows are found by these names.
    {"Sum", kAddN, 6, 13, kNever, {}, {}, nullptr, nullptr, VariadicMinOpset},
    {"Max", kMaxN, 6, 13, kNever, {}, {}, nullptr, nullptr, VariadicMinOpset},
    {"Min", kMinN, 6, 13, kNever, {}, {}, nullptr, nullptr, VariadicMinOpset},
    {"Mean", kMeanN, 6, 13, kNever, {}, {}, nullptr, nullptr, VariadicMinOpset},
    // Canonical ops without an operator of their own; never found by an ONNX name.
    {"", kGelu, 9, 13, 0, {}, {}, nullptr, nullptr, GeluMinOpset, WriteGelu},  // made by a pass
    {"", kSwish, 7, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteSwish},
    {"", kFillLike, 9, 13, 0, {}, {}, nullptr, nullptr, nullptr, WriteFillLike},
};

}  // namespace

std::span<const OpRow> ElementwiseRows() { return kRows; }

}  // namespace halftone::onnx_format
