// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/importer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/graph_importer.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"
#include "ir/editor.h"
#include "ir/verifier.h"
#include "onnx/onnx_pb.h"

namespace halftone {
namespace onnx_format {
namespace {

int64_t OnnxVersion(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (IsOnnxDomain(opset.domain())) return opset.version();
  }
  return kMaxOpset;  // a model without an opset of ONNX has no node of its domain
}

// Versions of operators: the model's, and those of functions that were written out.
void SetOpsets(const onnx::ModelProto& model, const ModelImport& import, GraphEditor& edit) {
  std::vector<int64_t> versions;
  std::vector<std::string> domains;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    const bool onnx = IsOnnxDomain(opset.domain());
    versions.push_back(onnx ? import.opset : opset.version());
    domains.push_back(onnx ? "" : opset.domain());
  }
  for (const auto& [domain, version] : import.functions.domains()) {
    if (std::find(domains.begin(), domains.end(), domain) != domains.end()) continue;
    versions.push_back(version);
    domains.push_back(domain);
  }
  edit.SetHeader("opset", versions);
  edit.SetHeader("opset_domains", domains);
}

// Producer, description and metadata of the file.
void SetHeader(const onnx::ModelProto& model, GraphEditor& edit) {
  edit.SetHeader("ir_version", static_cast<int64_t>(model.ir_version()));
  const auto set_text = [&edit](const char* name, const std::string& text) {
    if (!text.empty()) edit.SetHeader(name, text);
  };
  set_text("producer_name", model.producer_name());
  set_text("producer_version", model.producer_version());
  set_text("domain", model.domain());
  set_text("doc_string", model.doc_string());
  if (model.has_model_version()) edit.SetHeader("model_version", static_cast<int64_t>(model.model_version()));
  if (model.metadata_props_size() == 0) return;
  std::vector<std::string> keys, values;
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    keys.push_back(entry.key());
    values.push_back(entry.value());
  }
  edit.SetHeader("metadata_keys", keys);
  edit.SetHeader("metadata_values", values);
}

// Parts that the graph does not represent: functions that are still called, training.
void SetRest(onnx::ModelProto& model, const ModelImport& import, GraphEditor& edit) {
  onnx::ModelProto rest;
  if (import.functions.calls_stay() || model.training_info_size() > 0) {
    rest.mutable_functions()->Swap(model.mutable_functions());
  }
  rest.mutable_training_info()->Swap(model.mutable_training_info());
  if (rest.ByteSizeLong() > 0) edit.SetHeader("rest", RawBytes{rest.SerializeAsString()});
}

absl::StatusOr<Graph> Import(onnx::ModelProto& model) {
  const int64_t version = OnnxVersion(model);
  const int opset = std::max(static_cast<int>(version), kMinOpset);
  ModelImport import{.opset = opset, .from_opset6 = version < kMinOpset, .functions = Functions(model, opset)};
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, GraphImporter(import, *model.mutable_graph(), opset).RunMain());
  GraphEditor edit(graph);
  SetHeader(model, edit);
  SetOpsets(model, import, edit);
  SetRest(model, import, edit);
  HALFTONE_RETURN_IF_ERROR(VerifyFileGraph(graph));  // types that do not fit each other
  return graph;
}

}  // namespace
}  // namespace onnx_format

absl::StatusOr<Graph> ImportOnnx(std::string_view bytes) {
  const auto model = std::make_unique<onnx::ModelProto>();
  if (!onnx_format::ParseMessage(bytes, *model)) {
    return absl::InvalidArgumentError(
        "not a valid ONNX file: cut off, damaged, of another format, or larger than 2 GiB");
  }
  HALFTONE_RETURN_IF_ERROR(onnx_format::ValidateModel(*model));
  return onnx_format::Import(*model);
}

}  // namespace halftone
