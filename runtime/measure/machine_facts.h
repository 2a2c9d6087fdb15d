// SPDX-License-Identifier: Apache-2.0
// What of a machine decides how fast a model runs on it: the fingerprint of a measurement. (What oneDNN knows of the
// CPU is in runtime/cpu/target.h.)
#ifndef HALFTONE_RUNTIME_MEASURE_MACHINE_FACTS_H_
#define HALFTONE_RUNTIME_MEASURE_MACHINE_FACTS_H_

#include <string>

namespace halftone {

// Text is as the kernel says it; empty: it does not say.
struct MachineFacts {
  std::string cpu_id;      // "vendor family/model/stepping"
  std::string microcode;   // "0xb00211e"
  std::string hypervisor;  // "none", or "yes" with the name that the machine gives itself
  int sockets = 0;         // of all cores that are on
  int numa_nodes = 0;
  int threads_per_core = 0;
  std::string governor;    // of the first core: "performance"
  std::string turbo;       // "on", "off"
  std::string huge_pages;  // transparent ones: "always", "madvise", "never"
  std::string amx;         // "none", "allowed", "not asked for"
  std::string cpu_quota;   // of the control group: "none", or cores ("0.50")
  std::string cpuset;      // cores that this process may use: "0-3"
  std::string compiler;    // of this program
  std::string build_id;    // of this program, by the linker
};
MachineFacts DescribeMachine();

// The folder of the control group that limits this process's CPU time (version 2, else 1); empty: there is none.
std::string CpuControlGroup();

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_MACHINE_FACTS_H_
