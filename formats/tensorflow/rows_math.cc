// SPDX-License-Identifier: Apache-2.0
// Arithmetic: elementwise, comparisons, logic, matmuls, reductions.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kReduceBoolTypes[] = {{"Tidx", DataType::kInt32}};
constexpr TypeRow kArgTypes[] = {{"T"}, {"Tidx", DataType::kInt32}, {"output_type", DataType::kInt64}};

constexpr AttrRow kMatMulAttrs[] = {{.name = "transpose_a", .form = kBool, .canonical = "transpose_a"},
                                    {.name = "transpose_b", .form = kBool, .canonical = "transpose_b"}};
constexpr AttrRow kBatchMatMulAttrs[] = {{.name = "adj_x", .form = kBool, .canonical = "transpose_a"},
                                         {.name = "adj_y", .form = kBool, .canonical = "transpose_b"}};
constexpr AttrRow kEinsumAttrs[] = {{.name = "N", .form = kCount, .required = true},
                                    {.name = "equation", .form = kString, .canonical = "equation", .required = true}};
constexpr AttrRow kAccumulateAttrs[] = {{.name = "N", .form = kCount, .required = true},
                                        {.name = "shape", .form = kKeep, .required = true}};
constexpr AttrRow kLeakyReluAttrs[] = {
    {.name = "alpha", .form = kFloat, .canonical = "alpha", .tf_default = 0.2f, .canonical_default = 0.01f}};
