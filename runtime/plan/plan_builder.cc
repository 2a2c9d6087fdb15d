// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/plan_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "runtime/plan/control.h"
#include "runtime/plan/plan_builder_internal.h"
#include "runtime/plan/quantized_node.h"
#include "runtime/plan/runnable.h"

namespace halftone {

namespace {

bool IsCheapCast(DataType from, DataType to) {
  return (from == DataType::kFloat32 && to == DataType::kBFloat16) ||
         (from == DataType::kBFloat16 && to == DataType::kFloat32);
}

}  // namespace

// What a kernel may ask about the node that is being planned.
class PlanBuilder::Context : public NodeContext {
 public:
  Context(const PlanBuilder& builder, NodeId node) : builder_(builder), node_(node) {}

  const Graph& graph() const override { return builder_.graph_; }
  NodeId id() const override { return node_; }
  int threads() const override { return builder_.request_.options.threads; }
  Placement InputPlacement(int i) const override { return builder_.PlacementOf(Input(i)); }
  bool DiesHere(int i) const override {
    const Located& located = builder_.At(Input(i));
    return !located.variants.empty() && !located.unrounded && builder_.DiesWithOneUse(located.variants[0].block);
  }
  std::optional<ImageLayout> chosen_layout() const override {
    const auto it = builder_.layouts_.find(node_);
    return it == builder_.layouts_.end() ? std::nullopt : std::optional<ImageLayout>(it->second);
  }
  const Tensor* Constant(int i) const override {
    const std::optional<Tensor>& constant = builder_.At(Input(i)).constant;
    return constant.has_value() ? &*constant : nullptr;
  }
  DataType ExactType(int i) const override { return builder_.ExactType(Input(i)); }
  std::vector<int64_t> InputDims(int i) const override { return builder_.At(Input(i)).dims; }
  std::vector<int64_t> OutputDims(int i) const override { return builder_.At(graph().output(node_, i)).dims; }

 protected:
  ValueId Input(int i) const { return builder_.graph_.input(node_, i); }

  const PlanBuilder& builder_;
  const NodeId node_;
};

// The same node in f32, for kernels that refuse its narrow types.
class PlanBuilder::WideContext final : public PlanBuilder::Context {
 public:
  WideContext(const PlanBuilder& builder, NodeId node, WideGraph& wide) : Context(builder, node), wide_(wide) {}

  const Graph& graph() const override { return wide_.graph(); }
  Placement InputPlacement(int i) const override {
    const Placement placement = Context::InputPlacement(i);
    if (!IsNarrowFloat(placement.type)) return placement;
    return builder_.backend_.WithType(InputDims(i), placement, DataType::kFloat32);
  }
  bool DiesHere(int i) const override { return !IsNarrowFloat(builder_.graph_.type(Input(i))) && Context::DiesHere(i); }
  DataType ExactType(int i) const override { return InputType(i); }  // kernels for narrow types have refused
  const Tensor* Constant(int i) const override {
    const Tensor* tensor = Context::Constant(i);
    return tensor == nullptr ? nullptr : wide_.Widened(Input(i), *tensor);
  }

