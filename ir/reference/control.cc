// SPDX-License-Identifier: Apache-2.0
// If, loop, scan, while and call: nested graphs are evaluated like the outer graph.

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "ir/reference/arrays_internal.h"
#include "ir/reference/control_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

using Tensors = std::vector<Tensor>;

absl::StatusOr<double> OnlyElement(const Tensor& tensor, std::string_view what) {
  const DataType type = tensor.type();
  const bool number = IsFloatingPoint(type) || IsInteger(type) || type == DataType::kBool;
  if (!number || tensor.num_elements() != 1) {
    return Error(what, " is ", DataTypeName(tensor.type()), tensor.shape().ToString(), ", need one number or bool");
  }
  return tensor.ToDoubles()[0];
}

absl::StatusOr<bool> Truth(const Tensor& tensor) {
  HALFTONE_ASSIGN_OR_RETURN(const double value, OnlyElement(tensor, "the condition"));
  return value != 0;
}

absl::StatusOr<Tensors> Run(const PreparedGraph& graph, std::string_view name, const Tensors& inputs, Budget& budget) {
  absl::StatusOr<Tensors> outputs = graph.Run(inputs, budget);
  if (!outputs.ok()) return Annotate(outputs.status(), name);
  return outputs;
}

// ---- Slices and stacks along an axis.

// Copies between x and one slice of it; `pick` selects the direction.
struct Cut {
  int64_t outer = 1;   // blocks
  int64_t count = 0;   // slices in a block
  int64_t length = 1;  // elements of a slice in a block

  Cut(const Dims& dims, int axis) : count(dims[axis]) {
    for (int i = 0; i < axis; ++i) outer *= dims[i];
    for (size_t i = axis + 1; i < dims.size(); ++i) length *= dims[i];
  }
  // Index in x of element 0 of block `block` of slice `index`.
  int64_t At(int64_t block, int64_t index) const { return (block * count + index) * length; }
};

Tensor TakeSlice(const Tensor& x, int axis, int64_t index) {
  const Cut cut(x.dims(), axis);
  Dims dims = x.dims();
  dims.erase(dims.begin() + axis);
  if (x.type() == DataType::kString) {
    std::vector<std::string> strings;
    for (int64_t block = 0; block < cut.outer; ++block) {
      const auto first = x.strings().begin() + cut.At(block, index);
      strings.insert(strings.end(), first, first + cut.length);
    }
    return Tensor::OfStrings(std::move(dims), std::move(strings));
  }
  Tensor slice(x.type(), std::move(dims));
  const size_t size = ElementSize(x.type());
  for (int64_t block = 0; block < cut.outer && cut.length > 0; ++block) {
    std::memcpy(slice.mutable_raw() + block * cut.length * size, x.raw() + cut.At(block, index) * size,
                cut.length * size);
  }
  return slice;
}

// Stacks the values of all runs along a new axis. REQUIRES: at least one run
absl::StatusOr<Tensor> Stack(Tensors slices, int64_t written_axis, bool backwards) {
  for (const Tensor& slice : slices) {
    if (slice.dims() == slices[0].dims() && slice.type() == slices[0].type()) continue;
    return Error("a run of the body made ", DataTypeName(slice.type()), slice.shape().ToString(), ", the first made ",
                 DataTypeName(slices[0].type()), slices[0].shape().ToString());
  }
  if (backwards) std::reverse(slices.begin(), slices.end());
  Dims dims = slices[0].dims();
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written_axis, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, static_cast<int64_t>(slices.size()));
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const Cut cut(dims, axis);
  if (slices[0].type() == DataType::kString) {
    std::vector<std::string> strings(cut.outer * cut.count * cut.length);
    for (int64_t i = 0; i < cut.count; ++i) {
      for (int64_t block = 0; block < cut.outer; ++block) {
        const auto first = slices[i].strings().begin() + block * cut.length;
        std::copy(first, first + cut.length, strings.begin() + cut.At(block, i));
      }
    }
    return Tensor::OfStrings(std::move(dims), std::move(strings));
  }
  Tensor stacked(slices[0].type(), std::move(dims));
  const size_t size = ElementSize(stacked.type());
  for (int64_t i = 0; i < cut.count; ++i) {
    for (int64_t block = 0; block < cut.outer && cut.length > 0; ++block) {
      std::memcpy(stacked.mutable_raw() + cut.At(block, i) * size, slices[i].raw() + block * cut.length * size,
                  cut.length * size);
    }
  }
  return stacked;
}

