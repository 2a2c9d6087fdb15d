// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons and logic over elements that are known or have a name (which stands for a number >= 0).

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/shape_values_internal.h"

namespace halftone::shape_values {
namespace {

using enum OpKind;

std::optional<int64_t> OfInts(OpKind op, int64_t a, int64_t b) {
  int64_t result = 0;
  const bool divides = b != 0 && b != -1;
  if (op == kAdd) return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == kSub) return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == kMul) return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == kMaximum || op == kMaxN) return std::max(a, b);
  if (op == kMinimum || op == kMinN) return std::min(a, b);
  if (op == kDiv && divides) return a / b;
  if (op == kFloorDiv && divides) return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  if (op == kMod && a >= 0 && b > 0) return a % b;
  if (op == kEqual) return a == b;
  if (op == kNotEqual) return a != b;
  if (op == kLess) return a < b;
  if (op == kLessEqual) return a <= b;
  if (op == kGreater) return a > b;
  if (op == kGreaterEqual) return a >= b;
  if (op == kAnd) return a != 0 && b != 0;
  if (op == kOr) return a != 0 || b != 0;
  if (op == kXor) return (a != 0) != (b != 0);
  return std::nullopt;
}

std::optional<double> OfReals(OpKind op, double a, double b) {
  if (op == kAdd) return a + b;
  if (op == kSub) return a - b;
  if (op == kMul) return a * b;
  if (op == kMaximum || op == kMaxN) return std::max(a, b);
  if (op == kMinimum || op == kMinN) return std::min(a, b);
  if (op == kDiv && b != 0) return a / b;
  if (op == kFloorDiv && b != 0) return std::floor(a / b);
  return std::nullopt;
}

std::optional<bool> CompareReals(OpKind op, double a, double b) {
  if (op == kEqual) return a == b;
  if (op == kNotEqual) return a != b;
  if (op == kLess) return a < b;
  if (op == kLessEqual) return a <= b;
  if (op == kGreater) return a > b;
  if (op == kGreaterEqual) return a >= b;
  return std::nullopt;
}

bool Is(const KnownElement& element, bool floating, int64_t number) {
  return element.known && (floating ? element.real == static_cast<double>(number) : element.integer == number);
}

double ValueOf(const KnownElement& element, bool floating) {
  return floating ? element.real : static_cast<double>(element.integer);
}

// What is sure of a named dimension n >= 0 against a number k.
std::optional<bool> CompareDimension(OpKind op, double k) {
  if (op == kEqual && k < 0) return false;
  if (op == kNotEqual && k < 0) return true;
  if (op == kLess && k <= 0) return false;
  if (op == kLessEqual && k < 0) return false;
  if (op == kGreater && k < 0) return true;
  if (op == kGreaterEqual && k <= 0) return true;
  return std::nullopt;
}

OpKind Mirrored(OpKind op) {
  if (op == kLess) return kGreater;
  if (op == kLessEqual) return kGreaterEqual;
  if (op == kGreater) return kLess;
  if (op == kGreaterEqual) return kLessEqual;
  return op;
}

KnownElement CombineUnknown(OpKind op, const KnownElement& a, const KnownElement& b, bool floating) {
  const bool named_a = !a.known && !a.symbol.empty(), named_b = !b.known && !b.symbol.empty();
  if (named_a && named_b && a.symbol == b.symbol) {
    if (op == kEqual || op == kLessEqual || op == kGreaterEqual) return Number(1);
    if (op == kNotEqual || op == kLess || op == kGreater) return Number(0);
    if (op == kMaximum || op == kMinimum || op == kMaxN || op == kMinN) return a;
    if (op == kSub) return floating ? Real(0) : Number(0);
  }
  std::optional<bool> sure;
  if (named_a && b.known) sure = CompareDimension(op, ValueOf(b, floating));
  if (named_b && a.known) sure = CompareDimension(Mirrored(op), ValueOf(a, floating));
  if (sure.has_value()) return Number(*sure ? 1 : 0);
  // False and x is false, true or x is true.
  if (op == kAnd && (Is(a, false, 0) || Is(b, false, 0))) return Number(0);
  if (op == kOr && ((a.known && a.integer != 0) || (b.known && b.integer != 0))) return Number(1);
  // n + 0, n - 0, n * 1, n / 1 and the like are still n.
  const bool divides = op == kDiv || op == kFloorDiv;
  const int64_t neutral = op == kMul || divides ? 1 : 0;
  const bool has_neutral = op == kAdd || op == kSub || op == kMul || divides;
  if (has_neutral && Is(b, floating, neutral)) return a;
  if ((op == kAdd || op == kMul) && Is(a, floating, neutral)) return b;
  if (op == kMul && !floating && (Is(a, false, 0) || Is(b, false, 0))) return Number(0);
  // max(n, k) with k <= 0 is n, min(n, 0) is 0.
  if (op == kMaximum || op == kMaxN) {
    if (named_a && b.known && ValueOf(b, floating) <= 0) return a;
    if (named_b && a.known && ValueOf(a, floating) <= 0) return b;
  }
  return {};
}

