// SPDX-License-Identifier: Apache-2.0
// The table of TensorFlow ops that have a canonical op, and of the number and types of outputs of common ops that have
// none.
#ifndef HALFTONE_FORMATS_TENSORFLOW_OP_MAP_H_
#define HALFTONE_FORMATS_TENSORFLOW_OP_MAP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/ops.h"
#include "ir/types.h"

namespace halftone::graphdef {

// How an attribute of a NodeDef corresponds to a canonical attribute.
enum class AttrForm : uint8_t {
  kBool,
  kFloat,
  kInt,  // at least 1
  kAnyInt,
  kString,
  kLayout,        // data_format: "NHWC", "NDHWC", ... <-> layout "NHWC" / "NCHW"
  kSpatial,       // one number a dimension of the data <-> one a spatial dimension (batch and channel have 1)
  kPadding,       // "SAME", "VALID", "EXPLICIT" <-> auto_pad
  kExplicitPads,  // explicit_paddings: (begin, end) a dimension <-> pads: begins, then ends
  kMirrorMode,    // "REFLECT", "SYMMETRIC" <-> mode
  kSqueezeDims,   // list of axes <-> an unnamed constant as input 1
  kTensor,        // a constant's value
  kOutputShape,   // shape of the output value (Placeholder)
  kCount,         // number of inputs, or else outputs, of the variadic port
  kKeep,          // must be there, stays in Node::extra
  kMustBe,        // only the default has a canonical meaning; stays in Node::extra. Else the row does not fit
  kByRule,        // the row's rules read and write it; stays in Node::extra
  // No attribute of TensorFlow's: the op implies it by its name. `tf_default` is the canonical value, which the
  // exporter demands (absent: canonical_default).
  kImpliedBool,
  kImpliedInt,
  kImpliedFloat,
  kImpliedString,  // `text`
};

struct AttrRow {
  std::string_view name;
  AttrForm form;
  std::string_view canonical = {};
  bool required = false;
  // Numbers (bool: 0 or 1): what TensorFlow means by an absent attribute, and what the canonical op means. Where they
  // differ the importer writes TensorFlow's out, and the exporter the canonical one.
  double tf_default = 0;
  double canonical_default = 0;
  std::string_view text = {};  // strings: the default of both sides
};

// A type attribute with its default; kUnknown: required.
struct TypeRow {
  std::string_view name;
  DataType otherwise = DataType::kUnknown;
};

struct OpRow;
struct ConvertedNode;
struct RuleInput;
class GraphWriter;

// What a row's attributes and order do not express: completes the node, whose row has been read. False: not canonical
// by this row.
using ImportRule = absl::StatusOr<bool> (*)(const RuleInput& input, ConvertedNode& result);
// Writes a node that was read along this row and is still of the row's kind.
using ExportRule = absl::Status (*)(GraphWriter& out, NodeId id, const OpRow& row);

// A signature is a list of ports: "T,T" two of type attribute T; "N*T,Tidx": as many of T as attribute N says, then
// one; "Tout[]": one for each type in the list attribute; "s32": always of this type (names of DataType); "T=f32": T's
// default;
// "?": of unknown type.
struct OpRow {
  std::string_view tf_op;
  OpKind kind;
  std::string_view inputs;
  std::string_view outputs;
  std::span<const TypeRow> types;
  std::span<const AttrRow> attrs;
  // The canonical inputs as inputs of the NodeDef, a digit each: "1-0" has the second, none, the first. "+": all that
  // are not named. Empty: as they are.
  std::string_view order = {};
  int spatial = 2;  // spatial dimensions of kLayout, kSpatial and kExplicitPads
  ImportRule import = nullptr;
  ExportRule write = nullptr;
  std::string_view output_order = {};  // the canonical outputs as those of the NodeDef, as `order`
  bool is_parts = false;               // output i is input i's alone: as many nodes as outputs, written as one again
  std::string_view with = {}, without = {};  // an op of two forms: read along the row if it has this attribute, has not
};

// Whether every version of the row's op has an attribute for pads in numbers: Conv2D learnt it first, and what is fused
// of it was born with it.
inline bool SaysPads(const OpRow& row) {
  if (!row.tf_op.starts_with('_')) return false;
  for (const AttrRow& attr : row.attrs) {
    if (attr.form == AttrForm::kExplicitPads) return true;
  }
  return false;
}

// The rows of an op of TensorFlow, in the order in which they are tried. Empty: it has no canonical op.
std::span<const OpRow* const> RowsNamed(std::string_view tf_op);

// The first of them, or nullptr.
const OpRow* FindRow(std::string_view tf_op);

// All rows of a canonical op; the first is what new nodes without spelling become.
std::span<const OpRow* const> RowsOf(OpKind kind);

// Signature of the outputs of ops without a row; nullopt: unknown op.
std::optional<std::string_view> OpaqueOutputs(std::string_view tf_op);

// One port after counts are known: the word is a type attribute, the name of a type or "?".
struct PortType {
  std::string_view word;
  std::string_view otherwise = {};  // the default's name, if the signature gives one
};

// `count(name)`: value of an integer attribute; `list(name)`: length of a list attribute. INVALID_ARGUMENT for counts
// that are negative or absurd. In what is made of "Tout[]", the word is "Tout[]", once an element.
absl::StatusOr<std::vector<PortType>> ExpandSignature(
    std::string_view signature, const std::function<absl::StatusOr<int64_t>(std::string_view)>& count,
    const std::function<absl::StatusOr<int64_t>(std::string_view)>& list);

inline constexpr int64_t kMaxPorts = 65535;

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_OP_MAP_H_
