// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/functions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"

namespace halftone::graphdef {
namespace {

using FunctionIndex = std::unordered_map<std::string_view, int>;

absl::Status CheckSignature(const tf::OpDef& signature) {
  std::set<std::string_view> attrs;
  for (const auto& attr : signature.attr()) {
    if (!attrs.insert(attr.name()).second) {
      return absl::InvalidArgumentError(Concat("attribute '", attr.name(), "' is declared twice"));
    }
  }
  std::set<std::string_view> args;
  for (const auto& arg : signature.input_arg()) {
    if (!args.insert(arg.name()).second)
      return absl::InvalidArgumentError(Concat("argument '", arg.name(), "' is declared twice"));
  }
  return absl::OkStatus();
}

// Functions that an attribute names; explicit stack, since function attributes may hold function attributes.
void CollectCalled(const tf::AttrValue& root, const FunctionIndex& index, std::vector<int>& called) {
  std::vector<const tf::AttrValue*> work = {&root};
  const auto visit = [&](const tf::NameAttrList& function) {
    if (const auto it = index.find(function.name()); it != index.end()) called.push_back(it->second);
    for (const tf::AttrEntry& entry : function.attr()) work.push_back(&entry.value());
  };
  while (!work.empty()) {
    const tf::AttrValue* value = work.back();
    work.pop_back();
    if (value->has_func()) visit(value->func());
    for (const tf::NameAttrList& function : value->list().func()) visit(function);
  }
}

absl::StatusOr<std::vector<int>> CheckBody(const tf::FunctionDef& function, const FunctionIndex& index) {
  std::vector<int> called;
  std::set<std::string_view> names;
  for (const tf::NodeDef& node : function.node_def()) {
    if (node.op().empty()) return absl::InvalidArgumentError(Concat("node '", node.name(), "' has no op"));
    if (node.name().empty() || !names.insert(node.name()).second) {
      return absl::InvalidArgumentError(Concat("the name '", node.name(), "' is empty or taken by two nodes"));
    }
    HALFTONE_RETURN_IF_ERROR(Annotate(ReadAttrs(node).status(), Concat("node '", node.name(), "'")));
    if (const auto it = index.find(node.op()); it != index.end()) called.push_back(it->second);
    for (const tf::AttrEntry& entry : node.attr()) CollectCalled(entry.value(), index, called);
  }
  std::sort(called.begin(), called.end());
  called.erase(std::unique(called.begin(), called.end()), called.end());
  return called;
}

// Kahn's algorithm from the functions that call no other: the depth of a call is one more than the deepest callee's.
absl::Status CheckDepth(const tf::FunctionDefLibrary& library, const std::vector<std::vector<int>>& calls) {
  std::vector<std::vector<int>> callers(calls.size());
  std::vector<size_t> waiting(calls.size());
  std::vector<int> depth(calls.size(), 1), ready;
  for (size_t i = 0; i < calls.size(); ++i) {
    waiting[i] = calls[i].size();
    for (const int callee : calls[i]) callers[callee].push_back(static_cast<int>(i));
    if (calls[i].empty()) ready.push_back(static_cast<int>(i));
  }
  size_t done = 0;
  while (!ready.empty()) {
    const int callee = ready.back();
    ready.pop_back();
    ++done;
    if (depth[callee] > kMaxFunctionDepth) {
      return absl::InvalidArgumentError(Concat("function '", library.function(callee).signature().name(),
                                               "' nests calls deeper than ", kMaxFunctionDepth));
    }
    for (const int caller : callers[callee]) {
      depth[caller] = std::max(depth[caller], depth[callee] + 1);
      if (--waiting[caller] == 0) ready.push_back(caller);
    }
  }
  if (done == calls.size()) return absl::OkStatus();
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](size_t count) { return count > 0; });
  return absl::InvalidArgumentError(Concat("function '", library.function(stuck - waiting.begin()).signature().name(),
                                           "' calls itself, or a function that does; recursion is not supported"));
}

}  // namespace

void DropUncalled(const std::vector<std::string>& functions, tf::GraphDef& def) {
  tf::FunctionDefLibrary& library = *def.mutable_library();
  FunctionIndex index;
  for (int i = 0; i < library.function_size(); ++i) index.emplace(library.function(i).signature().name(), i);
  std::vector<int> work;
  const auto visit = [&](const tf::NodeDef& node) {
    if (const auto it = index.find(node.op()); it != index.end()) work.push_back(it->second);
    for (const tf::AttrEntry& entry : node.attr()) CollectCalled(entry.value(), index, work);
  };
  for (const tf::NodeDef& node : def.node()) visit(node);
  for (int i = 0; i < library.function_size(); ++i) {  // what was never ours stays, with what it calls
    const std::string& name = library.function(i).signature().name();
    if (std::find(functions.begin(), functions.end(), name) == functions.end()) work.push_back(i);
  }
  std::set<int> called;
  while (!work.empty()) {
    const int i = work.back();
    work.pop_back();
    if (!called.insert(i).second) continue;
    for (const tf::NodeDef& node : library.function(i).node_def()) visit(node);
  }
  if (static_cast<int>(called.size()) == library.function_size()) return;
  tf::FunctionDefLibrary kept = library;
  kept.clear_function();
  for (const int i : called) *kept.add_function() = library.function(i);
  library = std::move(kept);
}

absl::Status CheckFunctions(const tf::FunctionDefLibrary& library) {
  FunctionIndex index;
  for (int i = 0; i < library.function_size(); ++i) {
    const std::string& name = library.function(i).signature().name();
    if (name.empty()) return absl::InvalidArgumentError("a function of the library has no name");
    if (!index.emplace(name, i).second)
      return absl::InvalidArgumentError(Concat("two functions have the name '", name, "'"));
  }
  std::vector<std::vector<int>> calls;
  for (const tf::FunctionDef& function : library.function()) {
    const std::string context = Concat("function '", function.signature().name(), "'");
    HALFTONE_RETURN_IF_ERROR(Annotate(CheckSignature(function.signature()), context));
    absl::StatusOr<std::vector<int>> called = CheckBody(function, index);
    if (!called.ok()) return Annotate(called.status(), context);
    calls.push_back(*std::move(called));
  }
  return CheckDepth(library, calls);
}

}  // namespace halftone::graphdef