constexpr AttrRow kReduceAttrs[] = {
    {.name = "keep_dims", .form = kBool, .canonical = "keepdims", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kArgAttrs[] = {
    {.form = kImpliedBool, .canonical = "keepdims", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kCumAttrs[] = {{.name = "exclusive", .form = kBool, .canonical = "exclusive"},
                                 {.name = "reverse", .form = kBool, .canonical = "reverse"}};
constexpr AttrRow kFloorModAttrs[] = {{.form = kImpliedBool, .canonical = "fmod", .tf_default = 0}};
constexpr AttrRow kTruncateModAttrs[] = {{.form = kImpliedBool, .canonical = "fmod", .tf_default = 1}};
constexpr AttrRow kLeftAttrs[] = {{.form = kImpliedString, .canonical = "direction", .text = "LEFT"}};
constexpr AttrRow kRightAttrs[] = {{.form = kImpliedString, .canonical = "direction", .text = "RIGHT"}};

constexpr OpRow kRows[] = {
    // Of two.
    {"AddV2", kAdd, "T,T", "T", kT, kNone},
    {"Add", kAdd, "T,T", "T", kT, kNone},
    {"Sub", kSub, "T,T", "T", kT, kNone},
    {"Mul", kMul, "T,T", "T", kT, kNone},
    {"RealDiv", kDiv, "T,T", "T", kT, kNone},
    {"Div", kDiv, "T,T", "T", kT, kNone},
    {"TruncateDiv", kDiv, "T,T", "T", kT, kNone, "", 0, ReadIntegerDivision},
    {"FloorDiv", kFloorDiv, "T,T", "T", kT, kNone},
    {"DivNoNan", kDivNoNan, "T,T", "T", kT, kNone},
    {"FloorMod", kMod, "T,T", "T", kT, kFloorModAttrs},
    {"TruncateMod", kMod, "T,T", "T", kT, kTruncateModAttrs},
    {"Mod", kMod, "T,T", "T", kT, kTruncateModAttrs},
    {"Maximum", kMaximum, "T,T", "T", kT, kNone},
    {"Minimum", kMinimum, "T,T", "T", kT, kNone},
    {"Pow", kPow, "T,T", "T", kT, kNone},
    {"SquaredDifference", kSquaredDifference, "T,T", "T", kT, kNone},
    {"Atan2", kAtan2, "T,T", "T", kT, kNone},
    {"BitwiseAnd", kBitwiseAnd, "T,T", "T", kT, kNone},
    {"BitwiseOr", kBitwiseOr, "T,T", "T", kT, kNone},
    {"BitwiseXor", kBitwiseXor, "T,T", "T", kT, kNone},
    {"LeftShift", kBitShift, "T,T", "T", kT, kLeftAttrs},
    {"RightShift", kBitShift, "T,T", "T", kT, kRightAttrs},
    // Of many.
    {"AddN", kAddN, "N*T", "T", kT, kCountedN},
    {"AccumulateNV2", kAddN, "N*T", "T", kT, kAccumulateAttrs},
    {"Einsum", kEinsum, "N*T", "T", kT, kEinsumAttrs},
    // Of one.
    {"Abs", kAbs, "T", "T", kT, kNone},
    {"Neg", kNeg, "T", "T", kT, kNone},
    {"Exp", kExp, "T", "T", kT, kNone},
    {"Expm1", kExpm1, "T", "T", kT, kNone},
    {"Log", kLog, "T", "T", kT, kNone},
    {"Log1p", kLog1p, "T", "T", kT, kNone},
    {"Sqrt", kSqrt, "T", "T", kT, kNone},
    {"Rsqrt", kRsqrt, "T", "T", kT, kNone},
    {"Reciprocal", kReciprocal, "T", "T", kT, kNone},
    {"Inv", kReciprocal, "T", "T", kT, kNone},
    {"Square", kSquare, "T", "T", kT, kNone},
    {"Floor", kFloor, "T", "T", kT, kNone},
    {"Ceil", kCeil, "T", "T", kT, kNone},
    {"Round", kRound, "T", "T", kT, kNone},
    {"Rint", kRound, "T", "T", kT, kNone},
    {"Sign", kSign, "T", "T", kT, kNone},
    {"Erf", kErf, "T", "T", kT, kNone},
    {"Erfc", kErfc, "T", "T", kT, kNone},
    {"Sin", kSin, "T", "T", kT, kNone},
    {"Cos", kCos, "T", "T", kT, kNone},
    {"Tan", kTan, "T", "T", kT, kNone},
    {"Asin", kAsin, "T", "T", kT, kNone},
    {"Acos", kAcos, "T", "T", kT, kNone},
    {"Atan", kAtan, "T", "T", kT, kNone},
    {"Sinh", kSinh, "T", "T", kT, kNone},
    {"Cosh", kCosh, "T", "T", kT, kNone},
    {"Asinh", kAsinh, "T", "T", kT, kNone},
    {"Acosh", kAcosh, "T", "T", kT, kNone},
    {"Atanh", kAtanh, "T", "T", kT, kNone},
    {"Invert", kBitwiseNot, "T", "T", kT, kNone},
    {"ClipByValue", kClip, "T,T,T", "T", kT, kNone, "", 0, ReadClip},
    // Activations.
    {"Relu", kRelu, "T", "T", kT, kNone},
    {"Relu6", kRelu6, "T", "T", kT, kNone},
    {"Tanh", kTanh, "T", "T", kT, kNone},
    {"Sigmoid", kSigmoid, "T", "T", kT, kNone},
    {"Softplus", kSoftplus, "T", "T", kT, kNone},
    {"Softsign", kSoftsign, "T", "T", kT, kNone},
    {"Elu", kElu, "T", "T", kT, kNone},
    {"Selu", kSelu, "T", "T", kT, kNone},
    {"LeakyRelu", kLeakyRelu, "T", "T", kFloatT, kLeakyReluAttrs},
    {"Softmax", kSoftmax, "T", "T", kT, kNone},
    {"LogSoftmax", kLogSoftmax, "T", "T", kT, kNone},
    // Comparisons and logic.
    {"Equal", kEqual, "T,T", "bool", kT, kNone, "", 0, ReadEqual},
    {"NotEqual", kNotEqual, "T,T", "bool", kT, kNone, "", 0, ReadEqual},
    {"Less", kLess, "T,T", "bool", kT, kNone},
    {"LessEqual", kLessEqual, "T,T", "bool", kT, kNone},
    {"Greater", kGreater, "T,T", "bool", kT, kNone},
    {"GreaterEqual", kGreaterEqual, "T,T", "bool", kT, kNone},
    {"LogicalAnd", kAnd, "bool,bool", "bool", kNoTypes, kNone},
    {"LogicalOr", kOr, "bool,bool", "bool", kNoTypes, kNone},
    {"LogicalNot", kNot, "bool", "bool", kNoTypes, kNone},
    {"IsNan", kIsNaN, "T", "bool", kT, kNone},
    {"IsInf", kIsInf, "T", "bool", kT, kNone},
    {"IsFinite", kIsFinite, "T", "bool", kT, kNone},
    // Products.
    {"MatMul", kMatMul, "T,T", "T", kT, kMatMulAttrs},
    {"BatchMatMulV2", kMatMul, "T,T", "T", kT, kBatchMatMulAttrs},
    {"BatchMatMul", kMatMul, "T,T", "T", kT, kBatchMatMulAttrs},
    // Reductions.
    {"Mean", kReduceMean, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Sum", kReduceSum, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Max", kReduceMax, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Min", kReduceMin, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Prod", kReduceProd, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"EuclideanNorm", kReduceL2, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"L2Loss", kL2Loss, "T", "T", kT, kNone},
    {"All", kReduceAll, "bool,Tidx", "bool", kReduceBoolTypes, kReduceAttrs},
    {"Any", kReduceAny, "bool,Tidx", "bool", kReduceBoolTypes, kReduceAttrs},
    {"ArgMax", kArgMax, "T,Tidx", "output_type", kArgTypes, kArgAttrs},
    {"ArgMin", kArgMin, "T,Tidx", "output_type", kArgTypes, kArgAttrs},
    {"Cumsum", kCumSum, "T,Tidx", "T", kTidx, kCumAttrs},
    {"Cumprod", kCumProd, "T,Tidx", "T", kTidx, kCumAttrs},
};

}  // namespace

std::span<const OpRow> MathRows() { return kRows; }

}  // namespace halftone::graphdef
