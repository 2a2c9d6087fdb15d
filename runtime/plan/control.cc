// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/control.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/nested.h"
#include "runtime/plan/body_plans.h"
#include "runtime/plan/loop_runner.h"

namespace halftone {

bool IsControlFlow(OpKind op) { return HasNestedGraphs(op); }

namespace {

// if: one of two graphs. call: the only one.
class Branches final : public ControlFlow {
 public:
  // `offset`: how many inputs of the node come before those of the graphs.
  Branches(std::vector<std::unique_ptr<BodyPlans>> graphs, int offset) : graphs_(std::move(graphs)), offset_(offset) {}

  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) override {
    size_t taken = 0;
    if (offset_ > 0) {
      HALFTONE_ASSIGN_OR_RETURN(const bool condition, IsTrue(inputs[0]));
      taken = condition ? 0 : 1;
    }
    return graphs_[taken]->Run(inputs.subspan(offset_));
  }

  void Prepare(std::span<const Tensor> inputs) override {
    for (const std::unique_ptr<BodyPlans>& graph : graphs_) graph->For(inputs.subspan(offset_)).status().IgnoreError();
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> result;
    for (const std::unique_ptr<BodyPlans>& graph : graphs_) {
      for (StepInfo& step : graph->steps()) result.push_back(std::move(step));
    }
    return result;
  }
  void SetTiming(bool on) override {
    for (const std::unique_ptr<BodyPlans>& graph : graphs_) graph->SetTiming(on);
  }
  size_t arena_bytes() const override {
    size_t bytes = 0;
    for (const std::unique_ptr<BodyPlans>& graph : graphs_) bytes += graph->arena_bytes();
    return bytes;
  }

 private:
  const std::vector<std::unique_ptr<BodyPlans>> graphs_;
  const int offset_;
};

// How the sequences of a scan are read, and what it collects written.
struct ScanAxes {
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
  int64_t output_axis(size_t i) const { return i < output_axes.size() ? output_axes[i] : 0; }
  bool output_reversed(size_t i) const { return i < output_directions.size() && output_directions[i] == 1; }
};

class Loops final : public ControlFlow {
 public:
  Loops(OpKind op, const NestedForm& form, ScanAxes axes, std::vector<bool> invariant, std::unique_ptr<BodyPlans> body,
        std::unique_ptr<BodyPlans> condition, const PlanRequest& request)
      : op_(op),
        form_(form),
        axes_(std::move(axes)),
        request_(request),
        body_(std::move(body)),
        condition_(std::move(condition)),
        runner_(form_, std::move(invariant), *body_, condition_.get(), request_) {}

  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) override {
    HALFTONE_ASSIGN_OR_RETURN(LoopCall call, Start(inputs));
    HALFTONE_RETURN_IF_ERROR(runner_.Run(call));
    std::vector<Tensor> results = std::move(call.states);
    for (size_t i = 0; i < call.scanned.size(); ++i) {
      std::vector<int64_t> none;
      if (call.scanned[i].size() == 0) {
        HALFTONE_ASSIGN_OR_RETURN(none, DimsOfScanned(i, inputs));
      }
      HALFTONE_ASSIGN_OR_RETURN(
          Tensor collected, call.scanned[i].Finish(axes_.output_axis(i), axes_.output_reversed(i), std::move(none)));
      results.push_back(std::move(collected));
    }
    return results;
  }

  void Prepare(std::span<const Tensor> inputs) override {
    absl::StatusOr<LoopCall> call = Start(inputs);
    if (!call.ok()) return;
    call->trips = 0;  // slices are not copied
    body_->For(runner_.Arguments(*call, 0)).status().IgnoreError();
    if (condition_ != nullptr) condition_->For(call->states).status().IgnoreError();
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> result;
    if (condition_ != nullptr) result = condition_->steps();
    for (StepInfo& step : body_->steps()) result.push_back(std::move(step));
    return result;
  }
  void SetTiming(bool on) override {
    body_->SetTiming(on);
    if (condition_ != nullptr) condition_->SetTiming(on);
  }
  size_t arena_bytes() const override {
    return body_->arena_bytes() + (condition_ == nullptr ? 0 : condition_->arena_bytes());
  }

 private:
  absl::StatusOr<LoopCall> Start(std::span<const Tensor> inputs) const {
    LoopCall call;
    size_t next = static_cast<size_t>(form_.offset);
    if (op_ == OpKind::kLoop) {
      next = 2;
      const auto is_there = [&](size_t i) { return i < inputs.size() && inputs[i].type() != DataType::kUnknown; };
      if (is_there(0)) {
        if (inputs[0].num_elements() != 1 || !IsInteger(inputs[0].type())) {
          return absl::InvalidArgumentError(Concat("the trip count must be one integer, not ",
                                                   DataTypeName(inputs[0].type()), inputs[0].shape().ToString()));
        }
        call.trips = std::max<int64_t>(inputs[0].ToInts()[0], 0);
      }
      if (is_there(1)) {
        HALFTONE_ASSIGN_OR_RETURN(call.go, IsTrue(inputs[1]));
      }
    }
    for (int i = 0; i < form_.states; ++i) call.states.push_back(inputs[next++]);
    for (int i = 0; i < form_.sequences; ++i) call.sequences.push_back(inputs[next++]);
    for (int i = 0; i < form_.captured; ++i) call.captured.push_back(inputs[next++]);
    HALFTONE_RETURN_IF_ERROR(LookAtSequences(call));
    const Graph& body = body_->graph();
    for (int i = 0; i < form_.scanned; ++i)
      call.scanned.emplace_back(body.type(body.outputs()[form_.own_outputs + form_.states + i].value));
    return call;
  }

