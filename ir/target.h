// SPDX-License-Identifier: Apache-2.0
// What a rewrite may ask of the machine that will run the graph. runtime/cpu/onednn implements it; tests have a fake.
#ifndef HALFTONE_IR_TARGET_H_
#define HALFTONE_IR_TARGET_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

// Element types for which one kernel exists.
struct Signature {
  DataType src;
  DataType weights;
  DataType dst;
  bool native = true;  // false: emulated on this CPU, slower than f32
  // Of a contraction with the attribute "math_mode": operands of f32 are rounded to bf16 on the way in.
  bool bf16_math = false;
  bool operator==(const Signature&) const = default;
};

// What would be fused into a node beside what it already has.
struct FusedParts {
  bool bias = false;
  bool residual = false;
  Activation activation = Activation::kNone;
  bool scale = false;               // of a matmul or a softmax
  bool broadcast_residual = false;  // a residual (of a matmul) that has not the result's shape
  bool activation_first = false;    // the residual is added after the activation, which may be there already
};

// Thread-safe: const and without side effects.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;

  // OK if `node` (conv, matmul, softmax, a normalization), with its present types and attributes and these parts added,
  // runs as one kernel that is not slower than what it stands for; else UNIMPLEMENTED with the reason in a few words
  // ("no kernel with a residual before tanh").
  virtual absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const = 0;

  // The same of one new node `op` that reads these values, in the place of several nodes: a binary_chain, a
  // scaled_dot_product_attention, ...
  virtual absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const = 0;

  // Types in which this node can run; the first is preferred for f32 models. Empty: it cannot run.
  virtual std::vector<Signature> Signatures(const Graph& graph, NodeId node) const = 0;

  // OK if there is a kernel of this node for integers (quantization.h): it reads `inputs`, which stand in the place of
  // the node's own (floats, and u8, s8, s32 with a quantization; kNoValue where absent), and writes the type and
  // quantization of `output` (one of those, or the node's own output). Each value is of `graph`. Else UNIMPLEMENTED
  // with the reason.
  virtual absl::Status SupportsQuantized(const Graph& /*graph*/, NodeId /*node*/, std::span<const ValueId> /*inputs*/,
                                         ValueId /*output*/) const {
    return absl::UnimplementedError("no int8 kernels");
  }

  // Whether the CPU has instructions for this type (bf16: AVX512_BF16 or AMX).
  virtual bool IsNative(DataType type) const = 0;
};

}  // namespace halftone

#endif  // HALFTONE_IR_TARGET_H_
