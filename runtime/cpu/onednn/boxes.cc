// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/boxes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kPieceBytes = 1 << 17;  // worth a thread
constexpr int64_t kMostPieces = 64;

}  // namespace

Strided StridedInput(const Dims& dims, const Placement& there) {
  if (there.plain()) return {there, PlainStrides(dims)};
  const Desc desc = DescOf(dims, there);
  if (desc.get_inner_nblks() != 0 || desc.get_submemory_offset() != 0)
    return {Placement{there.type}, PlainStrides(dims)};
  return {there, desc.get_strides()};
}

Strided OutputLike(const Dims& in, const Strided& input, const Dims& out) {
  if (input.placement.plain()) return {Placement{input.placement.type}, PlainStrides(out)};
  const Desc desc = DenseLike(DescOf(in, input.placement), out);
  if (IsEmpty(desc)) return {Placement{input.placement.type}, PlainStrides(out)};
  return {PlacementOf(desc, input.placement.type), desc.get_strides()};
}

int64_t Dot(const Dims& a, const Dims& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void BoxStep::Fill(std::vector<std::byte> element, size_t bytes) {
  fill_ = std::move(element);
  fill_bytes_ = bytes;
}

void BoxStep::Add(const Dims& dims, End from, End to, size_t element_bytes) {
  const int64_t unit = static_cast<int64_t>(element_bytes);
  int64_t bytes = unit;
  for (const int64_t dim : dims) bytes *= dim;
  if (bytes == 0) return;
  bytes_ += bytes;
  // Cut along the dimension that takes the longest steps in the output.
  size_t cut = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    if (dims[cut] == 1 || (dims[i] > 1 && std::abs(to.strides[i]) > std::abs(to.strides[cut]))) cut = i;
  }
  const int64_t size = dims.empty() ? 1 : dims[cut];
  const int64_t pieces = std::clamp<int64_t>(bytes / kPieceBytes, 1, std::min(size, kMostPieces));
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t begin = size * piece / pieces, end = size * (piece + 1) / pieces;
    Dims part = dims;
    if (!dims.empty()) part[cut] = end - begin;
    const int64_t from_begin = dims.empty() ? 0 : begin * from.strides[cut];
    const int64_t to_begin = dims.empty() ? 0 : begin * to.strides[cut];
    boxes_.push_back({StridedCopy(part, from.strides, to.strides, element_bytes), from.index, to.index,
                      (from.offset + from_begin) * unit, (to.offset + to_begin) * unit});
  }
}

void BoxStep::Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) {
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
}

absl::Status BoxStep::Run() {
  if (!fill_.empty()) {
    const bool zero = std::all_of(fill_.begin(), fill_.end(), [](std::byte b) { return b == std::byte{0}; });
    if (zero && fill_bytes_ > 0) {
      std::memset(outputs_[0], 0, fill_bytes_);
    } else {
      for (size_t at = 0; at < fill_bytes_; at += fill_.size()) {
        std::memcpy(outputs_[0] + at, fill_.data(), fill_.size());
      }
    }
  }
  const int64_t count = static_cast<int64_t>(boxes_.size());
  const int64_t average = count == 0 ? 1 : std::max<int64_t>(1, bytes_ / count);
  simd::ParallelFor(count, std::max<int64_t>(1, kPieceBytes / average), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Box& box = boxes_[i];
      if (outputs_[box.output] == nullptr) continue;  // nothing reads it
      box.copy.Run(inputs_[box.input] + box.from, outputs_[box.output] + box.to);
    }
  });
  return absl::OkStatus();
}

}  // namespace halftone::onednn
