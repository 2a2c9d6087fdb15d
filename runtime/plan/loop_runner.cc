// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/loop_runner.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/plan/dynamic_plan.h"
#include "runtime/plan/static_loop.h"
#include "runtime/plan/static_plan.h"

namespace halftone {

absl::StatusOr<bool> IsTrue(const Tensor& condition) {
  if (condition.num_elements() != 1 || ElementSize(condition.type()) == 0) {
    return absl::InvalidArgumentError(Concat("the condition must be one element, not ", DataTypeName(condition.type()),
                                             condition.shape().ToString()));
  }
  if (condition.type() == DataType::kBool) return *condition.raw() != std::byte{0};
  return condition.ToDoubles()[0] != 0;
}

std::vector<Tensor> LoopRunner::Arguments(const LoopCall& call, int64_t trip) const {
  std::vector<Tensor> arguments;
  const Graph& graph = body_.graph();
  for (int i = 0; i < form_.own_inputs; ++i) {  // iteration, condition: [] or [1], as the body says
    const Shape& shape = graph.shape(graph.output(graph.inputs()[i]));
    const std::vector<int64_t> dims(shape.has_rank() && shape.rank() == 1 ? 1 : 0, 1);
    Tensor own(i == 0 ? DataType::kInt64 : DataType::kBool, dims);
    if (i == 0)
      own.mutable_data<int64_t>()[0] = trip;
    else
      own.mutable_data<bool>()[0] = call.go;
    arguments.push_back(std::move(own));
  }
  arguments.insert(arguments.end(), call.states.begin(), call.states.end());
  for (size_t i = 0; i < call.sequences.size(); ++i) {
    const Tensor& whole = call.sequences[i];
    std::vector<int64_t> dims = whole.dims();
    dims.erase(dims.begin() + call.sequence_axes[i]);
    Tensor slice(whole.type(), dims);
    if (trip < call.trips)
      CopySlice(whole, call.sequence_axes[i], call.sequence_reversed[i] ? call.trips - 1 - trip : trip,
                slice.mutable_raw());
    arguments.push_back(std::move(slice));
  }
  arguments.insert(arguments.end(), call.captured.begin(), call.captured.end());
  return arguments;
}

absl::Status LoopRunner::Run(LoopCall& call) {
  for (int64_t trip = 0;; ++trip) {
    if (condition_ != nullptr) {
      HALFTONE_ASSIGN_OR_RETURN(call.go, AskCondition(call.states));
    }
    if (!call.go || trip >= call.trips) return absl::OkStatus();
    HALFTONE_RETURN_IF_ERROR(CheckLimits(trip));
    const std::vector<Tensor> arguments = Arguments(call, trip);
    HALFTONE_ASSIGN_OR_RETURN(BodyPlan* const plan, body_.For(arguments));
    if (plan->fixed != nullptr && KeepsShapes(*plan, call)) return RunStatic(*plan->fixed, call, trip);
    HALFTONE_RETURN_IF_ERROR(RunOnce(arguments, call));
  }
}

bool LoopRunner::KeepsShapes(const BodyPlan& plan, const LoopCall& call) const {
  const Graph& graph = plan.fixed->graph();
  for (size_t i = 0; i < call.states.size(); ++i) {
    const size_t output = i + form_.own_outputs;
    if (plan.fixed->output_dims(output) != call.states[i].dims() ||
        graph.type(graph.outputs()[output].value) != call.states[i].type())
      return false;
  }
  return true;
}

absl::Status LoopRunner::CheckLimits(int64_t trip) const {
  if (trip >= request_.options.loops.iterations) {
    return absl::ResourceExhaustedError(Concat("the loop did not end within ", trip, " iterations"));
  }
  if (request_.clock->IsOver()) {
    return absl::ResourceExhaustedError(Concat("the loop was in iteration ", trip, " when the time of the run, ",
                                               request_.clock->seconds(), " s, was over"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LoopRunner::AskCondition(std::span<const Tensor> states) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, condition_->Run(states));
  return IsTrue(outputs[0]);
}

absl::Status LoopRunner::RunOnce(std::span<const Tensor> arguments, LoopCall& call) {
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, body_.Run(arguments));
  if (form_.own_outputs > 0) {
    HALFTONE_ASSIGN_OR_RETURN(call.go, IsTrue(outputs[0]));
  }
  for (size_t i = 0; i < call.scanned.size(); ++i) {
    const Tensor& value = outputs[form_.own_outputs + form_.states + i];
    HALFTONE_RETURN_IF_ERROR(call.scanned[i].Add(value.dims(), value.raw()));
  }
  for (size_t i = 0; i < call.states.size(); ++i) call.states[i] = std::move(outputs[form_.own_outputs + i]);
  return absl::OkStatus();
}

absl::Status LoopRunner::RunStatic(StaticPlan& plan, LoopCall& call, int64_t trip) {
  StaticLoop loop(form_, invariant_, plan, call, trip);
  if (condition_ != nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(BodyPlan* const made, condition_->For(loop.StateViews()));
    if (made->fixed != nullptr) loop.UseCondition(*made->fixed);
  }
  absl::Status status;
  while (true) {
    status = loop.RunBody();
    if (!status.ok() || !loop.GoesOn()) break;
    if (condition_ != nullptr) {
      absl::StatusOr<bool> goes_on = loop.has_condition() ? loop.AskCondition() : AskCondition(loop.StateViews());
      status = goes_on.status();
      if (!status.ok() || !*goes_on) break;
    }
    status = CheckLimits(loop.trip());
    if (!status.ok()) break;
  }
  loop.TakeStates();
  return status;
}

}  // namespace halftone
