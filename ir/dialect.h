// The dialects in which a file can be written: which fused ops a file of each says as one node.
//
// A file of the portable dialect holds standard ops of its format alone. The others also hold ops that one framework's
// optimizer makes for itself: what is fused stays one node there. The export pipeline splits what the dialect cannot
// say and writes the dialect's op into Node::spelling of the rest (passes/export/spell_dialect.h); exporters follow
// the spelling and know no dialect.
#ifndef HALFTONE_IR_DIALECT_H_
#define HALFTONE_IR_DIALECT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "ir/graph.h"

namespace halftone {

enum class Dialect : uint8_t {
  kPortable,     // standard ops of the format
  kTensorFlow,   // GraphDef: the ops of TensorFlow's remapper (_FusedConv2D, _MklSwish, ...)
  kItex,         // GraphDef: those of Intel's extension (_ITEXFusedConv2D, ITEXGelu, ...)
  kOnnxRuntime,  // ONNX: domain com.microsoft (FusedConv, Gelu, ...)
};
inline constexpr int kNumDialects = static_cast<int>(Dialect::kOnnxRuntime) + 1;

// "portable", "tensorflow", "itex", "onnxruntime".
std::string_view DialectName(Dialect dialect);
std::optional<Dialect> DialectFromName(std::string_view name);

// Whether a file of this format has this dialect. INVALID_ARGUMENT names both and the dialects that the format has.
absl::Status CheckDialect(Dialect dialect, GraphFormat format);

// The op of the dialect, beyond the standard ones, that says all of this node ("_FusedConv2D"); "" if it has none: then
// standard ops must say it. Asks for types, shapes and constants of the graph as they are.
std::string_view DialectOp(Dialect dialect, const Graph& graph, NodeId node);

// Whether a file of the dialect says this node as one node by such an op.
inline bool DialectWrites(Dialect dialect, const Graph& graph, NodeId node) {
  return !DialectOp(dialect, graph, node).empty();
}

// The domain of the dialect's ops ("com.microsoft"); "" where the format knows no domains.
std::string_view DialectDomain(Dialect dialect);

// Whether a dialect of this format has such an op: a node that was read as one must be spelled anew.
bool IsDialectOp(std::string_view op, GraphFormat format);

// One dialect's knowledge, in a file of its own (dialect_NAME.cc).
struct DialectTable {
  std::string_view (*op)(const Graph& graph, NodeId node);  // as DialectOp
  std::span<const std::string_view> ops;                    // all that it can answer, and names that are only read
};
const DialectTable& TensorFlowDialect();
const DialectTable& ItexDialect();
const DialectTable& OnnxRuntimeDialect();

}  // namespace halftone

#endif  // HALFTONE_IR_DIALECT_H_
