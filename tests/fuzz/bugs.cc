// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/bugs.h"

#include <algorithm>
#include <numeric>

#include "ir/editor.h"
#include "runtime/cpu/backend.h"

namespace halftone::fuzz {
namespace {

using enum OpKind;

// --- Kernels: a backend that wraps the steps of one op.

// What a broken step does instead of the real one, or after it. `y`: output 0.
using Break = absl::Status (*)(Step& real, std::span<std::byte> y, int run);

class BrokenStep final : public Step {
 public:
  BrokenStep(std::unique_ptr<Step> real, Break breaking, size_t bytes)
      : real_(std::move(real)), break_(breaking), bytes_(bytes) {}
  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    real_->Bind(inputs, outputs, scratch);
    y_ = outputs[0];
  }
  absl::Status Run() override { return break_(*real_, {y_, bytes_}, run_++); }

 private:
  std::unique_ptr<Step> real_;
  Break break_;
  size_t bytes_;
  std::byte* y_ = nullptr;
  int run_ = 0;
};

class BrokenKernel final : public Kernel {
 public:
  BrokenKernel(const Kernel* real, Break breaking) : real_(real), break_(breaking) {}
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    absl::StatusOr<Prepared> prepared = real_->Prepare(context);
    if (!prepared.ok() || prepared->step == nullptr || !prepared->outputs[0].plain()) return prepared;
    size_t bytes = ElementSize(prepared->outputs[0].type);
    for (const int64_t dim : context.OutputDims()) bytes *= static_cast<size_t>(dim);
    prepared->step = std::make_unique<BrokenStep>(std::move(prepared->step), break_, bytes);
    return prepared;
  }

 private:
  const Kernel* real_;
  Break break_;
};

class BrokenBackend final : public Backend {
 public:
  BrokenBackend(OpKind op, Break breaking) : op_(op) {
    const std::span<const KernelRow> rows = CpuBackend().Kernels(op);
    for (const KernelRow& row : rows) broken_.emplace_back(row.kernel, breaking);
    for (size_t i = 0; i < rows.size(); ++i) rows_.push_back({&broken_[i], rows[i].facts, rows[i].missing});
  }
  std::span<const KernelRow> Kernels(OpKind op) const override {
    return op == op_ ? std::span<const KernelRow>(rows_) : CpuBackend().Kernels(op);
  }
  absl::StatusOr<Prepared> Convert(std::span<const int64_t> dims, const Placement& from,
                                   const Placement& to) const override {
    return CpuBackend().Convert(dims, from, to);
  }
  bool Same(std::span<const int64_t> dims, const Placement& a, const Placement& b) const override {
    return CpuBackend().Same(dims, a, b);
  }
  size_t Bytes(std::span<const int64_t> dims, const Placement& placement) const override {
    return CpuBackend().Bytes(dims, placement);
  }
  Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) const override {
    return CpuBackend().WithType(dims, placement, type);
  }
  void UseThreads(int threads) const override { CpuBackend().UseThreads(threads); }

 private:
  OpKind op_;
  std::vector<BrokenKernel> broken_;
  std::vector<KernelRow> rows_;
};

Subject WithBrokenKernel(OpKind op, Break breaking) {
  Subject subject = Halftone();
  auto backend = std::make_shared<BrokenBackend>(op, breaking);
  subject.compile = [backend](const Graph& graph) { return Plan::Compile(graph, {.threads = 1}, *backend); };
  return subject;
}

// A vectorized loop over eight floats that does not handle the tail.
absl::Status NoTail(Step& real, std::span<std::byte> y, int) {
  const absl::Status status = real.Run();
  const size_t whole = y.size() / 32 * 32;
  if (whole > 0) std::fill(y.begin() + static_cast<std::ptrdiff_t>(whole), y.end(), std::byte{0});
  return status;
}

// Writes its output in the first run only and relies on its memory being unchanged in later ones.
absl::Status OnlyOnce(Step& real, std::span<std::byte>, int run) { return run == 0 ? real.Run() : absl::OkStatus(); }

// --- Graphs: nodes of one op are changed before compiling, optimizing, writing or after reading.

using Mutation = void (*)(GraphEditor& edit, NodeId id);

Graph Mutated(Graph graph, OpKind op, Mutation mutate) {
  GraphEditor edit(graph);
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == op) mutate(edit, id);
  }
  return graph;
}

Subject Compiling(OpKind op, Mutation mutate) {
  Subject subject = Halftone();
  subject.compile = [op, mutate](const Graph& graph) {
    return CompilePlan(Mutated(graph, op, mutate), {.threads = 1});
  };
  return subject;
}

