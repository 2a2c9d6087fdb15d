// SPDX-License-Identifier: Apache-2.0
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
#include "optimizer/prepare.h"
#include "passes/pipelines.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

constexpr ImportOptions kOnnx{.format = ModelFormat::kOnnx};

// ONNX's tolerance, or the op's own if that is larger. Integers and bools are exact.
Tolerance ToleranceOf(const BackendTest& test, const Graph& graph) {
  Tolerance tolerance{test.relative, test.absolute};
  for (const NodeId node : graph.nodes()) {
    const Tolerance& row = Info(graph.op(node)).tolerance;
    tolerance.relative = std::max(tolerance.relative, row.relative);
    tolerance.absolute = std::max(tolerance.absolute, row.absolute);
  }
  return tolerance;
}

// The files of ONNX's tests hold bfloat16 tensors as uint16.
Tensor AsBFloat16(const Tensor& tensor) { return Tensor(DataType::kBFloat16, tensor.dims(), tensor.buffer()); }

// Sets the shapes of the inputs to those of the tensors.
absl::Status BindInputs(Graph& graph, const std::vector<Tensor>& inputs) {
  if (graph.inputs().size() != inputs.size()) {
    return absl::InvalidArgumentError(
        Concat("the model has ", graph.inputs().size(), " inputs, the test has ", inputs.size()));
  }
  GraphEditor edit(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId value = graph.output(graph.inputs()[i]);
    if (graph.type(value) != inputs[i].type()) {
      return absl::InvalidArgumentError(Concat("input '", graph.Label(graph.inputs()[i]), "' is ",
                                               DataTypeName(graph.type(value)), ", in the test it is ",
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
  HALFTONE_RETURN_IF_ERROR(
      Annotate(PrepareToRun(graph, DimSizes(), {}, optimize ? Preparation::kOptimize : Preparation::kPlain, *target),
               "preparing"));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, options));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> first, plan->Run(inputs));
  if (options.reference_only) return first;
  return plan->Run(inputs);  // with the memory that the first run left
}

std::string CompareOutputs(const absl::StatusOr<std::vector<Tensor>>& actual, const TestData& data, const Graph& graph,
                           const Tolerance& tolerance) {
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
        reference::Compare(got, wanted, exact ? 0 : tolerance.relative, exact ? 0 : tolerance.absolute);
    if (!difference.empty()) return Concat(where, difference);
  }
  return "";
}

std::string CompareBits(const std::vector<Tensor>& actual, const std::vector<Tensor>& wanted) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!actual[i].SameBytes(wanted[i]))
      return Concat("output ", i, " is not bit-identical to that before the round trip");
  }
  return "";
}

// The graph of the file that a client gets.
absl::StatusOr<Graph> Rewritten(Graph graph, const std::vector<Tensor>& inputs) {
  const std::unique_ptr<Target> target = MakeCpuTarget();
  HALFTONE_RETURN_IF_ERROR(BindInputs(graph, inputs));
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, DimSizes(), {}, Preparation::kOptimize, *target));
  PassContext context{.target = *target};
  HALFTONE_RETURN_IF_ERROR(MakeExportPipeline(FileDialectOf(graph)).Run(graph, context));
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  return ImportModelBytes(bytes, "rewritten.onnx", kOnnx);
}

absl::StatusOr<Graph> RoundTrip(const Graph& graph) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph));
  return ImportModelBytes(bytes, "again.onnx", kOnnx);
}

// Converts uint16 tensors of the test to bfloat16 where the model declares that type.
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
  const Tolerance tolerance = ToleranceOf(test, graph);
  const CompileOptions fast{.threads = threads};
  const auto failed = [&](std::string_view way, const std::string& problem) {
    return problem.empty() ? problem : Concat(way, ": ", problem);
  };
  const absl::StatusOr<std::vector<Tensor>> engine = RunGraph(graph, data.inputs, false, fast);
  std::string problem = failed("engine", CompareOutputs(engine, data, graph, tolerance));
  if (!problem.empty()) return problem;
  if (!test.light()) {
    const CompileOptions slow{.threads = threads, .reference_only = true};
    problem = failed("reference", CompareOutputs(RunGraph(graph, data.inputs, false, slow), data, graph, tolerance));
    if (!problem.empty()) return problem;
  }
  problem = failed("optimized", CompareOutputs(RunGraph(graph, data.inputs, true, fast), data, graph, tolerance));
  if (!problem.empty()) return problem;

  const absl::StatusOr<Graph> again = RoundTrip(graph);
  if (!again.ok()) return failed("round trip", std::string(again.status().message()));
  const absl::StatusOr<std::vector<Tensor>> repeated = RunGraph(*again, data.inputs, false, fast);
  problem = failed("round trip", CompareOutputs(repeated, data, graph, tolerance));
  if (problem.empty()) problem = failed("round trip", CompareBits(*repeated, *engine));
  if (!problem.empty()) return problem;

  const absl::StatusOr<Graph> rewritten = Rewritten(graph, data.inputs);
  if (!rewritten.ok()) return failed("rewritten", std::string(rewritten.status().message()));
  return failed("rewritten", CompareOutputs(RunGraph(*rewritten, data.inputs, true, fast), data, graph, tolerance));
}

}  // namespace

std::string CheckTest(const BackendTest& test, int threads) {
  const ModelFacts facts = FactsOf(test.model);
  if (!facts.unsupported.empty()) return Concat("data: ", facts.unsupported);
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
    const std::string problem = CheckSet(test, *graph, *data, threads);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace halftone
