// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/saved_model.h"

#include <climits>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/freeze.h"
#include "formats/tensorflow/variables.h"
#include "google/protobuf/stubs/logging.h"

namespace halftone {
namespace {

constexpr std::string_view kIndex = "variables/variables.index", kShards = "variables/variables.data-";

absl::Status Parse(std::string_view bytes, tensorflow::SavedModel& model) {
  const google::protobuf::LogSilencer silence;  // it would print the error that we return
  if (bytes.size() > INT_MAX || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      model.meta_graphs_size() == 0) {
    return absl::InvalidArgumentError(
        Concat("'", kSavedModelFile, "': no SavedModel: the bytes are no such protobuf, or hold no graph"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FreezeSavedModel(const std::vector<SavedModelFile>& files, const std::string& signature) {
  std::map<std::string, MappedFile> open;  // by name: the shards in their order
  for (const SavedModelFile& file : files) {
    if (file.name != kSavedModelFile && file.name != kIndex && !file.name.starts_with(kShards)) continue;
    HALFTONE_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(file.path));
    open.insert_or_assign(file.name, std::move(mapped));
  }
  const auto model_file = open.find(std::string(kSavedModelFile));
  if (model_file == open.end()) return absl::NotFoundError(Concat("a SavedModel has a file '", kSavedModelFile, "'"));
  tensorflow::SavedModel model;
  HALFTONE_RETURN_IF_ERROR(Parse(model_file->second.bytes(), model));

  graphdef::Variables variables;  // a model may have none
  if (const auto index = open.find(std::string(kIndex)); index != open.end()) {
    std::vector<std::string_view> shards;
    for (const auto& [name, file] : open) {
      if (name.starts_with(kShards)) shards.push_back(file.bytes());
    }
    absl::StatusOr<graphdef::Variables> read = graphdef::Variables::Read(index->second.bytes(), std::move(shards));
    if (!read.ok()) return Annotate(read.status(), Concat("'", kIndex, "'"));
    variables = *std::move(read);
  }
  HALFTONE_ASSIGN_OR_RETURN(const tensorflow::GraphDef graph,
                            graphdef::FreezeSignature(model, variables, signature));
  std::string bytes;
  if (graph.ByteSizeLong() > INT_MAX || !graph.SerializeToString(&bytes)) {
    return absl::UnimplementedError(
        Concat("the graph with its constants has ", graph.ByteSizeLong(), " bytes; a GraphDef may have ", INT_MAX));
  }
  return bytes;
}

}  // namespace halftone
