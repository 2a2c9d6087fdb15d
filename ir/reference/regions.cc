// Pooling over regions and crops of an image.

#include <algorithm>
#include <cmath>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

constexpr double kMaxSamples = 1 << 24;  // of one bin: a region may be as large as its numbers say

// Four elements of a plane around a point, and their weights. `outside`: they count as 0.
struct Corners {
  bool outside = false;
  int64_t offsets[4] = {0, 0, 0, 0};
  double weights[4] = {0, 0, 0, 0};
};

// Up to one pixel outside the image the border counts.
Corners CornersOf(double y, double x, int64_t height, int64_t width) {
  Corners corners;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) {
    corners.outside = true;
    return corners;
  }
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  int64_t bottom = top + 1, right = left + 1;
  if (top >= height - 1) {
    top = bottom = height - 1;
    y = static_cast<double>(top);
  }
  if (left >= width - 1) {
    left = right = width - 1;
    x = static_cast<double>(left);
  }
  const double down = y - static_cast<double>(top), along = x - static_cast<double>(left);
  const int64_t offsets[4] = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
  const double weights[4] = {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along};
  std::copy(offsets, offsets + 4, corners.offsets);
  std::copy(weights, weights + 4, corners.weights);
  return corners;
}

absl::Status CheckIndex(std::string_view name, size_t i, int64_t index, int64_t batch) {
  if (index >= 0 && index < batch) return absl::OkStatus();
  return Error(name, "[", i, "] is ", index, ", must be in [0, ", batch, ")");
}

// The samples of a bin, averaged; with "max" the largest weighted corner of any.
double PoolSamples(const std::vector<Corners>& samples, const double* plane, bool max) {
  double result = 0;
  bool first = true;
  for (const Corners& corners : samples) {
    double value = 0;
    for (int k = 0; k < 4 && !corners.outside; ++k) {
      const double weighted = corners.weights[k] * plane[corners.offsets[k]];
      if (max) {
        value = k == 0 ? weighted : std::max(value, weighted);
      } else {
        value += weighted;
      }
    }
    result = !max ? result + value : first ? value : std::max(result, value);
    first = false;
  }
  return max || samples.empty() ? result : result / static_cast<double>(samples.size());
}

}  // namespace

// Each region (x1, y1, x2, y2), cut into output_height x output_width bins; a bin is the mean of its samples.
Outputs RoiAlign(const Call& call) {
  const Tensor& x = call.in(0);
  const Tensor& rois = call.in(1);
  if (x.rank() != 4 || rois.rank() != 2 || rois.dims()[1] != 4 || call.in(2).dims() != Dims{rois.dims()[0]}) {
    return Error("x is ", x.shape().ToString(), ", rois ", rois.shape().ToString(), ", batch_indices ",
                 call.in(2).shape().ToString(), ": need rank 4, [n, 4] and [n]");
  }
  const Attributes& a = call.attributes();
  const std::string mode = a.String("mode", "avg");
  if (mode != "avg" && mode != "max") return Error("mode is '", mode, "', need avg or max");
  const std::string coordinates = a.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return Error("coordinate_transformation_mode is '", coordinates, "', need half_pixel or output_half_pixel");
  const bool half_pixel = coordinates == "half_pixel";
  const int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  const Dims dims{rois.dims()[0], channels, a.Int("output_height", 1), a.Int("output_width", 1)};
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const int64_t ratio = a.Int("sampling_ratio", 0);
  if (ratio < 0 || ratio > 4096) return Error("sampling_ratio is ", ratio, ", must be in [0, 4096]");
  const double scale = a.Float("spatial_scale", 1);
  const std::vector<double> in = x.ToDoubles(), boxes = rois.ToDoubles();
  const std::vector<int64_t> batches = call.in(2).ToInts();
  std::vector<double> y(Count(dims), 0.0);
  for (int64_t r = 0; r < dims[0]; ++r) {
    HALFTONE_RETURN_IF_ERROR(CheckIndex("batch_indices", r, batches[r], x.dims()[0]));
    const double shift = half_pixel ? 0.5 : 0;
    const double left = boxes[r * 4] * scale - shift, top = boxes[r * 4 + 1] * scale - shift;
    double roi_width = boxes[r * 4 + 2] * scale - shift - left, roi_height = boxes[r * 4 + 3] * scale - shift - top;
    if (!half_pixel) {
      roi_width = std::max(roi_width, 1.0);
      roi_height = std::max(roi_height, 1.0);
    }
    const double bin_height = roi_height / static_cast<double>(dims[2]);
    const double bin_width = roi_width / static_cast<double>(dims[3]);
    const double rows = ratio > 0 ? static_cast<double>(ratio) : std::max(std::ceil(bin_height), 0.0);
    const double columns = ratio > 0 ? static_cast<double>(ratio) : std::max(std::ceil(bin_width), 0.0);
    if (!(std::isfinite(left) && std::isfinite(top) && rows * columns <= kMaxSamples))
      return Error("rois[", r, "] is ", boxes[r * 4], ", ", boxes[r * 4 + 1], ", ", boxes[r * 4 + 2], ", ",
                   boxes[r * 4 + 3], ": too large for ", height, " x ", width, " pixels");
    for (int64_t bin = 0; bin < dims[2] * dims[3]; ++bin) {
      std::vector<Corners> samples;
      for (double i = 0; i < rows; ++i) {
        const double at_y = top + (static_cast<double>(bin / dims[3]) + (i + 0.5) / rows) * bin_height;
        for (double j = 0; j < columns; ++j) {
          const double at_x = left + (static_cast<double>(bin % dims[3]) + (j + 0.5) / columns) * bin_width;
          samples.push_back(CornersOf(at_y, at_x, height, width));
        }
      }
      for (int64_t c = 0; c < channels; ++c) {
        y[(r * channels + c) * dims[2] * dims[3] + bin] =
            PoolSamples(samples, in.data() + (batches[r] * channels + c) * height * width, mode == "max");
      }
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// Each region (batch index, x1, y1, x2, y2; ends included), cut into bins of whole pixels; a bin is its maximum.
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
    HALFTONE_RETURN_IF_ERROR(
        CheckIndex("rois", r * 5, static_cast<int64_t>(std::clamp(box[0], -1.0, 1e9)), x.dims()[0]));
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
  // Where crop position i of `count` between `begin` and `end` is on an axis of `extent` pixels.
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
