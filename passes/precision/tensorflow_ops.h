// What TensorFlow's registry says of ops' types: which port has which type attribute, and which of them may be bfloat16
// or float16. The language of ports and types is that of ir/source_graph.h.
//
// Facts: the registry of late 2020 (tests/precision compares every row with it), and ops that a registry does not
// list: those of optimizers, of Intel's extension, and names of our own (tensorflow_ops/internal.inc).
// TensorFlow also asks whether the program that runs has a kernel of the type; that is no fact of a graph, and what
// runs the plan asks its own kernels (Target).
#ifndef HALFTONE_PASSES_PRECISION_TENSORFLOW_OPS_H_
#define HALFTONE_PASSES_PRECISION_TENSORFLOW_OPS_H_

#include <span>
#include <string_view>
#include <vector>

#include "ir/types.h"

namespace halftone {

struct TensorFlowOpRow {
  std::string_view op;
  std::string_view inputs;
  std::string_view outputs;
  std::string_view types;
};

// The registry in alphabetical order; then the others.
std::span<const TensorFlowOpRow> RegistryOpRows();
std::span<const TensorFlowOpRow> InternalOpRows();
// nullptr: unknown op.
const TensorFlowOpRow* FindTensorFlowOp(std::string_view op);

// One item of a list of ports.
struct SignaturePort {
  std::string_view number;  // as many ports as this attribute says; "": one
  std::string_view type;    // a type attribute, or the name of a fixed type
  bool is_fixed = false;
  bool is_list = false;  // one port for each type of the attribute
};

struct SignatureType {
  std::string_view name;
  std::string_view otherwise;  // the default's name; "": none
  bool is_list = false;
  bool allows_bf16 = false;
  bool allows_f16 = false;
  bool Allows(DataType type) const { return type == DataType::kFloat16 ? allows_f16 : allows_bf16; }
};

// A row in pieces; views into the texts it was made of.
struct OpSignature {
  std::vector<SignaturePort> inputs, outputs;
  std::vector<SignatureType> types;

  OpSignature() = default;
  OpSignature(std::string_view inputs, std::string_view outputs, std::string_view types);
  explicit OpSignature(const TensorFlowOpRow& row) : OpSignature(row.inputs, row.outputs, row.types) {}
  const SignatureType* Find(std::string_view name) const;  // nullptr: it has none of this name
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_TENSORFLOW_OPS_H_
