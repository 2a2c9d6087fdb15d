#include "ir/shape_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace halftone {
namespace {

constexpr size_t kMaxElements = 4096;

using Result = std::optional<KnownTensor>;

KnownElement Number(int64_t integer) { return {.known = true, .integer = integer}; }
KnownElement Real(double real) { return {.known = true, .real = real}; }

KnownTensor Vector(std::vector<KnownElement> elements) {
  KnownTensor result;
  result.dims = {static_cast<int64_t>(elements.size())};
  result.elements = std::move(elements);
  return result;
}

Result OfConstant(const Tensor& tensor) {
  const bool floating = IsFloatingPoint(tensor.type());
  if (!floating && !IsInteger(tensor.type())) return std::nullopt;
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

Result OfShape(const Graph& graph, const Node& node) {
  const ValueId x = node.inputs[0];
  const Shape& shape = graph.shape(x);
  if (!shape.has_rank()) return std::nullopt;
  const int64_t rank = shape.rank();
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(node.attributes.Int("start", 0));
  const int64_t end = clamp(node.attributes.Int("end", rank));
  std::vector<KnownElement> elements;
  for (int64_t i = start; i < end; ++i) {
    const Dim& dim = shape.dim(static_cast<int>(i));
    if (dim.known()) {
      elements.push_back(Number(dim.value));
    } else {
      elements.push_back({.symbol = dim.symbol.empty() ? UnnamedDimension(x, static_cast<int>(i)) : dim.symbol});
    }
  }
  return Vector(std::move(elements));
}

// The only element, if it is a known integer.
std::optional<int64_t> OnlyInt(const KnownTensor* tensor) {
  if (tensor == nullptr || tensor->floating || tensor->elements.size() != 1 || !tensor->elements[0].known)
    return std::nullopt;
  return tensor->elements[0].integer;
}

bool IsZero(const std::optional<int64_t>& axis) { return axis.has_value() && (*axis == 0 || *axis == -1); }

Result OfGather(const KnownTensor* x, const KnownTensor* indices) {
  if (x == nullptr || indices == nullptr || x->dims.size() != 1 || indices->dims.size() > 1) return std::nullopt;
  KnownTensor result;
  result.floating = x->floating;
  result.dims = indices->dims;
  const int64_t size = x->dims[0];
  for (const KnownElement& index : indices->elements) {
    const int64_t i = index.integer < 0 ? index.integer + size : index.integer;
    if (!index.known || i < 0 || i >= size) return std::nullopt;
    result.elements.push_back(x->elements[i]);
  }
  return result;
}

Result OfConcat(const std::vector<const KnownTensor*>& inputs) {
  if (!IsZero(OnlyInt(inputs.back()))) return std::nullopt;
  KnownTensor result;
  result.floating = inputs[0] != nullptr && inputs[0]->floating;
  for (size_t i = 0; i + 1 < inputs.size(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->dims.size() != 1) return std::nullopt;
    if (result.elements.size() + inputs[i]->elements.size() > kMaxElements) return std::nullopt;
    result.elements.insert(result.elements.end(), inputs[i]->elements.begin(), inputs[i]->elements.end());
  }
  result.dims = {static_cast<int64_t>(result.elements.size())};
  return result;
}

// The elements at `from`, which lists their positions in x in row-major order of `dims`.
Result Rearranged(const KnownTensor& x, std::vector<int64_t> dims, const std::vector<int64_t>& from) {
  KnownTensor result;
  result.floating = x.floating;
  result.dims = std::move(dims);
  for (const int64_t position : from) result.elements.push_back(x.elements[position]);
  return result;
}

// The elements from `axis` on that one step along it passes over.
int64_t ElementsBelow(const std::vector<int64_t>& dims, size_t axis) {
  int64_t result = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) result *= dims[i];
  return result;
}

// Along one axis.
Result OfSlice(const std::vector<const KnownTensor*>& inputs) {
  const KnownTensor* x = inputs[0];
  if (x == nullptr || x->dims.empty()) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(x->dims.size());
  const std::optional<int64_t> start = OnlyInt(inputs[1]), end = OnlyInt(inputs[2]);
  std::optional<int64_t> axis = inputs.size() > 3 ? OnlyInt(inputs[3]) : 0;
  const std::optional<int64_t> step = inputs.size() > 4 ? OnlyInt(inputs[4]) : 1;
  if (!start.has_value() || !end.has_value() || !axis.has_value() || !step.has_value() || *step == 0)
    return std::nullopt;
  if (*axis < 0) *axis += rank;
  if (*axis < 0 || *axis >= rank) return std::nullopt;
  const int64_t size = x->dims[*axis];
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += size;
    return *step > 0 ? std::clamp<int64_t>(i, 0, size) : std::clamp<int64_t>(i, -1, size - 1);
  };
  const int64_t first = clamp(*start), last = clamp(*end);
  const int64_t stride = std::clamp(*step, -size - 1, size + 1);  // more than the whole: the same one element
  std::vector<int64_t> kept;
  for (int64_t i = first; stride > 0 ? i < last : i > last; i += stride) kept.push_back(i);
  std::vector<int64_t> dims = x->dims, from;
  dims[*axis] = static_cast<int64_t>(kept.size());
  const int64_t below = ElementsBelow(dims, *axis), block = size * below;
  for (int64_t begin = 0; begin < static_cast<int64_t>(x->elements.size()); begin += block) {
    for (const int64_t i : kept) {
      for (int64_t j = 0; j < below; ++j) from.push_back(begin + i * below + j);
    }
  }
  return Rearranged(*x, std::move(dims), from);
}

