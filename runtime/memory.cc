#include "runtime/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <utility>

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

MemoryLayout PlaceInArena(std::span<const MemoryRequest> requests) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });

  MemoryLayout layout;
  layout.offsets.resize(requests.size());
  std::vector<size_t> placed;  // ordered by offset
  for (const size_t index : order) {
    const MemoryRequest& request = requests[index];
    const size_t bytes = AlignUp(std::max<size_t>(request.bytes, 1), kMemoryAlignment);
    size_t offset = 0;
    for (const size_t other : placed) {
      const MemoryRequest& neighbour = requests[other];
      if (neighbour.last < request.first || request.last < neighbour.first) continue;
      if (layout.offsets[other] >= offset + bytes) break;  // it fits before this one, and all that follow lie higher
      offset =
          std::max(offset, layout.offsets[other] + AlignUp(std::max<size_t>(neighbour.bytes, 1), kMemoryAlignment));
    }
    layout.offsets[index] = offset;
    layout.total = std::max(layout.total, offset + bytes);
    const auto position = std::upper_bound(placed.begin(), placed.end(), offset,
                                           [&](size_t value, size_t other) { return value < layout.offsets[other]; });
    placed.insert(position, index);
  }
  return layout;
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
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  return *this;
}

Pages::~Pages() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  } else {
    std::free(data_);
  }
}

}  // namespace halftone
