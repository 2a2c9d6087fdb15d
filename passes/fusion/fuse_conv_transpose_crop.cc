// SPDX-License-Identifier: Apache-2.0
// slice(conv_transpose(x, w))  =>  conv_transpose(x, w) {pads + the crop}
//
// Legal when the slice has constant bounds and steps of 1, cuts only spatial dimensions and no more than the kernel
// covers, and the pads are explicit or follow from known sizes. Where an input gives the output shape (TensorFlow's
// operator), it must be constant; it is replaced by the cropped shape. TensorFlow's operator with three spatial
// dimensions has no explicit pads and is kept. Bit-exact: the remaining sums are the same.

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/strings.h"
#include "ir/strided_slice.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/transposed_conv.h"

namespace halftone {
namespace {

// Exporters write the largest s32 or s64 for "to the end".
constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();

struct Cut {
  int64_t begin = 0, end = 0;  // elements removed on either side
};

// What a slice removes from one dimension; nullopt if nothing is left, or if it depends on an unknown size.
std::optional<Cut> CutOf(const StridedSliceEntry& entry, const Dim& dim, int64_t begin, int64_t end) {
  if (dim.known()) {
    const absl::StatusOr<SliceRange> range = RangeOf(entry, dim.value, begin, end, /*stride=*/1);
    if (!range.ok() || range->size < 1) return std::nullopt;
    return Cut{range->begin, dim.value - range->begin - range->size};
  }
  Cut cut;
  if (!entry.begin_masked) cut.begin = begin;
  if (!entry.end_masked && end < 0) cut.end = end < -kToTheEnd ? kToTheEnd + 1 : -end;
  const bool open = entry.end_masked || end < 0 || end >= kToTheEnd;
  const bool sane = cut.begin >= 0 && cut.begin <= kToTheEnd && cut.end <= kToTheEnd;
  return open && sane ? std::optional(cut) : std::nullopt;
}

using FoundCuts = std::variant<std::vector<Cut>, std::string>;  // one per dimension, or the reason

// REQUIRES: g.op(slice) is slice or strided_slice
FoundCuts CutsOf(const Graph& g, NodeId slice, const Shape& whole) {
  const auto numbers = [&](int i) -> std::optional<std::vector<int64_t>> {
    return g.input(slice, i).valid() ? g.ConstantInts(g.input(slice, i)) : std::nullopt;
  };
  const bool masked = g.op(slice) == OpKind::kStridedSlice;
  const int steps_input = masked ? 3 : 4;
  const std::optional<std::vector<int64_t>> begins = numbers(1), ends = numbers(2), steps = numbers(steps_input);
  if (!begins.has_value() || !ends.has_value() || begins->size() != ends->size()) return "its bounds are not constant";
  const size_t count = begins->size();
  if (g.input(slice, steps_input).valid() && steps != std::vector<int64_t>(count, 1)) return "its steps are not 1";
  std::vector<Cut> cuts(whole.rank());
  if (masked) {
    const auto entries = StridedSliceEntries(g.node(slice).attributes, static_cast<int>(count), whole.rank());
    if (!entries.ok()) return std::string(entries.status().message());
    for (const StridedSliceEntry& entry : *entries) {
      if (entry.dim < 0 || entry.shrink) return "it adds or removes a dimension";
      if (entry.index < 0) continue;
      const auto cut = CutOf(entry, whole.dim(entry.dim), (*begins)[entry.index], (*ends)[entry.index]);
      if (!cut.has_value()) return Concat("what it leaves of dimension ", entry.dim, " is empty or unknown");
      cuts[entry.dim] = *cut;
    }
    return cuts;
  }
  std::vector<int64_t> axes(count);
  for (size_t i = 0; i < count; ++i) axes[i] = static_cast<int64_t>(i);
  if (g.input(slice, 3).valid()) {
    const auto named = numbers(3);
    if (!named.has_value() || named->size() != count) return "its axes are not constant";
    axes = *named;
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + whole.rank() : axes[i];
    if (axis < 0 || axis >= whole.rank()) return "its axes are out of range";
    const auto cut =
        CutOf({.dim = static_cast<int>(axis)}, whole.dim(static_cast<int>(axis)), (*begins)[i], (*ends)[i]);
    if (!cut.has_value()) return Concat("what it leaves of dimension ", axis, " is empty or unknown");
    cuts[axis] = *cut;
  }
  return cuts;
}

struct Cropped {
  std::vector<int64_t> pads;   // begins, then ends
  std::vector<int64_t> shape;  // of the whole result, where an input gives it; else empty
};

// The attributes of `conv` with the slice folded in, or the reason why this is not possible.
std::variant<Cropped, std::string> Crop(const Graph& g, NodeId conv, NodeId slice) {
  const Attributes& attributes = g.node(conv).attributes;
  const Shape& whole = g.shape(g.output(conv));
  const Shape& weights = g.shape(g.input(conv, kWeightsInput));
  if (!whole.has_rank() || whole.rank() < 3 || !weights.has_rank() || weights.rank() != whole.rank())
    return "its rank is not known";
  const FoundCuts found = CutsOf(g, slice, whole);
  if (const std::string* reason = std::get_if<std::string>(&found)) return *reason;
  const std::vector<Cut>& cuts = std::get<std::vector<Cut>>(found);
  const int spatial = whole.rank() - 2, first = attributes.String("layout", "NCHW") == "NCHW" ? 2 : 1;
  for (int i = 0; i < whole.rank(); ++i) {
    const bool is_spatial = i >= first && i < first + spatial;
    if (!is_spatial && (cuts[i].begin != 0 || cuts[i].end != 0)) return "it does not cut only spatial dimensions";
  }
  Cropped cropped;
  if (g.input(conv, kOutputShapeInput).valid()) {
    const auto sizes = g.ConstantInts(g.input(conv, kOutputShapeInput));
    if (!sizes.has_value() || static_cast<int>(sizes->size()) != whole.rank())
      return "the shape of the result is computed";
    cropped.shape = *sizes;
    for (int i = 0; i < whole.rank(); ++i) cropped.shape[i] -= cuts[i].begin + cuts[i].end;
  }
  if (!SaysTransposedPads(g, conv)) return "the operator has no explicit pads for this rank";
  cropped.pads = TransposedPads(g, conv);
  if (cropped.pads.empty()) return "its pads depend on unknown sizes";
  const std::vector<int64_t> dilations = attributes.Ints("dilations", std::vector<int64_t>(spatial, 1));
  const std::vector<int64_t> more = attributes.Ints("output_padding", std::vector<int64_t>(spatial, 0));
  if (static_cast<int>(dilations.size()) != spatial || static_cast<int>(more.size()) != spatial)
    return "its attributes do not match its rank";
  for (int i = 0; i < spatial; ++i) {
    int64_t &begin = cropped.pads[i], &end = cropped.pads[i + spatial];
    begin += cuts[first + i].begin;
    end += cuts[first + i].end;
    const Dim kernel = weights.dim(FirstKernelAxis(g, conv) + i);
    if (begin < 0 || end < 0) return "the result is larger than the kernel reaches";
    if (!kernel.known()) return "the kernel's size is not known";
    const int64_t reach = (kernel.value - 1) * dilations[i] + 1;
    if (begin >= reach || end >= reach + more[i]) return "it cuts off more than the kernel covers";
    // The result of a single input element is `reach` long: larger pads would be an error for it.
    if (!whole.dim(first + i).known() && begin + end >= reach + more[i])
      return "nothing would be left of a small image";
  }
  return cropped;
}

class FuseConvTransposeCrop final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-conv-transpose-crop"; }
  std::string_view equation() const override {
    return "slice(conv_transpose(x, w)) => conv_transpose(x, w) {pads + the crop}";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return {OpKind::kSlice, OpKind::kStridedSlice}; }

