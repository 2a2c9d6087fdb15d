#include "runtime/static_plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/runnable.h"

namespace halftone {

absl::StatusOr<std::unique_ptr<StaticPlan>> StaticPlan::Make(Graph graph, const PlanRequest& request) {
  auto plan = std::unique_ptr<StaticPlan>(new StaticPlan(std::move(graph), request));
  request.backend.UseThreads(request.options.threads);
  HALFTONE_ASSIGN_OR_RETURN(plan->planned_, PlanGraph(plan->graph_, plan->request_));
  HALFTONE_RETURN_IF_ERROR(plan->LayOutMemory());
  return plan;
}

absl::StatusOr<std::vector<Tensor>> StaticPlan::Run(std::span<const Tensor> inputs) {
  HALFTONE_RETURN_IF_ERROR(CheckInputs(inputs));
  std::vector<std::byte*> addresses;
  addresses.reserve(inputs.size());
  // Never written: an input that nobody gave away is not owned by a step.
  for (const Tensor& input : inputs) addresses.push_back(const_cast<std::byte*>(input.raw()));
  BindInputs(addresses);
  request_.backend.UseThreads(request_.options.threads);
  const RunClock::Scope scope(*request_.clock);
  HALFTONE_RETURN_IF_ERROR(RunSteps());

  std::vector<Tensor> results;
  results.reserve(num_outputs());
  for (size_t i = 0; i < num_outputs(); ++i) {
    Tensor tensor(graph_.type(graph_.outputs()[i].value), output_dims(i));
    if (output_bytes_[i] > 0) std::memcpy(tensor.mutable_raw(), output(i), output_bytes_[i]);
    results.push_back(std::move(tensor));
  }
  return results;
}

absl::Status StaticPlan::RunSteps() {
  if (timing_) return RunTimed();
  for (const int i : active_) {
    PlannedStep& step = planned_.steps[i];
    if (absl::Status status = step.step->Run(); !status.ok()) return Annotate(std::move(status), step.info.label);
  }
  return absl::OkStatus();
}

absl::Status StaticPlan::RunTimed() {
  using Clock = std::chrono::steady_clock;
  for (const int i : active_) {
    PlannedStep& step = planned_.steps[i];
    const Clock::time_point start = Clock::now();
    if (absl::Status status = step.step->Run(); !status.ok()) return Annotate(std::move(status), step.info.label);
    step.spent_us += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  return absl::OkStatus();
}

void StaticPlan::SetTiming(bool on) {
  timing_ = on;
  for (PlannedStep& step : planned_.steps) {
    if (on) step.spent_us = 0;
    if (step.step != nullptr && step.step->nested() != nullptr) step.step->nested()->SetTiming(on);
  }
}

std::vector<StepInfo> StaticPlan::steps() const {
  std::vector<StepInfo> result;
  for (const PlannedStep& step : planned_.steps) {
    result.push_back(step.info);
    if (timing_ && step.step != nullptr) result.back().median_us = step.spent_us;
    if (step.step != nullptr && step.step->nested() != nullptr)
      AppendNested(step.step->nested()->steps(), result.size() - 1, result);
  }
  return result;
}

size_t StaticPlan::arena_bytes() const {
  size_t bytes = arena_.size();
  for (const PlannedStep& step : planned_.steps) {
    if (step.step != nullptr && step.step->nested() != nullptr) bytes += step.step->nested()->arena_bytes();
  }
  return bytes;
}

absl::Status StaticPlan::LayOutMemory() {
  std::vector<MemoryRequest> requests;
  std::vector<int> blocks;
  size_t scratch_bytes = 0;
  for (size_t i = 0; i < planned_.blocks.size(); ++i) {
    const Block& block = planned_.blocks[i];
    if (block.kind != Block::Kind::kArena || block.last_step < 0) continue;
    requests.push_back({block.bytes, std::max(block.first_step, 0), block.last_step});
    blocks.push_back(static_cast<int>(i));
  }
  for (const PlannedStep& step : planned_.steps) scratch_bytes = std::max(scratch_bytes, step.scratch_bytes);
  const MemoryLayout layout = PlaceInArena(requests);
  if (layout.total + scratch_bytes > MemoryLimit()) return TooLarge(layout.total + scratch_bytes);
  HALFTONE_ASSIGN_OR_RETURN(arena_, Pages::Allocate(layout.total + scratch_bytes));
  scratch_ = arena_.data() + layout.total;

  addresses_.assign(planned_.blocks.size(), nullptr);
  for (size_t i = 0; i < blocks.size(); ++i) addresses_[blocks[i]] = arena_.data() + layout.offsets[i];
  for (size_t i = 0; i < planned_.blocks.size(); ++i) {
    const Block& block = planned_.blocks[i];
    // Steps promise not to write to what they do not own, and constants are never owned.
    if (block.kind == Block::Kind::kConstant && block.constant != nullptr)
      addresses_[i] = const_cast<std::byte*>(block.constant->data());
  }
  for (size_t i = 0; i < planned_.steps.size(); ++i) {
    PlannedStep& step = planned_.steps[i];
    if (step.step == nullptr) continue;
    active_.push_back(static_cast<int>(i));
    const auto is_input = [&](int block) { return block >= 0 && planned_.blocks[block].kind == Block::Kind::kInput; };
    if (std::any_of(step.inputs.begin(), step.inputs.end(), is_input) ||
        std::any_of(step.outputs.begin(), step.outputs.end(), is_input)) {
      reads_input_.push_back(static_cast<int>(i));
    } else {
      BindStep(step);
    }
  }
  for (size_t i = 0; i < num_outputs(); ++i) {
    size_t bytes = ElementSize(graph_.type(graph_.outputs()[i].value));
    for (const int64_t dim : output_dims(i)) bytes *= static_cast<size_t>(dim);
    output_bytes_.push_back(bytes);
  }
  return absl::OkStatus();
}

// Names the largest of the values that the memory is for.
absl::Status StaticPlan::TooLarge(size_t bytes) const {
  const Block* largest = nullptr;
  for (const Block& block : planned_.blocks) {
    if (block.kind != Block::Kind::kArena || block.values.empty()) continue;
    if (largest == nullptr || block.bytes > largest->bytes) largest = &block;
  }
  const std::string total =
      Concat("the values of this graph take ", bytes, " bytes, more than this machine's ", MemoryLimit());
  if (largest == nullptr) return absl::ResourceExhaustedError(total);
  const ValueId value = largest->values.front();
  return absl::ResourceExhaustedError(Concat("node '", graph_.Label(graph_.producer(value)), "': ", total,
                                             "; the largest is ", ValueLabel(graph_, value), " of shape ",
                                             graph_.shape(value).ToString()));
}

void StaticPlan::BindStep(PlannedStep& step) {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const int block : step.inputs) inputs.push_back(addresses_[block]);
  for (const int block : step.outputs) outputs.push_back(block < 0 ? nullptr : addresses_[block]);
  step.step->Bind(inputs, outputs, scratch_);
}

absl::Status StaticPlan::CheckInputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != graph_.inputs().size()) {
    return absl::InvalidArgumentError(Concat(inputs.size(), " inputs given, the model has ", graph_.inputs().size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId value = graph_.output(graph_.inputs()[i]);
    const Shape& shape = graph_.shape(value);
    const std::vector<int64_t>& dims = inputs[i].dims();
    const auto same = [](int64_t dim, const Dim& wanted) { return dim == wanted.value; };
    if (inputs[i].type() != graph_.type(value) ||
        !std::equal(dims.begin(), dims.end(), shape.dims().begin(), shape.dims().end(), same)) {
      return absl::InvalidArgumentError(Concat(
          "input '", graph_.value(value).name, "' is ", DataTypeName(inputs[i].type()), inputs[i].shape().ToString(),
          ", the plan was made for ", DataTypeName(graph_.type(value)), graph_.shape(value).ToString()));
    }
  }
  return absl::OkStatus();
}

void StaticPlan::BindInputs(std::span<std::byte* const> inputs) {
  bool moved = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::byte*& address = addresses_[planned_.inputs[i]];
    moved = moved || address != inputs[i];
    address = inputs[i];
  }
  if (!moved) return;
  for (const int step : reads_input_) BindStep(planned_.steps[step]);
}

}  // namespace halftone
