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

void ReadEdit(const GetVariable& get, const char* list, v1::ListEdit* edit) {
  const std::string prefix = absl::StrCat("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_", list);
  v1::ListEdit read;
  AddWords(get(absl::StrCat(prefix, "_ADD")), read.mutable_add());
  AddWords(get(absl::StrCat(prefix, "_REMOVE")), read.mutable_remove());
  Append(read, edit);
}

}  // namespace

v1::ListEdits ListEditsFromEnvironment(const GetVariable& get) {
  v1::ListEdits edits;
  ReadEdit(get, "ALLOWLIST", edits.mutable_allow());
  ReadEdit(get, "WHITELIST", edits.mutable_allow());
  ReadEdit(get, "INFERLIST", edits.mutable_infer());
  ReadEdit(get, "GRAYLIST", edits.mutable_infer());
  ReadEdit(get, "DENYLIST", edits.mutable_deny());
  ReadEdit(get, "BLACKLIST", edits.mutable_deny());
  ReadEdit(get, "CLEARLIST", edits.mutable_clear());
  return edits;
}

v1::ListEdits Compose(const v1::ListEdits& first, const v1::ListEdits& then) {
  v1::ListEdits edits = first;
  Append(then.allow(), edits.mutable_allow());
  Append(then.infer(), edits.mutable_infer());
  Append(then.deny(), edits.mutable_deny());
  Append(then.clear(), edits.mutable_clear());
  return edits;
}

void MergeEnvironment(const GetVariable& get, v1::Policy* policy) {
  v1::ListEdits edits = Compose(ListEditsFromEnvironment(get), policy->lists());
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
