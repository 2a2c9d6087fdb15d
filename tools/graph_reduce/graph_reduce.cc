// SPDX-License-Identifier: Apache-2.0
// Reduces a failing graph to the smallest one that fails in the same way, and prints it as a reproducer for
// graph_opt --reproduce.
//
//   graph_reduce failure.graph                       # the reproducer that --verify-passes or a failed pass wrote
//   graph_reduce --if='halftone run {}' bad.graph    # any command that fails on the file
//   graph_reduce --out small.graph failure.graph
//
// A reproducer names its pipeline, its pass and its seed; the same pass must fail in the same way. With --if, the
// command runs on each smaller graph, with {} replaced by the path of its text. It must end with the same exit code as
// on the whole graph.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/reproducer.h"
#include "passes/pipelines.h"
#include "tools/graph_reduce/reduce.h"

namespace halftone {
namespace {

struct Options {
  std::string path, command, out, target;
  int tries = 5000;
};

absl::StatusOr<Graph> Load(const std::string& path) {
  if (!absl::EndsWith(path, ".graph")) return ImportModel(path);
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseGraph(text);
}

absl::Status WriteResult(const Options& options, const std::string& text) {
  if (!options.out.empty()) return WriteFileAtomically(options.out, text);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

ReduceOptions ReduceOptionsOf(const Options& options) {
  return {.max_tries = options.tries,
          .progress = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }};
}

absl::Status ReduceReproducer(const Options& options) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.path));
  HALFTONE_ASSIGN_OR_RETURN(Reproducer reproducer, ReadReproducer(text));
  HALFTONE_ASSIGN_OR_RETURN(const Pipeline pipeline, MakePipelineOf(reproducer, AllFileDialects()));
  PermissiveTarget target;
  if (!options.target.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(target, PermissiveTarget::Parse(options.target));
  }
  const absl::Status failure = Rerun(reproducer, pipeline, target);
  if (failure.ok()) return absl::FailedPreconditionError("the reproducer does not fail: there is nothing to reduce");
  std::fprintf(stderr, "fails: %s\n", std::string(failure.message()).c_str());
  Reproducer smaller = reproducer;
  const auto fails = [&](const Reduction& r) {
    smaller.graph = r.graph;
    return SameFailure(Rerun(smaller, pipeline, target), failure);
  };
  smaller.graph = Reduce(reproducer.graph, fails, ReduceOptionsOf(options)).graph;
  smaller.failure = std::string(Rerun(smaller, pipeline, target).message());
  return WriteResult(options, PrintReproducer(smaller));
}

absl::Status ReduceByCommand(const Options& options) {
  HALFTONE_ASSIGN_OR_RETURN(const Graph graph, Load(options.path));
  HALFTONE_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create());
  const std::string path = folder.path() + "/smaller.graph";
  const std::string command = Concat("(", absl::StrReplaceAll(options.command, {{"{}", path}}), ") > /dev/null 2>&1");
  const auto run = [&](const Graph& g) {
    const absl::Status written = WriteFileAtomically(path, PrintGraph(g, {.with_weights = true}));
    return written.ok() ? std::system(command.c_str()) : 0;
  };
  const int code = run(graph);
  if (code == 0) return absl::FailedPreconditionError("the command does not fail on the whole graph");
  const Reduction smaller =
      Reduce(graph, [&](const Reduction& r) { return run(r.graph) == code; }, ReduceOptionsOf(options));
  return WriteResult(options, PrintGraph(smaller.graph, {.with_weights = true}));
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  halftone::Options options;
  CLI::App app("Reduces a failing graph to a minimal one");
  app.add_option("file", options.path, "a reproducer; with --if any .graph file or model")->required();
  app.add_option("--if", options.command, "a command that fails on the graph file {}");
  app.add_option("--target", options.target,
                 "kernels of the target of a reproducer: 'without conv+residual, ...' (default: all)");
  app.add_option("--out", options.out, "file for the reduced graph (default: stdout)");
  app.add_option("--tries", options.tries, "largest number of graphs to try");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status =
      options.command.empty() ? halftone::ReduceReproducer(options) : halftone::ReduceByCommand(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "graph_reduce: %s\n", std::string(status.message()).c_str());
  return 1;
}
