// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_values.h"

#include <utility>

#include "base/strings.h"
#include "ir/shape_values_internal.h"

namespace halftone {
namespace shape_values {

KnownTensor Vector(std::vector<KnownElement> elements) {
  KnownTensor result;
  result.dims = {static_cast<int64_t>(elements.size())};
  result.elements = std::move(elements);
  return result;
}

std::optional<std::vector<int64_t>> AllInts(const KnownTensor* tensor) {
  if (tensor == nullptr || tensor->floating) return std::nullopt;
  std::vector<int64_t> result;
  for (const KnownElement& element : tensor->elements) {
    if (!element.known) return std::nullopt;
    result.push_back(element.integer);
  }
  return result;
}

std::optional<int64_t> OnlyInt(const KnownTensor* tensor) {
  const std::optional<std::vector<int64_t>> ints = AllInts(tensor);
  return ints.has_value() && ints->size() == 1 ? std::optional((*ints)[0]) : std::nullopt;
}

std::optional<int64_t> SmallCount(const std::vector<int64_t>& dims) {
  const std::optional<int64_t> count = CheckedProduct(dims);
  return count.has_value() && *count <= static_cast<int64_t>(kMaxElements) ? count : std::nullopt;
}

std::vector<int64_t> StridesOf(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Result Taken(const KnownTensor& x, std::vector<int64_t> dims, const std::vector<int64_t>& strides, int64_t start) {
  const std::optional<int64_t> count = SmallCount(dims);
  if (!count.has_value()) return std::nullopt;
  KnownTensor result;
  result.floating = x.floating;
  for (int64_t i = 0; i < *count; ++i) {
    int64_t rest = i, position = start;
    for (size_t axis = dims.size(); axis-- > 0;) {
      position += rest % dims[axis] * strides[axis];
      rest /= dims[axis];
    }
    result.elements.push_back(x.elements[position]);
  }
  result.dims = std::move(dims);
  return result;
}

std::optional<std::vector<int64_t>> BroadcastTo(const KnownTensor& x, const std::vector<int64_t>& dims) {
  if (x.dims.size() > dims.size()) return std::nullopt;
  const std::vector<int64_t> from = StridesOf(x.dims);
  std::vector<int64_t> strides(dims.size(), 0);
  for (size_t i = 1; i <= x.dims.size(); ++i) {
    const int64_t size = x.dims[x.dims.size() - i];
    if (size != 1 && size != dims[dims.size() - i]) return std::nullopt;
    if (size != 1) strides[dims.size() - i] = from[x.dims.size() - i];
  }
  return strides;
}

namespace {

Result OfConstant(const Tensor& tensor) {
  const bool floating = IsFloatingPoint(tensor.type());
  if (!floating && !IsInteger(tensor.type()) && tensor.type() != DataType::kBool) return std::nullopt;
  if (static_cast<size_t>(tensor.num_elements()) > kMaxElements) return std::nullopt;
  KnownTensor result;
  result.floating = floating;
  result.dims = tensor.dims();
  if (floating) {
    for (const double value : tensor.ToDoubles()) result.elements.push_back(Real(value));
  } else {
    for (const int64_t value : tensor.ToInts()) result.elements.push_back(Number(value));
  }
  return result;
}

using enum OpKind;

struct Row {
  OpKind op;
  Function function;
};

// A list of what is understood, not a table of every op.
constexpr Row kFunctions[] = {
    {kIdentity, OfIdentity},
    {kAdd, OfArithmetic},
    {kSub, OfArithmetic},
    {kMul, OfArithmetic},
    {kDiv, OfArithmetic},
    {kFloorDiv, OfArithmetic},
    {kMod, OfArithmetic},
    {kMaximum, OfArithmetic},
    {kMinimum, OfArithmetic},
    {kMaxN, OfArithmetic},
    {kMinN, OfArithmetic},
    {kNeg, OfArithmetic},
    {kAbs, OfArithmetic},
    {kFloor, OfArithmetic},
    {kCeil, OfArithmetic},
    {kSqrt, OfArithmetic},
    {kEqual, OfArithmetic},
    {kNotEqual, OfArithmetic},
    {kLess, OfArithmetic},
    {kLessEqual, OfArithmetic},
    {kGreater, OfArithmetic},
    {kGreaterEqual, OfArithmetic},
    {kAnd, OfArithmetic},
    {kOr, OfArithmetic},
    {kXor, OfArithmetic},
    {kNot, OfArithmetic},
    {kWhere, OfArithmetic},
    {kReduceSum, OfReduce},
    {kReduceMax, OfReduce},
    {kReduceMin, OfReduce},
    {kReduceProd, OfReduce},
    {kRange, OfRange},
    {kCast, OfCast},
    {kCastLike, OfCast},
    {kReshape, OfRearranged},
    {kFlatten, OfRearranged},
    {kSqueeze, OfRearranged},
    {kUnsqueeze, OfRearranged},
    {kTranspose, OfTranspose},
    {kReverse, OfReverse},
    {kSlice, OfSlice},
    {kStridedSlice, OfStridedSlice},
    {kSplit, OfSplit},
    {kUnstack, OfUnstack},
    {kExpand, OfExpand},
    {kTile, OfTile},
    {kConcat, OfConcat},
    {kStack, OfStack},
    {kShape, OfShape},
    {kSize, OfSize},
    {kRank, OfRank},
    {kFill, OfFill},
    {kGather, OfGather},
    {kGatherElements, OfGatherElements},
    {kGatherNd, OfGatherNd},
    {kScatterElements, OfScatterElements},
    {kScatterNd, OfScatterNd},
    {kNonZero, OfNonZero},
    {kInvertPermutation, OfInvertPermutation},
};

// They read the shape of their input, not its elements.
bool ReadsShapeOnly(OpKind op) { return op == kShape || op == kSize || op == kRank; }

}  // namespace

Function FunctionOf(OpKind op) {
  for (const Row& row : kFunctions) {
    if (row.op == op) return row.function;
  }
  return nullptr;
}

}  // namespace shape_values

std::string UnnamedDimension(ValueId value, int axis) { return Concat("?", value.index, ",", axis); }

std::optional<KnownTensor> ShapeValues::Compute(ValueId value) {
  const Value& info = graph_.value(value);
  const Node& node = graph_.node(info.producer);
  shape_values::Operands operands{graph_, node, {}, info.port};
  for (const ValueId input : node.inputs) {
    const auto it = found_.find(input);
    operands.inputs.push_back(it == found_.end() || !it->second.has_value() ? nullptr : &*it->second);
  }
  return shape_values::FunctionOf(node.op)(operands);
}

const KnownTensor* ShapeValues::Find(ValueId value) {
  if (!value.valid()) return nullptr;
  std::vector<ValueId> work{value};
  while (!work.empty()) {
    const ValueId next = work.back();
    const Value& info = graph_.value(next);
    if (found_.contains(next) && found_[next].has_value()) {
      work.pop_back();
      continue;
    }
    const Node* node = graph_.alive(info.producer) ? &graph_.node(info.producer) : nullptr;
    const shape_values::Function function = node == nullptr ? nullptr : shape_values::FunctionOf(node->op);
    const Tensor* constant = node == nullptr ? nullptr : graph_.ConstantTensor(next);
    if (constant != nullptr) {
      found_[next] = shape_values::OfConstant(*constant);
      work.pop_back();
    } else if (function == nullptr || node->inputs.empty() || !node->inputs[0].valid()) {
      found_[next] = std::nullopt;
      work.pop_back();
    } else if (found_.contains(next) || shape_values::ReadsShapeOnly(node->op)) {
      found_[next] = Compute(next);  // met for the second time: what can be known of its inputs is known
      work.pop_back();
    } else {
      found_[next] = std::nullopt;  // until its inputs are there; also what a cycle sees
      for (const ValueId input : node->inputs) {
        if (input.valid() && !found_.contains(input)) work.push_back(input);
      }
    }
  }
  const std::optional<KnownTensor>& result = found_[value];
  return result.has_value() && result->elements.size() <= shape_values::kMaxElements ? &*result : nullptr;
}

std::optional<std::vector<int64_t>> ShapeValues::Ints(ValueId value) { return shape_values::AllInts(Find(value)); }

std::optional<Tensor> ShapeValues::Known(ValueId value) {
  const KnownTensor* tensor = Find(value);
  if (tensor == nullptr) return std::nullopt;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const KnownElement& element : tensor->elements) {
    if (!element.known) return std::nullopt;
    integers.push_back(element.integer);
    reals.push_back(element.real);
  }
  const DataType type = graph_.type(value);
  const bool sized = tensor->floating ? type == DataType::kFloat32 || type == DataType::kFloat64
                                      : type == DataType::kInt64 || type == DataType::kInt32 || type == DataType::kBool;
  if (!sized) return std::nullopt;
  const Tensor wide =
      tensor->floating ? Tensor::Of<double>(tensor->dims, reals) : Tensor::Of<int64_t>(tensor->dims, integers);
  absl::StatusOr<Tensor> result = wide.ConvertTo(type);
  if (!result.ok()) return std::nullopt;
  return *std::move(result);
}

}  // namespace halftone
