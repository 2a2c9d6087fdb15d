// SPDX-License-Identifier: Apache-2.0
// How the int8 variant of a job is made.
#ifndef HALFTONE_OPTIMIZER_INT8_OPTIONS_H_
#define HALFTONE_OPTIMIZER_INT8_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/ranges/min_max_log.h"
#include "optimizer/samples.h"
#include "optimizer/variant_kind.h"
#include "passes/quantize/quantize_options.h"
#include "runtime/calibrate/calibrators.h"

namespace halftone {

// How the file expresses int8.
enum class QuantFormat : uint8_t {
  kQdq,        // ONNX: QuantizeLinear and DequantizeLinear around standard ops; TensorFlow: FakeQuant
  kQOperator,  // ONNX: QLinearConv and its like; TensorFlow: QuantizedConv2D... and its like
};

// What is quantized, and where the ranges of activations come from.
enum class Int8Mode : uint8_t {
  kStatic,      // weights and activations, with ranges of calibration samples
  kDynamic,     // matmuls with constant weights, with ranges that each run finds
  kWeightOnly,  // weights alone, which need no ranges: the computation stays as it was
};
std::string_view Int8ModeName(Int8Mode mode);  // "static", "dynamic", "weight-only"; plan_int8.cc

// What the int8 variant has to reach against fp32, on the evaluation samples (the calibration samples where there are
// none). Where nothing is set nothing is asked.
struct AccuracyGoal {
  // A share of the rows, 0 to 1: of labels that are no longer right; without labels, of rows whose largest element is
  // another one than fp32 says.
  std::optional<double> max_top1_drop = {};
  std::optional<double> min_sqnr_db = {};  // of every output
  std::optional<double> min_cosine = {};   // of every output, -1 to 1

  bool empty() const { return !max_top1_drop && !min_sqnr_db && !min_cosine; }
  bool operator==(const AccuracyGoal&) const = default;
};

struct Int8Options {
  Int8Mode mode = Int8Mode::kStatic;
  // Of mode kStatic alone: the calibrator, ranges, and all of the following but the scales of weights, the fallback
  // precision and the goal.
  CalibratorOptions calibrator;      // `integers` of it follow from `quantize`
  bool calibrator_is_named = false;  // by the user: the search after a goal tries no other
  std::optional<SampleFile> ranges;  // a ranges.json or a log of TensorFlow's, in the place of calibration samples
  LogTrimming trim_ranges;           // of such a log
  QuantizeOptions quantize;          // its sets of nodes are the job's own to fill
  // Of nodes that are not int8: kFp32, or kBf16 by the planner and rules of the job.
  VariantKind fallback_precision = VariantKind::kFp32;
  bool correct_bias = true;  // bias correction: biases compensate the mean error of the rounded weights
  bool equalize = true;      // cross-layer equalization
  bool smooth = false;       // SmoothQuant: outliers of activations move into the weights of matmuls
  QuantFormat form = QuantFormat::kQdq;
  AccuracyGoal goal;
  bool search_configs =
      true;                  // where the goal is missed: other configs (quantization_configs.h), before nodes fall back
  bool sensitivity = false;  // the SQNR of each node alone is measured, with or without a goal
  double budget_seconds = 0;  // for that and the search after the goal; 0: no limit
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INT8_OPTIONS_H_