  FindResult Find(const Graph& g, NodeId slice, const Target&) const override {
    const ValueId whole = g.input(slice, 0);
    if (!whole.valid() || g.op(whole) != OpKind::kConvTranspose) return No("the input is not a conv_transpose");
    const NodeId conv = g.producer(whole);
    const auto cropped = Crop(g, conv, slice);
    if (const std::string* reason = std::get_if<std::string>(&cropped)) return Kept(*reason);
    return Match({slice, conv});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [slice, conv] = m.nodes<2>();
    const Graph& g = edit.graph();
    const Cropped cropped = std::get<Cropped>(Crop(g, conv, slice));
    ValueId sizes = kNoValue;
    if (!cropped.shape.empty()) {
      const DataType type = g.type(g.input(conv, kOutputShapeInput));
      sizes = edit.AddConstant(FreshName(g, g.Label(slice) + "/sizes"), Tensor::Ints(cropped.shape, type));
    }
    ReplaceByFused(edit, conv, slice, [&](NodeId fused) {
      SetTransposedPads(edit, fused, cropped.pads);
      if (sizes.valid()) edit.SetInput(fused, kOutputShapeInput, sizes);
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseConvTransposeCrop() { return std::make_unique<FuseConvTransposeCrop>(); }

}  // namespace halftone
