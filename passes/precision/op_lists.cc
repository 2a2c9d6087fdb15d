// SPDX-License-Identifier: Apache-2.0
// Sources: the lists of TensorFlow for oneDNN bfloat16 on CPUs, and those of Intel's extension for CPUs. A comma is
// missing between two ops in Intel's source; both ops are on the list here. Edits of the user are applied afterwards.

#include "passes/precision/op_lists.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "base/strings.h"

namespace halftone {
namespace {

using enum ListKind;

constexpr bool kOwn = true;

constexpr std::string_view kHeavy = "most of the arithmetic; sums are kept in f32";
constexpr std::string_view kRepaired =
    "most of the arithmetic; sums are kept in f32 (a missing comma keeps it off the list in Intel's source)";
constexpr std::string_view kSums = "adds up many values";
constexpr std::string_view kRecurrence = "most of the arithmetic; sums, gates and cell states are kept in f32";
constexpr std::string_view kLayerNorm = "statistics are computed in f32; rounds its result";
constexpr std::string_view kArithmetic = "memory bound; rounds its result";
constexpr std::string_view kFunction = "memory bound; a smooth function, rounds its result";
constexpr std::string_view kStatistics = "statistics stay f32, data may be bfloat16";
constexpr std::string_view kRange = "a small error of its input becomes a large error of its result";
constexpr std::string_view kLoss = "a loss: sums over the whole batch";
constexpr std::string_view kFile = "written to a file in full precision";
constexpr std::string_view kMoves = "moves values and computes none";
constexpr std::string_view kSelects = "selects or clips values, which rounds nothing";
constexpr std::string_view kControl = "control flow: passes values on";
constexpr std::string_view kReads = "reads values or shapes and computes none";

constexpr OpListRow kRows[] = {
#include "passes/precision/op_lists.inc"
};

constexpr bool EveryOpIsThereOnce() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kRows[i].op == kRows[j].op) return false;
    }
  }
  return true;
}
static_assert(EveryOpIsThereOnce(), "an op is on two lists");

constexpr std::string_view kVersions[] = {"tensorflow", "tensorflow-2.4", "itex"};

struct NamedEdit {
  ListKind list;
  const ListEdit& edit;
};

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view ListsVersionName(ListsVersion version) { return kVersions[static_cast<int>(version)]; }

std::optional<ListsVersion> ListsVersionFromName(std::string_view name) {
  const auto it = std::find(std::begin(kVersions), std::end(kVersions), name);
  if (it == std::end(kVersions)) return std::nullopt;
  return static_cast<ListsVersion>(it - std::begin(kVersions));
}

ListKind OpListRow::Of(ListsVersion version) const {
  switch (version) {
    case ListsVersion::kTensorFlow:
      return tensorflow;
    case ListsVersion::kTensorFlow24:
      return tensorflow_2_4;
    case ListsVersion::kItex:
      return itex;
  }
  return kNone;
}

std::span<const OpListRow> OpListRows() { return kRows; }

const OpListRow* FindOpListRow(std::string_view op) {
  const auto* it = std::find_if(std::begin(kRows), std::end(kRows), [&](const OpListRow& row) { return row.op == op; });
  return it == std::end(kRows) ? nullptr : it;
}

std::string_view ListKindName(ListKind list) {
  switch (list) {
    case kNone:
      return "";
    case kAllow:
      return "allow";
    case kInfer:
      return "infer";
    case kDeny:
      return "deny";
    case kClear:
      return "clear";
  }
  return "";
}

OpLists::OpLists(const PlannerOptions& options, bool with_own, std::vector<std::string>& warnings) {
  for (const OpListRow& row : kRows) {
    const ListKind list = row.Of(options.lists_version);
    if (list != kNone && (with_own || !row.own)) list_of_[std::string(row.op)] = list;
  }
  for (const ListEdits& one : options.edits) Apply(one, warnings);
  ApplyLevel(options, warnings);
}

void OpLists::ApplyLevel(const PlannerOptions& options, std::vector<std::string>& warnings) {
  const std::string level = absl::AsciiStrToUpper(options.level);  // as TensorFlow reads it
  if (level.empty()) return;
  if (level == "TREAT_INFER_AS_DENY" && options.lists_version == ListsVersion::kTensorFlow) {
    for (auto& [op, list] : list_of_) {
      if (list == kInfer) list = kDeny;
    }
    return;
  }
  std::string_view why = "there is no such level";
  if (level == "TREAT_INFER_AS_DENY") why = "these lists do not support it";
  if (level == "TENSOR_CORES_ONLY") why = "it is for GPUs";
  if (level == "UNSAFE_FORCE_ALL") why = "TensorFlow refuses it on CPUs";
  warnings.push_back(
      Concat("level '", level, "' changes nothing: ", why, "; the lists 'tensorflow' support TREAT_INFER_AS_DENY"));
}

void OpLists::Apply(const ListEdits& edits, std::vector<std::string>& warnings) {
  const NamedEdit named[] = {{kAllow, edits.allow}, {kInfer, edits.infer}, {kDeny, edits.deny}, {kClear, edits.clear}};
  for (const auto& [list, edit] : named) {
    for (const std::string& op : edit.remove) {
      if (ListOf(op) == list) {
        list_of_[op] = kNone;
      } else if (!Contains(edit.add, op)) {
        warnings.push_back(
            Concat("'", op, "' cannot be removed from the ", ListKindName(list), " list: it is not on it"));
      }
    }
  }
  for (const auto& [list, edit] : named) {
    for (const std::string& op : edit.add) {
      if (Contains(edit.remove, op)) {
        warnings.push_back(
            Concat("'", op, "' is both added to and removed from the ", ListKindName(list), " list: it is removed"));
        continue;
      }
      const ListKind old = ListOf(op);
      if (old != kNone && old != list) {
        warnings.push_back(Concat("'", op, "' was added to the ", ListKindName(list), " list and removed from the ",
                                  ListKindName(old), " list (TensorFlow refuses an op on two lists)"));
      }
      list_of_[op] = list;
    }
  }
}

ListKind OpLists::ListOf(std::string_view op) const {
  const auto it = list_of_.find(op);
  return it == list_of_.end() ? kNone : it->second;
}

}  // namespace halftone
