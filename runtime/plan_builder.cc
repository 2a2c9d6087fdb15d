#include "runtime/plan_builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/reference/reference.h"
#include "ir/shape_values.h"

namespace halftone {
namespace {

// A value as it lies in one block.
struct Variant {
  Placement placement;
  int block = -1;
};

// Where a value is. The first variant is as its producer left it; others were converted from it.
struct Located {
  std::vector<int64_t> dims;
  std::optional<Tensor> constant;
  std::vector<Variant> variants;
  // The first variant holds more than the value's type can: a cast that nobody carried out yet. It may be read through
  // a conversion to the value's type only.
  bool unrounded = false;
  int uses_left = 0;  // by needed nodes that were not planned yet, and as outputs of the graph
};

bool IsCheapCast(DataType from, DataType to) {
  return (from == DataType::kFloat32 && to == DataType::kBFloat16) ||
         (from == DataType::kBFloat16 && to == DataType::kFloat32);
}

class Builder final {
 public:
  Builder(const Graph& graph, const CompileOptions& options, const Backend& backend)
      : graph_(graph), options_(options), backend_(backend), known_(graph), values_(graph.num_values()) {}

  absl::StatusOr<PlannedGraph> Build() {
    FindNeeded();
    HALFTONE_RETURN_IF_ERROR(CheckSizes());
    HALFTONE_RETURN_IF_ERROR(FindConstants());
    HALFTONE_RETURN_IF_ERROR(CheckRunnable());
    CountUses();
    PlaceInputs();
    for (const NodeId node : needed_) {
      if (graph_.op(node) == OpKind::kInput || IsFolded(node)) continue;
      HALFTONE_RETURN_IF_ERROR(PlanNode(node));
    }
    HALFTONE_RETURN_IF_ERROR(PlaceOutputs());
    SetLifetimes();
    return std::move(plan_);
  }

 private:
  class Context;

  Located& At(ValueId value) { return values_[value.index]; }
  const Located& At(ValueId value) const { return values_[value.index]; }
  bool IsFolded(NodeId node) const {
    const Node& n = graph_.node(node);
    return !n.outputs.empty() && n.outputs[0].valid() && At(n.outputs[0]).constant.has_value();
  }

  void FindNeeded();
  absl::Status CheckSizes() const;
  absl::Status FindConstants();
  absl::Status CheckRunnable() const;
  void CountUses();
  void PlaceInputs();
  absl::Status PlanNode(NodeId node);
  bool PlanCast(NodeId node);
  absl::Status Accept(NodeId node, Prepared prepared);
  absl::Status PlaceOutputs();
  void SetLifetimes();

  int AddBlock(Block block, ValueId value);
  void PutOn(ValueId value, Placement placement, int block);
  int UsesLeft(int block) const;
  bool DiesWithOneUse(int block) const;
  Placement PlacementOf(ValueId value) const;
  absl::StatusOr<int> Obtain(ValueId value, const Placement& wanted, const std::string& asker, bool owned);
  absl::StatusOr<Variant> SourceFor(ValueId value, DataType wanted, const std::string& asker);
  absl::StatusOr<int> Convert(ValueId value, const Variant& from, const Placement& to, const std::string& asker,
                              bool owned);
  StepInfo Describe(NodeId node, std::string kernel) const;

  const Graph& graph_;
  const CompileOptions& options_;
  const Backend& backend_;
  ShapeValues known_;
  std::vector<NodeId> needed_;  // in topological order
  std::vector<Located> values_;
  PlannedGraph plan_;
};

// What a kernel may ask about the node that is being planned.
class Builder::Context final : public NodeContext {
 public:
  Context(const Builder& builder, NodeId node) : builder_(builder), node_(node) {}

