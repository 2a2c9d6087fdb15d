// SPDX-License-Identifier: Apache-2.0
// The passes of this folder. The header comment of each .cc says what it changes and what it does not.
#ifndef HALFTONE_PASSES_TRANSFORMS_PASSES_H_
#define HALFTONE_PASSES_TRANSFORMS_PASSES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/core/pass.h"

namespace halftone {

std::unique_ptr<Pass> MakeAddDefaultAttributes();                              // add_default_attributes.cc
std::unique_ptr<Pass> MakeRemoveNodes(std::vector<std::string> ops);           // remove_nodes.cc
std::unique_ptr<Pass> MakeSetDevice(std::string device, bool if_default);      // set_device.cc
std::unique_ptr<Pass> MakeRemoveControlDependencies();                         // remove_control_dependencies.cc
std::unique_ptr<Pass> MakeRenameOp(std::string old_op, std::string new_op);    // rename_op.cc
std::unique_ptr<Pass> MakeRenameNode(std::string old_name, std::string name);  // rename_node.cc
std::unique_ptr<Pass> MakeRemoveAttribute(std::string name, std::string op);   // change_attribute.cc
std::unique_ptr<Pass> MakeRenameAttribute(std::string old_name, std::string name, std::string op);
std::unique_ptr<Pass> MakeObfuscateNames();                                       // obfuscate_names.cc
std::unique_ptr<Pass> MakeRoundWeights(int64_t num_steps, int64_t minimum_size);  // round_weights.cc
std::unique_ptr<Pass> MakeQuantizeWeights(int64_t minimum_size);                  // quantize_weights.cc

// A node that becomes an input of the graph.
struct CutAt {
  std::string node;
  DataType type = DataType::kUnknown;  // kUnknown: the type of the node's value
  Shape shape;                         // no rank: the shape of the node's value
};
std::unique_ptr<Pass> MakeStripUnusedNodes(std::vector<CutAt> cuts);  // strip_unused_nodes.cc

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_PASSES_H_
