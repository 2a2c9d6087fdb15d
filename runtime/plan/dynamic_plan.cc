// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/dynamic_plan.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "runtime/plan/body_plans.h"
#include "runtime/plan/runnable.h"

namespace halftone {
namespace {

constexpr size_t kMostFollowers = 64;  // of one stage
constexpr size_t kMostStages = 512;    // of one plan
constexpr size_t kMostBindings = 12;   // before a stage goes on without binding
constexpr int64_t kMostFoldedElements = int64_t{1} << 26;
constexpr int kRoot = 0;

void AppendNumber(std::string& key, int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

const Tensor& TensorOf(const Graph& graph, ValueId value, const std::map<ValueId, Tensor>& values) {
  const auto it = values.find(value);
  return it != values.end() ? it->second : *graph.ConstantTensor(value);
}

}  // namespace

bool NeedsDynamicPlan(const Graph& graph) { return !AllShapesKnown(graph); }

absl::StatusOr<std::unique_ptr<DynamicPlan>> DynamicPlan::Make(const Graph& graph, const PlanRequest& request) {
  auto plan = std::unique_ptr<DynamicPlan>(new DynamicPlan(graph, request));
  {
    GraphEditor edit(plan->graph_);
    edit.RemoveDeadNodes();
  }
  std::vector<std::string> refusals;
  for (const NodeId id : NeededNodes(plan->graph_)) {
    const std::string why = WhyNodeCannotRun(plan->graph_, id, request.backend);
    if (!why.empty()) refusals.push_back(why);
  }
  HALFTONE_RETURN_IF_ERROR(CannotRun(refusals));
  plan->FoldConstants();

  auto root = std::make_unique<Stage>();
  root->graph = plan->graph_;
  plan->Keep(std::move(root));
  Values like;  // where the inputs are known already, the first stages too
  std::vector<ValueId> made;
  for (const NodeId input : plan->graph_.inputs()) {
    const ValueId value = plan->graph_.output(input);
    const Shape& shape = plan->graph_.shape(value);
    if (!shape.fully_known()) return plan;
    HALFTONE_RETURN_IF_ERROR(CheckSize(plan->graph_, value, shape.values(), request.most_value_bytes));
    size_t bytes = ElementSize(plan->graph_.type(value));
    for (const int64_t dim : shape.values()) bytes *= static_cast<size_t>(dim);
    like[value] = Tensor(plan->graph_.type(value), shape.values(), Buffer::View(nullptr, bytes, nullptr));
    made.push_back(value);
  }
  HALFTONE_RETURN_IF_ERROR(plan->Follow(kRoot, made, like).status());
  return plan;
}

// Once, and not for each stage.
void DynamicPlan::FoldConstants() {
  GraphEditor edit(graph_);
  for (const NodeId id : graph_.TopologicalOrder()) {
    const Node node = graph_.node(id);
    if (node.inputs.empty() || !reference::HasReference(node.op) || IsControlFlow(node.op)) continue;
    std::vector<Tensor> inputs;
    for (const ValueId input : node.inputs) {
      const Tensor* tensor = input.valid() ? graph_.ConstantTensor(input) : nullptr;
      if (input.valid() && tensor == nullptr) break;
      inputs.push_back(tensor == nullptr ? Tensor() : *tensor);
    }
    if (inputs.size() != node.inputs.size()) continue;
    const bool large = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
      return output.valid() && graph_.shape(output).num_elements().value_or(0) > kMostFoldedElements;
    });
    if (large) continue;
    absl::StatusOr<std::vector<Tensor>> outputs = reference::EvaluateNode(graph_, id, inputs);
    if (!outputs.ok()) continue;  // told about when the node's turn comes
    for (size_t i = 0; i < outputs->size() && i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid() || (*outputs)[i].type() == DataType::kUnknown) continue;
      edit.ReplaceUses(node.outputs[i], edit.AddConstant("", std::move((*outputs)[i])));
    }
  }
  edit.RemoveDeadNodes();
}

