// SPDX-License-Identifier: Apache-2.0
// A graph and the functions that it calls, walked as if every call were replaced by its nodes.
#ifndef HALFTONE_FORMATS_TENSORFLOW_CALL_SCOPES_H_
#define HALFTONE_FORMATS_TENSORFLOW_CALL_SCOPES_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// The nodes of the graph itself, or of one call of a function.
struct Scope {
  const tf::GraphDef* graph = nullptr;
  std::string prefix;                // "" or "CALL/"
  const Scope* caller = nullptr;     // nullptr: the graph itself
  const tf::NodeDef* call = nullptr;  // in `caller`
  std::vector<std::string> results;  // tensors of `graph`, one for each output of the call
  std::map<std::string_view, int> nodes;
  int arguments = 0;  // the first nodes of `graph`

  bool IsArgument(int node) const { return node < arguments; }
};

// An output of a node that is no call.
struct Place {
  const Scope* scope = nullptr;
  const tf::NodeDef* node = nullptr;
  int port = 0;

  std::string name() const { return scope->prefix + node->name(); }
};

bool IsCall(const tf::NodeDef& node);

// Thread-compatible. Views into the graph, which must outlive it.
class CallScopes {
 public:
  // INVALID_ARGUMENT: what CheckFunctions refuses.
  static absl::StatusOr<std::unique_ptr<CallScopes>> Make(const tf::GraphDef& graph);

  const Scope& top() const { return *top_; }
  // Where "node:1" of the scope comes from, through calls, arguments and Identity of variables themselves.
  // INVALID_ARGUMENT: a name that leads nowhere or in circles, too many calls; UNIMPLEMENTED: a function that is made
  // for several types.
  absl::StatusOr<Place> Trace(const Scope& scope, const std::string& tensor);
  // The nodes of the function that a call of `scope` calls.
  absl::StatusOr<const Scope*> Enter(const Scope& scope, const tf::NodeDef& call);

 private:
  explicit CallScopes(const tf::GraphDef& graph) : graph_(graph) {}
  absl::Status Index(Scope& scope) const;

  const tf::GraphDef& graph_;
  std::unique_ptr<Scope> top_;
  std::map<std::string_view, const tf::FunctionDef*> functions_;
  std::map<const tf::FunctionDef*, std::unique_ptr<std::pair<tf::GraphDef, std::vector<std::string>>>> bodies_;
  std::map<std::pair<const Scope*, const tf::NodeDef*>, std::unique_ptr<Scope>> scopes_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_CALL_SCOPES_H_