  const Graph& graph() const override { return builder_.graph_; }
  NodeId id() const override { return node_; }
  int threads() const override { return builder_.options_.threads; }
  Placement InputPlacement(int i) const override { return builder_.PlacementOf(Input(i)); }
  bool DiesHere(int i) const override {
    const Located& located = builder_.At(Input(i));
    return !located.variants.empty() && !located.unrounded && builder_.DiesWithOneUse(located.variants[0].block);
  }
  const Tensor* Constant(int i) const override {
    const std::optional<Tensor>& constant = builder_.At(Input(i)).constant;
    return constant.has_value() ? &*constant : nullptr;
  }
  std::vector<int64_t> InputDims(int i) const override { return builder_.At(Input(i)).dims; }
  std::vector<int64_t> OutputDims(int i) const override { return builder_.At(graph().output(node_, i)).dims; }

 private:
  ValueId Input(int i) const { return graph().input(node_, i); }

  const Builder& builder_;
  const NodeId node_;
};

// Nodes from which a way leads to an output, and the inputs.
void Builder::FindNeeded() {
  std::set<NodeId> needed(graph_.inputs().begin(), graph_.inputs().end());
  std::vector<NodeId> stack;
  const auto visit = [&](NodeId node) {
    if (node.valid() && needed.insert(node).second) stack.push_back(node);
  };
  for (const GraphOutput& output : graph_.outputs()) visit(graph_.producer(output.value));
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const ValueId input : graph_.node(node).inputs) {
      if (input.valid()) visit(graph_.producer(input));
    }
  }
  for (const NodeId node : graph_.TopologicalOrder()) {
    if (needed.contains(node)) needed_.push_back(node);
  }
}

// Every size in bytes that is computed from here on fits into 64 bits, also where a layout pads.
absl::Status Builder::CheckSizes() const {
  constexpr int64_t kMostElements = int64_t{1} << 36;
  for (const NodeId node : needed_) {
    for (const ValueId output : graph_.node(node).outputs) {
      if (!output.valid()) continue;
      const Shape& shape = graph_.shape(output);
      if (!shape.has_rank() || !shape.fully_known()) continue;
      if (shape.num_elements().value_or(kMostElements + 1) > kMostElements) {
        return absl::ResourceExhaustedError(Concat("node '", graph_.Label(node), "': a tensor of shape ",
                                                   shape.ToString(),
                                                   " is too large to be computed; the limit is 2^36 elements"));
      }
    }
  }
  return absl::OkStatus();
}

// Fills in dimensions, and the tensors of whatever depends on constants and known shapes only.
absl::Status Builder::FindConstants() {
  for (const NodeId id : needed_) {
    const Node& node = graph_.node(id);
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      const Shape& shape = graph_.shape(output);
      if (shape.has_rank() && shape.fully_known()) At(output).dims = shape.values();
    }
    if (node.op == OpKind::kConstant) {
      At(node.outputs[0]).constant = *graph_.ConstantTensor(node.outputs[0]);
    } else if (node.op != OpKind::kInput && node.outputs.size() == 1 && reference::HasReference(node.op)) {
      std::vector<Tensor> inputs;
      bool constant = !node.inputs.empty();
      for (const ValueId input : node.inputs) {
        if (input.valid() && !At(input).constant.has_value()) constant = false;
        if (!constant) break;
        inputs.push_back(input.valid() ? *At(input).constant : Tensor());
      }
      if (constant) {
        HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, reference::EvaluateNode(graph_, id, inputs));
        At(node.outputs[0]).constant = std::move(outputs[0]);
      } else if (IsInteger(graph_.type(node.outputs[0]))) {
        At(node.outputs[0]).constant = known_.Known(node.outputs[0]);
      }
      if (At(node.outputs[0]).constant.has_value()) {
        plan_.steps.push_back(PlannedStep{.info = Describe(id, "constant")});
      }
    }
    for (const ValueId output : node.outputs) {
      if (output.valid() && At(output).constant.has_value()) At(output).dims = At(output).constant->dims();
    }
  }
  return absl::OkStatus();
}