absl::Status DynamicPlan::CheckInputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != graph_.inputs().size()) {
    return absl::InvalidArgumentError(Concat(inputs.size(), " inputs given, the model has ", graph_.inputs().size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId value = graph_.output(graph_.inputs()[i]);
    const Shape& shape = graph_.shape(value);
    bool fits = inputs[i].type() == graph_.type(value);
    if (fits && shape.has_rank()) {
      fits = std::equal(inputs[i].dims().begin(), inputs[i].dims().end(), shape.dims().begin(), shape.dims().end(),
                        [](int64_t dim, const Dim& wanted) { return !wanted.known() || dim == wanted.value; });
    }
    if (!fits) {
      return absl::InvalidArgumentError(Concat(
          "input '", graph_.value(value).name, "' is ", DataTypeName(inputs[i].type()), inputs[i].shape().ToString(),
          ", the plan was made for ", DataTypeName(graph_.type(value)), shape.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> DynamicPlan::Run(std::span<const Tensor> inputs) {
  HALFTONE_RETURN_IF_ERROR(CheckInputs(inputs));
  const RunClock::Scope scope(*request_.clock);
  if (!timing_) ++epoch_;
  Values values;
  std::vector<ValueId> made;
  for (size_t i = 0; i < inputs.size(); ++i) {
    made.push_back(graph_.output(graph_.inputs()[i]));
    values[made.back()] = inputs[i];
  }
  if (IsCrowded()) MakeRoom(kRoot);
  HALFTONE_ASSIGN_OR_RETURN(int at, Follow(kRoot, made, values));
  while (stages_[at]->kind != Stage::Kind::kDone) {
    Stage& stage = *stages_[at];
    stage.epoch = epoch_;
    made.clear();
    if (stage.kind == Stage::Kind::kHost) {
      HALFTONE_RETURN_IF_ERROR(RunHost(stage, values, made));
    } else if (stage.kind == Stage::Kind::kPlan) {
      HALFTONE_RETURN_IF_ERROR(RunPlan(stage, values));
    }
    HALFTONE_ASSIGN_OR_RETURN(at, Follow(at, made, values));
  }
  std::vector<Tensor> results;
  for (const GraphOutput& output : stages_[at]->graph.outputs())
    results.push_back(TensorOf(stages_[at]->graph, output.value, values));
  return results;
}

// The stage after this one. `made`: values whose dimensions became known by it, in an order that the stage decides.
absl::StatusOr<int> DynamicPlan::Follow(int at, const std::vector<ValueId>& made, const Values& values) {
  Stage& stage = *stages_[at];
  if (stage.without_binding >= 0) return stage.without_binding;
  std::string key;
  for (const ValueId value : made) {
    const Tensor& tensor = values.at(value);
    AppendNumber(key, tensor.rank());
    for (const int64_t dim : tensor.dims()) AppendNumber(key, dim);
  }
  for (const ValueId value : stage.bound) {
    const Tensor& tensor = values.at(value);
    if (tensor.byte_size() > 0) key.append(reinterpret_cast<const char*>(tensor.raw()), tensor.byte_size());
  }
  for (Stage::Next& next : stage.next) {
    if (next.key != key) continue;
    next.last_use = ++uses_;
    return next.stage;
  }
  if (stage.kind == Stage::Kind::kBind && stage.next.size() >= kMostBindings) {
    HALFTONE_ASSIGN_OR_RETURN(const int without, WithoutBinding(at));
    if (without >= 0) return without;
  }
  MakeRoom(at);
  HALFTONE_ASSIGN_OR_RETURN(const int added, AddStage(at, made, values));
  stages_[at]->next.push_back({std::move(key), added, ++uses_});
  return added;
}

absl::StatusOr<int> DynamicPlan::AddStage(int from, const std::vector<ValueId>& made, const Values& values) {
  const Stage& before = *stages_[from];
  Graph graph = before.graph;
  KnownDims dims = before.dims;
  for (const ValueId value : made) dims[value] = values.at(value).dims();
  if (before.kind == Stage::Kind::kBind) {
    GraphEditor edit(graph);
    for (const ValueId value : before.bound) edit.ReplaceUses(value, edit.AddConstant("", values.at(value)));
  }
  for (const ValueId value : before.plan_outputs) dims[value] = before.graph.shape(value).values();
  if (before.kind != Stage::Kind::kPlan) HALFTONE_RETURN_IF_ERROR(InferFrom(dims, graph));
  for (const NodeId id : graph.nodes()) {
    for (const ValueId output : graph.node(id).outputs) {
      if (output.valid() && graph.shape(output).fully_known())
        HALFTONE_RETURN_IF_ERROR(CheckSize(graph, output, graph.shape(output).values(), request_.most_value_bytes));
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(std::unique_ptr<Stage> stage,
                            MakeStage(std::move(graph), std::move(dims), /*may_bind=*/true, request_));
  return Keep(std::move(stage));
}

// The elements that a stage would bind are others in nearly every run (the bounds of a slice in a loop): planning for
// each costs more than computing the node on the host. -1: there is no other way than binding.
absl::StatusOr<int> DynamicPlan::WithoutBinding(int at) {
  const Stage& stage = *stages_[at];
  absl::StatusOr<std::unique_ptr<Stage>> other = MakeStage(stage.graph, stage.dims, /*may_bind=*/false, request_);
  if (!other.ok() || (*other)->kind == Stage::Kind::kBind) return -1;
  const bool only_moves = std::all_of((*other)->nodes.begin(), (*other)->nodes.end(), [&](NodeId node) {
    const OpGroup group = Info(stage.graph.op(node)).group;
    return group == OpGroup::kMove || group == OpGroup::kShape || group == OpGroup::kSource;
  });
  if (!only_moves) return -1;
  const int added = Keep(*std::move(other));
  stages_[at]->without_binding = added;
  return added;
}

int DynamicPlan::Keep(std::unique_ptr<Stage> stage) {
  if (timing_ && stage->plan != nullptr) stage->plan->SetTiming(true);
  if (stage->plan != nullptr) plan_bytes_ += stage->plan->arena_bytes();
  const int id = next_stage_++;
  stages_[id] = std::move(stage);
  return id;
}

// With all that follow it.
void DynamicPlan::Forget(int stage) {
  std::vector<int> work = {stage};
  while (!work.empty()) {
    const auto it = stages_.find(work.back());
    work.pop_back();
    if (it->second->plan != nullptr) plan_bytes_ -= std::min(plan_bytes_, it->second->plan->arena_bytes());
    for (const Stage::Next& next : it->second->next) work.push_back(next.stage);
    if (it->second->without_binding >= 0) work.push_back(it->second->without_binding);
    stages_.erase(it);
  }
}

bool DynamicPlan::IsCrowded() const { return stages_.size() > kMostStages || plan_bytes_ > MemoryLimit() / 4; }

// Forgets the followers of a stage that were not used for longest.
void DynamicPlan::MakeRoom(int at) {
  std::vector<Stage::Next>& next = stages_[at]->next;
  while (next.size() >= kMostFollowers || (at == kRoot && !next.empty() && IsCrowded())) {
    const auto oldest = std::min_element(
        next.begin(), next.end(), [](const Stage::Next& a, const Stage::Next& b) { return a.last_use < b.last_use; });
    Forget(oldest->stage);
    next.erase(oldest);
  }
}

absl::Status DynamicPlan::RunHost(Stage& stage, Values& values, std::vector<ValueId>& made) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    const NodeId node = stage.nodes[i];
    const Clock::time_point start = Clock::now();
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> results, Compute(stage, node, values));
    if (timing_) stage.spent_us[i] += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    const std::vector<ValueId>& outputs = stage.graph.node(node).outputs;
    for (size_t j = 0; j < outputs.size() && j < results.size(); ++j) {
      if (!outputs[j].valid() || results[j].type() == DataType::kUnknown) continue;
      values[outputs[j]] = std::move(results[j]);
      made.push_back(outputs[j]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> DynamicPlan::Compute(const Stage& stage, NodeId id, const Values& values) {
  const Node& node = stage.graph.node(id);
  std::vector<Tensor> inputs;
  for (const ValueId input : node.inputs)
    inputs.push_back(input.valid() ? TensorOf(stage.graph, input, values) : Tensor());
  if (!IsControlFlow(node.op)) return reference::EvaluateNode(stage.graph, id, inputs);
  const auto annotated = [&](absl::Status status) {
    return Annotate(std::move(status), Concat("node '", stage.graph.Label(id), "' (", OpName(node.op), ")"));
  };
  std::unique_ptr<ControlFlow>& control = controls_[id];
  if (control == nullptr) {
    // Constants of the whole graph only: those that a stage bound are others in other stages.
    const auto constant = [&](int i) {
      const ValueId value = graph_.input(id, i);
      return value.valid() ? graph_.ConstantTensor(value) : nullptr;
    };
    absl::StatusOr<std::unique_ptr<ControlFlow>> made = ControlFlow::Make(graph_, id, constant, request_);
    if (!made.ok()) return annotated(made.status());
    control = *std::move(made);
    if (timing_) control->SetTiming(true);
  }
  absl::StatusOr<std::vector<Tensor>> results = control->Run(inputs);
  if (!results.ok()) return annotated(results.status());
  return results;
}

absl::Status DynamicPlan::RunPlan(Stage& stage, Values& values) {
  std::vector<Tensor> inputs;
  for (const ValueId value : stage.plan_inputs) inputs.push_back(values.at(value));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, stage.plan->Run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) values[stage.plan_outputs[i]] = std::move(outputs[i]);
  return absl::OkStatus();
}

void DynamicPlan::SetTiming(bool on) {
  timing_ = on;
  if (on) ++epoch_;
  for (const auto& [id, stage] : stages_) {
    if (on) std::fill(stage->spent_us.begin(), stage->spent_us.end(), 0);
    if (stage->plan != nullptr) stage->plan->SetTiming(on);
  }
  for (const auto& [node, control] : controls_) control->SetTiming(on);
}

std::vector<StepInfo> DynamicPlan::steps() const {
  std::vector<StepInfo> result;
  std::set<NodeId> nested;  // whose inner steps are there already
  std::vector<int> work = {kRoot};
  while (!work.empty()) {
    const Stage& stage = *stages_.at(work.back());
    work.pop_back();
    for (const Stage::Next& next : stage.next) work.push_back(next.stage);
    if (stage.without_binding >= 0) work.push_back(stage.without_binding);
    if (stage.epoch != epoch_) continue;
    std::vector<StepInfo> steps;
    if (stage.plan != nullptr) steps = stage.plan->steps();
    for (size_t i = 0; i < stage.nodes.size(); ++i) {
      const NodeId id = stage.nodes[i];
      const Node& node = stage.graph.node(id);
      StepInfo info{.node = id, .label = stage.graph.Label(id), .op = Plan::OpText(stage.graph, id)};
      if (IsControlFlow(node.op)) info.kind = StepKind::kNested;
      info.kernel = IsControlFlow(node.op) ? Implementation("nested") : Implementation("reference", /*slow=*/true);
      const ValueId input = stage.graph.input(id, 0), output = stage.graph.output(id);
      if (input.valid()) info.src_type = stage.graph.type(input);
      if (output.valid()) info.dst_type = stage.graph.type(output);
      if (timing_) info.median_us = stage.spent_us[i];
      steps.push_back(std::move(info));
      const auto control = controls_.find(id);
      if (control != controls_.end() && nested.insert(id).second)
        AppendNested(control->second->steps(), steps.size() - 1, steps);
    }
    MergeSteps(steps, result);
  }
  return result;
}

size_t DynamicPlan::arena_bytes() const {
  size_t bytes = 0;
  for (const auto& [id, stage] : stages_) bytes += stage->plan == nullptr ? 0 : stage->plan->arena_bytes();
  for (const auto& [node, control] : controls_) bytes += control->arena_bytes();
  return bytes;
}

absl::Status DynamicPlan::WithSteps(std::span<const Tensor>,
                                    absl::FunctionRef<absl::Status(std::span<const BoundStep>)>) {
  return absl::UnimplementedError("the plan is made in parts, while it runs");
}

PlanMemory DynamicPlan::memory() const {
  PlanMemory memory;
  for (const auto& [id, stage] : stages_) {
    if (stage->plan == nullptr) continue;
    const PlanMemory part = stage->plan->memory();
    memory.arena += part.arena;
    memory.scratch = std::max(memory.scratch, part.scratch);
    memory.live_with_scratch += part.live_with_scratch;
    memory.live += part.live;
    memory.constants += part.constants;
  }
  return memory;
}

}  // namespace halftone
