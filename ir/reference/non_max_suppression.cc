// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: of overlapping boxes it keeps the one with the highest score.

#include <algorithm>
#include <numeric>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

// (y1, x1, y2, x2), corners in any order; or (x centre, y centre, width, height).
Box BoxOf(const float* numbers, bool by_centre) {
  if (by_centre) {
    const float half_width = numbers[2] / 2, half_height = numbers[3] / 2;
    return {numbers[1] - half_height, numbers[0] - half_width, numbers[1] + half_height, numbers[0] + half_width};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}

// Whether the intersection over union of both boxes exceeds `threshold`.
bool Overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0 && width > 0)) return false;
  const float both = height * width, either = a.area() + b.area() - both;
  return a.area() > 0 && b.area() > 0 && either > 0 && both / either > threshold;
}

absl::StatusOr<double> ScalarOf(const Call& call, size_t index, double otherwise) {
  if (!call.has(index) || call.in(index).num_elements() == 0) return otherwise;
  if (call.in(index).num_elements() != 1)
    return Error(InputPort(call.node.op, static_cast<int>(index), 5)->name, " is ", call.in(index).shape().ToString(),
                 ", need one number");
  return call.in(index).ToDoubles()[0];
}

// Indices of the selected boxes, best score first; for equal scores the lower index first.
std::vector<int64_t> Select(const std::vector<Box>& boxes, const float* scores, bool by_score, float least,
                            float threshold, int64_t most) {
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i) {
    if (!by_score || scores[i] > least) candidates.push_back(i);
  }
  const auto key = [scores](int64_t i) { return scores[i] == scores[i] ? scores[i] : -3.4e38f; };  // NaN last
  std::stable_sort(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) { return key(a) > key(b); });
  std::vector<int64_t> selected;
  for (const int64_t i : candidates) {
    if (static_cast<int64_t>(selected.size()) >= most) break;
    const bool hidden = std::any_of(selected.begin(), selected.end(),
                                    [&](int64_t s) { return Overlap(boxes[i], boxes[s], threshold); });
    if (!hidden) selected.push_back(i);
  }
  return selected;
}

}  // namespace

// boxes [batch, boxes, 4], scores [batch, classes, boxes] -> rows of (batch, class, box); or, as in TensorFlow,
// boxes [boxes, 4], scores [boxes] -> indices of boxes.
Outputs NonMaxSuppression(const Call& call) {
  const bool single = call.in(0).rank() == 2 && call.in(1).rank() == 1;
  const Tensor boxes = single ? call.in(0).WithDims({1, call.in(0).dims()[0], call.in(0).dims()[1]}) : call.in(0);
  const Tensor scores = single ? call.in(1).WithDims({1, 1, call.in(1).dims()[0]}) : call.in(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dims()[2] != 4 || boxes.dims()[0] != scores.dims()[0] ||
      boxes.dims()[1] != scores.dims()[2]) {
    return Error("boxes are ", boxes.shape().ToString(), ", scores ", scores.shape().ToString(),
                 ": need [batch, boxes, 4] and [batch, classes, boxes]");
  }
  HALFTONE_ASSIGN_OR_RETURN(const double most, ScalarOf(call, 2, 0));
  HALFTONE_ASSIGN_OR_RETURN(const double threshold, ScalarOf(call, 3, 0));
  HALFTONE_ASSIGN_OR_RETURN(const double least, ScalarOf(call, 4, 0));
  if (!(threshold >= 0 && threshold <= 1)) return Error("iou_threshold is ", threshold, ", must be in [0, 1]");
  const bool by_score = call.has(4) && call.in(4).num_elements() == 1;
  const bool by_centre = call.attributes().Bool("center_point_box", false);
  const int64_t batch = scores.dims()[0], classes = scores.dims()[1], count = scores.dims()[2];
  const int64_t limit = most > 0 ? static_cast<int64_t>(std::min(most, static_cast<double>(count))) : 0;
  const std::vector<float> corners = boxes.ToFloats(), score = scores.ToFloats();
  std::vector<int64_t> rows;
  for (int64_t n = 0; n < batch; ++n) {
    std::vector<Box> of_image;
    for (int64_t i = 0; i < count; ++i) of_image.push_back(BoxOf(corners.data() + (n * count + i) * 4, by_centre));
    for (int64_t c = 0; c < classes; ++c) {
      const float* here = score.data() + (n * classes + c) * count;
      const std::vector<int64_t> selected =
          Select(of_image, here, by_score, static_cast<float>(least), static_cast<float>(threshold), limit);
      for (const int64_t i : selected) {
        if (!single) rows.insert(rows.end(), {n, c});
        rows.push_back(i);
      }
    }
  }
  if (single) return std::vector<Tensor>{FromInts(call.type(), {static_cast<int64_t>(rows.size())}, rows)};
  const Dims dims{static_cast<int64_t>(rows.size()) / 3, 3};
  return std::vector<Tensor>{FromInts(call.type(), dims, rows)};
}

}  // namespace halftone::reference
