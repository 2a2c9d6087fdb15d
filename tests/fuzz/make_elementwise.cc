// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, comparisons, logic, casts, quantization.

#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

const std::vector<DataType> kInts = {DataType::kInt32, DataType::kInt64, DataType::kUInt8, DataType::kInt8};

// Where the function is defined and not so steep that it magnifies rounding errors.
std::pair<double, double> Domain(OpKind op) {
  switch (op) {
    case kAcos:
    case kAsin:
    case kAtanh:
      return {-0.9, 0.9};
    case kAcosh:
      return {1.1, 6};
    case kLog:
    case kRsqrt:
    case kReciprocal:
      return {0.25, 6};
    case kSqrt:
      return {0.1, 20};
    case kLog1p:
      return {-0.75, 6};
    case kTan:
      return {-1.2, 1.2};
    default:
      return {-4, 4};
  }
}

void Unary(Maker& m, OpKind op) {
  const auto [low, high] = Domain(op);
  m.Add(op, {m.Any({.low = low, .high = high, .special = low == -4})});
}

void Discontinuous(Maker& m, OpKind op) { m.Add(op, {m.Any({.exact = true, .special = true})}); }

// One of the types that ONNX allows for these ops, most of the time f32.
void UnaryOfFloatsOrInts(Maker& m, OpKind op) {
  const bool sign = op == kAbs || op == kNeg || op == kSign;
  const DataType type = m.Chance(70) ? DataType::kFloat32 : m.OneOf<DataType>({DataType::kInt32, DataType::kInt64});
  m.Add(op, {m.Any({.low = sign ? -9.0 : -4.0, .high = 9, .exact = op == kSign, .type = type})});
}

void OfIntegers(Maker& m, OpKind op) { m.Add(op, {m.Any({.low = 0, .high = 100, .type = m.OneOf(kInts)})}); }
void OfBool(Maker& m, OpKind op) { m.Add(op, {m.Any({.type = DataType::kBool})}); }

void WithAlpha(Maker& m, OpKind op) {
  Attributes attributes;
  if (m.Chance(60)) attributes.Set("alpha", Real(m.Real(0.1, 2)));
  m.Add(op, {m.Any({.exact = op == kThresholdedRelu})}, attributes);
}

void HardSigmoidNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({})}, m.Chance(50) ? Attributes() : With({{"alpha", Real(0.3)}, {"beta", Real(0.4)}}));
}
void GeluNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({})}, m.Chance(50) ? Attributes() : With({{"approximate", Text("tanh")}}));
}
void SeluNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({})}, m.Chance(50) ? Attributes() : With({{"alpha", Real(1.5)}, {"gamma", Real(0.75)}}));
}
void ShrinkNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({.exact = true})}, With({{"lambd", Real(0.75)}, {"bias", Real(0.25)}}));
}
void IsInfNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({.exact = true, .special = true})},
        m.Chance(50) ? Attributes() : With({{"detect_negative", false}}));
}
void FillLikeNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({})}, With({{"number", Real(static_cast<double>(m.Int(-3, 3)))}}));
}

void ClipNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.special = true});
  const ValueId low = m.Constant(Tensor::Scalar(static_cast<float>(m.Int(-3, 0))));
  const ValueId high = m.Constant(Tensor::Scalar(static_cast<float>(m.Int(0, 3))));
  switch (m.Int(0, 2)) {
    case 0:
      m.Add(op, {x, low, high});
      return;
    case 1:
      m.Add(op, {x, low});
      return;
    default:
      m.Add(op, {x, kNoValue, high});
  }
}

// The second operand of a node whose first is x.
ValueId Other(Maker& m, ValueId x, double low, double high, DataType type) {
  return m.Fresh(type, m.Chance(40) ? m.dims(x) : m.Broadcastable(m.dims(x)), low, high, 40);
}

void Binary(Maker& m, OpKind op) {
  const ValueId x = m.Any({.special = true});
  const ValueId other = Other(m, x, -4, 4, DataType::kFloat32);
  if (m.Chance(50)) {
    m.Add(op, {x, other});
  } else {
    m.Add(op, {other, x});
  }
}

void BinaryOfFloatsOrInts(Maker& m, OpKind op) {
  if (m.Chance(75)) {
    Binary(m, op);
    return;
  }
  const DataType type = m.OneOf<DataType>({DataType::kInt32, DataType::kInt64});
  const ValueId x = m.Any({.low = -9, .high = 9, .type = type});
  m.Add(op, {x, Other(m, x, -9, 9, type)});
}

