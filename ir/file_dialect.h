// SPDX-License-Identifier: Apache-2.0
// What a file can hold: the question of the export passes (passes/export), which formats/ answers, a constant for each
// dialect of each format.
//
// A file of a portable dialect holds standard ops of its format alone. Other dialects also hold fused ops that one
// framework's optimizer makes. The export pipeline splits what the dialect lacks and writes the dialect's fused op into
// Node::spelling of what stays one node (passes/export/spell_dialect.h). Exporters follow the spelling.
#ifndef HALFTONE_IR_FILE_DIALECT_H_
#define HALFTONE_IR_FILE_DIALECT_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace halftone {

// What standard ops of some formats say and those of others do not.
enum class FileFeature : uint8_t {
  // --- Ops.
  kBiasAdd,          // bias_add: a vector along the channels, which may be the last dimension or not
  kGemm,             // gemm: a matmul of two matrices with its scale, transposes and bias
  kRecurrent,        // lstm and gru
  kL2Loss,           // l2_loss of one tensor
  kInstanceNorm,     // instance_norm
  kLayerNorm,        // layer_norm
  kPRelu,            // prelu
  kActivations,      // swish, hard_sigmoid, hard_swish, gelu, mish
  kMatMulInteger,    // matmul_integer
  kDequantizeRange,  // dequantize_range, in the place of dequantize_linear
  // --- What an op says by its attributes and inputs.
  kConvBias,                  // a convolution with its bias
  kConvPads,                  // convolutions of all kinds with pads in numbers
  kConvGroups,                // groups of several channels each
  kConvChannelsLast,          // images with the channels last
  kConvWeightsChannelsFirst,  // weights as [out, in, ...]; a file without holds them rearranged
  kMatMulTransposes,          // a matmul of any rank with transposed operands
  kDevices,                   // a device for each node
  // --- Fused ops of more than one node of the fused graph: passes/export/merges.h makes these nodes.
  kMergedAttention,      // attention with the projections of queries, keys and values
  kMergedBiasGelu,       // gelu(x + bias)
  kMergedSkipLayerNorm,  // layer_norm(x + skip)
};

class FileFeatures {
 public:
  constexpr FileFeatures() = default;
  constexpr FileFeatures(std::initializer_list<FileFeature> features) {
    for (const FileFeature feature : features) bits_ |= Bit(feature);
  }
  constexpr bool has(FileFeature feature) const { return (bits_ & Bit(feature)) != 0; }
  constexpr FileFeatures operator|(FileFeatures other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr uint32_t Bit(FileFeature feature) { return uint32_t{1} << static_cast<int>(feature); }
  uint32_t bits_ = 0;
};

// Constants of formats/; compared by address.
struct FileDialect {
  std::string_view name;  // of its export pipeline, too: "export-NAME"
  FileFeatures features;
  // The op of the dialect, beyond the standard ones, that says all of this node; "" if it has none: then standard ops
  // must say it. Asks for types, shapes and constants of the graph as they are. nullptr: the dialect is portable.
  std::string_view (*fused_op)(const Graph& graph, NodeId node) = nullptr;
  std::span<const std::string_view> fused_ops = {};  // all that fused_op can return, and ops that are only read
  std::string_view domain = {};                      // of the fused ops; "" where the format has no domains
  // Whether any dialect of the same format has such a fused op: a node that was read as one must be spelled anew.
  bool (*is_fused_op)(std::string_view op) = nullptr;
  // Where Node::extra names the attributes that a file left out although the exporter writes them by default; "": nowhere.
  std::string_view left_out = {};

  bool has(FileFeature feature) const { return features.has(feature); }
  std::string_view FusedOp(const Graph& graph, NodeId node) const {
    return fused_op == nullptr ? std::string_view() : fused_op(graph, node);
  }
  // Whether a file of the dialect says this node as one node by a fused op.
  bool Writes(const Graph& graph, NodeId node) const { return !FusedOp(graph, node).empty(); }
};

}  // namespace halftone

#endif  // HALFTONE_IR_FILE_DIALECT_H_
