// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace halftone {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t AlignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

size_t ReadMemoryLimit() {
  size_t limit = std::numeric_limits<size_t>::max();
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) limit = static_cast<size_t>(pages) * static_cast<size_t>(page_bytes);
  rlimit address_space;
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
    limit = std::min(limit, static_cast<size_t>(address_space.rlim_cur));
  std::ifstream group("/sys/fs/cgroup/memory.max");  // "max" where there is none, which is no number
  size_t group_limit = 0;
  if (group >> group_limit && group_limit > 0) limit = std::min(limit, group_limit);
  return limit;
}

}  // namespace

size_t MemoryLimit() {
  static const size_t limit = ReadMemoryLimit();
  return limit;
}

namespace {

size_t SizeOf(const MemoryRequest& request) { return AlignUp(std::max<size_t>(request.bytes, 1), kMemoryAlignment); }

// Pieces that were placed, found by the time in which they are alive. Ordered by their first step within classes of
// similar length, so that a look-up passes over few that are not alive then.
class PlacedPieces final {
 public:
  explicit PlacedPieces(std::span<const MemoryRequest> requests) : requests_(requests) {}

  void Add(size_t index) {
    const MemoryRequest& request = requests_[index];
    by_length_[ClassOf(request.last - request.first)].emplace(request.first, index);
  }

  // All that are alive at some time between these steps.
  void Find(int first, int last, std::vector<size_t>& found) const {
    found.clear();
    for (size_t k = 0; k < by_length_.size(); ++k) {
      const int64_t longest = int64_t{1} << k;  // last - first is below it
      for (auto it = by_length_[k].lower_bound(first - longest); it != by_length_[k].end() && it->first <= last; ++it) {
        if (requests_[it->second].last >= first) found.push_back(it->second);
      }
    }
  }

 private:
  static size_t ClassOf(int length) { return std::bit_width(static_cast<unsigned>(length)); }

  const std::span<const MemoryRequest> requests_;
  std::array<std::multimap<int64_t, size_t>, 33> by_length_;
};

// Largest first, by bytes or by bytes times steps, each at the lowest offset where no piece alive at the same time is
// in the way. Nothing where that would look at too many pairs.
std::optional<MemoryLayout> PlaceLargestFirst(std::span<const MemoryRequest> requests, bool times_steps) {
  constexpr size_t kMostPairs = 5'000'000;
  std::vector<double> largeness;
  for (const MemoryRequest& request : requests) {
    const double bytes = static_cast<double>(request.bytes);
    largeness.push_back(times_steps ? bytes * (request.last - request.first + 1.0) : bytes);
  }
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return largeness[a] > largeness[b]; });

  MemoryLayout layout;
  layout.offsets.resize(requests.size());
  PlacedPieces placed(requests);
  std::vector<size_t> neighbours;
  size_t pairs = 0;
  for (const size_t index : order) {
    const size_t bytes = SizeOf(requests[index]);
    placed.Find(requests[index].first, requests[index].last, neighbours);
    if ((pairs += neighbours.size()) > kMostPairs) return std::nullopt;
    std::sort(neighbours.begin(), neighbours.end(),
              [&](size_t a, size_t b) { return layout.offsets[a] < layout.offsets[b]; });
    size_t offset = 0;
    for (const size_t other : neighbours) {
      if (layout.offsets[other] >= offset + bytes) break;  // it fits before this one, and all that follow lie higher
      offset = std::max(offset, layout.offsets[other] + SizeOf(requests[other]));
    }
    layout.offsets[index] = offset;
    layout.total = std::max(layout.total, offset + bytes);
    placed.Add(index);
  }
  return layout;
}

// The bytes below `top` that hold no value at some time.
class Holes final {
 public:
  // The smallest hole of this size, the lowest of them; else on top.
  size_t Take(size_t bytes) {
    const auto it = by_size_.lower_bound({bytes, 0});
    if (it == by_size_.end()) {
      // A hole that ends at the top grows.
      const size_t start = !by_offset_.empty() && End(*by_offset_.rbegin()) == top_ ? by_offset_.rbegin()->first : top_;
      if (start != top_) Erase(std::prev(by_offset_.end()));
      top_ = start + bytes;
      return start;
    }
    const auto [size, offset] = *it;
    Erase(by_offset_.find(offset));
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void GiveBack(size_t offset, size_t bytes) {
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && offset + bytes == after->first) {
      bytes += after->second;
      after = Erase(after);
    }
    if (after != by_offset_.begin() && End(*std::prev(after)) == offset) {
      offset = std::prev(after)->first;
      bytes += std::prev(after)->second;
      Erase(std::prev(after));
    }
    Insert(offset, bytes);
  }

  size_t top() const { return top_; }

 private:
  using ByOffset = std::map<size_t, size_t>;

