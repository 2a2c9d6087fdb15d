// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/check.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "ir/editor.h"
#include "ir/nested.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"
#include "passes/pipelines.h"

namespace halftone::fuzz {
namespace {

constexpr double kLooseTolerance = 1e-3;  // relative to the largest magnitude
constexpr double kLooseToleranceOf16Bits = 0.02;

using Tensors = std::vector<Tensor>;

double Largest(const Tensor& tensor) {
  double largest = 0;
  if (!IsFloatingPoint(tensor.type())) return 0;
  for (const double x : tensor.ToDoubles()) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  return largest;
}

// "" or the first element that differs by more.
std::string Difference(const Tensor& actual, const Tensor& expected, double relative, double absolute) {
  if (actual.type() != expected.type())
    return Concat(DataTypeName(actual.type()), " against ", DataTypeName(expected.type()));
  return reference::Compare(actual, expected, static_cast<float>(relative), static_cast<float>(absolute));
}

// Allows a difference relative to the largest magnitude of each output.
std::string CompareLoosely(const Graph& graph, const Tensors& actual, const Tensors& expected) {
  if (actual.size() != expected.size()) return Concat(actual.size(), " outputs against ", expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const bool real = IsFloatingPoint(expected[i].type());
    const bool half = real && expected[i].type() != DataType::kFloat32;
    const double allowed =
        real ? (half ? kLooseToleranceOf16Bits : kLooseTolerance) * std::max(1e-2, Largest(expected[i])) : 0;
    const std::string difference = Difference(actual[i], expected[i], 0, allowed);
    if (!difference.empty()) return Concat("output '", graph.outputs()[i].name, "': ", difference);
  }
  return "";
}

// Other inputs of the same types and shapes, not necessarily in the domains of the ops.
Tensors OtherInputs(const Tensors& inputs) {
  Tensors others;
  for (const Tensor& input : inputs) {
    Tensor other(input.type(), input.dims());
    if (input.type() == DataType::kFloat32) {
      const std::vector<float> numbers = input.ToFloats();
      std::transform(numbers.begin(), numbers.end(), other.mutable_data<float>().begin(),
                     [](float x) { return x / 2; });
    } else if (input.type() == DataType::kBool) {
      const std::vector<int64_t> numbers = input.ToInts();
      std::transform(numbers.begin(), numbers.end(), other.mutable_data<uint8_t>().begin(),
                     [](int64_t x) { return static_cast<uint8_t>(x == 0); });
    } else {
      other = input;
    }
    others.push_back(std::move(other));
  }
  return others;
}

absl::StatusOr<Tensors> Run(const Graph& graph, const Tensors& inputs, const Subject& subject) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, subject.compile(graph));
  (void)plan->Run(OtherInputs(inputs));  // leaves other values in the plan's memory; may fail
  return plan->Run(inputs);
}

// The graph with inputs of known rank but dynamic dimensions.
absl::StatusOr<Graph> WithDynamicShapes(Graph graph) {
  GraphEditor edit(graph);
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kConstant) continue;
    for (const ValueId value : graph.node(id).outputs) {
      if (!value.valid()) continue;
      const bool input = graph.op(id) == OpKind::kInput;
      edit.SetShape(value, input ? Shape::UnknownOfRank(graph.shape(value).rank()) : Shape());
    }
  }
  HALFTONE_RETURN_IF_ERROR(InferShapes(edit));
  return graph;
}

bool Computes(const Graph& graph, NodeId id) {
  return graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant;
}

Graph WithEveryValueAsOutput(const Case& c) {
  Graph graph = c.graph;
  std::vector<GraphOutput> outputs;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (Computes(graph, id) && value.valid()) outputs.push_back({Concat("all", value.index), value});
    }
  }
  GraphEditor(graph).SetGraphOutputs(std::move(outputs));
  return graph;
}

// How much the node's outputs may differ from its reference function: the op's tolerance, scaled by the magnitude of
// the inputs.
Tolerance ToleranceOf(const Graph& graph, NodeId id, const Tensors& inputs, DataType type) {
  Tolerance allowed = Info(graph.op(id)).tolerance;
  if (Info(graph.op(id)).group == OpGroup::kStructural) allowed = {1e-5f, 1e-5f};  // of the ops in its body
  double largest = 1;
  for (const Tensor& input : inputs) {
    if (input.type() != DataType::kUnknown) largest = std::max(largest, Largest(input));
  }
  allowed.absolute *= static_cast<float>(largest * largest);
  if (type == DataType::kBFloat16) allowed.relative += 1.0f / 128;
  if (type == DataType::kFloat16) allowed.relative += 1.0f / 1024;
  return allowed;
}