// The divisor is not near 0, of either sign.
void Divide(Maker& m, OpKind op) {
  const bool discontinuous = op == kFloorDiv || op == kMod;
  const bool whole = m.Chance(discontinuous ? 60 : 20);
  const DataType type = whole ? m.OneOf<DataType>({DataType::kInt32, DataType::kInt64}) : DataType::kFloat32;
  const ValueId x = m.Any({.low = -20, .high = 20, .exact = discontinuous, .type = type});
  const double sign = m.Chance(30) ? -1 : 1;
  const ValueId divisor = Other(m, x, sign > 0 ? 1 : -7, sign > 0 ? 7 : -1, type);
  const bool fmod = op == kMod && (!whole || m.Chance(40));
  m.Add(op, {x, divisor}, fmod ? With({{"fmod", true}}) : Attributes());
}

void PowNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.low = 0.25, .high = 3});
  m.Add(op, {x, m.Chance(50) ? m.Constant(Tensor::Scalar(static_cast<float>(m.Int(-2, 3))))
                             : Other(m, x, -2, 2, DataType::kFloat32)});
}

void Atan2Node(Maker& m, OpKind op) {  // away from the cut
  const ValueId x = m.Any({.low = -4, .high = 4});
  m.Add(op, {x, Other(m, x, 0.5, 4, DataType::kFloat32)});
}

void PReluNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1});
  Dims dims = m.dims(x);
  for (int64_t& dim : dims) dim = m.Chance(40) ? 1 : dim;
  m.Add(op, {x, m.Weights(dims)});
}

void BitsOfTwo(Maker& m, OpKind op) {
  const DataType type = op == kBitShift ? DataType::kUInt8 : m.OneOf(kInts);
  const ValueId x = m.Any({.low = 0, .high = 100, .type = type});
  const ValueId y = Other(m, x, 0, op == kBitShift ? 7 : 100, type);
  m.Add(op, {x, y},
        op == kBitShift ? With({{"direction", m.Chance(50) ? Text("LEFT") : Text("RIGHT")}}) : Attributes());
}

void Compare(Maker& m, OpKind op) {
  const DataType type = m.Chance(70) ? DataType::kFloat32 : m.OneOf<DataType>({DataType::kInt32, DataType::kInt64});
  const ValueId x = m.Any({.exact = true, .type = type});
  m.Add(op, {x, Other(m, x, -4, 4, type)}, {}, {m.Chance(25) ? type : DataType::kUnknown});
}

void Logic(Maker& m, OpKind op) {
  const ValueId x = m.Any({.type = DataType::kBool});
  m.Add(op, {x, Other(m, x, 0, 1, DataType::kBool)});
}

void WhereNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({});
  const ValueId condition = Other(m, x, 0, 1, DataType::kBool);
  m.Add(op, {condition, x, Other(m, x, -4, 4, DataType::kFloat32)});
}

void Variadic(Maker& m, OpKind op) {
  std::vector<ValueId> inputs = {m.Any({})};
  const int64_t more = m.Int(0, 3);
  for (int64_t i = 0; i < more; ++i) inputs.push_back(Other(m, inputs[0], -4, 4, DataType::kFloat32));
  m.Add(op, inputs);
}

void CastNode(Maker& m, OpKind op) {
  const DataType from = m.OneOf<DataType>(
      {DataType::kFloat32, DataType::kFloat32, DataType::kInt32, DataType::kInt64, DataType::kBool, DataType::kUInt8});
  const DataType to = m.OneOf<DataType>({DataType::kFloat32, DataType::kInt32, DataType::kInt64, DataType::kBool,
                                         DataType::kBFloat16, DataType::kFloat16});
  const double low = from == DataType::kUInt8 ? 0 : -9;
  const ValueId x = m.Any({.low = low, .high = 9, .exact = true, .type = from});
  if (op == kCast) {
    m.Add(op, {x}, {}, {to});
  } else {
    m.Add(op, {x, m.Fresh(to, {2}, 0, 1)});
  }
}

void BiasAddNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 2});
  const bool last = m.Chance(40);
  m.Add(op, {x, m.Weights({m.dim(x, last ? -1 : 1)})}, last ? With({{"layout", Text("NHWC")}}) : Attributes());
}

