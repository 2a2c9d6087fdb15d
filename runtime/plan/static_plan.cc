// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/static_plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/plan/runnable.h"

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
  BindTensors(inputs);
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

void StaticPlan::BindTensors(std::span<const Tensor> inputs) {
  std::vector<std::byte*> addresses;
  addresses.reserve(inputs.size());
  // Never written: an input that was not donated is not owned by a step.
  for (const Tensor& input : inputs) addresses.push_back(const_cast<std::byte*>(input.raw()));
  BindInputs(addresses);
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
  for (size_t i = 0; i < planned_.blocks.size(); ++i) {
    const Block& block = planned_.blocks[i];
    if (!block.InArena()) continue;
    requests.push_back({block.bytes, std::max(block.first_step, 0), block.last_step});
    blocks.push_back(static_cast<int>(i));
  }
  const MemoryLayout layout = PlaceInArena(requests);
  if (layout.total > MemoryLimit()) return TooLarge(layout.total);
  HALFTONE_ASSIGN_OR_RETURN(arena_, Pages::Allocate(layout.total));

  addresses_.assign(planned_.blocks.size(), nullptr);
  for (size_t i = 0; i < blocks.size(); ++i) addresses_[blocks[i]] = arena_.data() + layout.offsets[i];
  for (size_t i = 0; i < planned_.blocks.size(); ++i) {
    const Block& block = planned_.blocks[i];
    // Steps do not write to what they do not own, and constants are never owned.
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
    if (block.kind != Block::Kind::kArena || !block.value.valid()) continue;
    if (largest == nullptr || block.bytes > largest->bytes) largest = &block;
  }
  const std::string total =
      Concat("the values of this graph take ", bytes, " bytes, more than this machine's ", MemoryLimit());
  if (largest == nullptr) return absl::ResourceExhaustedError(total);
  const ValueId value = largest->value;
  return absl::ResourceExhaustedError(Concat("node '", graph_.Label(graph_.producer(value)), "': ", total,
                                             "; the largest is ", ValueLabel(graph_, value), " of shape ",
                                             graph_.shape(value).ToString()));
}

void StaticPlan::BindStep(PlannedStep& step) {
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const int block : step.inputs) inputs.push_back(addresses_[block]);
  for (const int block : step.outputs) outputs.push_back(block < 0 ? nullptr : addresses_[block]);
  step.step->Bind(inputs, outputs, step.scratch < 0 ? nullptr : addresses_[step.scratch]);
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

absl::Status StaticPlan::WithSteps(std::span<const Tensor> inputs,
                                   absl::FunctionRef<absl::Status(std::span<const BoundStep>)> work) {
  HALFTONE_RETURN_IF_ERROR(CheckInputs(inputs));
  BindTensors(inputs);
  const auto memory_of = [&](const std::vector<int>& blocks) {
    std::vector<BoundStep::Memory> result;
    for (const int block : blocks) {
      if (block < 0) {
        result.emplace_back();
        continue;
      }
      const Block& b = planned_.blocks[block];
      result.push_back({addresses_[block], b.bytes, b.kind == Block::Kind::kConstant});
    }
    return result;
  };
  std::vector<BoundStep> steps;
  for (const int i : active_) {
    const PlannedStep& step = planned_.steps[i];
    BoundStep bound{&step.info, step.step.get(), memory_of(step.inputs), memory_of(step.outputs), step.placements};
    if (step.scratch >= 0) {
      bound.scratch = addresses_[step.scratch];
      bound.scratch_bytes = planned_.blocks[step.scratch].bytes;
    }
    steps.push_back(std::move(bound));
  }
  request_.backend.UseThreads(request_.options.threads);
  const RunClock::Scope scope(*request_.clock);
  return work(steps);
}

PlanMemory StaticPlan::memory() const {
  PlanMemory memory{.arena = arena_.size()};
  const size_t moments = planned_.steps.size() + 1;                      // the last: outputs are handed out
  std::vector<int64_t> values(moments + 1, 0), scratch(moments + 1, 0);  // by how much more is alive than before
  for (const Block& block : planned_.blocks) {
    if (block.kind == Block::Kind::kConstant) memory.constants += block.bytes;
    if (!block.InArena()) continue;
    const bool is_value = block.kind == Block::Kind::kArena;
    if (!is_value) memory.scratch = std::max(memory.scratch, block.bytes);
    std::vector<int64_t>& change = is_value ? values : scratch;
    change[std::max(block.first_step, 0)] += static_cast<int64_t>(block.bytes);
    change[block.last_step + 1] -= static_cast<int64_t>(block.bytes);
  }
  int64_t alive = 0, with_scratch = 0, most = 0, most_with_scratch = 0;
  for (size_t i = 0; i < moments; ++i) {
    most = std::max(most, alive += values[i]);
    most_with_scratch = std::max(most_with_scratch, with_scratch += values[i] + scratch[i]);
  }
  memory.live = static_cast<size_t>(most);
  memory.live_with_scratch = static_cast<size_t>(most_with_scratch);
  return memory;
}

}  // namespace halftone
