// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/freeze.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/call_scopes.h"
#include "formats/tensorflow/functions.h"
#include "formats/tensorflow/node_graph.h"

namespace halftone::graphdef {
namespace {

using Signature = tf::MetaGraphDef::SignatureEntry;

constexpr std::string_view kServe = "serve", kDefaultSignature = "serving_default";

template <typename... Args>
absl::Status Bad(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

bool IsVariable(const tf::NodeDef& node) {
  return node.op() == "VarHandleOp" || node.op() == "VariableV2" || node.op() == "Variable";
}

bool Assigns(const tf::NodeDef& node) { return node.op() == "AssignVariableOp" || node.op() == "Assign"; }

void SetType(tf::NodeDef& node, std::string_view name, tf::DataType type) {
  tf::AttrEntry& attr = *node.add_attr();
  attr.set_key(std::string(name));
  attr.mutable_value()->set_type(type);
}

std::string TensorText(const std::string& node, int port) { return port == 0 ? node : Concat(node, ":", port); }

absl::StatusOr<const tf::MetaGraphDef*> FindGraph(const tf::SavedModel& model) {
  for (const tf::MetaGraphDef& graph : model.meta_graphs()) {
    const auto& tags = graph.meta_info_def().tags();
    if (std::find(tags.begin(), tags.end(), kServe) != tags.end()) return &graph;
  }
  if (model.meta_graphs_size() == 1) return &model.meta_graphs(0);
  return Bad("saved_model.pb holds ", model.meta_graphs_size(), " graphs, and none has the tag \"serve\"");
}

// Of those that compute something.
absl::StatusOr<const Signature*> FindSignature(const tf::MetaGraphDef& graph, const std::string& wanted) {
  std::vector<std::string> names;
  const Signature *found = nullptr, *last = nullptr;
  for (const Signature& signature : graph.signature_def()) {
    if (signature.key().starts_with("__saved_model")) continue;
    names.push_back(signature.key());
    last = &signature;
    if (signature.key() == (wanted.empty() ? kDefaultSignature : wanted)) found = &signature;
  }
  if (found == nullptr && wanted.empty() && names.size() == 1) found = last;
  if (found != nullptr) return found;
  std::sort(names.begin(), names.end());
  const std::string there = names.empty() ? "it has none" : Concat("it has ", absl::StrJoin(names, ", "));
  return Bad("the SavedModel has no signature '", wanted.empty() ? kDefaultSignature : wanted, "': ", there);
}

class Freezer {
 public:
  Freezer(const tf::MetaGraphDef& model, const Variables& variables, CallScopes& scopes)
      : model_(model), variables_(variables), scopes_(scopes) {}

  absl::StatusOr<tf::GraphDef> Freeze(const tf::SignatureDef& signature) {
    *frozen_.mutable_versions() = model_.graph_def().versions();
    HALFTONE_RETURN_IF_ERROR(FindRestored(scopes_.top()));
    HALFTONE_RETURN_IF_ERROR(FindRestoreFunction());
    HALFTONE_RETURN_IF_ERROR(AddInputs(signature));
    HALFTONE_RETURN_IF_ERROR(AddOutputs(signature));
    KeepFunctions();
    return std::move(frozen_);
  }

 private:
  // Which key of the file each variable is restored from, by the graph's own restore ops.
  absl::Status FindRestored(const Scope& scope) {
    for (const tf::NodeDef& node : scope.graph->node()) {
      if (!Assigns(node) || node.input_size() < 2) continue;
      const absl::StatusOr<Place> variable = scopes_.Trace(scope, node.input(0));
      absl::StatusOr<Place> value = scopes_.Trace(scope, node.input(1));
      while (value.ok() && value->node->op() == "Identity" && value->node->input_size() > 0)
        value = scopes_.Trace(*value->scope, value->node->input(0));
      // Others are initial values.
      if (!variable.ok() || !IsVariable(*variable->node) || !value.ok()) continue;
      if (value->node->op() != "RestoreV2" || value->node->input_size() < 2) continue;
      HALFTONE_ASSIGN_OR_RETURN(const Place names, scopes_.Trace(*value->scope, value->node->input(1)));
      for (const tf::AttrEntry& attr : names.node->attr()) {
        const auto& keys = attr.value().tensor().string_val();
        if (attr.key() == "value" && value->port < keys.size()) keys_[variable->node] = keys[value->port];
      }
    }
    return absl::OkStatus();
  }

  absl::Status FindRestoreFunction() {
    const std::string& name = model_.saver_def().restore_op_name();
    const auto found = scopes_.top().nodes.find(name);
    if (found == scopes_.top().nodes.end()) return absl::OkStatus();
    const tf::NodeDef& call = model_.graph_def().node(found->second);
    if (!IsCall(call)) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(const Scope* inside, scopes_.Enter(scopes_.top(), call));
    return FindRestored(*inside);
  }

  // Placeholders in place of the nodes that the signature feeds.
  absl::Status AddInputs(const tf::SignatureDef& signature) {
    for (const tf::SignatureDef::TensorEntry& input : signature.inputs()) {
      if (input.value().name().empty()) return absl::UnimplementedError(Concat("input '", input.key(), "' is sparse"));
      HALFTONE_ASSIGN_OR_RETURN(const TensorName tensor, ParseTensorName(input.value().name()));
      if (scopes_.top().nodes.count(tensor.node) == 0 || tensor.port != 0)
        return Bad("input '", input.key(), "': '", input.value().name(), "' is no output 0 of a node");
      const bool free = scopes_.top().nodes.count(input.key()) == 0 && IsNodeName(input.key());
      const std::string name = free ? input.key() : std::string(tensor.node);
      if (!inputs_.emplace(std::string(tensor.node), name).second) continue;
      taken_.insert(name);
      tf::NodeDef& node = *frozen_.add_node();
      node.set_name(name);
      node.set_op("Placeholder");
      SetType(node, "dtype", input.value().dtype());
      tf::AttrEntry& shape = *node.add_attr();
      shape.set_key("shape");
      *shape.mutable_value()->mutable_shape() = input.value().tensor_shape();
    }
    return absl::OkStatus();
  }

  // What they read, and a node with the name of each.
  absl::Status AddOutputs(const tf::SignatureDef& signature) {
    std::map<std::string, const tf::TensorInfo*> outputs;
    for (const tf::SignatureDef::TensorEntry& output : signature.outputs()) outputs[output.key()] = &output.value();
    if (outputs.empty()) return Bad("the signature computes nothing");
    std::map<std::string, std::string> tensors;
    for (const auto& [key, info] : outputs) {
      absl::StatusOr<std::string> tensor = Resolve(scopes_.top(), info->name());
      if (!tensor.ok()) return Annotate(tensor.status(), Concat("output '", key, "'"));
      tensors[key] = *std::move(tensor);
    }
    HALFTONE_RETURN_IF_ERROR(AddWaiting());
    std::set<std::string> read;
    for (const tf::NodeDef& node : frozen_.node()) read.insert(node.input().begin(), node.input().end());
    for (const auto& [key, tensor] : tensors) {
      if (tensor == key && read.count(key) == 0) continue;  // has this name, and no other consumer
      tf::NodeDef& node = *frozen_.add_node();
      const bool free = taken_.count(key) == 0 && IsNodeName(key);
      node.set_name(free ? key : FreeName(Concat(key, "_output")));
      taken_.insert(node.name());
      node.set_op("Identity");
      node.add_input(tensor);
      SetType(node, "T", outputs[key]->dtype());
    }
    return absl::OkStatus();
  }

  std::string FreeName(std::string name) const {
    std::replace_if(name.begin(), name.end(), [](char c) { return c == ':' || c == ' ' || c == '^'; }, '_');
    while (taken_.count(name) > 0) name += "_";
    return name;
  }

  // The name of a tensor in the frozen graph; what computes it waits to be added.
  absl::StatusOr<std::string> Resolve(const Scope& scope, const std::string& tensor) {
    HALFTONE_ASSIGN_OR_RETURN(Place place, scopes_.Trace(scope, tensor));
    const bool top = place.scope == &scopes_.top();
    if (const auto input = inputs_.find(place.node->name()); top && input != inputs_.end()) return input->second;
    if (place.node->op() == "ReadVariableOp" && place.node->input_size() > 0) {
      HALFTONE_ASSIGN_OR_RETURN(const Place variable, scopes_.Trace(*place.scope, place.node->input(0)));
      if (!IsVariable(*variable.node)) {
        return Bad("node '", place.name(), "' reads '", variable.name(), "', which is no variable");
      }
      place = variable;
    } else if (place.node->op() == "VarHandleOp") {
      return absl::UnimplementedError(Concat("variable '", place.name(), "' itself is used; its value can be read"));
    }
    if (taken_.insert(place.name()).second) waiting_.push_back(place);
    return TensorText(place.name(), place.port);
  }

  absl::Status AddWaiting() {
    while (!waiting_.empty()) {
      if (frozen_.node_size() >= kMaxNodes) return Bad("the functions make more than ", kMaxNodes, " nodes");
      const Place place = waiting_.front();
      waiting_.pop_front();
      HALFTONE_RETURN_IF_ERROR(
          Annotate(IsVariable(*place.node) ? AddVariable(place) : AddNode(place), Concat("node '", place.name(), "'")));
    }
    return absl::OkStatus();
  }

  absl::Status AddNode(const Place& place) {
    tf::NodeDef node;
    node.set_name(place.name());
    node.set_op(place.node->op());
    for (const std::string& input : place.node->input()) {
      if (input.starts_with('^')) continue;
      HALFTONE_ASSIGN_OR_RETURN(*node.add_input(), Resolve(*place.scope, input));
    }
    for (const tf::AttrEntry& attr : place.node->attr()) {
      if (attr.key() != "_class") *node.add_attr() = attr;  // the places of nodes that may be gone
    }
    *frozen_.add_node() = std::move(node);
    return absl::OkStatus();
  }

  absl::Status AddVariable(const Place& place) {
    tf::NodeDef node;
    node.set_name(place.name());
    node.set_op("Const");
    tf::AttrEntry& value = *node.add_attr();
    value.set_key("value");
    HALFTONE_RETURN_IF_ERROR(variables_.Get(KeyOf(*place.node), *value.mutable_value()->mutable_tensor()));
    SetType(node, "dtype", value.value().tensor().dtype());
    *frozen_.add_node() = std::move(node);
    return absl::OkStatus();
  }

  // Where the graph has no restore op: by the names that Keras and older savers give.
  std::string KeyOf(const tf::NodeDef& variable) const {
    if (const auto it = keys_.find(&variable); it != keys_.end()) return it->second;
    const std::string tracked = Concat(variable.name(), "/.ATTRIBUTES/VARIABLE_VALUE");
    return variables_.Has(tracked) ? tracked : variable.name();
  }

  // Bodies of loops and branches.
  void KeepFunctions() {
    *frozen_.mutable_library() = model_.graph_def().library();
    std::vector<std::string> names;
    for (const tf::FunctionDef& function : frozen_.library().function()) names.push_back(function.signature().name());
    DropUncalled(names, frozen_);
    if (frozen_.library().function_size() == 0) frozen_.clear_library();
  }

  const tf::MetaGraphDef& model_;
  const Variables& variables_;
  CallScopes& scopes_;
  tf::GraphDef frozen_;
  std::map<const tf::NodeDef*, std::string> keys_;     // of variables, in the file
  std::map<std::string, std::string, std::less<>> inputs_;  // node of the graph => the frozen one's
  std::set<std::string> taken_;
  std::deque<Place> waiting_;
};

}  // namespace

absl::StatusOr<tf::GraphDef> FreezeSignature(const tf::SavedModel& model, const Variables& variables,
                                             const std::string& signature) {
  HALFTONE_ASSIGN_OR_RETURN(const tf::MetaGraphDef* graph, FindGraph(model));
  HALFTONE_ASSIGN_OR_RETURN(const Signature* found, FindSignature(*graph, signature));
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<CallScopes> scopes, CallScopes::Make(graph->graph_def()));
  absl::StatusOr<tf::GraphDef> frozen = Freezer(*graph, variables, *scopes).Freeze(found->value());
  if (!frozen.ok()) return Annotate(frozen.status(), Concat("signature '", found->key(), "'"));
  return frozen;
}

}  // namespace halftone::graphdef
