// SPDX-License-Identifier: Apache-2.0
#include "ir/provenance.h"

#include <algorithm>
#include <variant>

#include "base/strings.h"

namespace halftone {
namespace {

constexpr char kKeys[] = "metadata_keys", kValues[] = "metadata_values";

using Strings = std::vector<std::string>;

struct Field {
  std::string_view name;  // after the prefix
  std::string Provenance::* member;
};
constexpr Field kFields[] = {
    {"version", &Provenance::version}, {"policy_sha256", &Provenance::policy_sha256},
    {"planner", &Provenance::planner}, {"calibration", &Provenance::calibration},
    {"cpu", &Provenance::cpu},
};

Strings ListOf(const Graph& graph, std::string_view name) {
  const AttributeValue* value = graph.header().find(name);
  const Strings* list = value == nullptr ? nullptr : std::get_if<Strings>(value);
  return list == nullptr ? Strings() : *list;
}

// All rows; a key without a value, which no importer makes, is none.
std::vector<std::pair<std::string, std::string>> Metadata(const Graph& graph) {
  const Strings keys = ListOf(graph, kKeys), values = ListOf(graph, kValues);
  std::vector<std::pair<std::string, std::string>> rows;
  for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i) rows.emplace_back(keys[i], values[i]);
  return rows;
}

}  // namespace

void SetProvenance(GraphEditor& edit, const Provenance& provenance) {
  Strings keys, values;
  for (auto& [key, value] : Metadata(edit.graph())) {
    if (key.starts_with(kProvenancePrefix)) continue;
    keys.push_back(key);
    values.push_back(value);
  }
  for (const Field& field : kFields) {
    const std::string& value = provenance.*field.member;
    if (value.empty()) continue;
    keys.push_back(Concat(kProvenancePrefix, field.name));
    values.push_back(value);
  }
  if (keys.empty() && !edit.graph().header().has(kKeys)) return;
  edit.SetHeader(kKeys, std::move(keys));
  edit.SetHeader(kValues, std::move(values));
}

Provenance ProvenanceOf(const Graph& graph) {
  Provenance provenance;
  for (const auto& [key, value] : ProvenanceRows(graph)) {
    for (const Field& field : kFields) {
      if (key.substr(kProvenancePrefix.size()) == field.name) provenance.*field.member = value;
    }
  }
  return provenance;
}

std::vector<std::pair<std::string, std::string>> ProvenanceRows(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> rows = Metadata(graph);
  std::erase_if(rows, [](const auto& row) { return !row.first.starts_with(kProvenancePrefix); });
  return rows;
}

void AddMetadata(GraphEditor& edit, std::string key, std::string value) {
  Strings keys = ListOf(edit.graph(), kKeys), values = ListOf(edit.graph(), kValues);
  keys.push_back(std::move(key));
  values.push_back(std::move(value));
  edit.SetHeader(kKeys, std::move(keys));
  edit.SetHeader(kValues, std::move(values));
}

}  // namespace halftone
