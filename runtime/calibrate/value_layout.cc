// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/value_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "ir/shape.h"
#include "ir/window.h"

namespace halftone {
namespace {

bool HasLayout(OpKind op) {
  const std::span<const std::string_view> names = Info(op).attributes;
  return std::ranges::find(names, "layout") != names.end();
}

}  // namespace

int ChannelAxisOf(const Graph& graph, ValueId value) {
  const Shape& shape = graph.shape(value);
  if (!shape.has_rank() || shape.rank() < 2) return -1;
  const int rank = shape.rank();
  const auto axis_by = [&](NodeId node) { return ChannelAxis(graph.node(node).attributes, rank); };
  const NodeId producer = graph.producer(value);
  if (HasLayout(graph.op(producer))) return axis_by(producer);
  for (const Use& use : graph.uses(value)) {
    if (use.index == 0 && HasLayout(graph.op(use.node))) return axis_by(use.node);
  }
  return rank >= 4 && graph.layout() == GraphLayout::kChannelsFirst ? 1 : rank - 1;
}

ChannelLayout PlainLayout(std::span<const int64_t> dims, int axis) {
  if (axis < 0) return {};
  ChannelLayout layout{.channels = dims[axis]};
  for (size_t i = axis + 1; i < dims.size(); ++i) layout.inner *= dims[i];
  return layout;
}

absl::StatusOr<std::optional<ChannelLayout>> PackedLayoutOf(std::span<const int64_t> dims, int axis,
                                                            const Placement& placement, const Backend& backend) {
  constexpr int64_t kExact = int64_t{1} << 24;  // integers up to this are exact in f32
  const int64_t elements = CheckedProduct(dims).value_or(0);
  if (axis < 1 || elements == 0 || dims[0] * dims[axis] >= kExact) return std::nullopt;
  if (backend.Bytes(dims, placement) != static_cast<size_t>(elements) * sizeof(float)) return std::nullopt;

  // Each number says its image and its channel.
  const int64_t channels = dims[axis], per_image = elements / dims[0];
  const ChannelLayout plain = PlainLayout(dims, axis);
  Tensor numbers(DataType::kFloat32, {dims.begin(), dims.end()});
  for (int64_t i = 0; i < elements; ++i) {
    numbers.mutable_data<float>()[i] = static_cast<float>(i / per_image * channels + plain.ChannelOf(i));
  }
  HALFTONE_ASSIGN_OR_RETURN(const Prepared prepared, backend.Convert(dims, Placement{DataType::kFloat32}, placement));
  if (prepared.step == nullptr) return std::optional(plain);
  const std::shared_ptr<Buffer> packed = Buffer::Allocate(static_cast<size_t>(elements) * sizeof(float));
  const std::shared_ptr<Buffer> scratch = Buffer::Allocate(prepared.scratch_bytes);
  std::byte* const from[] = {numbers.mutable_raw()};
  std::byte* const to[] = {packed->mutable_data()};
  prepared.step->Bind(from, to, scratch->mutable_data());
  HALFTONE_RETURN_IF_ERROR(prepared.step->Run());

  const float* const found = reinterpret_cast<const float*>(packed->data());
  const int64_t others = per_image / channels;
  for (const int64_t block : {channels, int64_t{16}, int64_t{8}, int64_t{4}, int64_t{1}}) {
    if (channels % block != 0) continue;
    const ChannelLayout layout{channels, others, block};
    bool same = true;
    for (int64_t i = 0; i < elements && same; ++i) {
      same = found[i] == static_cast<float>(i / per_image * channels + layout.ChannelOf(i));
    }
    if (same) return std::optional(layout);
  }
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<PlainCopy>> PlainCopy::Make(std::vector<int64_t> dims, const Placement& from,
                                                           const Backend& backend) {
  HALFTONE_ASSIGN_OR_RETURN(Prepared prepared, backend.Convert(dims, from, Placement{DataType::kFloat32}));
  auto copy = std::unique_ptr<PlainCopy>(new PlainCopy(std::move(dims)));
  copy->scratch_ = Buffer::Allocate(prepared.scratch_bytes);
  copy->step_ = std::move(prepared.step);
  return copy;
}

absl::StatusOr<std::span<const float>> PlainCopy::Read(std::byte* from) {
  if (step_ == nullptr)
    return std::span(reinterpret_cast<const float*>(from), plain_.data<float>().size());  // plain already
  std::byte* const inputs[] = {from};
  std::byte* const outputs[] = {plain_.mutable_raw()};
  step_->Bind(inputs, outputs, scratch_->mutable_data());
  HALFTONE_RETURN_IF_ERROR(step_->Run());
  return std::as_const(plain_).data<float>();
}

}  // namespace halftone
