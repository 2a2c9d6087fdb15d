// SPDX-License-Identifier: Apache-2.0
// roi_align and crop_and_resize: where a bin or pixel reads is worked out once and serves all channels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "ir/roi_samples.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

absl::Status CheckIndices(std::string_view name, const int64_t* indices, int64_t count, int64_t batch) {
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= batch)
      return absl::InvalidArgumentError(Concat(name, "[", i, "] is ", indices[i], ", must be in [0, ", batch, ")"));
  }
  return absl::OkStatus();
}

// --- roi_align

struct RoiProblem {
  RoiOptions options;
  int64_t images = 0, rois = 0, channels = 0, height = 0, width = 0;
};

template <typename T>
void PoolBin(const RoiProblem& p, const RoiBin& bin, const T* x, T* y) {
  const int64_t bins = p.options.rows * p.options.columns;
  const bool outside = static_cast<double>(bin.samples.size()) < bin.count;  // such samples are 0
  const double share = bin.count == 0 ? 0 : 1 / bin.count;
  for (int64_t c = 0; c < p.channels; ++c) {
    const T* plane = x + c * p.height * p.width;
    double sum = 0, most = bin.samples.empty() || outside ? 0 : -std::numeric_limits<double>::infinity();
    for (const RoiSample& sample : bin.samples) {
      for (int k = 0; k < 4; ++k) {
        const double weighted = sample.weights[k] * static_cast<double>(Load(plane + sample.offsets[k]));
        sum += weighted;
        most = std::max(most, weighted);
      }
    }
    Store(y + c * bins, static_cast<float>(p.options.max ? most : sum * share));
  }
}

template <typename T>
absl::Status AlignPart(const RoiProblem& p, const T* x, const float* boxes, const int64_t* images, T* y, int64_t first,
                       int64_t last) {
  RoiBin bin;
  const int64_t bins = p.options.rows * p.options.columns;
  for (int64_t r = first; r < last; ++r) {
    const double box[4] = {boxes[r * 4], boxes[r * 4 + 1], boxes[r * 4 + 2], boxes[r * 4 + 3]};
    const Roi roi(p.options, box, p.height, p.width);
    if (!roi.finite()) return absl::InvalidArgumentError(Concat("rois[", r, "] holds a number that is not finite"));
    for (int64_t b = 0; b < bins; ++b) {
      roi.SamplesOf(b, bin);
      PoolBin(p, bin, x + images[r] * p.channels * p.height * p.width, y + r * p.channels * bins + b);
    }
  }
  return absl::OkStatus();
}

class RoiAlignKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    const Dims x = context.InputDims(0), rois = context.InputDims(1);
    if (!type.has_value() || context.OutputType() != context.InputType(0) ||
        !ComputedType(context.InputType(1)).has_value() || context.InputType(2) != DataType::kInt64) {
      return absl::UnimplementedError("for f32, bf16 and f16 with indices of s64");
    }
    if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || context.InputDims(2) != Dims{rois[0]})
      return absl::InvalidArgumentError("x, rois and batch_indices do not fit");
    RoiProblem p{.images = x[0], .rois = rois[0], .channels = x[1], .height = x[2], .width = x[3]};
    HALFTONE_ASSIGN_OR_RETURN(p.options, ReadRoiOptions(context.node().attributes));
    if (p.rois * p.channels * p.height * p.width == 0) return absl::UnimplementedError("nothing to align");
    const bool bf16 = *type == DataType::kBFloat16;
    Prepared prepared{
        .inputs = {{0, Placement{*type}}, {1, Placement{DataType::kFloat32}}, {2, Placement{DataType::kInt64}}},
        .outputs = {Placement{*type}},
        .kernel = "loop"};
    prepared.step = std::make_unique<LoopStep>([p, bf16](const Memory& m) -> absl::Status {
      HALFTONE_RETURN_IF_ERROR(CheckIndices("batch_indices", m.in<int64_t>(2), p.rois, p.images));
      std::vector<absl::Status> results(p.rois);
      ParallelFor(p.rois, 1, [&](int64_t first, int64_t last) {
        results[first] =
            bf16 ? AlignPart(p, m.in<uint16_t>(0), m.in<float>(1), m.in<int64_t>(2), m.out<uint16_t>(0), first, last)
                 : AlignPart(p, m.in<float>(0), m.in<float>(1), m.in<int64_t>(2), m.out<float>(0), first, last);
      });
      for (absl::Status& result : results) HALFTONE_RETURN_IF_ERROR(std::move(result));
      return absl::OkStatus();
    });
    return prepared;
  }
};

// --- crop_and_resize

