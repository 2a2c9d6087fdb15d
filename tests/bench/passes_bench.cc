// SPDX-License-Identifier: Apache-2.0
// Seconds and memory that the passes take on a large graph: repeated transformer blocks (transformer_graph.h), or a
// file.
//
//   passes_bench [--nodes 100000] [--seed 1] [--repeat 3] [--write FILE.onnx]
//   passes_bench --model FILE
//
// Prints JSON: the fastest of the repetitions, each of the optimize pipeline and the export pipeline on a freshly
// imported graph, with the log that the report is made from, asking oneDNN for its kernels as a job does. Memory is how
// far the heap grew at most beyond the imported graph, counted in one more repetition: every new and delete.

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "nlohmann/json.hpp"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "runtime/engine.h"
#include "tests/bench/transformer_graph.h"

namespace {

// Live heap bytes while `counting`, and their peak.
bool counting = false;
int64_t live_bytes = 0, peak_bytes = 0;

}  // namespace

void* operator new(size_t size) {
  void* memory = std::malloc(std::max<size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) {
    live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
    peak_bytes = std::max(peak_bytes, live_bytes);
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  if (counting && memory != nullptr) live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace halftone {
namespace {

struct Options {
  int nodes = 100'000;
  uint64_t seed = 1;
  int repeat = 3;
  std::string write, model;
  bool permissive = false;
};

int64_t WeightBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const NodeId id : graph.nodes()) {
    const Tensor* tensor = graph.op(id) == OpKind::kConstant ? graph.ConstantTensor(graph.output(id)) : nullptr;
    if (tensor != nullptr) bytes += static_cast<int64_t>(tensor->byte_size());
  }
  return bytes;
}

int Computing(const Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) count += Info(graph.op(id)).group == OpGroup::kSource ? 0 : 1;
  return count;
}

struct Times {
  double optimize_ms = 0, lower_ms = 0;
  double total() const { return optimize_ms + lower_ms; }
};

template <typename Work>
absl::StatusOr<double> Milliseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  HALFTONE_RETURN_IF_ERROR(work());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

absl::Status Run(const Options& options) {
  Graph graph;
  if (options.model.empty()) {
    graph = MakeTransformerGraph({.nodes = options.nodes, .seed = options.seed});
  } else {
    HALFTONE_ASSIGN_OR_RETURN(graph, ImportModel(options.model));
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  if (!options.write.empty()) HALFTONE_RETURN_IF_ERROR(WriteFileAtomically(options.write, bytes));
  const int64_t file = static_cast<int64_t>(bytes.size()) - WeightBytes(graph);
  const int nodes = Computing(graph);
  graph = Graph();

  const std::unique_ptr<Target> onednn = MakeCpuTarget();
  const PermissiveTarget permissive;
  const Target& target = options.permissive ? static_cast<const Target&>(permissive) : *onednn;
  nlohmann::ordered_json result;
  result["nodes"] = nodes;
  result["file_bytes_without_weights"] = file;
  Times best;
  for (int i = 0; i <= options.repeat; ++i) {
    HALFTONE_ASSIGN_OR_RETURN(Graph copy, ImportModelBytes(bytes, "synthetic.onnx"));  // no other graph shares its nodes
    counting = i == options.repeat;                                                    // once more, not timed
    RewriteLog log;
    PassContext context{.target = target, .log = &log};
    Times times;
    HALFTONE_ASSIGN_OR_RETURN(times.optimize_ms,
                              Milliseconds([&] { return MakeOptimizePipeline().Run(copy, context); }));
    const int fused = counting ? 0 : Computing(copy);
    HALFTONE_ASSIGN_OR_RETURN(times.lower_ms,
                              Milliseconds([&] { return MakeExportPipeline(FileDialectOf(copy)).Run(copy, context); }));
    if (std::exchange(counting, false)) {
      result["peak_growth_bytes"] = peak_bytes;
      break;
    }
    if (i == 0) {
      result["nodes_fused"] = fused;
      result["nodes_written"] = Computing(copy);
      result["log_entries"] = log.entries().size();
      std::map<std::string, double> by_pass;
      for (const PassRun& run : context.runs) by_pass[run.name] += run.milliseconds;
      std::vector<std::pair<double, std::string>> slowest;
      for (const auto& [name, ms] : by_pass) slowest.emplace_back(ms, name);
      std::sort(slowest.rbegin(), slowest.rend());
      slowest.resize(std::min<size_t>(slowest.size(), 12));
      for (const auto& [ms, name] : slowest) result["slowest_passes_ms"][name] = ms;
      double all = 0;
      for (const auto& [name, ms] : by_pass) all += ms;
      result["outside_passes_ms"] = times.total() - all;
    }
    if (i == 0 || times.total() < best.total()) best = times;
  }
  result["optimize_ms"] = best.optimize_ms;
  result["lower_ms"] = best.lower_ms;
  result["total_ms"] = best.total();
  std::printf("%s\n", result.dump(1).c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  halftone::Options options;
  CLI::App app("Seconds and memory that the passes take");
  app.add_option("--nodes", options.nodes, "of the synthetic graph");
  app.add_option("--seed", options.seed, "of its weights");
  app.add_option("--repeat", options.repeat, "the fastest counts")->check(CLI::PositiveNumber);
  app.add_option("--write", options.write, "writes it as an ONNX file too");
  app.add_option("--model", options.model, "a file instead");
  app.add_flag("--permissive", options.permissive, "asks no kernels: a target that has them all");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = halftone::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "passes_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}
