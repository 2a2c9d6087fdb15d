// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/profile_alone.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "base/status.h"
#include "runtime/measure/statistics.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// The blocks of a step at other addresses; those that shared one do so again, constants stay where they are.
class OwnMemory {
 public:
  static absl::StatusOr<OwnMemory> For(const BoundStep& step) {
    OwnMemory own;
    size_t bytes = 0;
    std::map<std::byte*, std::pair<size_t, size_t>> places;  // by address: offset, size
    const auto place = [&](const std::vector<BoundStep::Memory>& blocks) {
      for (const BoundStep::Memory& block : blocks) {
        if (block.address == nullptr || block.constant ||
            !places.emplace(block.address, std::pair(bytes, block.bytes)).second)
          continue;
        bytes += (block.bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
      }
    };
    place(step.inputs);
    place(step.outputs);
    HALFTONE_ASSIGN_OR_RETURN(own.pages_, Pages::Allocate(bytes + step.scratch_bytes));
    const auto address_of = [&](const BoundStep::Memory& block) {
      const auto it = places.find(block.address);
      return it == places.end() || block.constant ? block.address : own.pages_.data() + it->second.first;
    };
    for (const BoundStep::Memory& block : step.inputs) {
      own.inputs_.push_back(address_of(block));
      if (own.inputs_.back() != block.address) own.copies_.push_back({own.inputs_.back(), block.address, block.bytes});
    }
    for (const BoundStep::Memory& block : step.outputs) {
      own.outputs_.push_back(address_of(block));
      const auto is_input = [&](const BoundStep::Memory& input) { return input.address == block.address; };
      own.overwrites_ = own.overwrites_ ||
                        (block.address != nullptr && std::any_of(step.inputs.begin(), step.inputs.end(), is_input));
    }
    own.scratch_ = own.pages_.data() + bytes;
    return own;
  }

  void Bind(Step& step) const { step.Bind(inputs_, outputs_, scratch_); }
  void FillInputs() const {
    for (const Copy& copy : copies_) std::memcpy(copy.to, copy.from, copy.bytes);
  }
  // Whether a run changes its own inputs.
  bool overwrites() const { return overwrites_; }

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    size_t bytes;
  };
  Pages pages_;
  std::vector<std::byte*> inputs_, outputs_;
  std::vector<Copy> copies_;
  std::byte* scratch_ = nullptr;
  bool overwrites_ = false;
};

void BindAsItWas(const BoundStep& step) {
  std::vector<std::byte*> inputs, outputs;
  for (const BoundStep::Memory& block : step.inputs) inputs.push_back(block.address);
  for (const BoundStep::Memory& block : step.outputs) outputs.push_back(block.address);
  step.step->Bind(inputs, outputs, step.scratch);
}

absl::StatusOr<double> RunOnce(Step& step) {
  const Clock::time_point start = Clock::now();
  HALFTONE_RETURN_IF_ERROR(step.Run());
  return MicrosecondsSince(start);
}

absl::StatusOr<AloneTimes> Time(const OwnMemory& own, Step& step, const OtherMemory& others,
                                const ProfileOptions& options) {
  AloneTimes times;
  own.FillInputs();
  own.Bind(step);
  constexpr int kWarmUp = 2;
  const Clock::time_point begin = Clock::now();
  for (int run = -kWarmUp; run < options.alone_min_runs || MicrosecondsSince(begin) < options.alone_seconds * 1e6;
       ++run) {
    if (own.overwrites()) own.FillInputs();
    HALFTONE_ASSIGN_OR_RETURN(const double us, RunOnce(step));
    if (run == 0 || (run > 0 && us < times.warm_us)) times.warm_us = us;
  }
  std::vector<double> cold;
  for (int run = 0; run < options.cold_runs; ++run) {
    others.Read();
    own.FillInputs();
    HALFTONE_ASSIGN_OR_RETURN(const double us, RunOnce(step));
    cold.push_back(us);
  }
  if (!cold.empty()) times.cold_us = Median(cold);
  return times;
}

}  // namespace

absl::StatusOr<OtherMemory> OtherMemory::Allocate(size_t bytes) {
  constexpr size_t kMost = size_t{96} << 20;
  OtherMemory memory;
  HALFTONE_ASSIGN_OR_RETURN(memory.pages_, Pages::Allocate(std::min(bytes, kMost)));
  std::memset(memory.pages_.data(), 1, memory.pages_.size());  // else all pages are the same one of zeros
  return memory;
}

void OtherMemory::Read() const {
  constexpr size_t kLine = 64;
  const volatile std::byte* const bytes = pages_.data();
  for (size_t i = 0; i < pages_.size(); i += kLine) (void)bytes[i];
}

absl::StatusOr<AloneTimes> TimeAlone(const BoundStep& bound, const OtherMemory& others, const ProfileOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(const OwnMemory own, OwnMemory::For(bound));
  const absl::StatusOr<AloneTimes> times = Time(own, *bound.step, others, options);
  BindAsItWas(bound);
  return times;
}

}  // namespace halftone