struct CropProblem {
  int64_t images = 0, boxes = 0, height = 0, width = 0, channels = 0, rows = 1, columns = 1;
  float extrapolation = 0;
  bool nearest = false;
};

// Where position i of `count` between two parts of an axis of `extent` pixels lies.
float SourceOf(int64_t i, int64_t count, float begin, float end, int64_t extent) {
  const float last = static_cast<float>(extent - 1);
  if (count == 1) return 0.5f * (begin + end) * last;
  return begin * last + static_cast<float>(i) * ((end - begin) * last / static_cast<float>(count - 1));
}

HALFTONE_SIMD void Blend(const float* const corners[4], float down, float along, float* y, int64_t channels) {
#pragma omp simd
  for (int64_t c = 0; c < channels; ++c) {
    const float above = corners[0][c] + (corners[1][c] - corners[0][c]) * along;
    const float below = corners[2][c] + (corners[3][c] - corners[2][c]) * along;
    y[c] = above + (below - above) * down;
  }
}

// Row i of all crops: box i / rows.
void CropRow(const CropProblem& p, const float* x, const float* boxes, const int32_t* images, float* y, int64_t row) {
  const int64_t box = row / p.rows;
  const float* corners = boxes + box * 4;
  const float* image = x + images[box] * p.height * p.width * p.channels;
  const auto inside = [](float at, int64_t extent) { return at >= 0 && at <= static_cast<float>(extent - 1); };
  const float at_y = SourceOf(row % p.rows, p.rows, corners[0], corners[2], p.height);
  float* out = y + row * p.columns * p.channels;
  for (int64_t j = 0; j < p.columns; ++j, out += p.channels) {
    const float at_x = SourceOf(j, p.columns, corners[1], corners[3], p.width);
    if (!inside(at_y, p.height) || !inside(at_x, p.width)) {
      std::fill_n(out, p.channels, p.extrapolation);
      continue;
    }
    const auto pixel = [&](float down, float along) {
      return image + (static_cast<int64_t>(down) * p.width + static_cast<int64_t>(along)) * p.channels;
    };
    if (p.nearest) {
      std::copy_n(pixel(std::round(at_y), std::round(at_x)), p.channels, out);
      continue;
    }
    const float top = std::floor(at_y), bottom = std::ceil(at_y), left = std::floor(at_x), right = std::ceil(at_x);
    const float* const around[4] = {pixel(top, left), pixel(top, right), pixel(bottom, left), pixel(bottom, right)};
    Blend(around, at_y - top, at_x - left, out, p.channels);
  }
}

class CropAndResizeKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& a = context.node().attributes;
    const Dims x = context.InputDims(0), boxes = context.InputDims(1), y = context.OutputDims();
    if (!ComputedType(context.InputType(0)).has_value() || !ComputedType(context.InputType(1)).has_value() ||
        context.InputType(2) != DataType::kInt32) {
      return absl::UnimplementedError("for f32, bf16 and f16 with indices of s32");
    }
    if (x.size() != 4 || y.size() != 4 || boxes.size() != 2 || boxes[1] != 4 || context.InputDims(2) != Dims{boxes[0]})
      return absl::InvalidArgumentError("x, boxes and box_indices do not fit");
    const CropProblem p{.images = x[0],
                        .boxes = boxes[0],
                        .height = x[1],
                        .width = x[2],
                        .channels = x[3],
                        .rows = y[1],
                        .columns = y[2],
                        .extrapolation = a.Float("extrapolation_value", 0),
                        .nearest = a.String("mode", "bilinear") == "nearest"};
    if (p.boxes * p.height * p.width * p.channels == 0) return absl::UnimplementedError("nothing to crop");
    Prepared prepared{.inputs = {{0, Placement{DataType::kFloat32}},
                                 {1, Placement{DataType::kFloat32}},
                                 {2, Placement{DataType::kInt32}}},
                      .outputs = {Placement{DataType::kFloat32}},
                      .kernel = "loop"};
    prepared.step = std::make_unique<LoopStep>([p](const Memory& m) -> absl::Status {
      const std::vector<int64_t> images(m.in<int32_t>(2), m.in<int32_t>(2) + p.boxes);
      HALFTONE_RETURN_IF_ERROR(CheckIndices("box_indices", images.data(), p.boxes, p.images));
      ParallelFor(p.boxes * p.rows, 8192 / (p.columns * p.channels) + 1, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row)
          CropRow(p, m.in<float>(0), m.in<float>(1), m.in<int32_t>(2), m.out<float>(0), row);
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeRoiAlignKernel() { return std::make_unique<RoiAlignKernel>(); }
std::unique_ptr<Kernel> MakeCropAndResizeKernel() { return std::make_unique<CropAndResizeKernel>(); }

}  // namespace halftone::simd
