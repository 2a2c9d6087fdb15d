// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/fidelity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

// Index of the largest; NaN is smaller than any number; the first of equals.
size_t ArgMax(std::span<const double> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (std::isnan(row[i])) continue;
    if (std::isnan(row[best]) || row[i] > row[best]) best = i;
  }
  return best;
}

bool IsNumeric(const Tensor& tensor) { return ElementSize(tensor.type()) > 0 && tensor.type() < DataType::kString; }

std::optional<double> Share(int64_t part, int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> Fidelity::top1_agreement() const { return Share(agreeing_rows, rows); }

absl::Status FidelityAccumulator::Add(const Tensor& reference, const Tensor& actual) {
  if (reference.dims() != actual.dims()) {
    return absl::InvalidArgumentError(
        Concat("output has shape ", actual.shape().ToString(), ", the reference has ", reference.shape().ToString()));
  }
  if (!IsNumeric(reference) || !IsNumeric(actual)) {
    return absl::InvalidArgumentError(Concat("outputs of type ", DataTypeName(actual.type()),
                                             " cannot be compared with ", DataTypeName(reference.type()),
                                             "; they must be numbers"));
  }
  const std::vector<double> a = reference.ToDoubles();
  const std::vector<double> b = actual.ToDoubles();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      const double error = a[i] - b[i];
      reference_power_ += a[i] * a[i];
      actual_power_ += b[i] * b[i];
      product_ += a[i] * b[i];
      error_power_ += error * error;
      max_error_ = std::max(max_error_, std::fabs(error));
    } else if (!(std::isnan(a[i]) && std::isnan(b[i])) && a[i] != b[i]) {
      ++mismatched_specials_;
    }
  }
  elements_ += static_cast<int64_t>(a.size());

  const size_t width = reference.rank() == 0 ? 1 : static_cast<size_t>(reference.dims().back());
  if (width > 1) {
    for (size_t begin = 0; begin < a.size(); begin += width) {
      ++rows_;
      if (ArgMax({&a[begin], width}) == ArgMax({&b[begin], width})) ++agreeing_rows_;
    }
  }
  return absl::OkStatus();
}

Fidelity FidelityAccumulator::Result() const {
  Fidelity result;
  result.elements = elements_;
  result.mismatched_specials = mismatched_specials_;
  result.rows = rows_;
  result.agreeing_rows = agreeing_rows_;
  if (mismatched_specials_ > 0) {
    result.sqnr_db = -kExactSqnr;
    result.max_error = std::numeric_limits<double>::infinity();
  } else {
    result.max_error = max_error_;
    if (error_power_ == 0) {
      result.sqnr_db = kExactSqnr;
    } else {
      // A reference of zeros only has no signal at all.
      const double ratio = reference_power_ / error_power_;
      result.sqnr_db = ratio > 0 ? std::clamp(10 * std::log10(ratio), -kExactSqnr, kExactSqnr) : -kExactSqnr;
    }
  }
  if (reference_power_ == 0 && actual_power_ == 0) {
    result.cosine = 1;
  } else if (reference_power_ > 0 && actual_power_ > 0) {
    result.cosine = std::clamp(product_ / (std::sqrt(reference_power_) * std::sqrt(actual_power_)), -1.0, 1.0);
  }
  return result;
}

absl::Status AccuracyCounter::Add(const Tensor& scores, std::span<const int64_t> labels) {
  std::vector<int64_t> dims = scores.dims();
  while (dims.size() > 1 && dims.back() == 1) dims.pop_back();  // [N, classes, 1, 1]
  if (!IsNumeric(scores) || dims.empty()) {
    return absl::InvalidArgumentError("scores must be a tensor of numbers with one row of classes a sample");
  }
  const size_t classes = static_cast<size_t>(dims.back());
  const size_t rows = classes == 0 ? 0 : static_cast<size_t>(scores.num_elements()) / classes;
  if (rows != labels.size()) {
    return absl::InvalidArgumentError(Concat(labels.size(), " labels for ", rows, " rows of scores of shape ",
                                             scores.shape().ToString(), "; each row needs one"));
  }
  for (const int64_t label : labels) {
    if (label < 0 || static_cast<size_t>(label) >= classes) {
      return absl::InvalidArgumentError(Concat("label ", label, " is not one of the ", classes, " classes"));
    }
  }
  const std::vector<double> values = scores.ToDoubles();
  for (size_t row = 0; row < rows; ++row) {
    const std::span<const double> line(&values[row * classes], classes);
    const size_t label = static_cast<size_t>(labels[row]);
    ++rows_;
    if (std::isnan(line[label])) continue;
    size_t before = 0;  // classes that a stable descending order puts before the label
    for (size_t i = 0; i < classes; ++i) {
      if (line[i] > line[label] || (i < label && line[i] == line[label])) ++before;
    }
    if (before < 1) ++top1_;
    if (before < 5) ++top5_;
  }
  return absl::OkStatus();
}

std::optional<double> AccuracyCounter::top1_accuracy() const { return Share(top1_, rows_); }
std::optional<double> AccuracyCounter::top5_accuracy() const { return Share(top5_, rows_); }

}  // namespace halftone