absl::Status Builder::CheckRunnable() const {
  std::vector<std::string> refusals;
  for (const NodeId id : needed_) {
    if (IsFolded(id)) continue;
    const Node& node = graph_.node(id);
    const std::string label = Concat("'", graph_.Label(id), "'");
    if (node.op == OpKind::kOpaque) {
      refusals.push_back(Concat(label, " (op ", node.spelling, ", which no kernel knows)"));
    } else if (Info(node.op).group == OpGroup::kStructural) {
      refusals.push_back(Concat(label, " (control flow: ", OpName(node.op), ")"));
    } else if (node.op != OpKind::kInput && backend_.Kernels(node.op).empty()) {
      refusals.push_back(Concat(label, " (op ", OpName(node.op), ")"));
    } else {
      for (const ValueId output : node.outputs) {
        if (!output.valid() || (graph_.uses(output).empty() && !graph_.IsOutput(output))) continue;
        const Shape& shape = graph_.shape(output);
        if (!shape.has_rank() || !shape.fully_known()) {
          refusals.push_back(Concat(label, " (the shape of its output is not known: ", shape.ToString(), ")"));
        } else if (ElementSize(graph_.type(output)) == 0) {
          refusals.push_back(Concat(label, " (type ", DataTypeName(graph_.type(output)), ")"));
        } else {
          continue;
        }
        break;
      }
    }
  }
  if (refusals.empty()) return absl::OkStatus();
  return absl::UnimplementedError(Concat("cannot run ", refusals.size(),
                                         refusals.size() == 1 ? " node: " : " nodes: ", absl::StrJoin(refusals, ", ")));
}

void Builder::CountUses() {
  for (const NodeId node : needed_) {
    for (const ValueId input : graph_.node(node).inputs) {
      if (input.valid()) ++At(input).uses_left;
    }
  }
  for (const GraphOutput& output : graph_.outputs()) ++At(output.value).uses_left;
}

void Builder::PlaceInputs() {
  for (const NodeId node : graph_.inputs()) {
    const ValueId value = graph_.output(node);
    const Placement plain{graph_.type(value)};
    const int block = AddBlock(Block{.kind = Block::Kind::kInput,
                                     .bytes = backend_.Bytes(At(value).dims, plain),
                                     .input = static_cast<int>(plan_.inputs.size())},
                               value);
    At(value).variants.push_back({plain, block});
    plan_.inputs.push_back(block);
  }
}

int Builder::AddBlock(Block block, ValueId value) {
  if (value.valid()) block.values.push_back(value);
  plan_.blocks.push_back(std::move(block));
  return static_cast<int>(plan_.blocks.size()) - 1;
}

void Builder::PutOn(ValueId value, Placement placement, int block) {
  At(value).variants.push_back({std::move(placement), block});
  plan_.blocks[block].values.push_back(value);
}

int Builder::UsesLeft(int block) const {
  int uses = 0;
  for (const ValueId value : plan_.blocks[block].values) uses += At(value).uses_left;
  return uses;
}

bool Builder::DiesWithOneUse(int block) const {
  return plan_.blocks[block].kind == Block::Kind::kArena && UsesLeft(block) == 1;
}

Placement Builder::PlacementOf(ValueId value) const {
  const Located& located = At(value);
  const DataType type = graph_.type(value);
  for (const Variant& variant : located.variants) {
    if (variant.placement.type == type) return variant.placement;
  }
  if (located.variants.empty()) return Placement{type};
  return backend_.WithType(located.dims, located.variants[0].placement, type);
}

// The variant to convert from. Where the first one is unrounded, the value's own type comes first.
absl::StatusOr<Variant> Builder::SourceFor(ValueId value, DataType wanted, const std::string& asker) {
  Located& located = At(value);
  const DataType type = graph_.type(value);
  for (const Variant& variant : located.variants) {
    if (variant.placement.type == type) return variant;
  }
  if (!located.unrounded || wanted == type) return located.variants[0];
  const Variant source = located.variants[0];
  const Placement rounded = backend_.WithType(located.dims, source.placement, type);
  HALFTONE_ASSIGN_OR_RETURN(const int block, Convert(value, source, rounded, asker, /*owned=*/false));
  PutOn(value, rounded, block);
  return located.variants.back();
}

