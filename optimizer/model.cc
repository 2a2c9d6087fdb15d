#include "optimizer/model.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "passes/pipelines.h"

namespace halftone {

absl::StatusOr<Graph> LoadModel(const ModelSource& source) {
  ImportOptions options;
  options.format = source.format.has_value() ? source.format : ModelFormatOfPath(source.label());
  options.outputs = source.outputs;
  if (!options.format.has_value()) {
    return absl::InvalidArgumentError(
        Concat("'", source.label(), "': the extension says no format: .onnx, .pb or .pbtxt, or name the format"));
  }
  HALFTONE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(source.path));
  return ImportModelBytes(file.bytes(), source.label(), options);
}

absl::Status NameModel(absl::Status status, const ModelSource& source) {
  if (status.ok() || StdView(status.message()).find(source.label()) != std::string_view::npos) return status;
  return Annotate(std::move(status), Concat("'", source.label(), "'"));
}

absl::Status SaveModel(const Graph& graph, const std::string& path) {
  ExportOptions options;
  options.as_text = ModelFormatOfPath(path) == ModelFormat::kGraphDefText;
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ExportModel(graph, options));
  return WriteFileAtomically(path, bytes);
}

std::string_view FormatName(GraphFormat format) {
  switch (format) {
    case GraphFormat::kNone:
      return "none";
    case GraphFormat::kOnnx:
      return "onnx";
    case GraphFormat::kGraphDef:
      return "graphdef";
  }
  return "none";
}

namespace {

// The shape of one input with its free dimensions bound as far as they are known.
Shape BindInput(const Shape& declared, int64_t batch, const std::vector<int64_t>* sample) {
  Shape shape = declared;
  if (!shape.has_rank()) {
    if (sample == nullptr) return shape;
    shape = Shape::UnknownOfRank(static_cast<int>(sample->size()));
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i).known()) continue;
    if (i == 0) {
      shape.mutable_dim(i) = Dim::Of(batch);
    } else if (sample != nullptr && static_cast<size_t>(i) < sample->size()) {
      shape.mutable_dim(i) = Dim::Of((*sample)[i]);
    }
  }
  return shape;
}

}  // namespace

absl::Status BindShapes(Graph& graph, int64_t batch, const InputDims& samples) {
  GraphEditor edit(graph);
  std::vector<std::string> free;
  for (const NodeId id : graph.inputs()) {
    const ValueId value = graph.output(id);
    const auto it = samples.find(graph.Label(id));
    const Shape shape = BindInput(graph.shape(value), batch, it == samples.end() ? nullptr : &it->second);
    edit.SetShape(value, shape);
    if (!shape.fully_known()) free.push_back(Concat("'", graph.Label(id), "' ", shape.ToString()));
  }
  if (!free.empty()) {
    return absl::InvalidArgumentError(Concat("the shape of input ", absl::StrJoin(free, ", "),
                                             " is not known: give samples, whose arrays have the missing dimensions"));
  }
  return Specialize(edit, {}, batch);
}

absl::Status PrepareToRun(Graph& graph, int64_t batch, const InputDims& samples, bool fuse, const Target& target) {
  HALFTONE_RETURN_IF_ERROR(BindShapes(graph, batch, samples));
  if (!fuse) return absl::OkStatus();
  PassContext context{.target = target};
  HALFTONE_ASSIGN_OR_RETURN(context.debug, DebugOptionsFromEnvironment());
  return MakeOptimizePipeline().Run(graph, context);
}

std::vector<std::string> OpsThatCannotRun(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const OpGroup group = Info(node.op).group;
    if (group == OpGroup::kOpaque)
      ++counts[node.domain.empty() ? node.spelling : Concat(node.domain, ".", node.spelling)];
    if (group == OpGroup::kStructural && node.op != OpKind::kNoOp) ++counts[std::string(OpName(node.op))];
  }
  std::vector<std::string> result;
  for (const auto& [name, count] : counts) result.push_back(Concat(name, " (", count, ")"));
  return result;
}

}  // namespace halftone
