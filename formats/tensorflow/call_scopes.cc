// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/call_scopes.h"

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/function_library.h"
#include "formats/tensorflow/functions.h"
#include "formats/tensorflow/node_graph.h"

namespace halftone::graphdef {
namespace {

constexpr int kMostSteps = 100'000;   // from an input to what computes it
constexpr size_t kMostCalls = 100'000;

const tf::AttrValue* Attribute(const tf::NodeDef& node, std::string_view name) {
  for (const tf::AttrEntry& entry : node.attr()) {
    if (entry.key() == name) return &entry.value();
  }
  return nullptr;
}

// Of a variable itself, not of its value.
bool PassesVariable(const tf::NodeDef& node) {
  if (node.op() != "Identity" || node.input_size() == 0) return false;
  const tf::AttrValue* type = Attribute(node, "T");
  return type != nullptr && type->type() == tf::DT_RESOURCE;
}

}  // namespace

bool IsCall(const tf::NodeDef& node) {
  return node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

absl::StatusOr<std::unique_ptr<CallScopes>> CallScopes::Make(const tf::GraphDef& graph) {
  HALFTONE_RETURN_IF_ERROR(CheckFunctions(graph.library()));
  std::unique_ptr<CallScopes> scopes(new CallScopes(graph));
  for (const tf::FunctionDef& function : graph.library().function())
    scopes->functions_.emplace(function.signature().name(), &function);
  scopes->top_ = std::make_unique<Scope>();
  scopes->top_->graph = &graph;
  HALFTONE_RETURN_IF_ERROR(scopes->Index(*scopes->top_));
  return scopes;
}

absl::Status CallScopes::Index(Scope& scope) const {
  for (int i = 0; i < scope.graph->node_size(); ++i) {
    if (!scope.nodes.emplace(scope.graph->node(i).name(), i).second)
      return absl::InvalidArgumentError(Concat("node '", scope.prefix, scope.graph->node(i).name(), "' is there twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const Scope*> CallScopes::Enter(const Scope& scope, const tf::NodeDef& call) {
  std::unique_ptr<Scope>& made = scopes_[{&scope, &call}];
  if (made != nullptr) return made.get();
  if (scopes_.size() > kMostCalls) {
    return absl::InvalidArgumentError(Concat("functions are called more than ", kMostCalls, " times"));
  }
  const std::string where = Concat("call '", scope.prefix, call.name(), "'");
  const tf::AttrValue* called = Attribute(call, "f");
  const auto function = functions_.find(called == nullptr ? std::string_view() : called->func().name());
  if (function == functions_.end()) return absl::InvalidArgumentError(Concat(where, ": its function is not there"));
  const tf::OpDef& signature = function->second->signature();
  if (signature.attr_size() > 0) {
    return absl::UnimplementedError(Concat(where, ": function '", signature.name(), "' is made for several types"));
  }
  auto& body = bodies_[function->second];
  if (body == nullptr) {
    std::vector<std::string> results;
    HALFTONE_ASSIGN_OR_RETURN(tf::GraphDef graph, FunctionAsGraph(*function->second, results));
    body = std::make_unique<std::pair<tf::GraphDef, std::vector<std::string>>>(std::move(graph), std::move(results));
  }
  auto inside = std::make_unique<Scope>();
  inside->graph = &body->first;
  inside->prefix = Concat(scope.prefix, call.name(), "/");
  inside->caller = &scope;
  inside->call = &call;
  inside->results = body->second;
  inside->arguments = signature.input_arg_size();
  HALFTONE_RETURN_IF_ERROR(Index(*inside));
  made = std::move(inside);
  return made.get();
}

absl::StatusOr<Place> CallScopes::Trace(const Scope& scope, const std::string& tensor) {
  const Scope* at = &scope;
  std::string name = tensor;
  for (int step = 0; step < kMostSteps; ++step) {
    HALFTONE_ASSIGN_OR_RETURN(const TensorName parsed, ParseTensorName(name));
    const auto found = at->nodes.find(parsed.node);
    if (found == at->nodes.end())
      return absl::InvalidArgumentError(Concat("nothing computes '", at->prefix, name, "'"));
    const tf::NodeDef& node = at->graph->node(found->second);
    const int port = parsed.port;
    if (at->IsArgument(found->second)) {
      const tf::NodeDef& call = *at->call;
      if (found->second >= call.input_size() || call.input(found->second).starts_with('^')) {
        return absl::InvalidArgumentError(
            Concat("call '", at->caller->prefix, call.name(), "' gives no argument '", node.name(), "'"));
      }
      name = call.input(found->second);
      at = at->caller;
    } else if (IsCall(node)) {
      HALFTONE_ASSIGN_OR_RETURN(const Scope* inside, Enter(*at, node));
      if (port < 0 || port >= static_cast<int>(inside->results.size())) {
        return absl::InvalidArgumentError(Concat("call '", at->prefix, node.name(), "' has no output ", port));
      }
      name = inside->results[port];
      at = inside;
    } else if (PassesVariable(node)) {
      name = node.input(0);
    } else {
      return Place{at, &node, port};
    }
  }
  return absl::InvalidArgumentError(Concat("'", scope.prefix, tensor, "' goes round in circles"));
}

}  // namespace halftone::graphdef
