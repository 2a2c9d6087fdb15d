// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/forced_layouts.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/cpu/backend.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/plan/backend_wrapper.h"

namespace halftone {
namespace {

using onednn::Desc;
using onednn::Dims;
using Tag = dnnl::memory::format_tag;

// Strides of a dense tensor whose dimensions lie in this order, the innermost last.
Dims StridesInOrder(const Dims& dims, const std::vector<int>& order) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return strides;
}

Desc Blocked(const Dims& dims, dnnl::memory::data_type type, int64_t block) {
  constexpr Tag kBlocks16[] = {Tag::aBc16b, Tag::aBcd16b, Tag::aBcde16b};
  constexpr Tag kBlocks8[] = {Tag::aBc8b, Tag::aBcd8b, Tag::aBcde8b};
  if (dims.size() < 3 || dims.size() > 5) return Desc();
  return Desc(dims, type, (block == 16 ? kBlocks16 : kBlocks8)[dims.size() - 3], /*allow_empty=*/true);
}

// The blocked layout of the tensor with its dimensions in this order, seen in the order of the value.
Desc BlockedInOrder(const Dims& dims, dnnl::memory::data_type type, const std::vector<int>& order) {
  const Desc desc = Blocked(onednn::Reordered(dims, order), type, 16);
  if (onednn::IsEmpty(desc)) return desc;
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int>(i);
  return onednn::Reordered(desc, back);
}

// The empty descriptor where there is no such layout.
Desc DescIn(ForcedLayout layout, const Dims& dims, dnnl::memory::data_type type) {
  const int rank = static_cast<int>(dims.size());
  if (rank < 2 || rank > DNNL_MAX_NDIMS || std::find(dims.begin(), dims.end(), 0) != dims.end()) return Desc();
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  switch (layout) {
    case ForcedLayout::kReversed:
      std::reverse(order.begin(), order.end());
      break;
    case ForcedLayout::kSecondInside:
      std::rotate(order.begin() + 1, order.begin() + 2, order.end());
      break;
    case ForcedLayout::kLastOutside:
      std::rotate(order.begin() + 1, order.end() - 1, order.end());
      break;
    case ForcedLayout::kFirstSwapped:
      std::swap(order[0], order[1]);
      break;
    case ForcedLayout::kLastSwapped:
      std::swap(order[rank - 2], order[rank - 1]);
      break;
    case ForcedLayout::kBlocked16:
      return Blocked(dims, type, 16);
    case ForcedLayout::kBlocked8:
      return Blocked(dims, type, 8);
    case ForcedLayout::kLastBlocked16:
      return BlockedInOrder(dims, type, onednn::ChannelsFirstOrder(rank, /*channels_last=*/true));
    case ForcedLayout::kSwappedBlocks:
      std::swap(order[0], order[1]);
      return BlockedInOrder(dims, type, order);
  }
  return Desc(dims, type, StridesInOrder(dims, order), /*allow_empty=*/true);
}

class LayoutKernel final : public Kernel {
 public:
  explicit LayoutKernel(ForcedLayout layout) : layout_(layout) {}
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.OutputType();
    const auto dnnl_type = onednn::DnnlType(type);
    if (!dnnl_type.has_value()) return absl::UnimplementedError("oneDNN has no such type");
    const Dims dims = context.InputDims(0);
    const Desc desc = DescIn(layout_, dims, *dnnl_type);
    if (onednn::IsEmpty(desc)) return absl::UnimplementedError("no such layout");
    return onednn::MakeConversion(dims, context.InputPlacement(0), onednn::PlacementOf(desc, type));
  }

 private:
  const ForcedLayout layout_;
};

class ForcedLayoutBackend final : public BackendWrapper {
 public:
  explicit ForcedLayoutBackend(ForcedLayout layout) : BackendWrapper(CpuBackend()), kernel_(layout) {
    const std::span<const KernelRow> usual = inside().Kernels(OpKind::kIdentity);
    const auto view = std::ranges::find(usual, "view", [](const KernelRow& row) { return row.facts->name; });
    identity_.push_back({&kernel_, view->facts, ""});  // asked about the same nodes as a view
    identity_.insert(identity_.end(), usual.begin(), usual.end());
  }
  std::span<const KernelRow> Kernels(OpKind op) const override {
    return op == OpKind::kIdentity ? identity_ : inside().Kernels(op);
  }

 private:
  const LayoutKernel kernel_;
  std::vector<KernelRow> identity_;
};

}  // namespace

std::string_view ForcedLayoutName(ForcedLayout layout) {
  switch (layout) {
    case ForcedLayout::kReversed:
      return "reversed";
    case ForcedLayout::kSecondInside:
      return "second dimension inside";
    case ForcedLayout::kLastOutside:
      return "last dimension outside";
    case ForcedLayout::kFirstSwapped:
      return "first two dimensions swapped";
    case ForcedLayout::kLastSwapped:
      return "last two dimensions swapped";
    case ForcedLayout::kBlocked16:
      return "blocks of 16";
    case ForcedLayout::kBlocked8:
      return "blocks of 8";
    case ForcedLayout::kLastBlocked16:
      return "last dimension in blocks of 16";
    case ForcedLayout::kSwappedBlocks:
      return "blocks of 16, first two dimensions swapped";
  }
  return "";
}

std::unique_ptr<Backend> MakeForcedLayoutBackend(ForcedLayout layout) {
  return std::make_unique<ForcedLayoutBackend>(layout);
}

}  // namespace halftone
