// SPDX-License-Identifier: Apache-2.0
// The table of kernels (kernels.cc) as a type. Private to runtime/cpu; docs/reference/kernels.md is printed from it.
#ifndef HALFTONE_RUNTIME_CPU_KERNEL_TABLE_H_
#define HALFTONE_RUNTIME_CPU_KERNEL_TABLE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/ops.h"
#include "runtime/plan/enum_set.h"
#include "runtime/plan/kernel.h"

namespace halftone {

using OpSet = EnumSet<OpKind, kNumOps>;

// Instructions without which a kernel is not asked. VNNI is what oneDNN uses (ONEDNN_MAX_CPU_ISA lowers it), the others
// are what the CPU has.
enum class KernelIsa {
  kAny,
  kAvx2,
  kAvx2WithoutVnni,  // where oneDNN's int8 sums of 16 bits may saturate
  kVnni,
  kAvx512,
  kAvx512Vnni,
  kAvx512Bf16,
};

// What keeps a kernel from running on this CPU: "needs VNNI"; empty: nothing.
std::string_view MissingOnThisCpu(KernelIsa isa);

// One kernel for some ops. The rows of an op, from top to bottom, are the order in which kernels are asked.
struct CpuKernel {
  OpSet ops;
  std::unique_ptr<Kernel> (*make)() = nullptr;
  KernelIsa isa = KernelIsa::kAny;
  KernelFacts facts;
};
std::span<const CpuKernel> CpuKernels();

// The row of the reference functions, which is the last one of every op that has one.
const CpuKernel& ReferenceRow();

// Ops that have no row, and why: they run by their reference function alone, or not at all.
struct OpsWithoutKernel {
  OpSet ops;
  std::string_view why;
};
std::span<const OpsWithoutKernel> UnlistedOps();

// The table as a Markdown page.
std::string KernelsPage();

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_KERNEL_TABLE_H_