KnownElement Combine(OpKind op, const KnownElement& a, const KnownElement& b, bool floating) {
  if (!a.known || !b.known) return CombineUnknown(op, a, b, floating);
  if (!floating) {
    const std::optional<int64_t> integer = OfInts(op, a.integer, b.integer);
    return integer.has_value() ? Number(*integer) : KnownElement{};
  }
  if (const std::optional<bool> compared = CompareReals(op, a.real, b.real)) return Number(*compared ? 1 : 0);
  const std::optional<double> real = OfReals(op, a.real, b.real);
  return real.has_value() ? Real(*real) : KnownElement{};
}

KnownElement OfOne(OpKind op, const KnownElement& x, bool floating) {
  if (!x.known) return op == kAbs || op == kFloor || op == kCeil ? x : KnownElement{};
  if (op == kNot) return Number(x.integer == 0 ? 1 : 0);
  if (!floating) {
    if (x.integer == std::numeric_limits<int64_t>::min()) return {};
    if (op == kNeg) return Number(-x.integer);
    return op == kAbs ? Number(std::abs(x.integer)) : x;
  }
  if (op == kNeg) return Real(-x.real);
  if (op == kAbs) return Real(std::abs(x.real));
  if (op == kFloor) return Real(std::floor(x.real));
  if (op == kCeil) return Real(std::ceil(x.real));
  if (op == kSqrt) return Real(std::sqrt(x.real));
  return {};
}

bool IsUnary(OpKind op) { return op == kNeg || op == kAbs || op == kFloor || op == kCeil || op == kSqrt || op == kNot; }

bool Fits(const KnownElement& element, DataType type) {
  const auto within = [&](int64_t low, int64_t high) { return element.integer >= low && element.integer <= high; };
  if (!element.known || type == DataType::kInt64 || type == DataType::kBool) return true;
  if (type == DataType::kInt32) return within(INT32_MIN, INT32_MAX);
  if (type == DataType::kInt16) return within(INT16_MIN, INT16_MAX);
  if (type == DataType::kInt8) return within(INT8_MIN, INT8_MAX);
  if (type == DataType::kUInt8) return within(0, UINT8_MAX);
  if (type == DataType::kUInt16) return within(0, UINT16_MAX);
  return type == DataType::kUInt32 && within(0, UINT32_MAX);
}

// Real numbers in f32 are rounded after each op: what the floor of a product is depends on it. Integers that would wrap
// around are not followed.
Result Rounded(Result tensor, DataType type) {
  if (!tensor.has_value()) return tensor;
  if (tensor->floating && type != DataType::kFloat32 && type != DataType::kFloat64) return std::nullopt;
  for (KnownElement& element : tensor->elements) {
    if (tensor->floating && type == DataType::kFloat32) element.real = static_cast<float>(element.real);
    if (!tensor->floating && !Fits(element, type)) element = KnownElement{};
  }
  return tensor;
}

// numpy's broadcast of all of them; nullopt if they do not fit or are too large.
std::optional<std::vector<int64_t>> CommonDims(const std::vector<const KnownTensor*>& inputs) {
  std::vector<int64_t> dims;
  for (const KnownTensor* input : inputs) {
    if (input == nullptr) return std::nullopt;
    if (input->dims.size() > dims.size()) dims.insert(dims.begin(), input->dims.size() - dims.size(), 1);
    for (size_t i = 1; i <= input->dims.size(); ++i) {
      int64_t& dim = dims[dims.size() - i];
      if (dim == 1) dim = input->dims[input->dims.size() - i];
    }
  }
  return SmallCount(dims).has_value() ? std::optional(dims) : std::nullopt;
}

}  // namespace