// Compares each node on the inputs that the engine computed, so that errors do not accumulate.
std::string CompareEachNode(const Graph& graph, const Case& c, const Tensors& outputs) {
  std::map<ValueId, Tensor> values = c.tensors;
  for (size_t i = 0; i < outputs.size(); ++i) values[graph.outputs()[i].value] = outputs[i];
  for (const NodeId id : graph.TopologicalOrder()) {
    if (!Computes(graph, id)) continue;
    Tensors inputs;
    for (const ValueId input : graph.node(id).inputs) inputs.push_back(input.valid() ? values.at(input) : Tensor());
    const std::string label = Concat("'", graph.Label(id), "' (", OpName(graph.op(id)), ")");
    const absl::StatusOr<Tensors> expected = reference::EvaluateNode(graph, id, inputs);
    if (!expected.ok())
      return Concat(label, ": the reference function fails: ", std::string(expected.status().message()));
    for (size_t i = 0; i < graph.node(id).outputs.size(); ++i) {
      const ValueId value = graph.output(id, static_cast<int>(i));
      if (!value.valid()) continue;
      const Tolerance allowed = ToleranceOf(graph, id, inputs, graph.type(value));
      const std::string difference = Difference(values.at(value), (*expected)[i], allowed.relative, allowed.absolute);
      if (!difference.empty()) return Concat(label, ", output ", i, ": ", difference);
    }
  }
  return "";
}

bool HasOpaque(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    if (graph.op(id) == OpKind::kOpaque) return true;
  }
  return false;
}

// Writes and reads the graph. UNIMPLEMENTED if the format cannot express it; any other error is a bug.
absl::StatusOr<Graph> ThroughFile(Graph graph, ModelFormat format, const Subject& subject) {
  SetFormat(graph, format);
  const std::unique_ptr<Target> target = MakeCpuTarget();
  PassContext context{.target = *target};
  HALFTONE_RETURN_IF_ERROR(Annotate(MakeExportPipeline(FileDialectOf(format)).Run(graph, context), "export pipeline"));
  absl::StatusOr<std::string> bytes = subject.write(graph);
  if (!bytes.ok()) return Annotate(bytes.status(), "export");
  std::vector<std::string> outputs;
  for (const GraphOutput& output : graph.outputs())
    outputs.push_back(Concat(graph.producer_node(output.value).name, ":", graph.value(output.value).port));
  absl::StatusOr<Graph> again = subject.read(*bytes, format, outputs);
  if (!again.ok()) return Annotate(again.status(), "import");
  if (HasOpaque(*again)) return absl::UnimplementedError("read back with an opaque (unsupported) op");
  if (again->inputs().size() != graph.inputs().size())
    return absl::InternalError(Concat(again->inputs().size(), " inputs against ", graph.inputs().size()));
  return again;
}

std::string CompareRun(const absl::StatusOr<Graph>& graph, const Tensors& inputs, const Tensors& expected,
                       const Subject& subject) {
  if (!graph.ok()) return std::string(graph.status().message());
  const absl::StatusOr<Tensors> outputs = Run(*graph, inputs, subject);
  return outputs.ok() ? CompareLoosely(*graph, *outputs, expected) : std::string(outputs.status().message());
}

// The stages of a file format. A GraphDef cannot express all that the op table can, so there the graph that the first
// import gives is the model. `possible` is false if the format cannot express the graph.
struct FileResult {
  bool possible = false;
  std::string stage;
  std::string problem;
};
FileResult CheckFormat(const Case& c, ModelFormat format, const Tensors& expected, const Subject& subject) {
  const bool onnx = format == ModelFormat::kOnnx;
  const std::string name = onnx ? "onnx" : "graphdef";
  const Tensors inputs = c.inputs();
  const absl::StatusOr<Graph> model = ThroughFile(c.graph, format, subject);
  if (onnx && !absl::IsUnimplemented(model.status())) {
    if (std::string problem = CompareRun(model, inputs, expected, subject); !problem.empty())
      return {true, name, problem};
  }
  if (!model.ok()) return {};
  const absl::StatusOr<Tensors> wanted = Run(*model, inputs, subject);
  if (!wanted.ok()) return {};
  if (!onnx) {
    const std::string problem = CompareRun(ThroughFile(*model, format, subject), inputs, *wanted, subject);
    if (!problem.empty()) return {true, name, problem};
  }
  Graph optimized = *model;
  if (const absl::Status status = subject.optimize(optimized); !status.ok())
    return {true, Concat("optimized, ", name), std::string(status.message())};
  const std::string problem = CompareRun(ThroughFile(optimized, format, subject), inputs, *wanted, subject);
  return {true, problem.empty() ? "" : Concat("optimized, ", name), problem};
}

}  // namespace

