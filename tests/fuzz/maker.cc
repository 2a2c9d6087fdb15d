// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/maker.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"

namespace halftone::fuzz {
namespace {

constexpr int64_t kMaxElements = 4000;
constexpr double kMaxMagnitude = 1e6;  // larger values say little in a comparison

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

Tensor FromDoubles(DataType type, const Dims& dims, const std::vector<double>& numbers) {
  Tensor wide(DataType::kFloat64, dims);
  std::copy(numbers.begin(), numbers.end(), wide.mutable_data<double>().begin());
  return *wide.ConvertTo(type);
}

}  // namespace

std::vector<Tensor> Case::inputs() const {
  std::vector<Tensor> result;
  for (const NodeId id : graph.inputs()) result.push_back(tensors.at(graph.output(id)));
  return result;
}

uint64_t Maker::Next() {  // SplitMix64
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t Maker::Int(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
}

double Maker::Real(double low, double high) { return low + (high - low) * static_cast<double>(Next() >> 40) * 0x1p-24; }

Dims Maker::RandomDims(int min_rank, int max_rank) {
  Dims dims(static_cast<size_t>(Int(min_rank, max_rank)));
  for (int64_t& dim : dims) dim = Chance(10) ? 1 : Chance(12) ? Int(7, 20) : Chance(4) ? 32 : Int(2, 6);
  while (Count(dims) > kMaxElements / 4) *std::max_element(dims.begin(), dims.end()) = 2;
  return dims;
}

Dims Maker::Broadcastable(const Dims& dims) {
  Dims result = dims;
  for (int64_t& dim : result) {
    if (Chance(25)) dim = 1;
  }
  if (!result.empty() && Chance(25))
    result.erase(result.begin(), result.begin() + Int(1, static_cast<int64_t>(result.size())));
  return result;
}

bool Maker::Suits(ValueId value, const Want& want) const {
  const Tensor& tensor = made_.tensors.at(value);
  if (tensor.type() != want.type || tensor.rank() < want.min_rank || tensor.rank() > want.max_rank) return false;
  if (tensor.num_elements() > kMaxElements || tensor.num_elements() == 0) return false;
  if (want.exact && !exact_.at(value)) return false;
  for (const double x : tensor.ToDoubles()) {
    if (!(x >= want.low && x <= want.high)) return false;
  }
  return true;
}

ValueId Maker::Any(const Want& want) {
  if (Chance(75)) {
    std::vector<ValueId> suitable;
    for (const ValueId value : computed_) {
      if (Suits(value, want)) suitable.push_back(value);
    }
    if (!suitable.empty()) return Chance(60) ? suitable.back() : OneOf(suitable);
  }
  const double low = want.low == Want().low ? -4 : want.low, high = want.high == Want().high ? 4 : want.high;
  const bool no_sign = want.type == DataType::kUInt8 && low < 0;
  if (want.special && want.type == DataType::kFloat32 && Chance(20)) {
    const Dims dims = RandomDims(std::max(1, want.min_rank), want.max_rank);
    std::vector<double> numbers = Numbers(want.type, Count(dims), low, high);
    for (const double x : {HUGE_VAL, -HUGE_VAL, -0.0, 1e-40, 3e38})
      numbers[static_cast<size_t>(Int(0, static_cast<int64_t>(numbers.size()) - 1))] = x;
    const ValueId value = edit_.AddInput(Concat("x", made_.graph.inputs().size()), want.type, Shape::Of(dims));
    made_.tensors[value] = FromDoubles(want.type, dims, numbers);
    exact_[value] = true;
    return value;
  }
  return Fresh(want.type, RandomDims(want.min_rank, want.max_rank), no_sign ? 0 : low, high, /*constants=*/5);
}

std::vector<double> Maker::Numbers(DataType type, int64_t count, double low, double high) {
  std::vector<double> numbers(static_cast<size_t>(count));
  const bool close = IsFloatingPoint(type) && Chance(10);
  for (double& number : numbers) {
    if (type == DataType::kBool) {
      number = static_cast<double>(Int(0, 1));
    } else if (close) {
      const double center = std::clamp(static_cast<double>(Int(-1, 1)), low, high);
      number =
          std::clamp(center + std::ldexp(static_cast<double>(Int(-8, 8)), static_cast<int>(-Int(4, 20))), low, high);
      number = static_cast<float>(number);
    } else if (IsFloatingPoint(type)) {
      number = std::clamp(std::round(Real(low, high) * 64) / 64, low, high);
    } else {
      number = static_cast<double>(Int(static_cast<int64_t>(std::ceil(low)), static_cast<int64_t>(std::floor(high))));
    }
  }
  return numbers;
}

ValueId Maker::Fresh(DataType type, const Dims& dims, double low, double high, int constants) {
  const std::vector<double> numbers = Numbers(type, Count(dims), low, high);
  Tensor tensor = FromDoubles(type, dims, numbers);
  if (Chance(constants)) return Constant(std::move(tensor));
  const ValueId value = edit_.AddInput(Concat("x", made_.graph.inputs().size()), type, tensor.shape());
  made_.tensors[value] = std::move(tensor);
  exact_[value] = true;
  computed_.push_back(value);
  return value;
}

ValueId Maker::Constant(Tensor tensor) {
  const ValueId value = edit_.AddConstant("", tensor);
  made_.tensors[value] = std::move(tensor);
  exact_[value] = true;
  return value;
}

int64_t Maker::Axis(ValueId value) { return Int(-rank(value), rank(value) - 1); }

std::vector<int64_t> Maker::Axes(ValueId value, int at_least) {
  std::vector<int64_t> axes;
  while (static_cast<int>(axes.size()) < at_least) {
    axes.clear();
    for (int i = 0; i < rank(value); ++i) {
      if (Chance(50)) axes.push_back(i);
    }
  }
  return axes;
}

ValueId Maker::Add(OpKind op, std::vector<ValueId> inputs, Attributes attributes, std::vector<DataType> types) {
  if (!status_.ok()) return kNoValue;
  Node node;
  node.op = op;
  node.name = Concat("n", made_.graph.num_nodes());
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  std::vector<ValueSpec> specs;
  for (size_t i = 0; i < types.size(); ++i) {
    specs.push_back(
        {types[i], Shape(), i == 0 ? Concat("v", node.name.substr(1)) : Concat("v", node.name.substr(1), "_", i)});
  }
  const NodeId id = edit_.AddNode(std::move(node), std::move(specs));
  status_ = Annotate(Evaluate(id), OpName(op));
  return made_.graph.output(id);
}

absl::Status Maker::Evaluate(NodeId id) {
  const Graph& graph = made_.graph;
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferNode(graph, id));
  for (size_t i = 0; i < specs.size(); ++i) {
    const ValueId value = graph.output(id, static_cast<int>(i));
    if (specs[i].type != DataType::kUnknown) edit_.SetType(value, specs[i].type);
    edit_.SetShape(value, specs[i].shape);
  }
  std::vector<Tensor> inputs;
  const OpInfo& row = Info(graph.op(id));
  bool exact = row.tolerance.relative == 0 && row.tolerance.absolute == 0 && row.group != OpGroup::kStructural;
  for (const ValueId input : graph.node(id).inputs) {
    inputs.push_back(input.valid() ? made_.tensors.at(input) : Tensor());
    exact = exact && (!input.valid() || exact_.at(input));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, reference::EvaluateNode(graph, id, inputs));
  for (size_t i = 0; i < graph.node(id).outputs.size(); ++i) {
    const ValueId value = graph.output(id, static_cast<int>(i));
    if (!value.valid()) continue;
    if (i >= outputs.size() || outputs[i].type() == DataType::kUnknown)
      return absl::InternalError(Concat("the reference function has no output ", i));
    const Tensor& tensor = outputs[i];
    const Shape& inferred = graph.shape(value);
    if (tensor.type() != graph.type(value))
      return absl::InternalError(Concat("output ", i, " is inferred as ", DataTypeName(graph.type(value)),
                                        ", computed as ", DataTypeName(tensor.type())));
    bool fits = !inferred.has_rank() || inferred.rank() == tensor.rank();
    for (int d = 0; fits && inferred.has_rank() && d < inferred.rank(); ++d)
      fits = !inferred.dim(d).known() || inferred.dim(d).value == tensor.dims()[static_cast<size_t>(d)];
    if (!fits) {
      return absl::InternalError(
          Concat("output ", i, " is inferred as ", inferred.ToString(), ", computed as ", tensor.shape().ToString()));
    }
    made_.tensors[value] = tensor;
    exact_[value] = exact;
    bool usable = ElementSize(tensor.type()) > 0;
    for (const double x : tensor.ToDoubles()) usable = usable && std::abs(x) <= kMaxMagnitude;
    if (usable) computed_.push_back(value);
  }
  return absl::OkStatus();
}

Case Maker::Finish() {
  std::vector<GraphOutput> outputs;
  for (const NodeId id : made_.graph.nodes()) {
    const OpKind op = made_.graph.op(id);
    if (op == OpKind::kInput || op == OpKind::kConstant) continue;
    std::vector<ValueId> unused;
    for (const ValueId value : made_.graph.node(id).outputs) {
      if (value.valid() && made_.graph.uses(value).empty()) unused.push_back(value);
    }
    // Often only one output of a node with several becomes an output of the graph.
    if (unused.size() > 1 && Chance(50)) unused = {OneOf(unused)};
    for (const ValueId value : unused) outputs.push_back({made_.graph.value(value).name, value});
  }
  edit_.SetGraphOutputs(std::move(outputs));
  return made_;
}

}  // namespace halftone::fuzz