// The scanned output of a loop without runs: unknown dimensions are 0.
absl::StatusOr<Tensor> StackOfNone(const Graph& body, ValueId value, int64_t written_axis) {
  const Shape& shape = body.shape(value);
  Dims dims;
  for (int i = 0; shape.has_rank() && i < shape.rank(); ++i) dims.push_back(std::max<int64_t>(shape.dim(i).value, 0));
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written_axis, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, 0);
  const DataType type = body.type(value);
  if (type == DataType::kString) return Tensor::OfStrings(std::move(dims), {});
  if (ElementSize(type) == 0) return absl::UnimplementedError(Concat("an output is ", DataTypeName(type)));
  return Tensor(type, std::move(dims));
}

// ---- Loop-carried states and scanned outputs.

constexpr int64_t kMostBytes = int64_t{4} << 30;  // of all slices
constexpr int64_t kBytesOfASlice = 256;           // in addition to its elements

class Collected {
 public:
  Collected(const Node& node, const NestedForm& form, const Graph& body)
      : node_(node), form_(form), body_(body), slices_(form.scanned) {}

  // Takes the outputs of one run of the body: its states replace `states`.
  absl::Status Take(Tensors outputs, Tensors& states) {
    auto next = std::make_move_iterator(outputs.begin() + form_.own_outputs);
    std::copy(next, next + form_.states, states.begin());
    next += form_.states;
    for (int k = 0; k < form_.scanned; ++k, ++next) {
      slices_[k].push_back(*next);
      bytes_ += kBytesOfASlice + static_cast<int64_t>(slices_[k].back().byte_size());
    }
    if (bytes_ <= kMostBytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(Concat("its scanned outputs take more than ", kMostBytes, " bytes"));
  }

  // The node's outputs.
  absl::StatusOr<Tensors> Results(Tensors states) {
    const Dims axes = node_.attributes.Ints("scan_output_axes", Dims(form_.scanned, 0));
    const Dims directions = node_.attributes.Ints("scan_output_directions", Dims(form_.scanned, 0));
    for (int k = 0; k < form_.scanned; ++k) {
      const ValueId value = body_.outputs()[form_.own_outputs + form_.states + k].value;
      absl::StatusOr<Tensor> stacked = slices_[k].empty() ? StackOfNone(body_, value, axes[k])
                                                          : Stack(std::move(slices_[k]), axes[k], directions[k] != 0);
      if (!stacked.ok()) return Annotate(stacked.status(), Concat("output ", form_.states + k));
      states.push_back(*std::move(stacked));
    }
    return states;
  }

 private:
  const Node& node_;
  const NestedForm& form_;
  const Graph& body_;
  std::vector<Tensors> slices_;  // by scanned output
  int64_t bytes_ = 0;
};

Tensors Inputs(Tensors own, const Tensors& states, const Tensors& slices, const Tensors& captured) {
  for (const Tensors* part : {&states, &slices, &captured}) own.insert(own.end(), part->begin(), part->end());
  return own;
}

// In the shape that the body expects: [] or [1].
Tensor Counter(const Graph& body, int input, DataType type, int64_t value) {
  const ValueId id = body.output(body.inputs()[input]);
  const bool vector = body.shape(id).has_rank() && body.shape(id).rank() == 1;
  const DataType wanted = body.type(id) == DataType::kUnknown ? type : body.type(id);
  return FromInts(wanted, vector ? Dims{1} : Dims{}, {value});
}

// Called before each run of a loop's body: RESOURCE_EXHAUSTED beyond the limit, or the status that interrupts the run.
absl::Status SpendBodyRun(Budget& budget) {
  if (budget.limits.interrupted) HALFTONE_RETURN_IF_ERROR(budget.limits.interrupted());
  if (++budget.body_runs <= budget.limits.body_runs) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      Concat("it did not end within ", budget.limits.body_runs, " runs of loop bodies, all loops together"));
}

