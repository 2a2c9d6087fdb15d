// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/provenance.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "ir/provenance.h"

namespace halftone::graphdef {
namespace {

constexpr std::string_view kFunction = "halftone_provenance";
constexpr std::string_view kAttrPrefix = "_halftone_";

// Whether it has nothing but our attributes, so that writing it again yields the same.
bool IsOurs(const tf::FunctionDef& function) {
  if (function.signature().name() != kFunction) return false;
  tf::FunctionDef plain;
  plain.mutable_signature()->set_name(std::string(kFunction));
  *plain.mutable_attr() = function.attr();
  if (plain.SerializeAsString() != function.SerializeAsString()) return false;
  return std::all_of(function.attr().begin(), function.attr().end(), [](const tf::AttrEntry& entry) {
    return entry.key().starts_with(kAttrPrefix) && entry.value().value_case() == tf::AttrValue::kS;
  });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TakeProvenance(tf::GraphDef& def) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (!def.has_library()) return rows;
  auto& functions = *def.mutable_library()->mutable_function();
  const auto found = std::find_if(functions.begin(), functions.end(), IsOurs);
  if (found == functions.end()) return rows;
  for (const tf::AttrEntry& entry : found->attr()) {
    rows.emplace_back(Concat(kProvenancePrefix, entry.key().substr(kAttrPrefix.size())), entry.value().s());
  }
  functions.erase(found);
  if (def.library().ByteSizeLong() == 0) def.clear_library();
  return rows;
}

void AddProvenance(const Graph& graph, tf::GraphDef& def) {
  const auto rows = ProvenanceRows(graph);
  const auto& functions = def.library().function();
  const bool taken = std::any_of(functions.begin(), functions.end(),
                                 [](const tf::FunctionDef& f) { return f.signature().name() == kFunction; });
  if (rows.empty() || taken) return;
  tf::FunctionDef& function = *def.mutable_library()->add_function();
  function.mutable_signature()->set_name(std::string(kFunction));
  for (const auto& [key, value] : rows) {
    tf::AttrEntry& entry = *function.add_attr();
    entry.set_key(Concat(kAttrPrefix, key.substr(kProvenancePrefix.size())));
    entry.mutable_value()->set_s(value);
  }
}

}  // namespace halftone::graphdef
