// SPDX-License-Identifier: Apache-2.0
// Value infos of an exported graph, and the graph's header as the importer has filled it.
#ifndef HALFTONE_FORMATS_ONNX_VALUE_INFOS_H_
#define HALFTONE_FORMATS_ONNX_VALUE_INFOS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "formats/onnx/value_names.h"
#include "ir/graph.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// The list under `name` in the header; empty if there is none.
template <typename List>
List HeaderList(const Graph& graph, std::string_view name) {
  const AttributeValue* value = graph.header().find(name);
  const List* list = value == nullptr ? nullptr : std::get_if<List>(value);
  return list == nullptr ? List() : *list;
}
// nullptr if there are none.
const std::string* HeaderBytes(const Graph& graph, std::string_view name);

// `old_name`: as the file called it, where the header knows more of it than the graph. UNIMPLEMENTED: ONNX lacks the
// type.
absl::Status SetInfo(const Graph& graph, ValueId value, const std::string& name, const std::string& old_name,
                     onnx::ValueInfoProto& info);

// Types and shapes of the outputs of opaque nodes, which no runtime can infer.
absl::Status AddOpaqueInfos(const Graph& graph, const ValueNames& names, onnx::GraphProto& proto);

// Annotations, metadata and doc string.
absl::Status SetGraphHeader(const Graph& graph, onnx::GraphProto& proto);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_VALUE_INFOS_H_
