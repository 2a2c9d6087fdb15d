// SPDX-License-Identifier: Apache-2.0
#include "passes/core/gate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "passes/core/equivalence.h"
#include "passes/core/nested_run.h"
#include "passes/core/reproducer.h"
#include "passes/core/rule_schedule.h"

namespace halftone {
namespace {

// Dumps are optional: a full disk does not fail the job, but adds a note.
void WriteDump(const std::string& path, const std::string& text, PassContext& context) {
  const absl::Status status = WriteFileAtomically(path, text);
  if (!status.ok()) context.notes.push_back(Concat("no dump: ", status.message()));
}

void Dump(const Pass& pass, std::string_view when, const Graph& graph, PassContext& context) {
  const std::string stem =
      absl::StrFormat("%s/%02d-%s.", context.debug.dump_dir, context.step, std::string(pass.name()));
  WriteDump(Concat(stem, when, ".graph"), PrintGraph(graph), context);
}

// The result of a pass must be a valid graph. With verify=full its shapes must also be those of shape inference.
absl::Status Check(const Graph& graph, std::vector<NodeId> touched, PassContext& context) {
  const bool thorough = context.debug.verify_full || context.equivalence.enabled;
  if (context.in_pipeline && graph.num_nodes() > kLargeGraph && !thorough) {
    context.half_verified = true;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    return VerifyNodes(graph, touched);
  }
  HALFTONE_RETURN_IF_ERROR(VerifyGraph(graph));
  if (!context.debug.verify_full) return absl::OkStatus();
  Graph copy = graph;
  GraphEditor edit(copy);
  return InferShapes(edit);
}

}  // namespace

absl::StatusOr<int64_t> RunThroughGate(const Pass& pass, std::string_view pipeline, Graph& graph,
                                       PassContext& context) {
  if (context.interrupted) HALFTONE_RETURN_IF_ERROR(context.interrupted());
  if (context.debug.Skips(pass.name())) return 0;
  const bool selected = context.debug.Selects(pass.name());
  const bool keeps_before = !context.debug.dump_dir.empty() || context.equivalence.enabled;
  const Graph before = keeps_before ? graph : Graph();

  context.matches = 0;
  std::vector<NodeId> touched;
  context.touched = &touched;
  GraphEditor edit(graph);
  edit.LogTouched(&touched);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = RunEverywhere(pass, edit, context);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  context.touched = nullptr;
  if (status.ok() && edit.edits() > 0) {
    if (const absl::Status bad = Check(graph, touched, context); !bad.ok()) {
      status = absl::InternalError(Concat("made a graph that is not valid: ", bad.message()));
    } else if (context.equivalence.enabled) {
      status = CheckEquivalence(pass, before, graph, context);
    }
  }
  if (context.schedule != nullptr && status.ok()) context.schedule->Touch(graph, touched);

  context.runs.push_back({std::string(pass.name()), edit.edits(), context.matches, took.count()});
  if (selected && context.debug.time && (edit.edits() > 0 || took.count() > 1)) {
    std::fprintf(stderr, "time %-32s %8.1f ms %5lld matches %6lld edits\n", std::string(pass.name()).c_str(),
                 took.count(), static_cast<long long>(context.matches), static_cast<long long>(edit.edits()));
  }
  if (selected && !context.debug.dump_dir.empty() && edit.edits() > 0) {
    ++context.step;
    Dump(pass, "before", before, context);
    Dump(pass, "after", graph, context);
  }
  if (!status.ok()) {
    if (keeps_before) context.reproducer = WriteReproducer(pass, pipeline, before, status, context);
    if (!context.debug.dump_dir.empty()) {
      WriteDump(context.debug.dump_dir + "/failure.graph", context.reproducer, context);
    }
    if (context.equivalence.enabled) AttachReproducer(status, context.reproducer);
    return Annotate(std::move(status), AbslView(Concat("pass '", pass.name(), "'")));
  }
  return edit.edits();
}

}  // namespace halftone
