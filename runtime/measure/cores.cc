// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/cores.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone {
namespace {

constexpr char kSystem[] = "/sys/devices/system";

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

bool SetAffinity(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

int PlaceAmongSiblings(int core) {
  const std::vector<int> siblings =
      ParseCoreList(FirstLine(Concat(kSystem, "/cpu/cpu", core, "/topology/thread_siblings_list")));
  const auto place = std::find(siblings.begin(), siblings.end(), core);
  return place == siblings.end() ? 0 : static_cast<int>(place - siblings.begin());
}

std::map<int, int> NodesOfCores() {
  std::map<int, int> nodes;
  for (int node = 0;; ++node) {
    const std::string list = Concat(kSystem, "/node/node", node, "/cpulist");
    if (!std::filesystem::exists(list)) return nodes;
    for (const int core : ParseCoreList(FirstLine(list))) nodes[core] = node;
  }
}

}  // namespace

std::vector<int> ParseCoreList(const std::string& text) {
  std::vector<int> cores;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    if (!absl::SimpleAtoi(ends.second, &last)) last = first;
    for (int core = first; core <= last && core < CPU_SETSIZE; ++core) cores.push_back(core);
  }
  return cores;
}

std::vector<Core> AllowedCores() {
  const std::map<int, int> nodes = NodesOfCores();
  std::vector<Core> cores;
  for (const int number : Affinity()) {
    const auto node = nodes.find(number);
    cores.push_back({number, node == nodes.end() ? 0 : node->second, PlaceAmongSiblings(number)});
  }
  return cores;
}

absl::StatusOr<std::vector<int>> ChooseCores(const std::vector<Core>& allowed, int count,
                                             const std::vector<int>& wanted) {
  const auto may_use = [&](int number) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const Core& core) { return core.number == number; });
  };
  for (const int number : wanted) {
    if (!may_use(number)) return absl::InvalidArgumentError(Concat("core ", number, " may not be used here"));
  }
  const int available = static_cast<int>(wanted.empty() ? allowed.size() : wanted.size());
  if (available < count) {
    return absl::InvalidArgumentError(
        Concat(count, " threads need as many cores; ", available, wanted.empty() ? " may be used" : " were named"));
  }
  if (!wanted.empty()) return std::vector<int>(wanted.begin(), wanted.begin() + count);
  // First hardware threads before second ones; within these, the node that has most of them first.
  std::map<std::pair<int, int>, int> of_node;  // by sibling and node
  for (const Core& core : allowed) ++of_node[{core.sibling, core.node}];
  std::vector<Core> order = allowed;
  std::stable_sort(order.begin(), order.end(), [&](const Core& a, const Core& b) {
    if (a.sibling != b.sibling) return a.sibling < b.sibling;
    const int of_a = of_node[{a.sibling, a.node}], of_b = of_node[{b.sibling, b.node}];
    if (of_a != of_b) return of_a > of_b;
    return a.node != b.node ? a.node < b.node : a.number < b.number;
  });
  std::vector<int> chosen;
  for (int i = 0; i < count; ++i) chosen.push_back(order[i].number);
  return chosen;
}

Pinning::Pinning(const std::vector<int>& cores) {
  if (cores.empty()) return;
  std::vector<int> had = Affinity();
  if (SetAffinity(cores)) had_ = std::move(had);
}

Pinning::~Pinning() {
  if (!had_.empty()) SetAffinity(had_);
}

ThreadsNow LookAtThreads(const std::vector<int>& cores) {
  ThreadsNow now;
  now.on_cores = true;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    ++now.count;
    std::ifstream file(thread.path() / "status");
    for (std::string line; std::getline(file, line);) {
      absl::string_view list = line;
      if (!absl::ConsumePrefix(&list, "Cpus_allowed_list:")) continue;
      for (const int core : ParseCoreList(std::string(absl::StripAsciiWhitespace(list)))) {
        if (std::find(cores.begin(), cores.end(), core) == cores.end()) now.on_cores = false;
      }
    }
  }
  return now;
}

}  // namespace halftone
