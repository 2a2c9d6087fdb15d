#include "runtime/loop_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/dynamic_plan.h"
#include "runtime/static_plan.h"

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
    if (plan->fixed != nullptr && KeepsShapes(*plan, call)) return RunFixed(*plan->fixed, call, trip);
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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> answer, condition_->Run(states));
  return IsTrue(answer[0]);
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

namespace {

// A state, whose bytes the loop owns, or which never changes.
struct State {
  std::shared_ptr<Buffer> buffer;  // null: invariant
  std::byte* data = nullptr;
  size_t bytes = 0;
};

// Copies that bring the body's results to where the states lie. Results that lie where another state does are saved
// first.
class CopyBack {
 public:
  CopyBack(const StaticPlan& plan, int first_output, const std::vector<State>& states) {
    for (size_t i = 0; i < states.size(); ++i) {
      const std::byte* from = plan.output(first_output + i);
      if (states[i].buffer == nullptr || states[i].bytes == 0 || from == states[i].data) continue;
      const bool in_the_way = std::any_of(states.begin(), states.end(), [&](const State& other) {
        return other.buffer != nullptr && other.data == from;
      });
      moves_.push_back({from, states[i].data, states[i].bytes, {}});
      if (in_the_way) moves_.back().saved.resize(states[i].bytes);
    }
  }
  void Do() {
    for (Move& move : moves_) {
      if (!move.saved.empty()) std::memcpy(move.saved.data(), move.from, move.bytes);
    }
    for (Move& move : moves_) std::memcpy(move.to, move.saved.empty() ? move.from : move.saved.data(), move.bytes);
  }

 private:
  struct Move {
    const std::byte* from;
    std::byte* to;
    size_t bytes;
    std::vector<std::byte> saved;
  };
  std::vector<Move> moves_;
};

}  // namespace

absl::Status LoopRunner::RunFixed(StaticPlan& plan, LoopCall& call, int64_t trip) {
  const size_t own = form_.own_inputs, first_state = form_.own_outputs, first_scanned = first_state + form_.states;
  int64_t iteration = trip;
  uint8_t go = 1;
  std::vector<std::byte*> inputs;
  if (own > 0) inputs.push_back(reinterpret_cast<std::byte*>(&iteration));
  if (own > 1) inputs.push_back(reinterpret_cast<std::byte*>(&go));
  std::vector<State> states(call.states.size());
  std::vector<Tensor> views;  // of the states, for the condition
  for (size_t i = 0; i < states.size(); ++i) {
    Tensor& tensor = call.states[i];
    State& state = states[i];
    state.bytes = tensor.byte_size();
    if (invariant_[i]) {
      state.data = const_cast<std::byte*>(tensor.raw());  // not given away, so never written
    } else {
      state.buffer = Buffer::Allocate(state.bytes);
      state.data = state.buffer->mutable_data();
      if (state.bytes > 0) std::memcpy(state.data, tensor.raw(), state.bytes);
    }
    inputs.push_back(state.data);
    if (condition_ != nullptr)
      views.emplace_back(tensor.type(), tensor.dims(), Buffer::View(state.data, state.bytes, nullptr));
  }
  std::vector<std::shared_ptr<Buffer>> slices;
  for (const Tensor& sequence : call.sequences) {
    slices.push_back(Buffer::Allocate(call.trips == 0 ? 0 : sequence.byte_size() / static_cast<size_t>(call.trips)));
    inputs.push_back(slices.back()->mutable_data());
  }
  for (const Tensor& captured : call.captured) inputs.push_back(const_cast<std::byte*>(captured.raw()));
  plan.BindInputs(inputs);
  CopyBack copy_back(plan, static_cast<int>(first_state), states);

  absl::Status status;
  while (true) {
    for (size_t i = 0; i < slices.size(); ++i) {
      CopySlice(call.sequences[i], call.sequence_axes[i],
                call.sequence_reversed[i] ? call.trips - 1 - iteration : iteration, slices[i]->mutable_data());
    }
    status = plan.RunSteps();
    if (!status.ok()) break;
    const bool goes_on = first_state == 0 || *plan.output(0) != std::byte{0};
    for (size_t i = 0; i < call.scanned.size() && status.ok(); ++i)
      status = call.scanned[i].Add(plan.output_dims(first_scanned + i), plan.output(first_scanned + i));
    if (!status.ok()) break;
    copy_back.Do();
    ++iteration;
    if (!goes_on || iteration >= call.trips) break;
    if (condition_ != nullptr) {
      absl::StatusOr<bool> answer = AskCondition(views);
      status = answer.status();
      if (!status.ok() || !*answer) break;
    }
    status = CheckLimits(iteration);
    if (!status.ok()) break;
  }
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].buffer != nullptr)
      call.states[i] = Tensor(call.states[i].type(), call.states[i].dims(), std::move(states[i].buffer));
  }
  return status;
}

}  // namespace halftone
