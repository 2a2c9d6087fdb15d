// SPDX-License-Identifier: Apache-2.0
#include "passes/core/reproducer.h"

#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/nested_run.h"
#include "passes/core/plan_text.h"

namespace halftone {
namespace {

constexpr char kPayload[] = "halftone/reproducer";
constexpr int kPrinted = 64;                        // elements of a constant that are always printed
constexpr int64_t kSmallEnough = int64_t{1} << 16;  // weights of this size in bytes are never omitted

int64_t WeightBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const NodeId id : graph.nodes()) {
    const Tensor* tensor = graph.op(id) == OpKind::kConstant ? graph.ConstantTensor(graph.output(id)) : nullptr;
    if (tensor != nullptr) bytes += static_cast<int64_t>(tensor->byte_size());
  }
  return bytes;
}

// `const f32[3,5] hash=0123456789abcdef` => `const f32[3,5]`, which the parser fills from the name of the constant.
std::string WithoutHashes(std::string text) {
  constexpr std::string_view kHash = " hash=";
  for (size_t at = text.find(kHash); at != std::string::npos; at = text.find(kHash, at + 1)) {
    size_t end = at + kHash.size();
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end - at - kHash.size() == 16) text.erase(at, end - at);
  }
  return text;
}

// The kind of error, without names and numbers.
std::string_view KindOf(std::string_view message) {
  for (const std::string_view kind : {"changed an output", "made a graph that is not valid", "did not settle"}) {
    if (message.find(kind) != std::string_view::npos) return kind;
  }
  return "an error of its own";
}

// The pass that the message names: "... pass 'fuse-x': ...".
std::string_view PassOf(std::string_view message) {
  constexpr std::string_view kPass = "pass '";
  const size_t begin = message.find(kPass);
  if (begin == std::string_view::npos) return "";
  const size_t end = message.find('\'', begin + kPass.size());
  return message.substr(begin, end == std::string_view::npos ? end : end - begin);
}

// Runs only the pass, once, with the checks of the gate.
absl::Status RunAlone(const Pass& pass, const Graph& before, const PassContext& like) {
  PassContext context{.target = like.target, .equivalence = like.equivalence};
  Graph graph = before;
  GraphEditor edit(graph);
  HALFTONE_RETURN_IF_ERROR(RunEverywhere(pass, edit, context));
  return CheckEquivalence(pass, before, graph, context);
}

std::string Comment(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "# ";  // a message of several lines stays a comment
  }
  return result;
}

std::string Head(const Reproducer& reproducer) {
  std::string head =
      Concat("# pipeline: ", reproducer.pipeline, "\n# pass: ", reproducer.pass, "\n# seed: ", reproducer.seed, "\n");
  if (!reproducer.origin.empty()) head += Concat("# origin: ", reproducer.origin, "\n");
  if (reproducer.planned) head += Concat("# plan: ", PrintPlan(reproducer.plan, reproducer.graph), "\n");
  return head + Concat("# failure: ", Comment(reproducer.failure), "\n");
}

}  // namespace

std::string PrintReproducer(const Reproducer& reproducer) {
  return Head(reproducer) + PrintGraph(reproducer.graph, {.with_weights = true, .max_elements = kPrinted});
}

std::string WriteReproducer(const Pass& pass, std::string_view pipeline, const Graph& before,
                            const absl::Status& failure, const PassContext& context) {
  Reproducer reproducer{.pipeline = std::string(pipeline),
                        .pass = std::string(pass.name()),
                        .failure = std::string(failure.message()),
                        .origin = Concat("halftone ", kVersion, ", target ", context.target.name()),
                        .seed = context.equivalence.seed,
                        .planned = context.plan != nullptr,
                        .plan = context.plan == nullptr ? PrecisionPlan() : *context.plan,
                        .graph = before};
  const bool judged_by_outputs = context.equivalence.enabled && KindOf(reproducer.failure) == "changed an output";
  if (WeightBytes(before) > kSmallEnough && judged_by_outputs && context.plan == nullptr) {
    const std::string light = WithoutHashes(PrintGraph(before, {.max_elements = kPrinted}));
    const absl::StatusOr<Graph> filled = ParseGraph(light);
    if (filled.ok() && SameFailure(RunAlone(pass, *filled, context), failure)) return Head(reproducer) + light;
  }
  return PrintReproducer(reproducer);
}

void AttachReproducer(absl::Status& failure, std::string_view text) {
  if (!failure.ok() && !text.empty()) failure.SetPayload(kPayload, absl::Cord(AbslView(text)));
}

std::string ReproducerOf(const absl::Status& failure) {
  const auto text = failure.GetPayload(kPayload);
  return text.has_value() ? std::string(*text) : "";
}

absl::StatusOr<Reproducer> ReadReproducer(std::string_view text) {
  Reproducer reproducer;
  std::optional<std::string> plan;
  for (const absl::string_view line_text : absl::StrSplit(AbslView(text), '\n')) {
    absl::string_view line = line_text;
    if (!absl::ConsumePrefix(&line, "# ")) break;
    if (absl::ConsumePrefix(&line, "pipeline: ")) reproducer.pipeline = std::string(line);
    if (absl::ConsumePrefix(&line, "pass: ")) reproducer.pass = std::string(line);
    if (absl::ConsumePrefix(&line, "failure: ")) reproducer.failure = std::string(line);
    if (absl::ConsumePrefix(&line, "origin: ")) reproducer.origin = std::string(line);
    if (absl::ConsumePrefix(&line, "plan: ")) plan = std::string(line);
    if (absl::ConsumePrefix(&line, "seed: ") && !absl::SimpleAtoi(line, &reproducer.seed)) {
      return absl::InvalidArgumentError(Concat("'# seed: ", line, "' is not a number"));
    }
  }
  if (reproducer.pipeline.empty()) return absl::InvalidArgumentError("there is no line '# pipeline: NAME'");
  HALFTONE_ASSIGN_OR_RETURN(reproducer.graph, ParseGraph(text));
  reproducer.planned = plan.has_value();
  if (plan.has_value()) {
    HALFTONE_ASSIGN_OR_RETURN(reproducer.plan, ParsePlan(*plan, reproducer.graph));
  }
  return reproducer;
}

absl::Status Rerun(const Reproducer& reproducer, const Pipeline& pipeline, const Target& target) {
  PassContext context{.target = target,
                      .plan = reproducer.planned ? &reproducer.plan : nullptr,
                      .equivalence = {.enabled = true, .seed = reproducer.seed}};
  Graph graph = reproducer.graph;
  return pipeline.Run(graph, context);
}

bool SameFailure(const absl::Status& a, const absl::Status& b) {
  if (a.ok() || b.ok() || a.code() != b.code()) return false;
  const std::string_view first = StdView(a.message()), second = StdView(b.message());
  const std::string_view first_pass = PassOf(first), second_pass = PassOf(second);
  return KindOf(first) == KindOf(second) && (first_pass == second_pass || first_pass.empty() || second_pass.empty());
}

}  // namespace halftone
