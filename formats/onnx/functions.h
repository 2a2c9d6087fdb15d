// SPDX-License-Identifier: Apache-2.0
// Functions that a model defines itself (FunctionProto): a call becomes the nodes of the function's body.
#ifndef HALFTONE_FORMATS_ONNX_FUNCTIONS_H_
#define HALFTONE_FORMATS_ONNX_FUNCTIONS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// The functions of one model that has been validated: no function calls itself. Not thread-safe.
class Functions {
 public:
  // `model` must outlive it and keep its functions; names of its graph's values are remembered.
  Functions(const onnx::ModelProto& model, int model_opset);

  // Replaces each call in `graph` (not in its subgraphs) by the function's nodes, and calls in these. opsets[i]:
  // version of ONNX's operators that node i means. Errors: RESOURCE_EXHAUSTED beyond kMaxNodes or 1 GiB,
  // INVALID_ARGUMENT.
  absl::Status Inline(onnx::GraphProto& graph, int opset, std::vector<int>& opsets);

  // Whether the node calls a function that was not inlined because its operators are of an unsupported opset.
  bool IsCall(const onnx::NodeProto& node) const { return Find(node) != nullptr; }
  // Says that such a node stays, so that the written file needs the model's functions.
  void KeepCall() { calls_stay_ = true; }
  bool calls_stay() const { return calls_stay_; }

  // Operator sets beside ONNX's that inlined nodes belong to, with their versions.
  const std::map<std::string, int64_t>& domains() const { return domains_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    int opset = 0;  // 0: cannot be inlined
    int64_t bytes = 0;
  };
  struct Call;  // one call that is being written out
  struct Node {
    onnx::NodeProto proto;
    int opset = 0;
  };

  const Function* Find(const onnx::NodeProto& node) const;
  absl::Status WriteOut(const onnx::NodeProto& call, const Function& function, std::vector<Node>& nodes);
  void RenameNode(const Call& call, const std::map<std::string, std::string>& names, onnx::NodeProto& node);
  void RenameGraph(const Call& call, std::map<std::string, std::string> names, onnx::GraphProto& graph);
  std::string Fresh(const std::string& base);

  std::map<Key, Function> functions_;
  std::set<std::string> taken_;
  std::map<std::string, int64_t> domains_;
  int64_t nodes_ = 0;  // written out so far, and their bytes
  int64_t bytes_ = 0;
  bool calls_stay_ = false;
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_FUNCTIONS_H_