// `owned`: the result will be written over, so it is made anew in each run even if it is a constant.
absl::StatusOr<int> Builder::Convert(ValueId value, const Variant& from, const Placement& to, const std::string& asker,
                                     bool owned) {
  const std::vector<int64_t>& dims = At(value).dims;
  absl::StatusOr<Prepared> prepared = backend_.Convert(dims, from.placement, to);
  if (!prepared.ok()) return Annotate(prepared.status(), Concat("node '", asker, "'"));
  const size_t bytes = backend_.Bytes(dims, to);
  if (!owned && plan_.blocks[from.block].kind == Block::Kind::kConstant) {
    const std::shared_ptr<Buffer> result = Buffer::Allocate(bytes);
    const std::shared_ptr<Buffer> scratch = Buffer::Allocate(prepared->scratch_bytes);
    std::byte* input =
        const_cast<std::byte*>(plan_.blocks[from.block].constant->data());  // Bind's promise: not written
    std::byte* output = result->mutable_data();
    prepared->step->Bind({&input, 1}, {&output, 1}, scratch->mutable_data());
    HALFTONE_RETURN_IF_ERROR(prepared->step->Run());
    return AddBlock(Block{.kind = Block::Kind::kConstant, .bytes = bytes, .constant = result}, kNoValue);
  }
  const int block = AddBlock(Block{.bytes = bytes}, kNoValue);
  StepInfo info{.node = graph_.producer(value), .label = asker, .op = "reorder", .kernel = prepared->kernel};
  info.src_type = from.placement.type;
  info.dst_type = to.type;
  plan_.steps.push_back(PlannedStep{.info = std::move(info),
                                    .step = std::move(prepared->step),
                                    .inputs = {from.block},
                                    .outputs = {block},
                                    .scratch_bytes = prepared->scratch_bytes});
  return block;
}

// A block that holds the value in the wanted way. `owned`: the caller will write over it.
absl::StatusOr<int> Builder::Obtain(ValueId value, const Placement& wanted, const std::string& asker, bool owned) {
  Located& located = At(value);
  if (located.variants.empty()) {  // a constant that is read for the first time
    const Tensor& tensor = *located.constant;
    const int block = AddBlock(
        Block{.kind = Block::Kind::kConstant, .bytes = tensor.byte_size(), .constant = tensor.buffer()}, value);
    located.variants.push_back({Placement{tensor.type()}, block});
  }
  for (size_t i = 0; i < located.variants.size(); ++i) {
    const Variant& variant = located.variants[i];
    if (!backend_.Same(located.dims, variant.placement, wanted)) continue;
    if (located.unrounded && i == 0 && wanted.type != graph_.type(value)) continue;
    if (!owned || DiesWithOneUse(variant.block)) return variant.block;
  }
  HALFTONE_ASSIGN_OR_RETURN(const Variant source, SourceFor(value, wanted.type, asker));
  if (!owned && !located.unrounded && backend_.Same(located.dims, source.placement, wanted)) return source.block;
  HALFTONE_ASSIGN_OR_RETURN(const int block, Convert(value, source, wanted, asker, owned));
  if (!owned) PutOn(value, wanted, block);
  return block;
}

// Casts between f32 and bf16 are not carried out here: each reader converts type and layout at once.
bool Builder::PlanCast(NodeId node) {
  const ValueId input = graph_.input(node, 0);
  const ValueId output = graph_.output(node);
  if (options_.reference_only || !IsCheapCast(graph_.type(input), graph_.type(output))) return false;
  const Located& from = At(input);
  if (from.unrounded || from.variants.empty()) return false;
  const Variant source = from.variants[0];
  PutOn(output, source.placement, source.block);
  At(output).unrounded = source.placement.type != graph_.type(output) && graph_.type(output) == DataType::kBFloat16;
  return true;
}