// Exporters turn the order of paddings around by a reshape to two columns, a slice backwards and a transposition.
Result OfTranspose(const KnownTensor* x, const KnownTensor* perm) {
  if (x == nullptr || perm == nullptr || perm->elements.size() != x->dims.size()) return std::nullopt;
  const size_t rank = x->dims.size();
  std::vector<int64_t> dims, steps;
  std::vector<bool> seen(rank, false);
  for (const KnownElement& element : perm->elements) {
    const int64_t axis = element.integer < 0 ? element.integer + static_cast<int64_t>(rank) : element.integer;
    if (!element.known || axis < 0 || axis >= static_cast<int64_t>(rank) || seen[axis]) return std::nullopt;
    seen[axis] = true;
    dims.push_back(x->dims[axis]);
    steps.push_back(ElementsBelow(x->dims, axis));
  }
  std::vector<int64_t> from;
  for (int64_t i = 0; i < static_cast<int64_t>(x->elements.size()); ++i) {
    int64_t rest = i, position = 0;
    for (size_t axis = rank; axis-- > 0;) {
      position += rest % dims[axis] * steps[axis];
      rest /= dims[axis];
    }
    from.push_back(position);
  }
  return Rearranged(*x, std::move(dims), from);
}

// Squeeze, unsqueeze, reshape and flatten: the same elements under the dims of the output.
Result OfRearranged(const Graph& graph, const Node& node, const KnownTensor* x) {
  if (x == nullptr) return std::nullopt;
  KnownTensor result = *x;
  const int64_t size = static_cast<int64_t>(x->elements.size());
  if (node.op == OpKind::kUnsqueeze && x->dims.empty()) {
    result.dims = {1};
  } else if (node.op == OpKind::kSqueeze && size == 1 && x->dims.size() == 1) {
    result.dims = {};
  } else {
    const Shape& shape = graph.shape(node.outputs[0]);
    if (!shape.has_rank()) return std::nullopt;
    if (shape.rank() == 1) {  // its number of elements may not be known, but can only be this
      result.dims = {size};
      return result;
    }
    if (shape.num_elements() != size) return std::nullopt;
    result.dims = shape.values();
  }
  return result;
}

Result OfCast(const KnownTensor* x, DataType type) {
  if (x == nullptr) return std::nullopt;
  KnownTensor result = *x;
  result.floating = IsFloatingPoint(type);
  if (!result.floating && type != DataType::kInt64 && type != DataType::kInt32) return std::nullopt;
  for (KnownElement& element : result.elements) {
    if (!element.known || result.floating == x->floating) continue;  // an unknown dimension keeps its name
    if (result.floating) {
      element.real = static_cast<double>(element.integer);
    } else {
      if (!(std::abs(element.real) < 9e15)) return std::nullopt;
      element.integer = static_cast<int64_t>(element.real);
    }
  }
  return result;
}

