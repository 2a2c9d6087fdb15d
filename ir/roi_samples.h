// SPDX-License-Identifier: Apache-2.0
// Where roi_align reads: the samples of one bin of a region.
#ifndef HALFTONE_IR_ROI_SAMPLES_H_
#define HALFTONE_IR_ROI_SAMPLES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"

namespace halftone {

struct RoiOptions {
  int64_t rows = 1, columns = 1;  // bins
  int64_t ratio = 0;              // samples along each side of a bin; 0: as many as pixels
  double scale = 1;
  bool half_pixel = true, max = false;
};
// Of the attributes of kRoiAlign. Errors: INVALID_ARGUMENT, without the node's name.
absl::StatusOr<RoiOptions> ReadRoiOptions(const Attributes& attributes);

// Four elements of a plane around a point, and their weights.
struct RoiSample {
  std::array<int64_t, 4> offsets;
  std::array<double, 4> weights;
};

// The samples of one bin that lie on the image, at most as many as it has pixels with a margin, or ratio^2. A sample
// outside counts as 0.
struct RoiBin {
  std::vector<RoiSample> samples;
  double count = 0;  // with those outside
};

// A region (x1, y1, x2, y2) over a plane of height x width.
class Roi {
 public:
  Roi(const RoiOptions& options, const double box[4], int64_t height, int64_t width);
  // False if the box holds a NaN or an infinity: it has no bins.
  bool finite() const;
  // REQUIRES: finite. Bins in row-major order. Writes over `bin`.
  void SamplesOf(int64_t index, RoiBin& bin) const;

 private:
  const RoiOptions options_;
  const int64_t height_, width_;
  double left_, top_, bin_width_, bin_height_;
};

}  // namespace halftone

#endif  // HALFTONE_IR_ROI_SAMPLES_H_