Result OfArithmetic(const Operands& node) {
  const OpKind op = node.node.op;
  const std::optional<std::vector<int64_t>> dims = CommonDims(node.inputs);
  if (!dims.has_value() || node.inputs.empty()) return std::nullopt;
  std::vector<KnownTensor> wide;
  for (const KnownTensor* input : node.inputs) {
    const std::optional<std::vector<int64_t>> strides = BroadcastTo(*input, *dims);
    Result taken = strides.has_value() ? Taken(*input, *dims, *strides) : std::nullopt;
    if (!taken.has_value()) return std::nullopt;
    wide.push_back(*std::move(taken));
  }
  if (op == kWhere) {
    if (wide.size() != 3 || wide[1].floating != wide[2].floating || node.node.attributes.Bool("rows", false)) {
      return std::nullopt;
    }
    KnownTensor result = wide[1];
    for (size_t i = 0; i < result.elements.size(); ++i) {
      const KnownElement& condition = wide[0].elements[i];
      const KnownElement& a = wide[1].elements[i];
      const KnownElement& b = wide[2].elements[i];
      const bool same = a.known == b.known && a.integer == b.integer && a.real == b.real && a.symbol == b.symbol &&
                        (a.known || !a.symbol.empty());
      result.elements[i] = condition.known ? (condition.integer != 0 ? a : b) : same ? a : KnownElement{};
    }
    return result;
  }
  KnownTensor result = wide[0];
  const bool floating = result.floating;
  if (IsUnary(op)) {
    for (KnownElement& element : result.elements) element = OfOne(op, element, floating);
    return Rounded(result, node.type());
  }
  for (size_t k = 1; k < wide.size(); ++k) {
    if (wide[k].floating != floating) return std::nullopt;
    for (size_t i = 0; i < result.elements.size(); ++i) {
      result.elements[i] = Combine(op, result.elements[i], wide[k].elements[i], floating);
    }
  }
  result.floating = floating && IsFloatingPoint(node.type());
  return Rounded(result, node.type());
}

// Over the whole of a vector, to a scalar or a vector of one.
Result OfReduce(const Operands& node) {
  const KnownTensor* x = node.in(0);
  if (x == nullptr || x->dims.size() != 1 || x->elements.empty()) return std::nullopt;
  const bool no_axes = !node.has(1) || (node.in(1) != nullptr && node.in(1)->elements.empty());
  if (no_axes && node.node.attributes.Bool("noop_with_empty_axes", false)) return *x;
  const OpKind op = node.node.op == kReduceMax    ? kMaximum
                    : node.node.op == kReduceMin  ? kMinimum
                    : node.node.op == kReduceProd ? kMul
                                                  : kAdd;
  KnownElement total = x->elements[0];
  for (size_t i = 1; i < x->elements.size(); ++i) total = Combine(op, total, x->elements[i], x->floating);
  KnownTensor result{.floating = x->floating, .elements = {total}};
  if (node.node.attributes.Bool("keepdims", true)) result.dims = {1};
  return Rounded(result, node.type());
}

Result OfRange(const Operands& node) {
  const std::optional<int64_t> start = OnlyInt(node.in(0)), limit = OnlyInt(node.in(1)), delta = OnlyInt(node.in(2));
  if (!start.has_value() || !limit.has_value() || !delta.has_value() || *delta == 0) return std::nullopt;
  constexpr int64_t kFar = int64_t{1} << 40;
  if (std::max({*start, *limit, *delta}) > kFar || std::min({*start, *limit, *delta}) < -kFar) return std::nullopt;
  std::vector<KnownElement> elements;
  for (int64_t i = *start; *delta > 0 ? i < *limit : i > *limit; i += *delta) {
    if (elements.size() == kMaxElements) return std::nullopt;
    elements.push_back(Number(i));
  }
  return Vector(std::move(elements));
}

Result OfCast(const Operands& node) {
  const KnownTensor* x = node.in(0);
  const DataType type = node.type();
  if (x == nullptr) return std::nullopt;
  KnownTensor result = *x;
  result.floating = IsFloatingPoint(type);
  if (!result.floating && !IsInteger(type) && type != DataType::kBool) return std::nullopt;
  for (KnownElement& element : result.elements) {
    if (type == DataType::kBool) {
      element = element.known ? Number(x->floating ? element.real != 0 : element.integer != 0) : KnownElement{};
    } else if (!element.known) {
      continue;  // an unknown dimension keeps its name
    } else if (result.floating && !x->floating) {
      element = Real(static_cast<double>(element.integer));
    } else if (!result.floating && x->floating) {
      if (!(std::abs(element.real) < 9e15)) return std::nullopt;
      element = Number(static_cast<int64_t>(element.real));
    }
  }
  return Rounded(result, type);
}

}  // namespace halftone::shape_values