absl::StatusOr<Tensors> Loop(const Node& node, const NestedForm& form, const Tensors& inputs, Budget& budget) {
  const std::shared_ptr<const Graph> nested = NestedGraph(node, "body");
  const PreparedGraph body(*nested);
  int64_t trips = std::numeric_limits<int64_t>::max();
  bool going = true;
  if (inputs.size() > 0 && inputs[0].type() != DataType::kUnknown) {
    HALFTONE_RETURN_IF_ERROR(OnlyElement(inputs[0], "the trip count").status());
    trips = inputs[0].ToInts()[0];
  }
  if (inputs.size() > 1 && inputs[1].type() != DataType::kUnknown) {
    HALFTONE_ASSIGN_OR_RETURN(going, Truth(inputs[1]));
  }
  const auto x = inputs.begin() + std::min<size_t>(inputs.size(), 2);
  Tensors states(x, x + form.states);
  const Tensors captured(x + form.states, inputs.end());
  Collected collected(node, form, *nested);
  for (int64_t i = 0; i < trips && going; ++i) {
    HALFTONE_RETURN_IF_ERROR(SpendBodyRun(budget));
    Tensors own = {Counter(*nested, 0, DataType::kInt64, i), Counter(*nested, 1, DataType::kBool, 1)};
    HALFTONE_ASSIGN_OR_RETURN(Tensors outputs, Run(body, "body", Inputs(std::move(own), states, {}, captured), budget));
    HALFTONE_ASSIGN_OR_RETURN(going, Truth(outputs[0]));
    HALFTONE_RETURN_IF_ERROR(collected.Take(std::move(outputs), states));
  }
  return collected.Results(std::move(states));
}

absl::StatusOr<Tensors> Scan(const Node& node, const NestedForm& form, const Tensors& inputs, Budget& budget) {
  const std::shared_ptr<const Graph> nested = NestedGraph(node, "body");
  const PreparedGraph body(*nested);
  Tensors states(inputs.begin(), inputs.begin() + form.states);
  const Tensors sequences(inputs.begin() + form.states, inputs.begin() + form.states + form.sequences);
  const Tensors captured(inputs.begin() + form.states + form.sequences, inputs.end());
  const Dims written_axes = node.attributes.Ints("scan_input_axes", Dims(form.sequences, 0));
  const Dims directions = node.attributes.Ints("scan_input_directions", Dims(form.sequences, 0));
  std::vector<int> axes;
  int64_t length = 0;
  for (int s = 0; s < form.sequences; ++s) {
    HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written_axes[s], sequences[s].rank()));
    axes.push_back(axis);
    if (s == 0) length = sequences[s].dims()[axis];
    if (sequences[s].dims()[axis] == length) continue;
    return Error("sequence ", s, " has ", sequences[s].dims()[axis], " elements, the first has ", length);
  }
  Collected collected(node, form, *nested);
  for (int64_t i = 0; i < length; ++i) {
    HALFTONE_RETURN_IF_ERROR(SpendBodyRun(budget));
    Tensors slices;
    for (int s = 0; s < form.sequences; ++s) {
      slices.push_back(TakeSlice(sequences[s], axes[s], directions[s] != 0 ? length - 1 - i : i));
    }
    HALFTONE_ASSIGN_OR_RETURN(Tensors outputs, Run(body, "body", Inputs({}, states, slices, captured), budget));
    HALFTONE_RETURN_IF_ERROR(collected.Take(std::move(outputs), states));
  }
  return collected.Results(std::move(states));
}

absl::StatusOr<Tensors> While(const Node& node, const Tensors& inputs, Budget& budget) {
  const std::shared_ptr<const Graph> test = NestedGraph(node, "condition"), step = NestedGraph(node, "body");
  const PreparedGraph condition(*test), body(*step);
  Tensors states = inputs;
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const Tensors truth, Run(condition, "condition", states, budget));
    HALFTONE_ASSIGN_OR_RETURN(const bool going, Truth(truth[0]));
    if (!going) return states;
    HALFTONE_RETURN_IF_ERROR(SpendBodyRun(budget));
    HALFTONE_ASSIGN_OR_RETURN(states, Run(body, "body", states, budget));
  }
}

absl::StatusOr<Tensors> One(const Node& node, std::string_view name, const Tensors& inputs, Budget& budget) {
  const std::shared_ptr<const Graph> nested = NestedGraph(node, name);
  return Run(PreparedGraph(*nested), name, inputs, budget);
}

}  // namespace

absl::StatusOr<Tensors> ControlFlow(const Node& node, const Tensors& inputs, Budget& budget) {
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  if (inputs.size() != node.inputs.size()) return Error(inputs.size(), " tensors for ", node.inputs.size(), " inputs");
  switch (node.op) {
    case OpKind::kLoop:
      return Loop(node, form, inputs, budget);
    case OpKind::kScan:
      return Scan(node, form, inputs, budget);
    case OpKind::kWhile:
      return While(node, inputs, budget);
    case OpKind::kCall:
      return One(node, "body", inputs, budget);
    default:
      break;
  }
  HALFTONE_ASSIGN_OR_RETURN(const bool then, Truth(inputs[0]));
  return One(node, then ? "then" : "else", Tensors(inputs.begin() + 1, inputs.end()), budget);
}

}  // namespace halftone::reference
