// roi_align and crop_and_resize: where a bin or pixel reads is worked out once and serves all channels.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/host/kernels.h"
#include "runtime/host/loop_step.h"
#include "runtime/host/parallel.h"
#include "runtime/host/simd.h"

namespace halftone::host {
namespace {

using Dims = std::vector<int64_t>;

constexpr double kMaxSamples = 1 << 20;  // of one bin: a region may be as large as its numbers say

absl::Status CheckIndices(std::string_view name, const int64_t* indices, int64_t count, int64_t batch) {
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= batch)
      return absl::InvalidArgumentError(Concat(name, "[", i, "] is ", indices[i], ", must be in [0, ", batch, ")"));
  }
  return absl::OkStatus();
}

// --- roi_align

struct RoiProblem {
  int64_t images = 0, rois = 0, channels = 0, height = 0, width = 0, rows = 1, columns = 1, ratio = 0;
  double scale = 1;
  bool half_pixel = true, max = false;
};

// Four elements around a sample; all weights are 0 where it lies outside.
struct Corners {
  int64_t offsets[4] = {0, 0, 0, 0};
  float weights[4] = {0, 0, 0, 0};
};

Corners CornersOf(const RoiProblem& p, double y, double x) {
  Corners corners;
  const double height = static_cast<double>(p.height), width = static_cast<double>(p.width);
  if (!(y >= -1 && y <= height && x >= -1 && x <= width)) return corners;
  y = std::clamp(y, 0.0, height - 1);
  x = std::clamp(x, 0.0, width - 1);
  const int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  const int64_t bottom = std::min(top + 1, p.height - 1), right = std::min(left + 1, p.width - 1);
  const double down = y - static_cast<double>(top), along = x - static_cast<double>(left);
  const int64_t offsets[4] = {top * p.width + left, top * p.width + right, bottom * p.width + left,
                              bottom * p.width + right};
  const double weights[4] = {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along};
  for (int k = 0; k < 4; ++k) {
    corners.offsets[k] = offsets[k];
    corners.weights[k] = static_cast<float>(weights[k]);
  }
  return corners;
}

// Samples of all bins of one region: `per_bin` each.
struct Region {
  std::vector<Corners> samples;
  int64_t per_bin = 0;
};

absl::Status FindSamples(const RoiProblem& p, const float* box, int64_t index, Region& region) {
  const double shift = p.half_pixel ? 0.5 : 0;
  const double left = static_cast<double>(box[0]) * p.scale - shift,
               top = static_cast<double>(box[1]) * p.scale - shift;
  double width = static_cast<double>(box[2]) * p.scale - shift - left;
  double height = static_cast<double>(box[3]) * p.scale - shift - top;
  if (!p.half_pixel) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  const double bin_height = height / static_cast<double>(p.rows), bin_width = width / static_cast<double>(p.columns);
  const double down = p.ratio > 0 ? static_cast<double>(p.ratio) : std::max(std::ceil(bin_height), 0.0);
  const double along = p.ratio > 0 ? static_cast<double>(p.ratio) : std::max(std::ceil(bin_width), 0.0);
  if (!(std::isfinite(left) && std::isfinite(top) && down * along <= kMaxSamples)) {
    return absl::InvalidArgumentError(Concat("rois[", index, "] is ", box[0], ", ", box[1], ", ", box[2], ", ", box[3],
                                             ": too large for ", p.height, " x ", p.width, " pixels"));
  }
  region.samples.clear();
  region.per_bin = static_cast<int64_t>(down * along);
  for (int64_t bin = 0; bin < p.rows * p.columns; ++bin) {
    for (double i = 0; i < down; ++i) {
      const double y = top + (static_cast<double>(bin / p.columns) + (i + 0.5) / down) * bin_height;
      for (double j = 0; j < along; ++j) {
        const double x = left + (static_cast<double>(bin % p.columns) + (j + 0.5) / along) * bin_width;
        region.samples.push_back(CornersOf(p, y, x));
      }
    }
  }
  return absl::OkStatus();
}

template <typename T>
void PoolRegion(const RoiProblem& p, const Region& region, const T* x, T* y) {
  const int64_t bins = p.rows * p.columns;
  const float share = 1.0f / static_cast<float>(std::max<int64_t>(region.per_bin, 1));
  for (int64_t c = 0; c < p.channels; ++c) {
    const T* plane = x + c * p.height * p.width;
    const Corners* sample = region.samples.data();
    for (int64_t bin = 0; bin < bins; ++bin) {
      float result = 0;
      for (int64_t s = 0; s < region.per_bin; ++s, ++sample) {
        float products[4];
        for (int k = 0; k < 4; ++k) products[k] = sample->weights[k] * Load(plane + sample->offsets[k]);
        if (p.max) {
          const float most = std::max(std::max(products[0], products[1]), std::max(products[2], products[3]));
          result = s == 0 ? most : std::max(result, most);
        } else {
          result += products[0] + products[1] + products[2] + products[3];
        }
      }
      Store(y + c * bins + bin, p.max ? result : result * share);
    }
  }
}

template <typename T>
absl::Status AlignPart(const RoiProblem& p, const T* x, const float* boxes, const int64_t* images, T* y, int64_t first,
                       int64_t last) {
  Region region;
  const int64_t size = p.channels * p.rows * p.columns;
  for (int64_t r = first; r < last; ++r) {
    HALFTONE_RETURN_IF_ERROR(FindSamples(p, boxes + r * 4, r, region));
    PoolRegion(p, region, x + images[r] * p.channels * p.height * p.width, y + r * size);
  }
  return absl::OkStatus();
}

class RoiAlignKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    const Attributes& a = context.node().attributes;
    const Dims x = context.InputDims(0), rois = context.InputDims(1);
    if (!type.has_value() || context.OutputType() != context.InputType(0) ||
        !ComputedType(context.InputType(1)).has_value() || context.InputType(2) != DataType::kInt64) {
      return absl::UnimplementedError("for f32, bf16 and f16 with indices of s64");
    }
    if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || context.InputDims(2) != Dims{rois[0]})
      return absl::InvalidArgumentError("x, rois and batch_indices do not fit");
    RoiProblem p{.images = x[0], .rois = rois[0], .channels = x[1], .height = x[2], .width = x[3]};
    p.rows = a.Int("output_height", 1);
    p.columns = a.Int("output_width", 1);
    p.ratio = a.Int("sampling_ratio", 0);
    p.scale = a.Float("spatial_scale", 1);
    p.max = a.String("mode", "avg") == "max";
    p.half_pixel = a.String("coordinate_transformation_mode", "half_pixel") == "half_pixel";
    if (p.rows < 1 || p.columns < 1 || p.ratio < 0 || p.ratio > 1024 || p.rois * p.channels * p.height * p.width == 0)
      return absl::UnimplementedError("nothing to align, or too many samples");
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

}  // namespace halftone::host
