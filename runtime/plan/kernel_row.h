// SPDX-License-Identifier: Apache-2.0
// A row of a backend's table of kernels: what the selection checks before it asks a kernel about a node, and what a
// Target knows without asking one.
#ifndef HALFTONE_RUNTIME_PLAN_KERNEL_ROW_H_
#define HALFTONE_RUNTIME_PLAN_KERNEL_ROW_H_

#include <string_view>

#include "ir/types.h"
#include "runtime/plan/enum_set.h"
#include "runtime/plan/quantized_node.h"

namespace halftone {

class Kernel;

using TypeSet = EnumSet<DataType, kNumDataTypes>;
using NodeValuesSet = EnumSet<NodeValues, kNumNodeValues>;

// What can be fused into a node whose kernel this is. Kernel::SupportsFused knows the details.
struct FusableParts {
  bool bias = false;
  bool residual = false;
  bool activation = false;
  bool scale = false;

  constexpr bool any() const { return bias || residual || activation || scale; }
};

struct KernelFacts {
  std::string_view name;  // "int8_matmul"
  std::string_view file;  // below the backend's folder: "onednn/int8_matmul.cc"
  TypeSet types;          // of input 0
  NodeValuesSet values;   // of the nodes it is asked about
  std::string_view when;  // why it exists, or when it is chosen, for people
  // At most one row of an op has them: its kernel is asked about fused parts.
  FusableParts fuses = {};
  bool bf16_math = false;       // operands of f32 may be rounded to bf16 ("math_mode"; Signature::bf16_math)
  bool f32_parameters = false;  // other inputs stay f32, whatever the type of input 0
};

struct KernelRow {
  const Kernel* kernel = nullptr;
  const KernelFacts* facts = nullptr;
  std::string_view missing;  // what this CPU lacks for the kernel: "needs VNNI"; empty: nothing
};

// Why the kernel is not asked about a node of such values whose input 0 has this type; empty: it is asked.
inline std::string_view WhyNotAsked(const KernelRow& row, NodeValues values, DataType type) {
  if (!row.facts->values.Has(values))
    return values == NodeValues::kQuantized ? "it does not read scales" : "its values are not quantized";
  if (!row.missing.empty()) return row.missing;
  return row.facts->types.Has(type) ? "" : "it is for other types";
}

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_KERNEL_ROW_H_