absl::Status Builder::PlanNode(NodeId node) {
  const std::string label = graph_.Label(node);
  bool done = graph_.op(node) == OpKind::kCast && PlanCast(node);
  std::vector<std::string> reasons;
  if (!done) {
    const Context context(*this, node);
    for (const Kernel* kernel : backend_.Kernels(graph_.op(node))) {
      absl::StatusOr<Prepared> prepared = kernel->Prepare(context);
      if (absl::IsUnimplemented(prepared.status())) {
        reasons.push_back(std::string(prepared.status().message()));
        continue;
      }
      if (!prepared.ok()) return Annotate(prepared.status(), Concat("node '", label, "'"));
      HALFTONE_RETURN_IF_ERROR(Accept(node, *std::move(prepared)));
      done = true;
      break;
    }
  }
  if (!done) {
    return absl::UnimplementedError(Concat("cannot run 1 node: '", label, "' (", absl::StrJoin(reasons, "; "), ")"));
  }
  for (const ValueId input : graph_.node(node).inputs) {
    if (input.valid()) --At(input).uses_left;
  }
  return absl::OkStatus();
}

// Gives the step its memory and adds it.
absl::Status Builder::Accept(NodeId node, Prepared prepared) {
  const std::string label = graph_.Label(node);
  PlannedStep planned{.info = Describe(node, prepared.kernel), .scratch_bytes = prepared.scratch_bytes};
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
    if (!value.valid() || (graph_.uses(value).empty() && !graph_.IsOutput(value))) {
      planned.outputs.push_back(-1);
      continue;
    }
    const Placement& placement = prepared.outputs[i];
    const int block = i == 0 && over >= 0
                          ? planned.inputs[over]
                          : AddBlock(Block{.bytes = backend_.Bytes(At(value).dims, placement)}, kNoValue);
    planned.outputs.push_back(block);
    PutOn(value, placement, block);
    if (placement.type != graph_.type(value)) to_convert.emplace_back(value, block);
  }
  if (over >= 0 && !view) {  // what was there is gone
    const ValueId lost = graph_.input(node, prepared.inputs[over].index);
    std::erase_if(At(lost).variants, [&](const Variant& v) { return v.block == planned.inputs[over]; });
  }
  planned.step = std::move(prepared.step);
  plan_.steps.push_back(std::move(planned));

  for (const auto& [value, block] : to_convert) {  // a kernel that computes in another type than the value's
    const Variant made = At(value).variants.back();
    const Placement own = backend_.WithType(At(value).dims, made.placement, graph_.type(value));
    HALFTONE_ASSIGN_OR_RETURN(const int converted, Convert(value, made, own, label, /*owned=*/false));
    At(value).variants.clear();
    std::erase(plan_.blocks[block].values, value);
    PutOn(value, own, converted);
  }
  return absl::OkStatus();
}

absl::Status Builder::PlaceOutputs() {
  for (const GraphOutput& output : graph_.outputs()) {
    HALFTONE_ASSIGN_OR_RETURN(const int block,
                              Obtain(output.value, Placement{graph_.type(output.value)}, output.name, /*owned=*/false));
    plan_.outputs.push_back(block);
    plan_.output_dims.push_back(At(output.value).dims);
  }
  return absl::OkStatus();
}

void Builder::SetLifetimes() {
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
  }
  for (const int block : plan_.outputs) plan_.blocks[block].last_step = static_cast<int>(plan_.steps.size());
}

StepInfo Builder::Describe(NodeId node, std::string kernel) const {
  StepInfo info{
      .node = node, .label = graph_.Label(node), .op = Plan::OpText(graph_, node), .kernel = std::move(kernel)};
  const auto type_of = [&](ValueId value) { return value.valid() ? graph_.type(value) : DataType::kUnknown; };
  info.src_type = type_of(graph_.input(node, 0));
  if (Info(graph_.op(node)).group == OpGroup::kContraction) info.weights_type = type_of(graph_.input(node, 1));
  info.dst_type = type_of(graph_.output(node));
  return info;
}

}  // namespace

absl::StatusOr<PlannedGraph> PlanGraph(const Graph& graph, const CompileOptions& options, const Backend& backend) {
  return Builder(graph, options, backend).Build();
}

}  // namespace halftone