void DropoutNode(Maker& m, OpKind op) { m.Add(op, {m.Any({})}); }

// --- Quantization. Scales are powers of two, so that x / scale is exact.
ValueId ScaleOf(Maker& m) { return m.Constant(Tensor::Scalar(m.OneOf<float>({0.125f, 0.25f, 0.5f, 2.0f}))); }
ValueId ZeroOf(Maker& m, DataType type) {
  return m.Fresh(type, {}, type == DataType::kUInt8 ? 100 : -10, type == DataType::kUInt8 ? 140 : 10, 100);
}

void QuantizeNode(Maker& m, OpKind op) {
  const ValueId x = m.Any({.min_rank = 1, .exact = true});
  const DataType type = m.OneOf<DataType>({DataType::kUInt8, DataType::kInt8});
  m.Add(op, {x, ScaleOf(m), ZeroOf(m, type)});
}

void DequantizeNode(Maker& m, OpKind op) {
  const DataType type = m.OneOf<DataType>({DataType::kUInt8, DataType::kInt8});
  const ValueId x = m.Any({.min_rank = 1, .low = 0, .high = 127, .type = type});
  if (m.Chance(50)) {
    m.Add(op, {x, ScaleOf(m), ZeroOf(m, type)});
    return;
  }
  const int axis = static_cast<int>(m.Int(0, m.rank(x) - 1));
  const Dims dims = {m.dim(x, axis)};
  m.Add(op, {x, m.Fresh(DataType::kFloat32, dims, 0.25, 2, 100), m.Fresh(type, dims, 0, 20, 100)},
        With({{"axis", Number(axis)}}));
}

void DynamicQuantizeNode(Maker& m, OpKind op) {
  m.Add(op, {m.Any({.min_rank = 1, .exact = true})}, {}, {DataType::kUnknown, DataType::kUnknown, DataType::kUnknown});
}

void FakeQuantNode(Maker& m, OpKind op) {
  const ValueId low = m.Constant(Tensor::Scalar(-4.0f)), high = m.Constant(Tensor::Scalar(3.96875f));
  m.Add(op, {m.Any({.exact = true}), low, high}, m.Chance(50) ? Attributes() : With({{"narrow_range", true}}));
}

void DequantizeRangeNode(Maker& m, OpKind op) {
  const ValueId low = m.Constant(Tensor::Scalar(-2.0f)), high = m.Constant(Tensor::Scalar(6.0f));
  m.Add(op, {m.Any({.low = 0, .high = 255, .type = DataType::kUInt8}), low, high});
}

void MatMulIntegerNode(Maker& m, OpKind op) {
  const int64_t k = m.Int(2, 9);
  const DataType type = m.OneOf<DataType>({DataType::kUInt8, DataType::kInt8});
  const double low = type == DataType::kUInt8 ? 0 : -100;
  const ValueId a = m.Fresh(type, {m.Int(2, 6), k}, low, 100),
                b = m.Fresh(DataType::kInt8, {k, m.Int(2, 6)}, -100, 100);
  m.Add(op, m.Chance(50) ? std::vector<ValueId>{a, b}
                         : std::vector<ValueId>{a, b, ZeroOf(m, type), ZeroOf(m, DataType::kInt8)});
}

void MatMulIntegerToFloatNode(Maker& m, OpKind op) {
  const int64_t k = m.Int(2, 9), n = m.Int(2, 6);
  const DataType type = m.OneOf<DataType>({DataType::kUInt8, DataType::kInt8});
  const double low = type == DataType::kUInt8 ? 0 : -100;
  const ValueId a = m.Fresh(type, {m.Int(2, 6), k}, low, 100), b = m.Fresh(DataType::kInt8, {k, n}, -100, 100);
  std::vector<ValueId> inputs = {a, b, m.Fresh(DataType::kFloat32, {}, 0.25, 2),
                                 m.Fresh(DataType::kFloat32, {n}, 0.25, 2)};
  if (m.Chance(50)) inputs.insert(inputs.end(), {ZeroOf(m, type), ZeroOf(m, DataType::kInt8)});
  if (inputs.size() == 6 && m.Chance(50)) inputs.push_back(m.Fresh(DataType::kFloat32, {n}, -2, 2));
  m.Add(op, std::move(inputs));
}

