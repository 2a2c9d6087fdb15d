// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/exporter.h"

#include <climits>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/functions.h"
#include "formats/tensorflow/graph_writer.h"
#include "formats/tensorflow/names.h"
#include "formats/tensorflow/provenance.h"
#include "formats/tensorflow/write_node.h"
#include "google/protobuf/text_format.h"

namespace halftone {
namespace graphdef {
namespace {

// Version of a graph that came from another format: that of TensorFlow 1.15, the first with all ops that op_map.h
// writes.
constexpr int kNewProducer = 134;

absl::Status WriteHeader(const Graph& graph, tf::GraphDef& def) {
  const Attributes& header = graph.header();
  const auto raw = [&](std::string_view name) {
    const AttributeValue* value = header.find(name);
    return value == nullptr ? nullptr : std::get_if<RawBytes>(value);
  };
  if (const RawBytes* rest = raw(kHeaderRest); rest != nullptr && !def.MergeFromString(rest->bytes)) {
    return absl::InternalError(Concat("header '", kHeaderRest, "' is damaged"));
  }
  if (const RawBytes* library = raw(kHeaderLibrary);
      library != nullptr && !def.mutable_library()->ParseFromString(library->bytes)) {
    return absl::InternalError(Concat("header '", kHeaderLibrary, "' is damaged"));
  }
  if (header.has(kHeaderProducer) || header.has(kHeaderMinConsumer)) {
    tf::VersionDef& versions = *def.mutable_versions();
    versions.set_producer(static_cast<int32_t>(header.Int(kHeaderProducer, 0)));
    versions.set_min_consumer(static_cast<int32_t>(header.Int(kHeaderMinConsumer, 0)));
    for (const int64_t bad : header.Ints(kHeaderBadConsumers)) versions.add_bad_consumers(static_cast<int32_t>(bad));
  } else if (!header.has(kHeaderFormat)) {
    def.mutable_versions()->set_producer(kNewProducer);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace graphdef

absl::StatusOr<std::string> ExportGraphDef(const Graph& graph, bool as_text, bool quantized_ops) {
  using namespace graphdef;  // NOLINT: this file's own
  HALFTONE_ASSIGN_OR_RETURN(NameTable names, NameTable::Assign(graph, quantized_ops));
  GraphWriter writer(graph, std::move(names));
  HALFTONE_RETURN_IF_ERROR(WriteHeader(graph, writer.result()));
  HALFTONE_RETURN_IF_ERROR(WriteNodes(writer));
  tf::GraphDef& def = writer.result();
  if (const AttributeValue* nested = graph.header().find(kHeaderNested)) {
    if (const auto* names = std::get_if<std::vector<std::string>>(nested)) DropUncalled(*names, def);
  }
  AddProvenance(graph, def);
  if (def.ByteSizeLong() > INT_MAX) {
    return absl::ResourceExhaustedError(
        Concat("the GraphDef would have ", def.ByteSizeLong(), " bytes; a protobuf holds at most ", INT_MAX));
  }
  if (!as_text) return def.SerializeAsString();
  google::protobuf::TextFormat::Printer printer;
  printer.SetHideUnknownFields(true);
  std::string text;
  if (!printer.PrintToString(def, &text)) return absl::InternalError("the GraphDef could not be printed");
  return text;
}

}  // namespace halftone
