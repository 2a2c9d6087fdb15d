// SPDX-License-Identifier: Apache-2.0
// Runs pipelines of passes over a graph and prints the resulting graph as text.
//
//   graph_opt model.onnx                                        # the optimize pipeline
//   graph_opt --plan=lists --pipeline=optimize,precision,export-onnx model.onnx
//   graph_opt --pipeline=fuse-conv-bias --target='without conv+bias' small.graph
//   graph_opt --verify-passes model.pb                          # compares outputs before and after every pass
//   graph_opt --why='fuse-residual' model.onnx                  # per node: why the rule did not apply; or --why='*/x'
//   graph_opt --pipeline='rename_op(old=Relu,new=Relu6),remove_device' model.pb
//   graph_opt --reproduce failure.graph                         # runs a failed pass again; graph_reduce minimizes it
//   HALFTONE_DEBUG=dump=/tmp/d,time,why,only=fuse-* graph_opt model.onnx
//
// Files named *.graph are text, others are models. --log prints every rewrite and every refusal to stderr. When a pass
// changes outputs by more than it declares, --verify-passes names it and writes a reproducer to --reproducer.

#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/core/reproducer.h"
#include "passes/core/why.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/placement_planner.h"
#include "passes/transforms/named_passes.h"

namespace halftone {
namespace {

struct Options {
  std::string path;
  std::string pipelines = "optimize";
  std::string target;
  std::string plan;
  std::string why;
  std::string reproducer = "failure.graph";
  int64_t batch = 0;
  uint64_t seed = 1;
  bool verify = false;
  bool log = false;
  bool quiet = false;
  bool reproduce = false;
};

absl::StatusOr<Graph> Load(const Options& options) {
  if (!absl::EndsWith(options.path, ".graph")) return ImportModel(options.path);
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.path));
  return ParseGraph(text);
}

absl::StatusOr<PermissiveTarget> TargetOf(const Options& options) {
  return options.target.empty() ? PermissiveTarget() : PermissiveTarget::Parse(options.target);
}

// OK if the pass does not fail any more.
absl::Status Reproduce(const Options& options) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.path));
  HALFTONE_ASSIGN_OR_RETURN(const Reproducer reproducer, ReadReproducer(text));
  HALFTONE_ASSIGN_OR_RETURN(const Pipeline pipeline, MakePipelineOf(reproducer, AllFileDialects()));
  HALFTONE_ASSIGN_OR_RETURN(const PermissiveTarget target, TargetOf(options));
  HALFTONE_RETURN_IF_ERROR(Rerun(reproducer, pipeline, target));
  std::fprintf(stderr, "the failure is not reproduced: pipeline '%s', pass '%s', seed %llu\n",
               reproducer.pipeline.c_str(), reproducer.pass.c_str(), static_cast<unsigned long long>(reproducer.seed));
  return absl::OkStatus();
}

void PrintLog(const RewriteLog& log) {
  for (const RewriteLogEntry& entry : log.entries()) {
    std::fprintf(stderr, "%-7s %-28s '%s'  %s\n", entry.applied ? "applied" : "refused", entry.pass.c_str(),
                 entry.node.c_str(), entry.text.c_str());
  }
}

// Writes the reproducer, if a check of the pass framework failed.
void SaveReproducer(const Options& options, const PassContext& context) {
  if (context.reproducer.empty()) return;
  const absl::Status written = WriteFileAtomically(options.reproducer, context.reproducer);
  std::fprintf(stderr, "%s\n",
               written.ok() ? Concat("reproduce it with: graph_opt --reproduce ", options.reproducer).c_str()
                            : std::string(written.message()).c_str());
}

absl::Status Run(const Options& options) {
  if (options.reproduce) return Reproduce(options);
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, Load(options));
  if (options.batch > 0) {
    GraphEditor edit(graph);
    HALFTONE_RETURN_IF_ERROR(Specialize(edit, {}, options.batch));
  }
  HALFTONE_ASSIGN_OR_RETURN(const PermissiveTarget target, TargetOf(options));
  PlannedPrecision planned;
  if (options.plan == "lists") {
    HALFTONE_ASSIGN_OR_RETURN(ListsPlan lists, PlanByLists(graph, {.edits = {ListEditsFromEnvironment()},
                                                                   .imported_from = TensorFlowDialectOf(graph)}));
    planned = {std::move(lists.plan), lists.summary.ToString(), std::move(lists.warnings)};
  } else if (options.plan == "placement") {
    HALFTONE_ASSIGN_OR_RETURN(planned, PlanByPlacement(graph, target));
  }
  if (!planned.summary.empty()) std::fprintf(stderr, "%s\n", planned.summary.c_str());
  for (const std::string& warning : planned.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  RewriteLog log;
  PassContext context{.target = target,
                      .plan = options.plan.empty() ? nullptr : &planned.plan,
                      .file = FormatOf(graph).has_value() ? &FileDialectOf(graph) : nullptr,
                      .log = &log,
                      .equivalence = {.enabled = options.verify, .seed = options.seed}};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  absl::Status status;
  for (const std::string& name : SplitPassList(options.pipelines)) {
    HALFTONE_ASSIGN_OR_RETURN(const Pipeline pipeline,
                              MakePipelineByName(name, {.plan = &planned.plan, .dialects = AllFileDialects()}));
    status = pipeline.Run(graph, context);
    if (!status.ok()) break;
    if (options.why.empty()) continue;
    std::fputs(PrintReasons(ExplainNodes(pipeline, graph, options.why, context)).c_str(), stdout);
  }
  if (options.log) PrintLog(log);
  for (const std::string& note : context.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (!status.ok()) SaveReproducer(options, context);
  HALFTONE_RETURN_IF_ERROR(status);
  if (!options.quiet && options.why.empty()) std::fputs(PrintGraph(graph).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  halftone::Options options;
  CLI::App app("Runs pipelines of passes over a graph");
  app.add_option("file", options.path, "a .graph text or a model")->required();
  app.footer(halftone::NamedPassesHelp());
  app.add_option("--pipeline", options.pipelines, "pipelines or passes to run in order, comma-separated");
  app.add_option("--target", options.target, "kernels of the target: 'without conv+residual, ...' (default: all)");
  app.add_option("--plan", options.plan, "precision planner: lists, or placement (of a fused graph)")
      ->check(CLI::IsMember({"lists", "placement"}));
  app.add_option("--batch", options.batch, "value of a dynamic batch dimension");
  app.add_flag("--verify-passes", options.verify, "compares outputs before and after every pass");
  app.add_option("--seed", options.seed, "seed of the random inputs of --verify-passes");
  app.add_option("--reproducer", options.reproducer,
                 "file for the reproducer of a failed pass (default: failure.graph)");
  app.add_option(
      "--why", options.why,
      "prints why the rules of this name, or all rules at the nodes of this name, did not apply (globs: *, ?)");
  app.add_flag("--log", options.log, "prints every rewrite that was applied or refused, with the reason");
  app.add_flag("--quiet", options.quiet, "does not print the graph");
  app.add_flag("--reproduce", options.reproduce, "runs the failed pass that the file (a reproducer) describes");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = halftone::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "graph_opt: %s\n", std::string(status.message()).c_str());
  return 1;
}
