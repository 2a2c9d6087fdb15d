// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/precision_obstacle.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"
#include "ir/nested.h"
#include "passes/precision/device_name.h"
#include "passes/precision/type_variables.h"

namespace halftone {
namespace {

constexpr float kLargestFloat16 = 65504;

// Describes the first port of the planned variable that is not f32.
std::string OtherType(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  const char variable = PlannedVariable(node.op);
  const int count = static_cast<int>(node.inputs.size());
  for (int i = 0; i < count; ++i) {
    const ValueId value = node.inputs[i];
    if (!value.valid() || InputVariable(g, id, i) != variable || g.type(value) == DataType::kFloat32) continue;
    const Port* port = InputPort(node.op, i, count);
    return Concat("input '", port == nullptr ? "x" : port->name, "' is ", DataTypeName(g.type(value)), ", not f32");
  }
  for (const ValueId value : node.outputs) {
    if (value.valid() && g.type(value) != DataType::kFloat32)
      return Concat("its result is ", DataTypeName(g.type(value)), ", not f32");
  }
  return "it has no f32 data";
}

bool HasKernel(const Graph& g, NodeId id, const Target& target) {
  const std::vector<Signature> signatures = target.Signatures(g, id);
  // A kernel for either 16-bit type suffices: float16 is also planned on CPUs without float16 instructions.
  return std::any_of(signatures.begin(), signatures.end(),
                     [](const Signature& s) { return s.src == DataType::kBFloat16 || s.src == DataType::kFloat16; });
}

}  // namespace

std::string_view LongTypeName(DataType type) {
  if (type == DataType::kBFloat16) return "bfloat16";
  return type == DataType::kFloat16 ? "float16" : "float32";
}

std::optional<Obstacle> FindOverflow(const Graph& g, NodeId id) {
  const Node& node = g.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!g.IsConstant(value) || g.type(value) != DataType::kFloat32) continue;
    if (InputVariable(g, id, static_cast<int>(i)) != kData) continue;
    const Tensor* tensor = g.ConstantTensor(value);
    if (tensor == nullptr) continue;
    float largest = 0;
    for (const float element : tensor->data<float>()) {
      if (std::isfinite(element)) largest = std::max(largest, std::fabs(element));
    }
    if (largest > kLargestFloat16) {
      return Obstacle{"target.float16-range", Concat("constant '", g.Label(g.producer(value)), "' holds ", largest,
                                                     "; the largest float16 is ", kLargestFloat16)};
    }
  }
  return std::nullopt;
}

std::optional<Obstacle> FindObstacle(const Graph& g, NodeId id, const Target& target, DataType type) {
  const Node& node = g.node(id);
  if (node.op == OpKind::kOpaque) return Obstacle{"target.opaque", "opaque (unsupported) op: never changed"};
  if (HasNestedGraphs(node.op)) return Obstacle{"target.nested", "its nested graphs stay f32"};
  if (!IsOnCpu(node.device)) return Obstacle{"target.device", Concat("device '", node.device, "' is not a CPU")};
  if (!IsFloat32(g, id)) return Obstacle{"target.input-type", OtherType(g, id)};
  if (!HasKernel(g, id, target)) {
    return Obstacle{"target.no-kernel",
                    Concat(target.name(), " has no ", LongTypeName(type), " kernel for ", OpName(node.op))};
  }
  return type == DataType::kFloat16 ? FindOverflow(g, id) : std::nullopt;
}

}  // namespace halftone
