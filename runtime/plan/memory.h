// SPDX-License-Identifier: Apache-2.0
// Memory for intermediate values: one arena in which pieces that are never alive at the same time share bytes.
#ifndef HALFTONE_RUNTIME_PLAN_MEMORY_H_
#define HALFTONE_RUNTIME_PLAN_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone {

// Bytes that this process may use: what the machine has, or less where the control group or a limit of the process says
// so. Read once.
size_t MemoryLimit();

// A piece that is alive from step `first` to step `last`, both included.
struct MemoryRequest {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryLayout {
  std::vector<size_t> offsets;  // one per request, each a multiple of kMemoryAlignment
  size_t total = 0;
};
inline constexpr size_t kMemoryAlignment = 64;  // a cache line, and the widest vector

// Pieces that are alive at the same time lie apart. Deterministic; of n log n work, and more only where many pieces are
// alive at the same time and the arena may become smaller for it. REQUIRES: first <= last
MemoryLayout PlaceInArena(std::span<const MemoryRequest> requests);

// Zero-filled memory; big pieces lie in huge pages where the kernel gives them. Thread-compatible.
class Pages {
 public:
  // RESOURCE_EXHAUSTED if the system has no such memory.
  static absl::StatusOr<Pages> Allocate(size_t bytes);
  // For what lives as long as its plan, above all packed weights: small pieces lie side by side in huge pages.
  static absl::StatusOr<Pages> AllocateLasting(size_t bytes);

  Pages() = default;
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  void* mapping_ = nullptr;  // null: data_ is of a slab or of aligned_alloc
  size_t mapping_bytes_ = 0;
  std::shared_ptr<const void> slab_;  // a larger piece that small ones share
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_MEMORY_H_