std::optional<int64_t> Arithmetic(OpKind op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == OpKind::kAdd) return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == OpKind::kSub) return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == OpKind::kMul) return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == OpKind::kMaximum) return std::max(a, b);
  if (op == OpKind::kMinimum) return std::min(a, b);
  if (op == OpKind::kDiv && b != 0 && b != -1) return a / b;
  return std::nullopt;
}

std::optional<double> Arithmetic(OpKind op, double a, double b) {
  if (op == OpKind::kAdd) return a + b;
  if (op == OpKind::kSub) return a - b;
  if (op == OpKind::kMul) return a * b;
  if (op == OpKind::kMaximum) return std::max(a, b);
  if (op == OpKind::kMinimum) return std::min(a, b);
  if (op == OpKind::kDiv && b != 0) return a / b;
  return std::nullopt;
}

bool Is(const KnownElement& element, bool floating, int64_t number) {
  return element.known && (floating ? element.real == static_cast<double>(number) : element.integer == number);
}

KnownElement Combine(OpKind op, const KnownElement& a, const KnownElement& b, bool floating) {
  if (a.known && b.known) {
    if (floating) {
      const std::optional<double> real = Arithmetic(op, a.real, b.real);
      return real.has_value() ? Real(*real) : KnownElement{};
    }
    const std::optional<int64_t> integer = Arithmetic(op, a.integer, b.integer);
    return integer.has_value() ? Number(*integer) : KnownElement{};
  }
  // N + 0, N - 0, N * 1, N / 1 and the like are still N.
  const int64_t neutral = op == OpKind::kMul || op == OpKind::kDiv ? 1 : 0;
  const bool has_neutral = op == OpKind::kAdd || op == OpKind::kSub || op == OpKind::kMul || op == OpKind::kDiv;
  if (has_neutral && Is(b, floating, neutral)) return a;
  if ((op == OpKind::kAdd || op == OpKind::kMul) && Is(a, floating, neutral)) return b;
  return {};
}

Result OfBinary(OpKind op, const KnownTensor* a, const KnownTensor* b) {
  if (a == nullptr || b == nullptr || a->floating != b->floating) return std::nullopt;
  const size_t size_a = a->elements.size(), size_b = b->elements.size();
  if (a->dims.size() > 1 || b->dims.size() > 1 || (size_a != size_b && size_a != 1 && size_b != 1)) return std::nullopt;
  KnownTensor result;
  result.floating = a->floating;
  const size_t size = size_a == 1 ? size_b : size_a;
  for (size_t i = 0; i < size; ++i) {
    result.elements.push_back(
        Combine(op, a->elements[size_a == 1 ? 0 : i], b->elements[size_b == 1 ? 0 : i], a->floating));
  }
  if (a->dims.size() + b->dims.size() > 0) result.dims = {static_cast<int64_t>(size)};
  return result;
}

// Over the whole of a vector, to a scalar or a vector of one.
Result OfReduce(const Node& node, const KnownTensor* x) {
  if (x == nullptr || x->dims.size() != 1 || x->elements.empty()) return std::nullopt;
  const OpKind op = node.op == OpKind::kReduceMax ? OpKind::kMaximum : OpKind::kAdd;
  KnownElement total = x->elements[0];
  for (size_t i = 1; i < x->elements.size(); ++i) total = Combine(op, total, x->elements[i], x->floating);
  KnownTensor result;
  result.floating = x->floating;
  result.elements = {total};
  if (node.attributes.Bool("keepdims", true)) result.dims = {1};
  return result;
}

Result OfFloor(const KnownTensor* x) {
  if (x == nullptr || !x->floating) return x == nullptr ? std::nullopt : Result(*x);
  KnownTensor result = *x;
  for (KnownElement& element : result.elements) element.real = std::floor(element.real);
  return result;
}

// Real numbers in f32 are rounded after each op: what the floor of a product is depends on it.
void RoundToType(DataType type, Result& tensor) {
  if (!tensor.has_value() || !tensor->floating || type == DataType::kFloat64) return;
  for (KnownElement& element : tensor->elements) element.real = static_cast<float>(element.real);
}