  // All have the same length, which is the number of trips.
  absl::Status LookAtSequences(LoopCall& call) const {
    for (size_t i = 0; i < call.sequences.size(); ++i) {
      const Tensor& sequence = call.sequences[i];
      const int64_t axis = i < axes_.input_axes.size() ? axes_.input_axes[i] : 0;
      if (axis < -sequence.rank() || axis >= sequence.rank()) {
        return absl::InvalidArgumentError(Concat("scan input axis ", axis, " of a sequence of shape ",
                                                 sequence.shape().ToString(), " is not in [", -sequence.rank(), ", ",
                                                 sequence.rank(), ")"));
      }
      const int at = static_cast<int>(axis < 0 ? axis + sequence.rank() : axis);
      const int64_t length = sequence.dims()[at];
      if (i > 0 && length != call.trips) {
        return absl::InvalidArgumentError(
            Concat("sequence ", i, " has ", length, " elements along its axis where sequence 0 has ", call.trips));
      }
      call.trips = length;
      call.sequence_axes.push_back(at);
      call.sequence_reversed.push_back(i < axes_.input_directions.size() && axes_.input_directions[i] == 1);
    }
    return absl::OkStatus();
  }

  // Of one value, where the body never ran: what its graph says, 0 where it does not.
  absl::StatusOr<std::vector<int64_t>> DimsOfScanned(size_t index, std::span<const Tensor> inputs) {
    HALFTONE_ASSIGN_OR_RETURN(LoopCall call, Start(inputs));
    call.trips = 0;  // slices are not copied
    HALFTONE_ASSIGN_OR_RETURN(const BodyPlan* const plan, body_->For(runner_.Arguments(call, 0)));
    const Shape& shape = plan->outputs[form_.own_outputs + form_.states + index];
    std::vector<int64_t> dims;
    if (!shape.has_rank()) return dims;
    for (const Dim& dim : shape.dims()) dims.push_back(dim.known() ? dim.value : 0);
    return dims;
  }

  const OpKind op_;
  const NestedForm form_;
  const ScanAxes axes_;
  const PlanRequest request_;
  const std::unique_ptr<BodyPlans> body_;
  const std::unique_ptr<BodyPlans> condition_;
  LoopRunner runner_;
};

// States that the body gives back as they are.
std::vector<bool> Invariants(const NestedForm& form, const Graph& body) {
  std::vector<bool> result(form.states, false);
  for (int i = 0; i < form.states; ++i) {
    result[i] = body.outputs()[form.own_outputs + i].value == body.output(body.inputs()[form.own_inputs + i]);
  }
  return result;
}

// Which inputs of the body lie in memory of the loop and may be written over: states, slices.
std::vector<bool> Donated(const NestedForm& form, const std::vector<bool>& invariant) {
  std::vector<bool> result(form.own_inputs, false);
  for (const bool stays : invariant) result.push_back(!stays);
  result.insert(result.end(), form.sequences, true);
  result.insert(result.end(), form.captured, false);
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ControlFlow>> ControlFlow::Make(const Graph& graph, NodeId id,
                                                               const ConstantOf& constant, const PlanRequest& request) {
  const Node& node = graph.node(id);
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  PlanRequest inner = request;
  inner.donated.clear();
  const int num_inputs = static_cast<int>(node.inputs.size());
  // Binds what never changes among the inputs of a nested graph.
  const auto bind = [&](BodyPlans& plans, const std::function<bool(int)>& stays) {
    for (int j = 0; j + form.offset < num_inputs; ++j) {
      const Tensor* tensor = node.inputs[j + form.offset].valid() && stays(j) ? constant(j + form.offset) : nullptr;
      if (tensor != nullptr) plans.BindConstant(j, *tensor);
    }
  };
  if (node.op == OpKind::kIf || node.op == OpKind::kCall) {
    std::vector<std::unique_ptr<BodyPlans>> graphs;
    for (const std::string_view name : NestedGraphNames(node.op)) {
      graphs.push_back(std::make_unique<BodyPlans>(*NestedGraph(node, name), inner, std::vector<bool>()));
      bind(*graphs.back(), [](int) { return true; });
    }
    return std::make_unique<Branches>(std::move(graphs), form.offset);
  }
  const std::shared_ptr<const Graph> body = NestedGraph(node, "body");
  std::vector<bool> invariant = Invariants(form, *body);
  auto plans = std::make_unique<BodyPlans>(*body, inner, Donated(form, invariant));
  const auto stays = [&](int j) {
    const int state = j - form.own_inputs;
    return state >= form.states ? state >= form.states + form.sequences : state >= 0 && invariant[state];
  };
  bind(*plans, stays);
  std::unique_ptr<BodyPlans> condition;
  if (node.op == OpKind::kWhile) {
    condition = std::make_unique<BodyPlans>(*NestedGraph(node, "condition"), inner, std::vector<bool>());
    bind(*condition, stays);
  }
  ScanAxes axes{node.attributes.Ints("scan_input_axes"), node.attributes.Ints("scan_input_directions"),
                node.attributes.Ints("scan_output_axes"), node.attributes.Ints("scan_output_directions")};
  return std::make_unique<Loops>(node.op, form, std::move(axes), std::move(invariant), std::move(plans),
                                 std::move(condition), inner);
}

}  // namespace halftone
