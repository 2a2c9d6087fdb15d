// SPDX-License-Identifier: Apache-2.0
#include "formats/dialects.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/log/check.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr std::string_view kNames[] = {"portable", "tensorflow", "itex", "onnxruntime"};
static_assert(std::size(kNames) == kNumDialects, "a name for each Dialect, in their order");

// nullptr: the format has no such dialect.
const FileDialect* Find(ModelFormat format, Dialect dialect) {
  const std::span<const FileDialect* const> dialects = FormatRow(format).dialects;
  if (dialect == Dialect::kPortable) return dialects.front();
  const auto it = std::ranges::find(dialects, DialectName(dialect), [](const FileDialect* file) { return file->name; });
  return it == dialects.end() ? nullptr : *it;
}

}  // namespace

std::string_view DialectName(Dialect dialect) { return kNames[static_cast<int>(dialect)]; }

std::optional<Dialect> DialectFromName(std::string_view name) {
  for (int i = 0; i < kNumDialects; ++i) {
    if (kNames[i] == name) return static_cast<Dialect>(i);
  }
  return std::nullopt;
}

absl::Status CheckDialect(Dialect dialect, ModelFormat format) {
  if (Find(format, dialect) != nullptr) return absl::OkStatus();
  std::string known;
  for (int i = 0; i < kNumDialects; ++i) {
    if (Find(format, static_cast<Dialect>(i)) != nullptr) known += Concat(known.empty() ? "'" : ", '", kNames[i], "'");
  }
  return absl::InvalidArgumentError(Concat("dialect '", DialectName(dialect), "': the model is ",
                                           FormatRow(format).title, ", whose dialects are ", known));
}

const FileDialect& FileDialectOf(ModelFormat format, Dialect dialect) {
  const FileDialect* found = Find(format, dialect);
  CHECK(found != nullptr) << DialectName(dialect);
  return *found;
}

const FileDialect& FileDialectOf(const Graph& graph, Dialect dialect) {
  return FileDialectOf(WrittenFormat(graph), dialect);
}

std::span<const FileDialect* const> AllFileDialects() {
  static const std::vector<const FileDialect*>* const all = [] {
    auto* dialects = new std::vector<const FileDialect*>();
    for (const ModelFormat format : kModelFormats) {
      for (const FileDialect* dialect : FormatRow(format).dialects) {
        if (std::ranges::find(*dialects, dialect) == dialects->end()) dialects->push_back(dialect);
      }
    }
    return dialects;
  }();
  return *all;
}

const FileDialect* TensorFlowDialectOf(const Graph& graph) {
  return FormatOf(graph) == ModelFormat::kGraphDef ? &FileDialectOf(ModelFormat::kGraphDef) : nullptr;
}

}  // namespace halftone
