// SPDX-License-Identifier: Apache-2.0
// How often each name is taken: a set of hashes with counts, small beside the names themselves.
#ifndef HALFTONE_IR_NAME_COUNTS_H_
#define HALFTONE_IR_NAME_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace halftone {

// Looks names up by hash: one in 2^48 unused names may be reported as taken; a taken name is never reported as unused.
// The empty name is no name. Value type.
class NameCounts {
 public:
  bool has(std::string_view name) const {
    if (name.empty() || slots_.empty()) return false;
    return (slots_[Find(slots_, KeyOf(name))] & kCountMask) > 0;
  }

  void Add(std::string_view name) {
    if (name.empty()) return;
    if ((used_ + 1) * 3 > slots_.size() * 2) Grow();
    const uint64_t key = KeyOf(name);
    uint64_t& slot = slots_[Find(slots_, key)];
    if (slot == 0) {
      slot = key;
      ++used_;
    }
    if ((slot & kCountMask) < kCountMask) ++slot;  // so many that they are not counted any more: taken for ever
  }

  void Remove(std::string_view name) {
    if (name.empty() || slots_.empty()) return;
    uint64_t& slot = slots_[Find(slots_, KeyOf(name))];
    const uint64_t count = slot & kCountMask;
    if (count > 0 && count < kCountMask) --slot;  // the slot stays: later slots of its probe sequence may be taken
  }

 private:
  static constexpr uint64_t kCountMask = 0xffff;

  static uint64_t KeyOf(std::string_view name) {
    const uint64_t key = static_cast<uint64_t>(std::hash<std::string_view>()(name)) & ~kCountMask;
    return key == 0 ? kCountMask + 1 : key;  // 0 is a free slot
  }

  // The slot of this key, or the free one that it would get. REQUIRES: a slot is free; the number of slots is 2^n
  static size_t Find(const std::vector<uint64_t>& slots, uint64_t key) {
    const size_t mask = slots.size() - 1;
    size_t i = static_cast<size_t>(key >> 16) & mask;
    while (slots[i] != 0 && (slots[i] & ~kCountMask) != key) i = (i + 1) & mask;
    return i;
  }

  void Grow() {
    size_t live = 0;
    for (const uint64_t slot : slots_) live += (slot & kCountMask) > 0 ? 1 : 0;
    size_t size = 16;
    while (size < 2 * (live + 1)) size *= 2;
    std::vector<uint64_t> grown(size, 0);
    for (const uint64_t slot : slots_) {
      if ((slot & kCountMask) > 0) grown[Find(grown, slot & ~kCountMask)] = slot;
    }
    slots_ = std::move(grown);
    used_ = live;
  }

  std::vector<uint64_t> slots_;  // the upper 48 bits: of the name's hash; the lower 16: how many have it
  size_t used_ = 0;              // slots that are not free, those of count 0 included
};

}  // namespace halftone

#endif  // HALFTONE_IR_NAME_COUNTS_H_
