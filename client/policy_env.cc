// SPDX-License-Identifier: Apache-2.0
#include "client/policy_env.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace halftone::client {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;

void Erase(const std::string& op, Names* ops) { ops->erase(std::remove(ops->begin(), ops->end(), op), ops->end()); }

void Insert(const std::string& op, Names* ops) {
  if (std::find(ops->begin(), ops->end(), op) == ops->end()) *ops->Add() = op;
}

// `edit` and then `later`. The two lists of the result share no op, so their order does not matter any more.
void Append(const v1::ListEdit& later, v1::ListEdit* edit) {
  for (const std::string& op : later.add()) {
    Erase(op, edit->mutable_remove());
    Insert(op, edit->mutable_add());
  }
  for (const std::string& op : later.remove()) {
    Erase(op, edit->mutable_add());
    Insert(op, edit->mutable_remove());
  }
}

void AddWords(const char* text, Names* words) {
  if (text == nullptr) return;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (!word.empty()) Insert(std::string(word), words);
  }
}

constexpr char kTensorFlow[] = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";
constexpr char kItex[] = "ITEX_AUTO_MIXED_PRECISION_";

void ReadEdit(const GetVariable& get, const char* prefix, const char* list, v1::ListEdit* edit) {
  v1::ListEdit read;
  AddWords(get(absl::StrCat(prefix, list, "_ADD")), read.mutable_add());
  AddWords(get(absl::StrCat(prefix, list, "_REMOVE")), read.mutable_remove());
  Append(read, edit);
}

// One edit with the effect of `first` and then `then`. An edit adds, then removes; what `then` says about an op wins.
v1::ListEdits Compose(const v1::ListEdits& first, const v1::ListEdits& then) {
  v1::ListEdits edits = first;
  Append(then.allow(), edits.mutable_allow());
  Append(then.infer(), edits.mutable_infer());
  Append(then.deny(), edits.mutable_deny());
  Append(then.clear(), edits.mutable_clear());
  return edits;
}

}  // namespace

v1::ListEdits ListEditsFromEnvironment(const GetVariable& get, bool itex) {
  const char* prefix = itex ? kItex : kTensorFlow;
  v1::ListEdits edits;
  ReadEdit(get, prefix, "ALLOWLIST", edits.mutable_allow());
  ReadEdit(get, prefix, "INFERLIST", edits.mutable_infer());
  ReadEdit(get, prefix, "DENYLIST", edits.mutable_deny());
  ReadEdit(get, prefix, "CLEARLIST", edits.mutable_clear());
  if (itex) return edits;
  ReadEdit(get, prefix, "WHITELIST", edits.mutable_allow());
  ReadEdit(get, prefix, "GRAYLIST", edits.mutable_infer());
  ReadEdit(get, prefix, "BLACKLIST", edits.mutable_deny());
  return edits;
}

void MergeEnvironment(const GetVariable& get, v1::Policy* policy) {
  const bool itex = policy->lists_version() == "itex";
  v1::ListEdits edits = Compose(ListEditsFromEnvironment(get, itex), policy->lists());
  const char* level = get(absl::StrCat(kTensorFlow, "LEVEL"));
  if (level != nullptr && *level != '\0' && !itex && policy->planner() != v1::PLANNER_PLACEMENT &&
      policy->lists_level().empty()) {
    policy->set_lists_level(level);
  }
  // A policy without edits stays without: the same job has the same spec.
  const auto is_empty = [](const v1::ListEdit& edit) { return edit.add().empty() && edit.remove().empty(); };
  const bool nothing =
      is_empty(edits.allow()) && is_empty(edits.infer()) && is_empty(edits.deny()) && is_empty(edits.clear());
  if (nothing) {
    policy->clear_lists();
  } else {
    *policy->mutable_lists() = std::move(edits);
  }
}

}  // namespace halftone::client
