#include "runtime/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/memory.h"
#include "runtime/plan_builder.h"
#include "runtime/statistics.h"

namespace halftone {
namespace {

class PlanImpl final : public Plan {
 public:
  PlanImpl(const Graph& graph, const CompileOptions& options, const Backend& backend)
      : graph_(graph), threads_(options.threads), backend_(backend) {}

  absl::Status Prepare(const CompileOptions& options) {
    backend_.UseThreads(threads_);
    HALFTONE_ASSIGN_OR_RETURN(planned_, PlanGraph(graph_, options, backend_));
    return LayOutMemory();
  }

  absl::StatusOr<std::vector<Tensor>> Run(std::span<const Tensor> inputs) override {
    HALFTONE_RETURN_IF_ERROR(TakeInputs(inputs));
    backend_.UseThreads(threads_);
    for (PlannedStep& step : planned_.steps) {
      if (step.step == nullptr) continue;
      if (absl::Status status = step.step->Run(); !status.ok()) return Annotate(std::move(status), step.info.label);
    }
    return CopyOutputs();
  }

  absl::StatusOr<std::vector<StepInfo>> Profile(std::span<const Tensor> inputs, int repetitions) override {
    using Clock = std::chrono::steady_clock;
    HALFTONE_RETURN_IF_ERROR(Run(inputs).status());  // warm
    std::vector<std::vector<double>> times(planned_.steps.size());
    for (int repetition = 0; repetition < std::max(repetitions, 1); ++repetition) {
      for (size_t i = 0; i < planned_.steps.size(); ++i) {
        if (planned_.steps[i].step == nullptr) continue;
        const Clock::time_point start = Clock::now();
        HALFTONE_RETURN_IF_ERROR(planned_.steps[i].step->Run());
        times[i].push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
      }
    }
    std::vector<StepInfo> result = steps();
    for (size_t i = 0; i < result.size(); ++i) {
      if (!times[i].empty()) result[i].median_us = Median(times[i]);
    }
    return result;
  }

  std::vector<StepInfo> steps() const override {
    std::vector<StepInfo> result;
    for (const PlannedStep& step : planned_.steps) result.push_back(step.info);
    return result;
  }

  size_t arena_bytes() const override { return arena_.size(); }
  int threads() const override { return threads_; }

 private:
  absl::Status LayOutMemory() {
    std::vector<MemoryRequest> requests;
    std::vector<int> blocks;
    size_t scratch_bytes = 0;
    for (size_t i = 0; i < planned_.blocks.size(); ++i) {
      const Block& block = planned_.blocks[i];
      if (block.kind != Block::Kind::kArena || block.last_step < 0) continue;
      requests.push_back({block.bytes, block.first_step, block.last_step});
      blocks.push_back(static_cast<int>(i));
    }
    for (const PlannedStep& step : planned_.steps) scratch_bytes = std::max(scratch_bytes, step.scratch_bytes);
    const MemoryLayout layout = PlaceInArena(requests);
    HALFTONE_ASSIGN_OR_RETURN(arena_, Pages::Allocate(layout.total + scratch_bytes));
    scratch_ = arena_.data() + layout.total;

    addresses_.assign(planned_.blocks.size(), nullptr);
    for (size_t i = 0; i < blocks.size(); ++i) addresses_[blocks[i]] = arena_.data() + layout.offsets[i];
    for (size_t i = 0; i < planned_.blocks.size(); ++i) {
      const Block& block = planned_.blocks[i];
      // Steps promise not to write to what they do not own, and constants are never owned.
      if (block.kind == Block::Kind::kConstant) addresses_[i] = const_cast<std::byte*>(block.constant->data());
    }
    for (size_t i = 0; i < planned_.steps.size(); ++i) {
      const PlannedStep& step = planned_.steps[i];
      const bool reads_input = std::any_of(step.inputs.begin(), step.inputs.end(), [&](int block) {
        return planned_.blocks[block].kind == Block::Kind::kInput;
      });
      if (step.step == nullptr) continue;
      if (reads_input) {
        reads_input_.push_back(static_cast<int>(i));
      } else {
        Bind(planned_.steps[i]);
      }
    }
    return absl::OkStatus();
  }

  void Bind(PlannedStep& step) {
    std::vector<std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (const int block : step.inputs) inputs.push_back(addresses_[block]);
    for (const int block : step.outputs) outputs.push_back(block < 0 ? nullptr : addresses_[block]);
    step.step->Bind(inputs, outputs, scratch_);
  }

  // Checks the tensors and points the steps that read them at them.
  absl::Status TakeInputs(std::span<const Tensor> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return absl::InvalidArgumentError(Concat(inputs.size(), " inputs given, the model has ", graph_.inputs().size()));
    }
    bool moved = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId value = graph_.output(graph_.inputs()[i]);
      if (inputs[i].type() != graph_.type(value) || inputs[i].shape() != graph_.shape(value)) {
        return absl::InvalidArgumentError(Concat(
            "input '", graph_.value(value).name, "' is ", DataTypeName(inputs[i].type()), inputs[i].shape().ToString(),
            ", the plan was made for ", DataTypeName(graph_.type(value)), graph_.shape(value).ToString()));
      }
      std::byte*& address = addresses_[planned_.inputs[i]];
      std::byte* given = const_cast<std::byte*>(inputs[i].raw());  // never written: inputs are not owned by a step
      moved = moved || address != given;
      address = given;
    }
    if (moved) {
      for (const int step : reads_input_) Bind(planned_.steps[step]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> CopyOutputs() {
    std::vector<Tensor> results;
    results.reserve(planned_.outputs.size());
    for (size_t i = 0; i < planned_.outputs.size(); ++i) {
      const GraphOutput& output = graph_.outputs()[i];
      Tensor tensor(graph_.type(output.value), planned_.output_dims[i]);
      if (tensor.byte_size() > 0)
        std::memcpy(tensor.mutable_raw(), addresses_[planned_.outputs[i]], tensor.byte_size());
      results.push_back(std::move(tensor));
    }
    return results;
  }

  const Graph graph_;
  const int threads_;
  const Backend& backend_;
  PlannedGraph planned_;
  Pages arena_;
  std::byte* scratch_ = nullptr;
  std::vector<std::byte*> addresses_;  // of blocks
  std::vector<int> reads_input_;       // steps to bind again when the caller's tensors move
};

}  // namespace

absl::StatusOr<std::unique_ptr<Plan>> Plan::Compile(const Graph& graph, const CompileOptions& options,
                                                    const Backend& backend) {
  if (options.threads < 1) return absl::InvalidArgumentError("a plan needs at least one thread");
  auto plan = std::make_unique<PlanImpl>(graph, options, backend);
  HALFTONE_RETURN_IF_ERROR(plan->Prepare(options));
  return plan;
}

std::string Plan::OpText(const Graph& graph, NodeId node) {
  std::string text(OpName(graph.op(node)));
  const OpKind op = graph.op(node);
  if (op != OpKind::kConv && op != OpKind::kMatMul) return text;
  if (graph.input(node, 2).valid()) text += "+bias";
  if (graph.input(node, 3).valid()) text += "+residual";
  const std::string activation = graph.node(node).attributes.String("activation", "");
  if (!activation.empty()) absl::StrAppend(&text, "+", activation);
  return text;
}

}  // namespace halftone
