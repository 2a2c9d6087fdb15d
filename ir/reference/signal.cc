// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows and mel filters. Complex numbers are a last dimension of 2.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

constexpr int64_t kLongest = int64_t{1} << 24;  // of one transform

absl::StatusOr<int64_t> Scalar(const Tensor& tensor, std::string_view name) {
  if (tensor.num_elements() != 1) return Error(name, " is ", tensor.shape().ToString(), ", need one number");
  return tensor.ToInts()[0];
}

absl::StatusOr<int64_t> Length(const Tensor& tensor, std::string_view name) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t length, Scalar(tensor, name));
  if (length < 1 || length > kLongest) return Error(name, " is ", length, ", need 1 to ", kLongest);
  return length;
}

// y[k] = sum of x[t] exp(-2 pi i k t / n); the inverse has the other sign and is divided by n.
class Transform {
 public:
  Transform(int64_t n, bool inverse) : n_(n), scale_(inverse ? 1.0 / static_cast<double>(n) : 1.0) {
    for (int64_t k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cos_.push_back(std::cos(angle));
      sin_.push_back(inverse ? std::sin(angle) : -std::sin(angle));
    }
  }

  // Bin k of x, which has (real, imaginary) pairs; fewer than n are padded with zeros.
  void Bin(const std::vector<double>& x, int64_t k, double* y) const {
    double real = 0, imaginary = 0;
    for (size_t t = 0, turn = 0; 2 * t < x.size(); ++t, turn = (turn + k) % n_) {
      real += x[2 * t] * cos_[turn] - x[2 * t + 1] * sin_[turn];
      imaginary += x[2 * t] * sin_[turn] + x[2 * t + 1] * cos_[turn];
    }
    y[0] = real * scale_;
    y[1] = imaginary * scale_;
  }

 private:
  const int64_t n_;
  const double scale_;
  std::vector<double> cos_, sin_;
};

}  // namespace

Outputs Dft(const Call& call) {
  const Tensor& x = call.in(0);
  if (x.rank() < 2 || (x.dims().back() != 1 && x.dims().back() != 2)) {
    return Error("x is ", x.shape().ToString(), ", need a last dimension of 1 (real) or 2 (complex)");
  }
  int64_t written = -2;
  if (call.has(2)) {
    HALFTONE_ASSIGN_OR_RETURN(written, Scalar(call.in(2), "axis"));
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(written, x.rank()));
  if (axis == x.rank() - 1) return Error("axis ", written, " is the dimension of real and imaginary parts");
  int64_t n = x.dims()[axis];
  if (call.has(1)) {
    HALFTONE_ASSIGN_OR_RETURN(n, Length(call.in(1), "length"));
  }
  if (n < 1 || n > kLongest) return Error("a transform of ", n, " elements, need 1 to ", kLongest);
  const int64_t parts = x.dims().back(), taken = std::min(n, x.dims()[axis]);
  Dims dims = x.dims();
  dims[axis] = call.attributes().Bool("onesided", false) ? n / 2 + 1 : n;
  dims.back() = 2;
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const Transform transform(n, call.attributes().Bool("inverse", false));
  const std::vector<double> numbers = x.ToDoubles();
  std::vector<double> y(Count(dims));
  int64_t outer = 1, inner = 1;  // lines before and after the axis
  for (int i = 0; i < axis; ++i) outer *= dims[i];
  for (int i = axis + 1; i + 1 < x.rank(); ++i) inner *= dims[i];
  std::vector<double> line(2 * taken);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t t = 0; t < taken; ++t) {
        const int64_t at = ((o * x.dims()[axis] + t) * inner + i) * parts;
        line[2 * t] = numbers[at];
        line[2 * t + 1] = parts == 2 ? numbers[at + 1] : 0;
      }
      for (int64_t k = 0; k < dims[axis]; ++k) transform.Bin(line, k, &y[((o * dims[axis] + k) * inner + i) * 2]);
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