Subject Halftone() {
  Subject subject;
  subject.compile = [](const Graph& graph) {
    return CompilePlan(graph, {.threads = graph.num_nodes() % 40 == 0 ? 2 : 1});
  };
  subject.optimize = [](Graph& graph) -> absl::Status {
    const std::unique_ptr<Target> target = MakeCpuTarget();
    PassContext context{.target = *target};
    HALFTONE_RETURN_IF_ERROR(MakeOptimizePipeline().Run(graph, context));
    const PrecisionPlan empty;
    return MakePrecisionPipeline(empty).Run(graph, context);
  };
  subject.write = [](const Graph& graph) { return ExportModel(graph); };
  subject.read = [](const std::string& bytes, ModelFormat format, std::vector<std::string> outputs) {
    if (format == ModelFormat::kOnnx) return ImportModelBytes(bytes, "fuzz", {.format = ModelFormat::kOnnx});
    return ImportModelBytes(bytes, "fuzz", {.format = ModelFormat::kGraphDef, .outputs = std::move(outputs)});
  };
  return subject;
}

Outcome Check(const Case& c, const Subject& subject) {
  Outcome outcome;
  const auto failed = [&](std::string_view stage, std::string problem) {
    outcome.stage = std::string(stage);
    outcome.problem = std::move(problem);
    return outcome.failed();
  };
  const Tensors inputs = c.inputs();
  const Graph all = WithEveryValueAsOutput(c);
  const absl::StatusOr<Tensors> values = Run(all, inputs, subject);
  if (absl::IsUnimplemented(values.status())) {
    outcome.cannot_run = std::string(values.status().message());
    return outcome;
  }
  if (failed("engine, every value",
             values.ok() ? CompareEachNode(all, c, *values) : std::string(values.status().message())))
    return outcome;

  const absl::StatusOr<Tensors> engine = Run(c.graph, inputs, subject);
  if (!engine.ok()) {
    failed("engine", std::string(engine.status().message()));
    return outcome;
  }
  Tensors wanted;
  for (const GraphOutput& output : c.graph.outputs()) {
    for (size_t i = 0; i < all.outputs().size(); ++i) {
      if (all.outputs()[i].value == output.value) wanted.push_back((*values)[i]);
    }
  }
  if (failed("engine", CompareLoosely(c.graph, *engine, wanted))) return outcome;

  const absl::StatusOr<Graph> dynamic = WithDynamicShapes(c.graph);
  const absl::StatusOr<Tensors> parts = dynamic.ok() ? Run(*dynamic, inputs, subject) : dynamic.status();
  if (!absl::IsUnimplemented(parts.status())) {
    if (failed("dynamic shapes",
               parts.ok() ? CompareLoosely(c.graph, *parts, wanted) : std::string(parts.status().message())))
      return outcome;
  }

  Graph optimized = c.graph;
  if (const absl::Status status = subject.optimize(optimized); !status.ok()) {
    failed("optimized", std::string(status.message()));
    return outcome;
  }
  const absl::StatusOr<Tensors> after = Run(optimized, inputs, subject);
  if (failed("optimized",
             after.ok() ? CompareLoosely(optimized, *after, wanted) : std::string(after.status().message())))
    return outcome;

  for (const ModelFormat format : {ModelFormat::kOnnx, ModelFormat::kGraphDef}) {
    const FileResult result = CheckFormat(c, format, wanted, subject);
    (format == ModelFormat::kOnnx ? outcome.onnx : outcome.graphdef) = result.possible;
    if (failed(result.stage, result.problem)) break;
  }
  return outcome;
}

}  // namespace halftone::fuzz