  static size_t End(const ByOffset::value_type& hole) { return hole.first + hole.second; }
  void Insert(size_t offset, size_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  ByOffset::iterator Erase(ByOffset::iterator hole) {
    by_size_.erase({hole->second, hole->first});
    return by_offset_.erase(hole);
  }

  ByOffset by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;  // bytes, offset
  size_t top_ = 0;
};

// In the order of time, as an allocator would.
MemoryLayout PlaceInOrder(std::span<const MemoryRequest> requests) {
  std::vector<size_t> starts(requests.size()), ends(requests.size());
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::iota(ends.begin(), ends.end(), size_t{0});
  std::stable_sort(starts.begin(), starts.end(),
                   [&](size_t a, size_t b) { return requests[a].first < requests[b].first; });
  std::stable_sort(ends.begin(), ends.end(), [&](size_t a, size_t b) { return requests[a].last < requests[b].last; });
  MemoryLayout layout;
  layout.offsets.resize(requests.size());
  Holes holes;
  size_t ended = 0;
  for (const size_t index : starts) {
    for (; requests[ends[ended]].last < requests[index].first; ++ended)
      holes.GiveBack(layout.offsets[ends[ended]], SizeOf(requests[ends[ended]]));
    layout.offsets[index] = holes.Take(SizeOf(requests[index]));
  }
  layout.total = holes.top();
  return layout;
}

}  // namespace

MemoryLayout PlaceInArena(std::span<const MemoryRequest> requests) {
  MemoryLayout best = PlaceInOrder(requests);
  for (const bool times_steps : {false, true}) {
    std::optional<MemoryLayout> layout = PlaceLargestFirst(requests, times_steps);
    if (layout.has_value() && layout->total <= best.total) best = *std::move(layout);
  }
  return best;
}

namespace {

// Small pieces lie side by side in huge pages: packed weights of a few hundred kB, read once a run, would else miss the
// TLB in every page (1 % of ResNet-50). A piece is never used again; the slab goes with its last one.
constexpr size_t kSlabBytes = 4 * kHugePage;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSmallestInSlab = kHugePage;  // none: each has red zones around it
#else
constexpr size_t kSmallestInSlab = 16384;
#endif

struct Slab {
  Pages pages;
  size_t used = 0;
};

}  // namespace

absl::StatusOr<Pages> Pages::AllocateLasting(size_t bytes) {
  if (bytes < kSmallestInSlab || bytes >= kHugePage) return Allocate(bytes);
  static std::mutex mutex;
  static std::shared_ptr<Slab>* const current = new std::shared_ptr<Slab>();
  const std::lock_guard<std::mutex> lock(mutex);
  const size_t rounded = AlignUp(bytes, kMemoryAlignment);
  if (*current == nullptr || (*current)->used + rounded > kSlabBytes) {
    absl::StatusOr<Pages> all = Allocate(kSlabBytes);
    if (!all.ok()) return all.status();
    *current = std::make_shared<Slab>(Slab{*std::move(all)});
  }
  Pages pages;
  pages.data_ = (*current)->pages.data() + (*current)->used;
  pages.size_ = bytes;
  pages.slab_ = *current;
  (*current)->used += rounded;
  return pages;
}

absl::StatusOr<Pages> Pages::Allocate(size_t bytes) {
  Pages pages;
  if (bytes == 0) return pages;
  if (bytes < kHugePage) {  // many small pieces must not take a mapping each
    const size_t rounded = AlignUp(bytes, kMemoryAlignment);
    pages.data_ = static_cast<std::byte*>(std::aligned_alloc(kMemoryAlignment, rounded));
    if (pages.data_ == nullptr) return absl::ResourceExhaustedError(Concat("no memory for ", bytes, " bytes"));
    std::memset(pages.data_, 0, rounded);
    pages.size_ = bytes;
    return pages;
  }
  // One huge page more than asked, so that the start can be aligned to one.
  const size_t wanted = AlignUp(bytes, kHugePage) + kHugePage;
  if (wanted < bytes) return absl::ResourceExhaustedError(Concat("no memory for ", bytes, " bytes"));
  void* mapping = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return absl::ResourceExhaustedError(Concat("no memory for ", bytes, " bytes"));
  pages.mapping_ = mapping;
  pages.mapping_bytes_ = wanted;
  pages.data_ = reinterpret_cast<std::byte*>(AlignUp(reinterpret_cast<uintptr_t>(mapping), kHugePage));
  pages.size_ = bytes;
  if (bytes >= kHugePage)
    madvise(pages.data_, AlignUp(bytes, kHugePage), MADV_HUGEPAGE);  // a wish; failure costs speed only
  return pages;
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      slab_(std::move(other.slab_)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(slab_, other.slab_);
  return *this;
}

Pages::~Pages() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  } else if (slab_ == nullptr) {
    std::free(data_);
  }
}

}  // namespace halftone
