// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/unmapped_fields.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/extra.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace halftone::graphdef {
namespace {

void CopyUnknownFields(const google::protobuf::Message& from, google::protobuf::Message& to) {
  to.GetReflection()->MutableUnknownFields(&to)->MergeFrom(from.GetReflection()->GetUnknownFields(from));
}

}  // namespace

void KeepHeader(const tf::GraphDef& def, GraphEditor& edit) {
  edit.SetHeader(std::string(kHeaderFormat), std::string(GraphDefDialect().name));
  if (def.has_versions()) {
    const tf::VersionDef& versions = def.versions();
    edit.SetHeader(std::string(kHeaderProducer), static_cast<int64_t>(versions.producer()));
    edit.SetHeader(std::string(kHeaderMinConsumer), static_cast<int64_t>(versions.min_consumer()));
    if (versions.bad_consumers_size() > 0) {
      edit.SetHeader(std::string(kHeaderBadConsumers),
                     std::vector<int64_t>(versions.bad_consumers().begin(), versions.bad_consumers().end()));
    }
  }
  if (def.has_library()) edit.SetHeader(std::string(kHeaderLibrary), RawBytes{def.library().SerializeAsString()});
  tf::GraphDef rest;
  rest.set_version(def.version());
  CopyUnknownFields(def, rest);
  if (def.has_versions()) {
    tf::VersionDef unknown;
    CopyUnknownFields(def.versions(), unknown);
    if (unknown.ByteSizeLong() > 0) *rest.mutable_versions() = unknown;
  }
  if (rest.ByteSizeLong() > 0) edit.SetHeader(std::string(kHeaderRest), RawBytes{rest.SerializeAsString()});
}

void KeepUnmappedFields(const tf::NodeDef& def, const std::vector<Edge>& data, const NodeGraph& nodes, Node& node) {
  tf::NodeDef rest;
  if (def.has_experimental_debug_info()) *rest.mutable_experimental_debug_info() = def.experimental_debug_info();
  if (def.has_experimental_type()) *rest.mutable_experimental_type() = def.experimental_type();
  CopyUnknownFields(def, rest);
  if (rest.ByteSizeLong() > 0) node.extra.Set(std::string(kExtraRest), RawBytes{rest.SerializeAsString()});

  std::vector<int64_t> port_zero;
  for (size_t k = 0; k < data.size(); ++k) {
    if (data[k].explicit_zero) port_zero.push_back(static_cast<int64_t>(k));
  }
  if (!port_zero.empty()) node.extra.Set(std::string(kExtraPortZero), std::move(port_zero));

  // A colocation with a node that is not in the file is kept as bytes: the exporter mends only those it can read.
  const AttributeValue* colocation = node.extra.find("_class");
  const auto* names = colocation == nullptr ? nullptr : std::get_if<std::vector<std::string>>(colocation);
  if (names == nullptr) return;
  constexpr std::string_view kPrefix = "loc:@";
  const bool dangles = std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    return name.starts_with(kPrefix) && nodes.Find(std::string_view(name).substr(kPrefix.size())) < 0;
  });
  if (!dangles) return;
  for (const tf::AttrEntry& entry : def.attr()) {
    if (entry.key() == "_class") node.extra.Set("_class", RawBytes{entry.value().SerializeAsString()});
  }
}

}  // namespace halftone::graphdef
