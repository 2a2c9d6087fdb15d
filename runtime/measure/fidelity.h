// SPDX-License-Identifier: Apache-2.0
// How near the outputs of a model in reduced precision are to those of the reference model, and how often they are
// right.
#ifndef HALFTONE_RUNTIME_MEASURE_FIDELITY_H_
#define HALFTONE_RUNTIME_MEASURE_FIDELITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "ir/tensor.h"

namespace halftone {

struct Fidelity {
  double sqnr_db = 0;    // 10 log10(sum ref^2 / sum (ref - x)^2); kExactSqnr where equal; -kExactSqnr where x has a NaN
                         // or infinity that the reference does not have
  double cosine = 0;     // 1 where both are zero everywhere
  double max_error = 0;  // infinity in that same case
  int64_t elements = 0;
  int64_t mismatched_specials = 0;               // elements where only one of the two is NaN, or infinities differ
  int64_t rows = 0;                              // rows of the last axis, if that has more than one element
  int64_t agreeing_rows = 0;                     // same index of the largest element
  std::optional<double> top1_agreement() const;  // nullopt without rows
};
inline constexpr double kExactSqnr = 999.0;

// Sums over any number of samples of one output in constant memory. Elements where both sides are NaN, or the same
// infinity, count as equal and leave the sums alone; where only one is, they are counted in mismatched_specials and
// left out of the sums. In a row's argmax NaN is smaller than any number and the first of equals wins.
// Thread-compatible.
class FidelityAccumulator {
 public:
  // Any numeric types, compared as f64. INVALID_ARGUMENT if the dimensions differ.
  absl::Status Add(const Tensor& reference, const Tensor& actual);
  Fidelity Result() const;

 private:
  double reference_power_ = 0;
  double actual_power_ = 0;
  double error_power_ = 0;
  double product_ = 0;
  double max_error_ = 0;
  int64_t elements_ = 0;
  int64_t mismatched_specials_ = 0;
  int64_t rows_ = 0;
  int64_t agreeing_rows_ = 0;
};

// Counts how often the largest elements of a row are the label. Thread-compatible.
class AccuracyCounter {
 public:
  // One label a row of `scores` (all dimensions but the last are rows; dimensions of 1 after the classes are dropped).
  // A label outside the classes is INVALID_ARGUMENT.
  absl::Status Add(const Tensor& scores, std::span<const int64_t> labels);

  int64_t rows() const { return rows_; }
  int64_t top1() const { return top1_; }
  int64_t top5() const { return top5_; }
  std::optional<double> top1_accuracy() const;  // nullopt without rows
  std::optional<double> top5_accuracy() const;

 private:
  int64_t rows_ = 0;
  int64_t top1_ = 0;
  int64_t top5_ = 0;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_MEASURE_FIDELITY_H_
