// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/kernel_table.h"

#include "base/strings.h"
#include "ir/reference/reference.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/simd/cpu.h"

namespace halftone {
namespace {

// By KernelIsa.
struct IsaRow {
  KernelIsa isa;
  std::string_view name;
  std::string_view missing;
  bool (*has)();
};
constexpr IsaRow kIsas[] = {
    {KernelIsa::kAny, "any", "", [] { return true; }},
    {KernelIsa::kAvx2, "AVX2", "needs AVX2", simd::HasAvx2},
    {KernelIsa::kAvx2WithoutVnni, "AVX2, no VNNI", "for CPUs with AVX2 and without VNNI",
     [] { return simd::HasAvx2() && !HasNativeInt8(); }},
    {KernelIsa::kVnni, "VNNI", "needs VNNI", HasNativeInt8},
    {KernelIsa::kAvx512, "AVX-512", "needs AVX-512", simd::HasAvx512},
    {KernelIsa::kAvx512Vnni, "AVX-512 VNNI", "needs AVX-512 VNNI",
     [] { return simd::HasAvx512Vnni() && HasNativeInt8(); }},
    {KernelIsa::kAvx512Bf16, "AVX-512 BF16", "needs AVX-512 BF16", simd::HasAvx512Bf16},
};

const IsaRow& RowOf(KernelIsa isa) { return kIsas[static_cast<size_t>(isa)]; }

consteval bool IsInOrder() {
  for (size_t i = 0; i < std::size(kIsas); ++i) {
    if (kIsas[i].isa != static_cast<KernelIsa>(i)) return false;
  }
  return std::size(kIsas) == static_cast<size_t>(KernelIsa::kAvx512Bf16) + 1;
}
static_assert(IsInOrder(), "kIsas has one row for each KernelIsa, in their order");

std::string OpNames(const OpSet& ops) {
  std::string names;
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<OpKind>(i);
    if (ops.Has(op)) names += Concat(names.empty() ? "" : ", ", OpName(op));
  }
  return names;
}

std::string TypeNames(const TypeSet& types) {
  std::string names;
  int count = 0;
  for (int i = 1; i < kNumDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    if (!types.Has(type)) continue;
    names += Concat(names.empty() ? "" : ", ", DataTypeName(type));
    ++count;
  }
  constexpr int kAllSized = 15;  // without string, resource, variant
  return count == kNumDataTypes - 1 ? "all" : count == kAllSized ? "all numbers" : names;
}

std::string_view ValuesName(const NodeValuesSet& values) {
  if (!values.Has(NodeValues::kQuantized)) return "";
  return values.Has(NodeValues::kMoved) ? "quantized or moved" : "quantized";
}

std::string FusedNames(const FusableParts& parts) {
  std::string names;
  const auto add = [&names](bool has, std::string_view name) {
    if (has) names += Concat(names.empty() ? "" : ", ", name);
  };
  add(parts.bias, "bias");
  add(parts.residual, "residual");
  add(parts.activation, "activation");
  add(parts.scale, "scale");
  return names;
}

std::string PageRow(const CpuKernel& kernel) {
  const KernelFacts& facts = kernel.facts;
  return Concat("| `", facts.name, "` | ", OpNames(kernel.ops), " | ", TypeNames(facts.types), " | ",
                ValuesName(facts.values), " | ", RowOf(kernel.isa).name, " | ", FusedNames(facts.fuses), " | ",
                facts.when, " | `runtime/cpu/", facts.file, "` |\n");
}

constexpr std::string_view kHead =
    R"(# Kernels of the CPU backend

Printed from the table in `runtime/cpu/kernels.cc` by `bazel run //runtime/cpu:print_kernels` (in `./dev shell`); a test compares.

The rows of an op, from top to bottom, are the order in which kernels are asked; the first that accepts the node's shapes,
attributes and layouts runs it. What no row takes is computed in f32 (f16 and bf16), then by the op's reference function.

* **types**: element types of the node's first input.
* **values**: empty: values as their types say. `quantized`: nodes that compute with the real numbers for which int8 values
  stand. `quantized or moved`: also nodes that only move such values.
* **CPU**: the instructions without which the kernel is not asked.
* **fuses**: what can be fused into the op; the optimizer asks the row that has it (`Target::SupportsFused`).

| kernel | ops | types | values | CPU | fuses | why, or when | file |
| --- | --- | --- | --- | --- | --- | --- | --- |
)";

constexpr std::string_view kUnlistedHead = R"(
Ops without a row:

| ops | why |
| --- | --- |
)";

}  // namespace

std::string_view MissingOnThisCpu(KernelIsa isa) { return RowOf(isa).has() ? "" : RowOf(isa).missing; }

std::string KernelsPage() {
  std::string page(kHead);
  for (const CpuKernel& kernel : CpuKernels()) page += PageRow(kernel);
  page += kUnlistedHead;
  for (const OpsWithoutKernel& unlisted : UnlistedOps())
    page += Concat("| ", OpNames(unlisted.ops), " | ", unlisted.why, " |\n");
  return page;
}

}  // namespace halftone
