// SPDX-License-Identifier: Apache-2.0
// The types of ops in TensorFlow's registry: the type attribute of each port, and whether it may be bfloat16 or
// float16. Ports and types are written as in ir/source_graph.h.
//
// Sources: the registry of late 2020 (tests/precision compares every row with it), and ops that are not in the
// registry: those of optimizers, of Intel's extension, and our own names (tensorflow_ops/internal.inc). TensorFlow also
// checks whether its runtime has a kernel of the type. That is a property of the runtime: here the Target lists the
// kernels.
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

// The rows of the registry, in alphabetical order.
std::span<const TensorFlowOpRow> RegistryOpRows();
// A row of the registry or of internal.inc; nullptr: unknown op.
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

// A parsed row; its views point into the row's texts.
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
