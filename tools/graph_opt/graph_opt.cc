// Runs pipelines of passes over a graph and prints what came out, as text.
//
//   graph_opt model.onnx                                        # the optimize pipeline
//   graph_opt --plan=lists --pipeline=optimize,precision,export-onnx model.onnx
//   graph_opt --pipeline=fuse-conv-bias --target='without conv+bias' small.graph
//   graph_opt --check --batch=2 model.pb                        # compares answers before and after every pass
//   graph_opt --pipeline='rename_op(old=Relu,new=Relu6),remove_device' model.pb
//   graph_opt --reproduce failure.graph                         # what a failed pass left in the dump folder
//   HALFTONE_DEBUG=dump=/tmp/d,time,why,only=fuse-* graph_opt model.onnx
//
// Files that end in .graph are text; others are models. Reasons go to stderr with --log.

#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/formats.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "passes/precision/lists_planner.h"
#include "passes/surgery/named_passes.h"

namespace halftone {
namespace {

struct Options {
  std::string path;
  std::string pipelines = "optimize";
  std::string target;
  std::string plan;
  int64_t batch = 0;
  bool check = false;
  bool log = false;
  bool quiet = false;
  bool reproduce = false;
};

absl::StatusOr<Graph> Load(const Options& options) {
  if (!absl::EndsWith(options.path, ".graph")) return ImportModel(options.path);
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.path));
  return ParseGraph(text);
}

// The pipeline that a reproducer names in its first lines.
absl::StatusOr<std::string> PipelineOfReproducer(const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# pipeline: ")) return std::string(line);
  }
  return absl::InvalidArgumentError(Concat(path, " has no line '# pipeline: NAME'"));
}

absl::Status Run(Options options) {
  if (options.reproduce) {
    HALFTONE_ASSIGN_OR_RETURN(options.pipelines, PipelineOfReproducer(options.path));
  }
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, Load(options));
  if (options.batch > 0) {
    GraphEditor edit(graph);
    HALFTONE_RETURN_IF_ERROR(Specialize(edit, {}, options.batch));
  }
  PermissiveTarget target;
  if (!options.target.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(target, PermissiveTarget::Parse(options.target));
  }
  ListsPlan lists;
  if (options.plan == "lists") {
    HALFTONE_ASSIGN_OR_RETURN(lists, PlanByLists(graph, {.edits = {ListEditsFromEnvironment()}}));
    std::fprintf(stderr, "%s\n", lists.summary.ToString().c_str());
    for (const std::string& warning : lists.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  RewriteLog log;
  PassContext context{.target = target, .plan = options.plan.empty() ? nullptr : &lists.plan, .log = &log};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  context.equivalence.enabled = options.check;
  absl::Status status;
  for (const std::string& name : SplitPassList(options.pipelines)) {
    HALFTONE_ASSIGN_OR_RETURN(const Pipeline pipeline, MakePipelineByName(name, &lists.plan));
    status = pipeline.Run(graph, context);
    if (!status.ok()) break;
  }
  if (options.log) {
    for (const RewriteLogEntry& entry : log.entries()) {
      std::fprintf(stderr, "%-4s %-28s '%s'  %s\n", entry.applied ? "did" : "kept", entry.pass.c_str(),
                   entry.node.c_str(), entry.text.c_str());
    }
  }
  for (const std::string& note : context.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  HALFTONE_RETURN_IF_ERROR(status);
  if (!options.quiet) std::fputs(PrintGraph(graph).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  halftone::Options options;
  CLI::App app("Runs pipelines of passes over a graph");
  app.add_option("file", options.path, "a .graph text or a model")->required();
  app.footer(halftone::NamedPassesHelp());
  app.add_option("--pipeline", options.pipelines, "names, comma-separated, run in order");
  app.add_option("--target", options.target, "'without conv+residual, ...'");
  app.add_option("--plan", options.plan, "planner of the precision: lists")->check(CLI::IsMember({"lists"}));
  app.add_option("--batch", options.batch, "binds free first dimensions");
  app.add_flag("--check", options.check, "compares answers before and after every pass");
  app.add_flag("--log", options.log, "prints what was done and what was refused, and why");
  app.add_flag("--quiet", options.quiet, "prints no graph");
  app.add_flag("--reproduce", options.reproduce, "runs the pipeline that the file names");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = halftone::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "graph_opt: %s\n", std::string(status.message()).c_str());
  return 1;
}
