// SPDX-License-Identifier: Apache-2.0
// Seconds that planning takes, and the memory of the plan.
//
//   plan_bench [chain|transformer|branches] [--nodes N...]      default: all of them, 10 000, 50 000 and 100 000
//   plan_bench --model FILE... [--batch N] [--threads N]
//
// Of synthetic graphs, where it must grow linearly with the nodes, or of files, as they are run.
//
// chain: relu, add and mul in one line. transformer: blocks of attention and a feed-forward part over 16 tokens of 32
// numbers, which share their weights. branches: a value that everybody reads, all results added up at the end.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "ir/editor.h"
#include "optimizer/loaded_variant.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

constexpr int64_t kTokens = 16, kWidth = 32;

// Appends nodes with results of [kTokens, kWidth], or of the dimensions given.
class Builder final {
 public:
  Builder() : edit_(graph_) { x_ = edit_.AddInput("x", DataType::kFloat32, Shape::Of(std::vector{kTokens, kWidth})); }

  ValueId x() const { return x_; }
  int nodes() const { return nodes_; }

  ValueId Op(OpKind op, std::vector<ValueId> inputs, std::vector<int64_t> dims = {kTokens, kWidth},
             Attributes attributes = {}) {
    const NodeId node = edit_.Add(op, "n" + std::to_string(nodes_++), std::move(inputs),
                                  {.type = DataType::kFloat32, .shape = Shape::Of(dims)}, std::move(attributes));
    return graph_.output(node);
  }

  ValueId Weights(std::vector<int64_t> dims) {
    Tensor tensor(DataType::kFloat32, std::move(dims));
    for (float& number : tensor.mutable_data<float>()) number = 0.01f;
    return edit_.AddConstant("w" + std::to_string(weights_++), std::move(tensor));
  }

  Graph Finish(ValueId output) {
    edit_.AddGraphOutput("y", output);
    return std::move(graph_);
  }

 private:
  Graph graph_;
  GraphEditor edit_;
  ValueId x_;
  int nodes_ = 0, weights_ = 0;
};

Graph Chain(int nodes) {
  Builder b;
  const ValueId w = b.Weights({kWidth});
  ValueId at = b.x();
  while (b.nodes() < nodes) {
    at = b.Op(OpKind::kRelu, {at});
    at = b.Op(OpKind::kAdd, {at, w});
    at = b.Op(OpKind::kMul, {at, w});
  }
  return b.Finish(at);
}

Graph Branches(int nodes) {
  Builder b;
  const ValueId w = b.Weights({kWidth});
  ValueId sum = b.x();
  while (b.nodes() < nodes) sum = b.Op(OpKind::kAdd, {sum, b.Op(OpKind::kMul, {b.x(), w})});
  return b.Finish(sum);
}

Graph Transformer(int nodes) {
  Builder b;
  const ValueId scale = b.Weights({kWidth}), bias = b.Weights({kWidth}), wide_bias = b.Weights({4 * kWidth});
  const ValueId q = b.Weights({kWidth, kWidth}), k = b.Weights({kWidth, kWidth}), v = b.Weights({kWidth, kWidth}),
                o = b.Weights({kWidth, kWidth}), up = b.Weights({kWidth, 4 * kWidth}),
                down = b.Weights({4 * kWidth, kWidth});
  Attributes transposed;
  transposed.Set("transpose_b", true);
  ValueId at = b.x();
  while (b.nodes() < nodes) {
    const ValueId norm = b.Op(OpKind::kLayerNorm, {at, scale, bias});
    const ValueId queries = b.Op(OpKind::kMatMul, {norm, q, bias}), keys = b.Op(OpKind::kMatMul, {norm, k, bias}),
                  values = b.Op(OpKind::kMatMul, {norm, v, bias});
    const ValueId scores = b.Op(OpKind::kMatMul, {queries, keys}, {kTokens, kTokens}, transposed);
    const ValueId shares = b.Op(OpKind::kSoftmax, {scores}, {kTokens, kTokens});
    const ValueId mixed = b.Op(OpKind::kMatMul, {shares, values});
    at = b.Op(OpKind::kAdd, {at, b.Op(OpKind::kMatMul, {mixed, o, bias})});
    const ValueId second = b.Op(OpKind::kLayerNorm, {at, scale, bias});
    const ValueId wide = b.Op(OpKind::kGelu, {b.Op(OpKind::kMatMul, {second, up, wide_bias}, {kTokens, 4 * kWidth})},
                              {kTokens, 4 * kWidth});
    at = b.Op(OpKind::kAdd, {at, b.Op(OpKind::kMatMul, {wide, down, bias})});
  }
  return b.Finish(at);
}