 private:
  WideGraph& wide_;
};

std::vector<std::optional<LayoutSeconds>> PlanBuilder::SecondsByLayout(std::span<const NodeId> convs) const {
  std::vector<Context> contexts;
  for (const NodeId conv : convs) contexts.emplace_back(*this, conv);
  std::vector<const NodeContext*> asked;
  for (const Context& context : contexts) asked.push_back(&context);
  return backend_.SecondsByLayout(asked);
}

absl::StatusOr<PlannedGraph> PlanBuilder::Build() {
  HALFTONE_RETURN_IF_ERROR(CheckSizes());
  HALFTONE_RETURN_IF_ERROR(FindConstants());
  HALFTONE_RETURN_IF_ERROR(CheckRunnable());
  CountUses();
  ChooseLayouts();
  PlaceInputs();
  for (const NodeId node : needed_) {
    if (graph_.op(node) == OpKind::kInput || IsFolded(node)) continue;
    HALFTONE_RETURN_IF_ERROR(PlanNode(node));
  }
  HALFTONE_RETURN_IF_ERROR(PlaceOutputs());
  SetLifetimes();
  return std::move(plan_);
}

// Casts between f32 and bf16 are not carried out here: each reader converts type and layout at once.
bool PlanBuilder::PlanCast(NodeId node) {
  const ValueId input = graph_.input(node, 0);
  const ValueId output = graph_.output(node);
  if (request_.options.reference_only || !IsCheapCast(graph_.type(input), graph_.type(output))) return false;
  const Located& from = At(input);
  if (from.unrounded || from.variants.empty()) return false;
  const Variant source = from.variants[0];
  PutOn(output, source.placement, source.block);
  At(output).unrounded = source.placement.type != graph_.type(output) && graph_.type(output) == DataType::kBFloat16;
  return true;
}

// The first kernel that takes the node: as it is, then (f16, bf16) in f32, then by its reference function.
absl::StatusOr<std::optional<Prepared>> PlanBuilder::Prepare(NodeId node, std::vector<std::string>& reasons) {
  const OpKind op = graph_.op(node);
  const Context context(*this, node);
  if (IsControlFlow(op)) {
    HALFTONE_ASSIGN_OR_RETURN(Prepared prepared, PrepareControl(context, request_));
    return std::optional<Prepared>(std::move(prepared));
  }
  const NodeValues values = ValuesOf(graph_, node);
  const auto ask = [&](std::span<const KernelRow> rows,
                       const NodeContext& about) -> absl::StatusOr<std::optional<Prepared>> {
    const DataType type = about.num_inputs() > 0 && about.HasInput(0) ? about.InputType(0) : DataType::kUnknown;
    for (const KernelRow& row : rows) {
      if (const std::string_view why = WhyNotAsked(row, values, type); !why.empty()) {
        reasons.push_back(Concat(row.facts->name, ": ", why));
        continue;
      }
      absl::StatusOr<Prepared> prepared = row.kernel->Prepare(about);
      if (prepared.ok()) return std::optional<Prepared>(*std::move(prepared));
      if (!absl::IsUnimplemented(prepared.status())) return prepared.status();
      reasons.push_back(std::string(prepared.status().message()));
    }
    return std::optional<Prepared>();
  };
  const std::span<const KernelRow> all = backend_.Kernels(op);
  const size_t num_fast = all.size() - (reference::HasReference(op) && !all.empty() ? 1 : 0);
  if (!HasEmptyInput(node)) {  // sums over nothing and the like: the reference function knows what is right
    HALFTONE_ASSIGN_OR_RETURN(std::optional<Prepared> prepared, ask(all.first(num_fast), context));
    if (prepared.has_value()) return prepared;
    if (num_fast > 0 && values != NodeValues::kQuantized && WideGraph::Differs(graph_, node)) {
      if (plan_.wide == nullptr) plan_.wide = std::make_shared<WideGraph>(graph_);
      HALFTONE_ASSIGN_OR_RETURN(prepared, ask(all.first(num_fast), WideContext(*this, node, *plan_.wide)));
      if (prepared.has_value()) return prepared;
    }
  }
  return ask(all.subspan(num_fast), context);
}

absl::Status PlanBuilder::PlanNode(NodeId node) {
  const std::string label = graph_.Label(node);
  if (OutputsAreEmpty(node)) {
    PlanEmpty(node);
  } else if (graph_.op(node) != OpKind::kCast || !PlanCast(node)) {
    std::vector<std::string> reasons;
    absl::StatusOr<std::optional<Prepared>> prepared = Prepare(node, reasons);
    if (!prepared.ok()) return Annotate(prepared.status(), Concat("node '", label, "'"));
    if (!prepared->has_value()) {
      return absl::UnimplementedError(Concat("cannot run 1 node: '", label, "' (", OpWithTypes(graph_, node),
                                             ", which no kernel takes: ", absl::StrJoin(reasons, "; "), ")"));
    }
    HALFTONE_RETURN_IF_ERROR(Accept(node, **std::move(prepared)));
  }
  for (const ValueId input : graph_.node(node).inputs) {
    if (input.valid()) CountUse(input);
  }
  return absl::OkStatus();
}

// Results of no elements: there is nothing to compute.
void PlanBuilder::PlanEmpty(NodeId node) {
  PlannedStep planned{.info = Describe(node, {StepKind::kEmpty, "empty"})};
  for (const ValueId value : graph_.node(node).outputs) {
    if (IsRead(value)) PutOn(value, Placement{graph_.type(value)}, AddBlock(Block{}));
  }
  plan_.steps.push_back(std::move(planned));
}

PlanBuilder::Work PlanBuilder::WorkOf(const Prepared& prepared) {
  StepKind kind = StepKind::kKernel;
  if (prepared.step == nullptr) kind = StepKind::kView;
  if (prepared.step != nullptr && prepared.step->nested() != nullptr) kind = StepKind::kNested;
  return {kind, prepared.kernel};
}

// Gives the step its memory and adds it.
absl::Status PlanBuilder::Accept(NodeId node, Prepared prepared) {
  const std::string label = graph_.Label(node);
  PlannedStep planned{.info = Describe(node, WorkOf(prepared)), .placements = prepared.outputs};
  SetTypesAsRun(prepared, planned.info);
  planned.scratch = AddScratch(prepared.scratch_bytes);
  for (size_t i = 0; i < prepared.inputs.size(); ++i) {
    const ValueId value = graph_.input(node, prepared.inputs[i].index);
    const bool owned = static_cast<int>(i) == prepared.overwrites;
    HALFTONE_ASSIGN_OR_RETURN(const int block, Obtain(value, prepared.inputs[i].placement, label, owned));
    planned.inputs.push_back(block);
  }
  int over = prepared.overwrites;
  if (over < 0 && prepared.may_overwrite >= 0) {
    const int block = planned.inputs[prepared.may_overwrite];
    const bool only_reader = std::count(planned.inputs.begin(), planned.inputs.end(), block) == 1;
    if (only_reader && DiesWithOneUse(block)) over = prepared.may_overwrite;
  }
  const bool view = prepared.step == nullptr;
  if (view) over = 0;

  std::vector<std::pair<ValueId, int>> to_convert;
  const Node& n = graph_.node(node);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const ValueId value = n.outputs[i];
    // Loops that make several results at once may write those that nothing reads, too.
    const bool present = value.valid() && graph_.shape(value).fully_known() && i < prepared.outputs.size() &&
                         ElementSize(prepared.outputs[i].type) > 0;
    if (!IsRead(value) && (!present || n.outputs.size() == 1)) {
      planned.outputs.push_back(-1);
      continue;
    }
    const Placement& placement = prepared.outputs[i];
    if (!IsRead(value)) {
      planned.outputs.push_back(AddBlock(Block{.bytes = backend_.Bytes(At(value).dims, placement)}));
      continue;
    }
    const int block = i == 0 && over >= 0 ? planned.inputs[over]
                                          : AddBlock(Block{.bytes = backend_.Bytes(At(value).dims, placement)});
    planned.outputs.push_back(block);
    PutOn(value, placement, block);
    if (placement.type != graph_.type(value)) to_convert.emplace_back(value, block);
  }
  if (over >= 0 && !view) {  // what was there is gone
    TakeFrom(graph_.input(node, prepared.inputs[over].index), planned.inputs[over]);
  }
  planned.step = std::move(prepared.step);
  plan_.steps.push_back(std::move(planned));

  for (const auto& [value, block] : to_convert) {  // a kernel that computes in another type than the value's
    const Variant made = At(value).variants.back();
    const Placement own = backend_.WithType(At(value).dims, made.placement, graph_.type(value));
    HALFTONE_ASSIGN_OR_RETURN(const int converted, Convert(value, made, own, label, /*owned=*/false));
    TakeFrom(value, block);
    PutOn(value, own, converted);
  }
  return absl::OkStatus();
}

void PlanBuilder::SetLifetimes() {
  constexpr int kNever = -1;
  for (Block& block : plan_.blocks) block.first_step = block.last_step = kNever;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const auto touch = [&](int index) {
      if (index < 0) return;
      Block& block = plan_.blocks[index];
      if (block.first_step == kNever) block.first_step = static_cast<int>(i);
      block.last_step = static_cast<int>(i);
    };
    if (plan_.steps[i].step == nullptr) continue;
    for (const int block : plan_.steps[i].inputs) touch(block);
    for (const int block : plan_.steps[i].outputs) touch(block);
    touch(plan_.steps[i].scratch);
  }
  for (const int block : plan_.outputs) plan_.blocks[block].last_step = static_cast<int>(plan_.steps.size());
}

StepInfo PlanBuilder::Describe(NodeId node, Work work) const {
  StepInfo info{.node = node,
                .label = graph_.Label(node),
                .op = Plan::OpText(graph_, node),
                .kind = work.kind,
                .kernel = std::move(work.kernel)};
  const auto type_of = [&](ValueId value) { return value.valid() ? graph_.type(value) : DataType::kUnknown; };
  info.src_type = type_of(graph_.input(node, 0));
  if (Info(graph_.op(node)).group == OpGroup::kContraction) info.weights_type = type_of(graph_.input(node, 1));
  info.dst_type = type_of(graph_.output(node));
  return info;
}

// What the kernel reads and writes, where that is not what the node says.
void PlanBuilder::SetTypesAsRun(const Prepared& prepared, StepInfo& info) {
  const bool product = info.weights_type != DataType::kUnknown;
  for (const InputNeed& need : prepared.inputs) {
    if (need.index == 0) info.src_type = need.placement.type;
    if (need.index == 1 && product) info.weights_type = need.placement.type;
  }
  if (product && prepared.weights_type != DataType::kUnknown) info.weights_type = prepared.weights_type;
  if (!prepared.outputs.empty() && ElementSize(prepared.outputs[0].type) > 0) info.dst_type = prepared.outputs[0].type;
}

absl::StatusOr<PlannedGraph> PlanGraph(const Graph& graph, const PlanRequest& request) {
  return PlanBuilder(graph, request).Build();
}

}  // namespace halftone
