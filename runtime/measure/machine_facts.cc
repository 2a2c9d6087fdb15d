// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/machine_facts.h"

#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

constexpr char kCpus[] = "/sys/devices/system/cpu";

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

// "key : value" lines of the first block of a file.
std::map<std::string, std::string> Fields(const std::string& path) {
  std::map<std::string, std::string> fields;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits(':', 1));
    fields[std::string(absl::StripAsciiWhitespace(field.first))] =
        std::string(absl::StripAsciiWhitespace(field.second));
  }
  return fields;
}

bool HasFlag(const std::string& flags, const std::string& flag) {
  return absl::StrContains(Concat(" ", flags, " "), Concat(" ", flag, " "));
}

// "[madvise]" of "always [madvise] never".
std::string Chosen(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? line : line.substr(open + 1, close - open - 1);
}

std::string Turbo() {
  const std::string no_turbo = FirstLine(Concat(kCpus, "/intel_pstate/no_turbo"));
  if (!no_turbo.empty()) return no_turbo == "0" ? "on" : "off";
  const std::string boost = FirstLine(Concat(kCpus, "/cpufreq/boost"));
  return boost.empty() ? "" : boost == "1" ? "on" : "off";
}

std::string Amx(const std::string& flags) {
  if (!HasFlag(flags, "amx_tile")) return "none";
  constexpr int kGetPermission = 0x1022;  // ARCH_GET_XCOMP_PERM
  constexpr uint64_t kTileData = uint64_t{1} << 18;
  uint64_t allowed = 0;
  return syscall(SYS_arch_prctl, kGetPermission, &allowed) == 0 && (allowed & kTileData) != 0 ? "allowed"
                                                                                              : "not asked for";
}

std::string InCores(double quota, double period) {
  return quota > 0 && period > 0 ? absl::StrFormat("%.2f", quota / period) : "none";
}

// Version 2 says "max 100000" or "50000 100000", version 1 has a file for each number. The group's own, not its
// parents'.
std::string CpuQuota() {
  const std::string group = CpuControlGroup();
  double quota = 0, period = 0;
  std::ifstream file(group + "/cpu.max");
  if (std::string text; file >> text >> period) {
    return absl::SimpleAtod(text, &quota) ? InCores(quota, period) : "none";
  }
  const bool known = absl::SimpleAtod(FirstLine(group + "/cpu.cfs_quota_us"), &quota) &&
                     absl::SimpleAtod(FirstLine(group + "/cpu.cfs_period_us"), &period);
  return known ? InCores(quota, period) : "none";
}

// The first object that the loader tells of is the program itself.
int FindBuildId(dl_phdr_info* info, size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* name = at + sizeof(*note);
      const char* text = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        *static_cast<std::string*>(result) = absl::BytesToHexString(absl::string_view(text, note->n_descsz));
        return 1;
      }
      at = text + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return 1;
}

void AddTopology(MachineFacts& facts) {
  std::set<std::string> packages;
  size_t siblings = 1;
  for (const int core : ParseCoreList(FirstLine(Concat(kCpus, "/online")))) {
    const std::string topology = Concat(kCpus, "/cpu", core, "/topology/");
    packages.insert(FirstLine(topology + "physical_package_id"));
    siblings = std::max(siblings, ParseCoreList(FirstLine(topology + "thread_siblings_list")).size());
  }
  facts.sockets = static_cast<int>(packages.size());
  facts.threads_per_core = static_cast<int>(siblings);
  facts.numa_nodes = static_cast<int>(ParseCoreList(FirstLine("/sys/devices/system/node/online")).size());
}

}  // namespace

std::string CpuControlGroup() {
  std::ifstream groups("/proc/self/cgroup");
  std::string of_version_1;
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));  // number:controllers:path
    if (parts.size() != 3) continue;
    if (parts[1].empty()) {
      const std::string folder = "/sys/fs/cgroup" + parts[2];
      if (std::filesystem::exists(folder + "/cpu.stat")) return folder;
    } else if (absl::StrContains(Concat(",", parts[1], ","), ",cpu,")) {
      of_version_1 = Concat("/sys/fs/cgroup/", parts[1], parts[2]);
    }
  }
  return of_version_1;
}

MachineFacts DescribeMachine() {
  MachineFacts facts;
  std::map<std::string, std::string> cpu = Fields("/proc/cpuinfo");
  const std::string& flags = cpu["flags"];
  facts.cpu_id = Concat(cpu["vendor_id"], " ", cpu["cpu family"], "/", cpu["model"], "/", cpu["stepping"]);
  facts.microcode = cpu["microcode"];
  facts.hypervisor = "none";
  if (HasFlag(flags, "hypervisor")) {
    facts.hypervisor =
        std::string(absl::StripAsciiWhitespace(Concat("yes ", FirstLine("/sys/devices/virtual/dmi/id/sys_vendor"), " ",
                                                      FirstLine("/sys/devices/virtual/dmi/id/product_name"))));
  }
  AddTopology(facts);
  facts.governor = FirstLine(Concat(kCpus, "/cpu0/cpufreq/scaling_governor"));
  facts.turbo = Turbo();
  facts.huge_pages = Chosen(FirstLine("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.amx = Amx(flags);
  facts.cpu_quota = CpuQuota();
  facts.cpuset = Fields("/proc/self/status")["Cpus_allowed_list"];
#ifdef __clang__
  facts.compiler = "clang " __clang_version__;
#else
  facts.compiler = "gcc " __VERSION__;
#endif
  dl_iterate_phdr(FindBuildId, &facts.build_id);
  return facts;
}

}  // namespace halftone