void ConvIntegerNode(Maker& m, OpKind op) {
  const ValueId x = m.Fresh(DataType::kUInt8, {m.Int(1, 2), 3, m.Int(5, 8), m.Int(5, 8)}, 0, 200);
  const ValueId w = m.Fresh(DataType::kInt8, {4, 3, 3, 2}, -100, 100);
  m.Add(op, m.Chance(50) ? std::vector<ValueId>{x, w} : std::vector<ValueId>{x, w, ZeroOf(m, DataType::kUInt8)},
        With({{"pads", List({1, 0, 1, 1})}}));
}

constexpr Generator kTable[] = {
    {kIdentity, Unary},
    {kAbs, UnaryOfFloatsOrInts},
    {kNeg, UnaryOfFloatsOrInts},
    {kExp, Unary},
    {kLog, Unary},
    {kSqrt, Unary},
    {kRsqrt, Unary},
    {kReciprocal, Unary},
    {kSquare, Unary},
    {kFloor, Discontinuous},
    {kErf, Unary},
    {kRelu, UnaryOfFloatsOrInts},
    {kRelu6, Unary},
    {kTanh, Unary},
    {kSigmoid, Unary},
    {kSoftplus, Unary},
    {kElu, WithAlpha},
    {kLeakyRelu, WithAlpha},
    {kClip, ClipNode},
    {kAcos, Unary},
    {kAcosh, Unary},
    {kAsin, Unary},
    {kAsinh, Unary},
    {kAtan, Unary},
    {kAtanh, Unary},
    {kCos, Unary},
    {kCosh, Unary},
    {kSin, Unary},
    {kSinh, Unary},
    {kTan, Unary},
    {kCeil, Discontinuous},
    {kRound, Discontinuous},
    {kSign, UnaryOfFloatsOrInts},
    {kLog1p, Unary},
    {kExpm1, Unary},
    {kErfc, Unary},
    {kSoftsign, Unary},
    {kMish, Unary},
    {kHardSwish, Unary},
    {kBitwiseNot, OfIntegers},
    {kNot, OfBool},
    {kHardSigmoid, HardSigmoidNode},
    {kGelu, GeluNode},
    {kSelu, SeluNode},
    {kCelu, WithAlpha},
    {kThresholdedRelu, WithAlpha},
    {kSwish, WithAlpha},
    {kShrink, ShrinkNode},
    {kIsNaN, Discontinuous},
    {kIsFinite, Discontinuous},
    {kIsInf, IsInfNode},
    {kFillLike, FillLikeNode},
    {kCastLike, CastNode},
    {kCast, CastNode},
    {kDropout, DropoutNode},
    {kBiasAdd, BiasAddNode},
    {kAdd, BinaryOfFloatsOrInts},
    {kSub, BinaryOfFloatsOrInts},
    {kMul, BinaryOfFloatsOrInts},
    {kDiv, Divide},
    {kMaximum, BinaryOfFloatsOrInts},
    {kMinimum, BinaryOfFloatsOrInts},
    {kPow, PowNode},
    {kSquaredDifference, Binary},
    {kPRelu, PReluNode},
    {kFloorDiv, Divide},
    {kDivNoNan, Divide},
    {kAtan2, Atan2Node},
    {kMod, Divide},
    {kBitShift, BitsOfTwo},
    {kBitwiseAnd, BitsOfTwo},
    {kBitwiseOr, BitsOfTwo},
    {kBitwiseXor, BitsOfTwo},
    {kEqual, Compare},
    {kNotEqual, Compare},
    {kLess, Compare},
    {kLessEqual, Compare},
    {kGreater, Compare},
    {kGreaterEqual, Compare},
    {kAnd, Logic},
    {kOr, Logic},
    {kXor, Logic},
    {kWhere, WhereNode},
    {kAddN, Variadic},
    {kMaxN, Variadic},
    {kMinN, Variadic},
    {kMeanN, Variadic},
    {kQuantizeLinear, QuantizeNode},
    {kDequantizeLinear, DequantizeNode},
    {kDynamicQuantizeLinear, DynamicQuantizeNode},
    {kFakeQuant, FakeQuantNode},
    {kDequantizeRange, DequantizeRangeNode},
    {kMatMulInteger, MatMulIntegerNode},
    {kMatMulIntegerToFloat, MatMulIntegerToFloatNode},
    {kConvInteger, ConvIntegerNode},
};

}  // namespace

std::span<const Generator> ElementwiseGenerators() { return kTable; }

}  // namespace halftone::fuzz
