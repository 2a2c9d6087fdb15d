// SPDX-License-Identifier: Apache-2.0
// Pooling over regions and crops of an image.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"
#include "ir/roi_samples.h"

namespace halftone::reference {
namespace {

absl::Status CheckIndex(std::string_view name, size_t i, int64_t index, int64_t batch) {
  if (index >= 0 && index < batch) return absl::OkStatus();
  return Error(name, "[", i, "] is ", index, ", must be in [0, ", batch, ")");
}

// The mean of a bin's samples; with `max` the largest weighted corner of all samples.
double PoolBin(const RoiBin& bin, const double* plane, bool max) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (const RoiSample& sample : bin.samples) {
    for (int k = 0; k < 4; ++k) {
      const double weighted = sample.weights[k] * plane[sample.offsets[k]];
      sum += weighted;
      most = std::max(most, weighted);
    }
  }
  const bool outside = static_cast<double>(bin.samples.size()) < bin.count;  // such samples are 0
  if (max) return bin.samples.empty() ? 0 : outside ? std::max(most, 0.0) : most;
  return bin.count == 0 ? 0 : sum / bin.count;
}

}  // namespace

// Each region (x1, y1, x2, y2), divided into output_height x output_width bins; a bin is the mean of its samples.
Outputs RoiAlign(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& rois = call.in(1);
  if (x.rank() != 4 || rois.rank() != 2 || rois.dims()[1] != 4 || call.in(2).dims() != Dims{rois.dims()[0]}) {
    return Error("x is ", x.shape().ToString(), ", rois ", rois.shape().ToString(), ", batch_indices ",
                 call.in(2).shape().ToString(), ": need rank 4, [n, 4] and [n]");
  }
  HALFTONE_ASSIGN_OR_RETURN(const RoiOptions options, ReadRoiOptions(call.attributes()));
  const int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const int64_t bins = options.rows * options.columns;
  const Dims dims{rois.dims()[0], channels, options.rows, options.columns};
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<double> in = x.ToDoubles(), boxes = rois.ToDoubles();
  const std::vector<int64_t> batches = call.in(2).ToInts();
  if (in.empty() && Count(dims) > 0) return Error("x is ", x.shape().ToString(), ": nothing to read");
  std::vector<double> y(Count(dims), 0.0);
  RoiBin bin;
  for (int64_t r = 0; r < dims[0] && channels > 0; ++r) {
    HALFTONE_RETURN_IF_ERROR(CheckIndex("batch_indices", r, batches[r], x.dims()[0]));
    const Roi roi(options, boxes.data() + r * 4, height, width);
    if (!roi.finite()) return Error("rois[", r, "] holds a number that is not finite");
    for (int64_t b = 0; b < bins; ++b) {
      roi.SamplesOf(b, bin);
      for (int64_t c = 0; c < channels; ++c) {
        const double* plane = in.data() + (batches[r] * channels + c) * height * width;
        y[(r * channels + c) * bins + b] = PoolBin(bin, plane, options.max);
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// Each region (batch index, x1, y1, x2, y2; ends included), divided into bins of whole pixels; a bin is its maximum.
Outputs MaxRoiPool(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& rois = call.in(1);
  const std::vector<int64_t> size = call.attributes().Ints("pooled_shape");
  if (x.rank() != 4 || rois.rank() != 2 || rois.dims()[1] != 5 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    return Error("x is ", x.shape().ToString(), ", rois ", rois.shape().ToString(), ", pooled_shape ",
                 Shape::Of(size).ToString(), ": need rank 4, [n, 5] and two numbers of at least 1");
  const double scale = call.attributes().Float("spatial_scale", 1);
  const int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const Dims dims{rois.dims()[0], channels, size[0], size[1]};
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<double> in = x.ToDoubles(), boxes = rois.ToDoubles();
  std::vector<double> y(Count(dims), 0.0);
  for (int64_t r = 0; r < dims[0]; ++r) {
    const double* box = boxes.data() + r * 5;
    if (!(box[0] >= 0 && box[0] < static_cast<double>(x.dims()[0])))
      return Error("rois[", r, "] is of image ", box[0], ", must be in [0, ", x.dims()[0], ")");
    const int64_t batch = static_cast<int64_t>(box[0]);
    const auto pixel = [scale](double at) { return std::clamp(std::round(at * scale), -1e9, 1e9); };
    const double left = pixel(box[1]), top = pixel(box[2]);
    const double bin_width = std::max(pixel(box[3]) - left + 1, 1.0) / static_cast<double>(size[1]);
    const double bin_height = std::max(pixel(box[4]) - top + 1, 1.0) / static_cast<double>(size[0]);
    if (std::isnan(left + top + bin_width + bin_height)) return Error("rois[", r, "] holds a NaN");
    const auto within = [](double at, int64_t end) {
      return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(end)));
    };
    for (int64_t bin = 0; bin < size[0] * size[1]; ++bin) {
      const double row = static_cast<double>(bin / size[1]), column = static_cast<double>(bin % size[1]);
      const int64_t y0 = within(std::floor(row * bin_height) + top, height);
      const int64_t y1 = within(std::ceil((row + 1) * bin_height) + top, height);
      const int64_t x0 = within(std::floor(column * bin_width) + left, width);
      const int64_t x1 = within(std::ceil((column + 1) * bin_width) + left, width);
      for (int64_t c = 0; c < channels && y0 < y1 && x0 < x1; ++c) {
        const double* plane = in.data() + (batch * channels + c) * height * width;
        double best = plane[y0 * width + x0];
        for (int64_t i = y0; i < y1; ++i) {
          for (int64_t j = x0; j < x1; ++j) best = std::max(best, plane[i * width + j]);
        }
        y[(r * channels + c) * size[0] * size[1] + bin] = best;
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// Each box (y1, x1, y2, x2, as parts of the image; ends included) of an NHWC image, resized to crop_size. Coordinates
// are computed in f32, as TensorFlow does.
Outputs CropAndResize(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& boxes = call.in(1);
  const Dims size = call.in(3).ToInts();
  if (x.rank() != 4 || boxes.rank() != 2 || boxes.dims()[1] != 4 || call.in(2).dims() != Dims{boxes.dims()[0]} ||
      size.size() != 2 || size[0] < 1 || size[1] < 1) {
    return Error("x is ", x.shape().ToString(), ", boxes ", boxes.shape().ToString(), ", box_indices ",
                 call.in(2).shape().ToString(), ", crop_size ", Shape::Of(size).ToString(),
                 ": need rank 4, [n, 4], [n] and two numbers of at least 1");
  }
  const std::string mode = call.attributes().String("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") return Error("mode is '", mode, "', need bilinear or nearest");
  const int64_t height = x.dims()[1], width = x.dims()[2], channels = x.dims()[3];
  const Dims dims{boxes.dims()[0], size[0], size[1], channels};
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const double extrapolation = call.attributes().Float("extrapolation_value", 0);
  const std::vector<double> in = x.ToDoubles();
  const std::vector<float> corners = boxes.ToFloats();
  const std::vector<int64_t> images = call.in(2).ToInts();
  // The coordinate on an axis of `extent` pixels of crop position i of `count` between `begin` and `end`.
  const auto source = [](int64_t i, int64_t count, float begin, float end, int64_t extent) {
    const float last = static_cast<float>(extent - 1);
    if (count == 1) return 0.5f * (begin + end) * last;
    return begin * last + static_cast<float>(i) * ((end - begin) * last / static_cast<float>(count - 1));
  };
  const auto inside = [](float at, int64_t extent) { return at >= 0 && at <= static_cast<float>(extent - 1); };
  std::vector<double> y(Count(dims), extrapolation);
  double* out = y.data();
  for (int64_t b = 0; b < dims[0]; ++b) {
    HALFTONE_RETURN_IF_ERROR(CheckIndex("box_indices", b, images[b], x.dims()[0]));
    const float* box = corners.data() + b * 4;
    const double* image = in.data() + images[b] * height * width * channels;
    for (int64_t i = 0; i < size[0]; ++i) {
      const float at_y = source(i, size[0], box[0], box[2], height);
      for (int64_t j = 0; j < size[1]; ++j, out += channels) {
        const float at_x = source(j, size[1], box[1], box[3], width);
        if (!inside(at_y, height) || !inside(at_x, width)) continue;
        if (mode == "nearest") {
          const int64_t at = static_cast<int64_t>(std::round(at_y)) * width + static_cast<int64_t>(std::round(at_x));
          std::copy_n(image + at * channels, channels, out);
          continue;
        }
        const int64_t top = static_cast<int64_t>(std::floor(at_y)), bottom = static_cast<int64_t>(std::ceil(at_y));
        const int64_t left = static_cast<int64_t>(std::floor(at_x)), right = static_cast<int64_t>(std::ceil(at_x));
        const double down = at_y - static_cast<float>(top), along = at_x - static_cast<float>(left);
        for (int64_t c = 0; c < channels; ++c) {
          const auto pixel = [&](int64_t row, int64_t column) { return image[(row * width + column) * channels + c]; };
          const double above = pixel(top, left) + (pixel(top, right) - pixel(top, left)) * along;
          const double below = pixel(bottom, left) + (pixel(bottom, right) - pixel(bottom, left)) * along;
          out[c] = above + (below - above) * down;
        }
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

}  // namespace halftone::reference
