// SPDX-License-Identifier: Apache-2.0
// Where the channels of a value are: in its shape, and in the memory of a plan, whose layouts only the backend can
// read. Private to runtime/calibrate.
#ifndef HALFTONE_RUNTIME_CALIBRATE_VALUE_LAYOUT_H_
#define HALFTONE_RUNTIME_CALIBRATE_VALUE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "runtime/calibrate/tensor_statistics.h"
#include "runtime/plan/kernel.h"

namespace halftone {

// The dimension along which the channels of a value lie: as the node that makes it or one that reads it says by its
// layout; else the second one of images that ONNX has, and the last one of everything else. -1: rank < 2, or not known.
int ChannelAxisOf(const Graph& graph, ValueId value);

// A dense row-major value. `axis` -1: channels are not told.
ChannelLayout PlainLayout(std::span<const int64_t> dims, int axis);

// The packed layout of a value of f32, found by having the backend pack known numbers. nullopt: the memory has
// padding, or an order that ChannelLayout cannot say, or the first dimension is not the outermost one.
absl::StatusOr<std::optional<ChannelLayout>> PackedLayoutOf(std::span<const int64_t> dims, int axis,
                                                            const Placement& placement, const Backend& backend);

// Brings a value that lies in another way to plain f32, again and again. Not thread-safe.
class PlainCopy {
 public:
  static absl::StatusOr<std::unique_ptr<PlainCopy>> Make(std::vector<int64_t> dims, const Placement& from,
                                                         const Backend& backend);
  // Valid until the next call.
  absl::StatusOr<std::span<const float>> Read(std::byte* from);

 private:
  explicit PlainCopy(std::vector<int64_t> dims) : plain_(DataType::kFloat32, std::move(dims)) {}

  Tensor plain_;
  std::shared_ptr<Buffer> scratch_;
  std::unique_ptr<Step> step_;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CALIBRATE_VALUE_LAYOUT_H_
