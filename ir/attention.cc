// SPDX-License-Identifier: Apache-2.0
#include "ir/attention.h"

#include <string>
#include <vector>

#include "base/strings.h"

namespace halftone {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

bool Differ(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; }
bool DiffersFrom(const Dim& dim, int64_t number) { return dim.known() && dim.value != number; }

// Which forms a mask may have: [B], [2B], [B, T], [B, S, T].
bool MaskFits(const Shape& mask, const AttentionSizes& sizes) {
  switch (mask.rank()) {
    case 1:
      return !sizes.batch.known() || !mask.dim(0).known() || mask.dim(0).value == sizes.batch.value ||
             mask.dim(0).value == 2 * sizes.batch.value;
    case 2:
      return !Differ(mask.dim(0), sizes.batch) && !Differ(mask.dim(1), sizes.total);
    case 3:
      return !Differ(mask.dim(0), sizes.batch) && !Differ(mask.dim(1), sizes.steps) &&
             !Differ(mask.dim(2), sizes.total);
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<AttentionSizes> SizesOfAttention(const Attributes& attributes, std::span<const Shape> inputs) {
  AttentionSizes sizes;
  sizes.heads = attributes.Int("num_heads", 1);
  if (sizes.heads < 1) return Error("num_heads is ", sizes.heads, ", need at least 1");
  const auto shape = [&](int i) { return static_cast<size_t>(i) < inputs.size() ? inputs[i] : Shape(); };

  Dim input;
  if (const Shape x = shape(kAttentionX); x.has_rank()) {
    if (x.rank() != 3) return Error("x is ", x.ToString(), ", need [batch, steps, input]");
    sizes.batch = x.dim(0);
    sizes.steps = x.dim(1);
    input = x.dim(2);
  }
  const std::vector<int64_t> parts = attributes.Ints("qkv_hidden_sizes");
  int64_t columns = -1;
  if (!parts.empty()) {
    const bool fits = parts.size() == 3 && parts[0] > 0 && parts[0] == parts[1] && parts[2] > 0 &&
                      parts[0] < (int64_t{1} << 30) && parts[2] < (int64_t{1} << 30);
    if (!fits) return Error("qkv_hidden_sizes must be three sizes, the first two equal");
    sizes.hidden = Dim::Of(parts[0]);
    sizes.value_hidden = Dim::Of(parts[2]);
    columns = parts[0] * 2 + parts[2];
  }
  if (const Shape weights = shape(kAttentionWeights); weights.has_rank()) {
    if (weights.rank() != 2 || Differ(weights.dim(0), input) ||
        (columns >= 0 ? DiffersFrom(weights.dim(1), columns)
                      : weights.dim(1).known() && weights.dim(1).value % 3 != 0)) {
      return Error("weights are ", weights.ToString(), ", need [input, query + key + value] for x ",
                   shape(kAttentionX).ToString());
    }
    if (columns < 0 && weights.dim(1).known()) {
      columns = weights.dim(1).value;
      sizes.hidden = sizes.value_hidden = Dim::Of(columns / 3);
    }
  }
  for (const Dim& size : {sizes.hidden, sizes.value_hidden}) {
    if (size.known() && (size.value == 0 || size.value % sizes.heads != 0)) {
      return Error("a hidden size of ", size.value, " does not divide into ", sizes.heads, " heads");
    }
  }
  if (const Shape bias = shape(kAttentionBias); bias.has_rank()) {
    if (bias.rank() != 1 || (columns >= 0 && DiffersFrom(bias.dim(0), columns))) {
      return Error("bias is ", bias.ToString(), ", need one number a column of the weights");
    }
  }
  sizes.past = Dim::Of(0);
  if (const Shape past = shape(kAttentionPast); past.has_rank()) {
    const bool fits = past.rank() == 5 && !DiffersFrom(past.dim(0), 2) && !Differ(past.dim(1), sizes.batch) &&
                      !DiffersFrom(past.dim(2), sizes.heads) && !Differ(sizes.hidden, sizes.value_hidden) &&
                      (!sizes.hidden.known() || !DiffersFrom(past.dim(4), sizes.hidden.value / sizes.heads));
    if (!fits) return Error("past is ", past.ToString(), ", need [2, batch, heads, past steps, head size]");
    sizes.past = past.dim(3);
  }
  if (sizes.past.known() && sizes.steps.known()) {
    sizes.total = Dim::Of(sizes.past.value + sizes.steps.value);
  } else if (sizes.past == Dim::Of(0)) {
    sizes.total = sizes.steps;
  }
  if (const Shape mask = shape(kAttentionMask); mask.has_rank() && !MaskFits(mask, sizes)) {
    return Error("mask is ", mask.ToString(), ", need [batch], [2 batch], [batch, total] or [batch, steps, total]");
  }
  if (const Shape addend = shape(kAttentionAddend); addend.has_rank()) {
    const auto one_or = [](const Dim& dim, const Dim& size) { return dim == Dim::Of(1) || !Differ(dim, size); };
    const bool fits = addend.rank() == 4 && one_or(addend.dim(0), sizes.batch) &&
                      one_or(addend.dim(1), Dim::Of(sizes.heads)) && !Differ(addend.dim(2), sizes.steps) &&
                      !Differ(addend.dim(3), sizes.total);
    if (!fits) return Error("attention_bias is ", addend.ToString(), ", need [batch or 1, heads or 1, steps, total]");
  }
  return sizes;
}

}  // namespace halftone