Outputs Stft(const Call& call) {
  const Tensor& signal = call.in(0);
  const int64_t parts = signal.rank() == 3 ? signal.dims()[2] : 1;
  if (signal.rank() < 2 || signal.rank() > 3 || (parts != 1 && parts != 2)) {
    return Error("the signal is ", signal.shape().ToString(), ", need [batch, length, 1 or 2]");
  }
  HALFTONE_ASSIGN_OR_RETURN(const int64_t step, Length(call.in(1), "frame_step"));
  if (!call.has(2) && !call.has(3)) return Error("neither window nor frame_length says how long a frame is");
  if (call.has(2) && call.in(2).rank() != 1)
    return Error("the window is ", call.in(2).shape().ToString(), ", need a vector");
  int64_t frame = call.has(2) ? call.in(2).dims()[0] : 0;
  if (call.has(3)) {
    HALFTONE_ASSIGN_OR_RETURN(frame, Length(call.in(3), "frame_length"));
    if (call.has(2) && call.in(2).dims()[0] != frame) {
      return Error("the window has ", call.in(2).dims()[0], " numbers, a frame ", frame);
    }
  }
  const int64_t batch = signal.dims()[0], length = signal.dims()[1];
  if (frame < 1 || frame > length || frame > kLongest) {
    return Error("a frame of ", frame, " does not fit a signal of ", length);
  }
  const Dims dims{batch, (length - frame) / step + 1, call.attributes().Bool("onesided", true) ? frame / 2 + 1 : frame,
                  2};
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  const std::vector<double> window = call.has(2) ? call.in(2).ToDoubles() : std::vector<double>(frame, 1.0);
  const std::vector<double> numbers = signal.ToDoubles();
  const Transform transform(frame, /*inverse=*/false);
  std::vector<double> y(Count(dims)), line(2 * frame);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t f = 0; f < dims[1]; ++f) {
      for (int64_t t = 0; t < frame; ++t) {
        const int64_t at = (b * length + f * step + t) * parts;
        line[2 * t] = numbers[at] * window[t];
        line[2 * t + 1] = parts == 2 ? numbers[at + 1] * window[t] : 0;
      }
      for (int64_t k = 0; k < dims[2]; ++k) transform.Bin(line, k, &y[((b * dims[1] + f) * dims[2] + k) * 2]);
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// a - b cos(2 pi i / n) + c cos(4 pi i / n); n is the size, one less if the window is symmetric.
Outputs WindowFunction(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t size, Scalar(call.in(0), "size"));
  HALFTONE_RETURN_IF_ERROR(CheckDims({size}));
  const std::string mode = call.attributes().String("mode", "hann");
  double a = 0.5, b = 0.5, c = 0;
  if (mode == "hamming") {
    a = 25.0 / 46;
    b = 21.0 / 46;
  } else if (mode == "blackman") {
    a = 0.42;
    c = 0.08;
  } else if (mode != "hann") {
    return Error("mode is '", mode, "', need hann, hamming or blackman");
  }
  const int64_t n = call.attributes().Bool("periodic", true) ? size : size - 1;
  std::vector<double> y;
  for (int64_t i = 0; i < size; ++i) {
    const double angle =
        n == 0 ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    y.push_back(a - b * std::cos(angle) + c * std::cos(2 * angle));
  }
  return std::vector<Tensor>{FromDoubles(call.type(), {size}, y)};
}

// Triangles between adjacent points of num_bins + 2 points that are equidistant on the mel scale.
Outputs MelWeightMatrix(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t bins, Scalar(call.in(0), "num_bins"));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t length, Scalar(call.in(1), "dft_length"));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t rate, Scalar(call.in(2), "sample_rate"));
  if (bins < 0 || length < 0 || rate < 1) {
    return Error("num_bins ", bins, ", dft_length ", length, ", sample_rate ", rate, " make no filters");
  }
  for (const size_t i : {3, 4}) {
    if (call.in(i).num_elements() != 1) return Error("a limit is ", call.in(i).shape().ToString(), ", need one number");
  }
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto hertz = [](double m) { return 700 * (std::pow(10, m / 2595) - 1); };
  const double low = mel(call.in(3).ToDoubles()[0]), high = mel(call.in(4).ToDoubles()[0]);
  const int64_t rows = length / 2 + 1;
  HALFTONE_RETURN_IF_ERROR(CheckDims({rows, bins}));
  const auto point = [&](int64_t i) {  // the row of the spectrum where a triangle begins, peaks or ends
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2);
    const double row = std::floor(static_cast<double>(length + 1) * hertz(at) / static_cast<double>(rate));
    return static_cast<int64_t>(std::clamp(row, -1e15, 1e15));
  };
  std::vector<double> y(rows * bins, 0.0);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t begin = point(bin), peak = point(bin + 1), end = point(bin + 2);
    for (int64_t row = std::max<int64_t>(begin, 0); row < std::min(std::max(end, peak + 1), rows); ++row) {
      double weight = 0;
      if (row < peak) weight = static_cast<double>(row - begin) / static_cast<double>(peak - begin);
      if (row == peak) weight = 1;
      if (row > peak) weight = static_cast<double>(end - row) / static_cast<double>(end - peak);
      y[row * bins + bin] = weight;
    }
  }
  return std::vector<Tensor>{FromDoubles(call.type(), {rows, bins}, y)};
}

}  // namespace halftone::reference
