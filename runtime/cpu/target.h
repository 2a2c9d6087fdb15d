// SPDX-License-Identifier: Apache-2.0
// The CPU backend as a Target: which fusions and types have a kernel. And which CPU this is.
#ifndef HALFTONE_RUNTIME_CPU_TARGET_H_
#define HALFTONE_RUNTIME_CPU_TARGET_H_

#include <memory>
#include <string>

#include "ir/target.h"

namespace halftone {

// For ops without weights, Signature::weights repeats src. What it says holds for this CPU.
std::unique_ptr<Target> MakeCpuTarget();

// The machine as a result of a measurement must name it.
struct EnvironmentInfo {
  std::string cpu_model;       // /proc/cpuinfo's "model name"
  std::string isa;             // the instruction set that oneDNN uses: "avx512_core_bf16"
  int vector_bits = 0;         // of that set; 0: not known
  bool native_int8 = false;    // CurrentIsa().native_int8 (onednn/isa.h)
  bool native_bf16 = false;    // that set multiplies bf16; else bf16 is emulated
  bool tiles = false;          // CurrentIsa().tiles; such a set rounds f32 on the way into them
  std::string onednn_version;  // "3.7.2"
  std::string onednn_commit;   // as its build says it
  int cores = 0;               // that this process may use
};
EnvironmentInfo DescribeCpu();

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_TARGET_H_