// Ops whose elements can be told from those of their inputs.
bool Understands(OpKind op) {
  switch (op) {
    case OpKind::kIdentity:
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kDiv:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kFloor:
    case OpKind::kReduceSum:
    case OpKind::kReduceMax:
    case OpKind::kReshape:
    case OpKind::kFlatten:
    case OpKind::kSqueeze:
    case OpKind::kUnsqueeze:
    case OpKind::kConcat:
    case OpKind::kSlice:
    case OpKind::kTranspose:
    case OpKind::kGather:
    case OpKind::kCast:
      return true;
    default:
      return false;  // a list of what is understood, not a table of every op
  }
}

}  // namespace

std::string UnnamedDimension(ValueId value, int axis) { return Concat("?", value.index, ",", axis); }

std::optional<KnownTensor> ShapeValues::Compute(NodeId id) {
  const Node& node = graph_.node(id);
  std::vector<const KnownTensor*> inputs;
  for (const ValueId input : node.inputs) {
    const auto it = found_.find(input);
    inputs.push_back(it == found_.end() || !it->second.has_value() ? nullptr : &*it->second);
  }
  const auto input = [&](size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
  switch (node.op) {
    case OpKind::kIdentity:
      return input(0) == nullptr ? std::nullopt : Result(*input(0));
    case OpKind::kGather: {
      if (inputs.size() > 2 && node.inputs[2].valid() && !IsZero(OnlyInt(input(2)))) return std::nullopt;
      return OfGather(input(0), input(1));
    }
    case OpKind::kConcat:
      return inputs.size() < 2 ? std::nullopt : OfConcat(inputs);
    case OpKind::kSlice: {
      if (inputs.size() < 3) return std::nullopt;
      for (size_t i = 3; i < inputs.size(); ++i) {
        if (!node.inputs[i].valid()) return std::nullopt;  // rare: an absent axes before given steps
      }
      return OfSlice(inputs);
    }
    case OpKind::kTranspose:
      return OfTranspose(input(0), input(1));
    case OpKind::kFloor:
      return OfFloor(input(0));
    case OpKind::kCast:
      return OfCast(input(0), graph_.type(node.outputs[0]));
    case OpKind::kReduceSum:
    case OpKind::kReduceMax:
      return OfReduce(node, input(0));
    case OpKind::kReshape:
    case OpKind::kFlatten:
    case OpKind::kSqueeze:
    case OpKind::kUnsqueeze:
      return OfRearranged(graph_, node, input(0));
    default:
      return OfBinary(node.op, input(0), input(1));
  }
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
    if (!graph_.alive(info.producer) || info.port != 0) {
      found_[next] = std::nullopt;
      work.pop_back();
      continue;
    }
    const Node& node = graph_.node(info.producer);
    if (const Tensor* constant = graph_.ConstantTensor(next); constant != nullptr) {
      found_[next] = OfConstant(*constant);
      work.pop_back();
    } else if (node.op == OpKind::kShape && !node.inputs.empty() && node.inputs[0].valid()) {
      found_[next] = OfShape(graph_, node);
      work.pop_back();
    } else if (!Understands(node.op)) {
      found_[next] = std::nullopt;
      work.pop_back();
    } else if (found_.contains(next)) {  // met for the second time: what can be known of its inputs is known
      found_[next] = Compute(info.producer);
      RoundToType(graph_.type(next), found_[next]);
      work.pop_back();
    } else {
      found_[next] = std::nullopt;  // until its inputs are there; also what a cycle sees
      for (const ValueId input : node.inputs) {
        if (input.valid() && !found_.contains(input)) work.push_back(input);
      }
    }
  }
  const std::optional<KnownTensor>& result = found_[value];
  return result.has_value() && result->elements.size() <= kMaxElements ? &*result : nullptr;
}

std::optional<std::vector<int64_t>> ShapeValues::Ints(ValueId value) {
  const KnownTensor* tensor = Find(value);
  if (tensor == nullptr || tensor->floating) return std::nullopt;
  std::vector<int64_t> result;
  for (const KnownElement& element : tensor->elements) {
    if (!element.known) return std::nullopt;
    result.push_back(element.integer);
  }
  return result;
}

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
                                      : type == DataType::kInt64 || type == DataType::kInt32;
  if (!sized) return std::nullopt;
  const Tensor wide =
      tensor->floating ? Tensor::Of<double>(tensor->dims, reals) : Tensor::Of<int64_t>(tensor->dims, integers);
  absl::StatusOr<Tensor> result = wide.ConvertTo(type);
  if (!result.ok()) return std::nullopt;
  return *std::move(result);
}

}  // namespace halftone