struct Kind {
  std::string_view name;
  Graph (*make)(int nodes);
};
constexpr Kind kKinds[] = {{"chain", Chain}, {"transformer", Transformer}, {"branches", Branches}};

// "planned in", conversions and memory.
void Print(const Plan& plan) {
  const PlanMemory memory = plan.memory();
  int reorders = 0;
  for (const StepInfo& step : plan.steps()) reorders += step.op == "reorder" ? 1 : 0;
  std::printf(", %d reorders, arena %zu bytes, alive at most %zu: %.3f x, constants %zu\n", reorders, memory.arena,
              memory.live, static_cast<double>(memory.arena) / static_cast<double>(std::max<size_t>(memory.live, 1)),
              memory.constants);
  std::fflush(stdout);
}

bool Measure(const Kind& kind, int nodes) {
  using Clock = std::chrono::steady_clock;
  const Graph graph = kind.make(nodes);
  const Clock::time_point start = Clock::now();
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(graph);
  const double plan_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!plan.ok()) {
    std::fprintf(stderr, "plan_bench: %s\n", std::string(plan.status().message()).c_str());
    return false;
  }
  const std::vector<Tensor> inputs = {Tensor(DataType::kFloat32, {kTokens, kWidth})};
  const Clock::time_point run_start = Clock::now();
  const bool ran = (*plan)->Run(inputs).ok();
  const double run_seconds = std::chrono::duration<double>(Clock::now() - run_start).count();
  std::printf("%-12s %7d nodes: planned in %6.3f s, run in %6.3f s", std::string(kind.name).c_str(), nodes,
              plan_seconds, run_seconds);
  Print(**plan);
  return ran;
}

bool MeasureFile(RunSpec spec) {
  const absl::StatusOr<LoadedVariant> loaded = LoadVariant(spec);
  if (!loaded.ok()) {
    std::fprintf(stderr, "plan_bench: %s\n", std::string(loaded.status().message()).c_str());
    return false;
  }
  std::printf("%s batch %lld: read in %.0f ms, optimized in %.0f ms, planned in %.0f ms", spec.model.path.c_str(),
              static_cast<long long>(spec.sizes.batch_or_one()), loaded->load_ms, loaded->optimize_ms, loaded->plan_ms);
  Print(*loaded->plan);
  return true;
}

int Main(int argc, char** argv) {
  std::string only;
  std::vector<int> sizes;
  std::vector<std::string> files;
  RunSpec spec;
  CLI::App app("seconds that planning takes");
  app.add_option("KIND", only, "chain, transformer or branches; default: all");
  app.add_option("--nodes", sizes, "default: 10000 50000 100000");
  app.add_option("--model", files, "files instead");
  app.add_option("--batch", spec.sizes.batch);
  app.add_option("--threads", spec.threads);
  CLI11_PARSE(app, argc, argv);
  bool ok = true;
  for (const std::string& file : files) {
    spec.model.path = file;
    ok = MeasureFile(spec) && ok;
  }
  if (!files.empty()) return ok ? 0 : 1;
  if (sizes.empty()) sizes = {10'000, 50'000, 100'000};
  for (const Kind& kind : kKinds) {
    if (!only.empty() && only != kind.name) continue;
    for (const int nodes : sizes) ok = Measure(kind, nodes) && ok;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }
