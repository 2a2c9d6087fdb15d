#include "tests/conformance/ways.h"

#include <algorithm>
#include <memory>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "optimizer/model.h"
#include "passes/pipelines.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

constexpr ImportOptions kOnnx{.format = ModelFormat::kOnnx};

struct Judge {
  float relative;
  float absolute;
};

// ONNX's tolerance; more only where an op's own row says so. Integers and bools are exact.
Judge JudgeOf(const BackendTest& test, const Graph& graph) {
  Judge judge{test.relative, test.absolute};
  for (const NodeId node : graph.nodes()) {
    const Tolerance& row = Info(graph.op(node)).tolerance;
    judge.relative = std::max(judge.relative, row.relative);
    judge.absolute = std::max(judge.absolute, row.absolute);
  }
  return judge;
}

// ONNX's files hold bfloat16 as the bits of u16.
Tensor AsBFloat16(const Tensor& tensor) { return Tensor(DataType::kBFloat16, tensor.dims(), tensor.buffer()); }

// The shapes of the tensors, written over those that the model declares.
absl::Status BindInputs(Graph& graph, const std::vector<Tensor>& inputs) {
  if (graph.inputs().size() != inputs.size()) {
    return absl::InvalidArgumentError(
        Concat("the model has ", graph.inputs().size(), " inputs, the test gives ", inputs.size()));
  }
  GraphEditor edit(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId value = graph.output(graph.inputs()[i]);
    if (graph.type(value) != inputs[i].type()) {
      return absl::InvalidArgumentError(Concat("input '", graph.Label(graph.inputs()[i]), "' is ",
                                               DataTypeName(graph.type(value)), ", the test gives ",
                                               DataTypeName(inputs[i].type())));
    }
    edit.SetShape(value, inputs[i].shape());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> RunGraph(Graph graph, const std::vector<Tensor>& inputs, bool optimize,
                                             CompileOptions options) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  HALFTONE_RETURN_IF_ERROR(BindInputs(graph, inputs));
  HALFTONE_RETURN_IF_ERROR(Annotate(PrepareToRun(graph, /*batch=*/1, {}, optimize, *target), "preparing"));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, options));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> first, plan->Run(inputs));
  if (options.reference_only) return first;
  return plan->Run(inputs);  // sees the first one's memory
}

std::string Judged(const absl::StatusOr<std::vector<Tensor>>& actual, const TestData& data, const Graph& graph,
                   const Judge& judge) {
  if (!actual.ok()) return std::string(actual.status().message());
  if (actual->size() != data.outputs.size())
    return Concat(actual->size(), " outputs, the test has ", data.outputs.size());
  for (size_t i = 0; i < actual->size(); ++i) {
    const Tensor &got = (*actual)[i], &wanted = data.outputs[i];
    const std::string where = Concat("output ", i, " '", graph.outputs()[i].name, "': ");
    if (got.type() != wanted.type())
      return Concat(where, DataTypeName(got.type()), " against ", DataTypeName(wanted.type()));
    const bool exact = !IsFloatingPoint(got.type());
    const std::string difference =
        reference::Compare(got, wanted, exact ? 0 : judge.relative, exact ? 0 : judge.absolute);
    if (!difference.empty()) return Concat(where, difference);
  }
  return "";
}

std::string SameBits(const std::vector<Tensor>& actual, const std::vector<Tensor>& wanted) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!actual[i].SameBytes(wanted[i])) return Concat("output ", i, " has other bits than before the round trip");
  }
  return "";
}

// What a client gets back.
absl::StatusOr<Graph> Rewritten(Graph graph, const std::vector<Tensor>& inputs) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  HALFTONE_RETURN_IF_ERROR(BindInputs(graph, inputs));
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, /*batch=*/1, {}, /*fuse=*/true, *target));
  PassContext context{.target = *target};
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(FileDialectOf(graph)).Run(graph, context));
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  return ImportModelBytes(bytes, "rewritten.onnx", kOnnx);
}

absl::StatusOr<Graph> RoundTrip(const Graph& graph) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  return ImportModelBytes(bytes, "again.onnx", kOnnx);
}

// The test's tensors in the types that the model declares.
void ReadBFloat16(const Graph& graph, TestData& data) {
  const auto is_bits = [&](ValueId value, const Tensor& tensor) {
    return graph.type(value) == DataType::kBFloat16 && tensor.type() == DataType::kUInt16;
  };
  for (size_t i = 0; i < data.inputs.size() && i < graph.inputs().size(); ++i) {
    if (is_bits(graph.output(graph.inputs()[i]), data.inputs[i])) data.inputs[i] = AsBFloat16(data.inputs[i]);
  }
  for (size_t i = 0; i < data.outputs.size() && i < graph.outputs().size(); ++i) {
    if (is_bits(graph.outputs()[i].value, data.outputs[i])) data.outputs[i] = AsBFloat16(data.outputs[i]);
  }
}

std::string CheckSet(const BackendTest& test, const Graph& graph, TestData data, int threads) {
  ReadBFloat16(graph, data);
  const Judge judge = JudgeOf(test, graph);
  const CompileOptions fast{.threads = threads};
  const auto failed = [&](std::string_view way, const std::string& why) {
    return why.empty() ? why : Concat(way, ": ", why);
  };
  const absl::StatusOr<std::vector<Tensor>> engine = RunGraph(graph, data.inputs, false, fast);
  std::string why = failed("engine", Judged(engine, data, graph, judge));
  if (!why.empty()) return why;
  if (!test.light()) {
    const CompileOptions slow{.threads = threads, .reference_only = true};
    why = failed("reference", Judged(RunGraph(graph, data.inputs, false, slow), data, graph, judge));
    if (!why.empty()) return why;
  }
  why = failed("optimized", Judged(RunGraph(graph, data.inputs, true, fast), data, graph, judge));
  if (!why.empty()) return why;

  const absl::StatusOr<Graph> again = RoundTrip(graph);
  if (!again.ok()) return failed("round trip", std::string(again.status().message()));
  const absl::StatusOr<std::vector<Tensor>> repeated = RunGraph(*again, data.inputs, false, fast);
  why = failed("round trip", Judged(repeated, data, graph, judge));
  if (why.empty()) why = failed("round trip", SameBits(*repeated, *engine));
  if (!why.empty()) return why;

  const absl::StatusOr<Graph> rewritten = Rewritten(graph, data.inputs);
  if (!rewritten.ok()) return failed("rewritten", std::string(rewritten.status().message()));
  return failed("rewritten", Judged(RunGraph(*rewritten, data.inputs, true, fast), data, graph, judge));
}

}  // namespace

std::string CheckTest(const BackendTest& test, int threads) {
  const ModelFacts facts = FactsOf(test.model);
  if (!facts.no_tensors.empty()) return Concat("data: ", facts.no_tensors);
  const absl::StatusOr<Graph> graph = ImportModel(test.model, kOnnx);
  if (!graph.ok()) return Concat("import: ", std::string(graph.status().message()));
  if (test.light()) {
    const absl::StatusOr<TestData> data = LightData(test, facts);
    if (!data.ok()) return Concat("data: ", std::string(data.status().message()));
    return CheckSet(test, *graph, *data, threads);
  }
  for (const std::string& set : test.sets) {
    const absl::StatusOr<TestData> data = ReadSet(set);
    if (!data.ok()) return Concat("data: ", std::string(data.status().message()));
    const std::string why = CheckSet(test, *graph, *data, threads);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace halftone
