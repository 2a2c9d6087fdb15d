// SPDX-License-Identifier: Apache-2.0
// For tests: a backend whose `identity` lays its result out in a way of our choice, whatever a primitive would have
// chosen. So every kernel can be shown inputs in every layout on every CPU.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_FORCED_LAYOUTS_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_FORCED_LAYOUTS_H_

#include <memory>
#include <string_view>

#include "runtime/plan/kernel.h"

namespace halftone {

// None has gaps between its elements: no kernel makes such a value (a slice is a copy), and oneDNN 3.7's direct copy
// takes a layout with gaps for a dense one.
enum class ForcedLayout {
  kReversed,       // the first dimension is the innermost: a transposed view
  kSecondInside,   // dimension 1 is the innermost: NCHW values with channels last
  kLastOutside,    // the last dimension comes after the first: NHWC values with channels first
  kFirstSwapped,   // the first two dimensions have changed places
  kLastSwapped,    // the last two dimensions have changed places
  kBlocked16,      // dimension 1 in blocks of 16, padded: aBcd16b
  kBlocked8,       // dimension 1 in blocks of 8
  kLastBlocked16,  // the last dimension in blocks of 16: NHWC values as aBcd16b
  kSwappedBlocks,  // kBlocked16 seen through a transpose of the first two dimensions
};
inline constexpr ForcedLayout kForcedLayouts[] = {
    ForcedLayout::kReversed,     ForcedLayout::kSecondInside,  ForcedLayout::kLastOutside,
    ForcedLayout::kFirstSwapped, ForcedLayout::kLastSwapped,   ForcedLayout::kBlocked16,
    ForcedLayout::kBlocked8,     ForcedLayout::kLastBlocked16, ForcedLayout::kSwappedBlocks};
std::string_view ForcedLayoutName(ForcedLayout layout);

// CpuBackend() but for identity. Where the layout cannot be (rank, type), identity is a view as ever.
std::unique_ptr<Backend> MakeForcedLayoutBackend(ForcedLayout layout);

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_FORCED_LAYOUTS_H_