Subject Optimizing(OpKind op, Mutation before, OpKind then, Mutation after) {
  Subject subject = Halftone();
  const auto real = subject.optimize;
  subject.optimize = [=](Graph& graph) {
    if (before != nullptr) graph = Mutated(std::move(graph), op, before);
    const absl::Status status = real(graph);
    if (after != nullptr) graph = Mutated(std::move(graph), then, after);
    return status;
  };
  return subject;
}

Subject Writing(OpKind op, Mutation mutate) {
  Subject subject = Halftone();
  const auto real = subject.write;
  subject.write = [=](const Graph& graph) { return real(Mutated(graph, op, mutate)); };
  return subject;
}

Subject Reading(OpKind op, Mutation mutate) {
  Subject subject = Halftone();
  const auto real = subject.read;
  subject.read = [=](const std::string& bytes, ModelFormat format,
                     std::vector<std::string> outputs) -> absl::StatusOr<Graph> {
    absl::StatusOr<Graph> graph = real(bytes, format, std::move(outputs));
    if (graph.ok()) *graph = Mutated(*std::move(graph), op, mutate);
    return graph;
  };
  return subject;
}

void DropBias(GraphEditor& edit, NodeId id) {
  if (edit.graph().input(id, 2).valid()) edit.SetInput(id, 2, kNoValue);
}

// Up to rank 2, and often above, a permutation is its own inverse.
void InvertPerm(GraphEditor& edit, NodeId id) {
  const std::optional<std::vector<int64_t>> perm = edit.graph().ConstantInts(edit.graph().input(id, 1));
  if (!perm.has_value()) return;
  std::vector<int64_t> inverse(perm->size());
  for (size_t i = 0; i < perm->size(); ++i) inverse[static_cast<size_t>((*perm)[i])] = static_cast<int64_t>(i);
  const ValueId x = edit.graph().input(id, 0);
  const Shape& shape = edit.graph().shape(x);
  if (!shape.fully_known()) return;
  for (size_t i = 0; i < perm->size(); ++i) {  // the output must keep its shape
    if (shape.dim(static_cast<int>((*perm)[i])) != shape.dim(static_cast<int>(inverse[i]))) return;
  }
  edit.SetInput(id, 1, edit.AddConstant("", Tensor::Ints(inverse)));
}

void SwapInputs(GraphEditor& edit, NodeId id) {
  const auto [a, b] = edit.graph().inputs<2>(id);
  edit.SetInput(id, 0, b);
  edit.SetInput(id, 1, a);
}

// Swaps the first two inputs of a concat if they have the same shape.
void SwapConcatInputs(GraphEditor& edit, NodeId id) {
  const auto [a, b] = edit.graph().inputs<2>(id);
  const bool same = edit.graph().shape(a).fully_known() && edit.graph().shape(a) == edit.graph().shape(b);
  if (same && edit.graph().node(id).inputs.size() > 2) SwapInputs(edit, id);
}

void DropActivation(GraphEditor& edit, NodeId id) { edit.EraseAttribute(id, "activation"); }
void DropPadValue(GraphEditor& edit, NodeId id) {
  if (edit.graph().input(id, 2).valid()) edit.SetInput(id, 2, kNoValue);
}
void DropAlpha(GraphEditor& edit, NodeId id) { edit.EraseAttribute(id, "alpha"); }
void DropAxis(GraphEditor& edit, NodeId id) { edit.EraseAttribute(id, "axis"); }

constexpr Bug kBugs[] = {
    {"a kernel's loop forgets the last elements", [] { return WithBrokenKernel(kMul, NoTail); }},
    {"a step relies on memory that other steps reuse", [] { return WithBrokenKernel(kTranspose, OnlyOnce); }},
    {"a kernel ignores the bias", [] { return Compiling(kConv, DropBias); }},
    {"a kernel inverts the permutation", [] { return Compiling(kTranspose, InvertPerm); }},
    {"a kernel concatenates its inputs in the wrong order", [] { return Compiling(kConcat, SwapConcatInputs); }},
    {"a rule treats sub as commutative", [] { return Optimizing(kSub, SwapInputs, kSub, nullptr); }},
    {"a fusion loses the activation", [] { return Optimizing(kConv, nullptr, kConv, DropActivation); }},
    {"a rule ignores the value of padding", [] { return Optimizing(kPad, DropPadValue, kPad, nullptr); }},
    {"the exporter loses an attribute", [] { return Writing(kLeakyRelu, DropAlpha); }},
    {"the importer loses an attribute", [] { return Reading(kSoftmax, DropAxis); }},
};

}  // namespace

std::span<const Bug> Bugs() { return kBugs; }

}  // namespace halftone::fuzz
