// SPDX-License-Identifier: Apache-2.0
#include "server/worker/convert_int8.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "server/worker/convert.h"

namespace halftone::worker {
namespace {

constexpr double kSecondsToExplain = 60;

absl::Status Bad(std::string_view field, std::string_view value, std::string_view known) {
  return OptionsError(absl::InvalidArgumentError(Concat("policy.int8.", field, " '", value, "' is none of ", known)));
}

// A log is no method: it holds ranges already.
std::string CalibrationMethods() {
  std::string words;
  for (const Calibrator calibrator : {Calibrator::kMinMax, Calibrator::kMovingAverage, Calibrator::kPercentile,
                                      Calibrator::kEntropy, Calibrator::kMeanSquaredError}) {
    words += Concat(words.empty() ? "" : ", ", CalibratorName(calibrator));
  }
  return words;
}

absl::Status SetCalibrator(const v1::Int8Policy& policy, CalibratorOptions& options) {
  if (!policy.calibration_method().empty()) {
    const std::optional<Calibrator> calibrator = CalibratorFromName(policy.calibration_method());
    if (!calibrator.has_value() || *calibrator == Calibrator::kLog) {
      return Bad("calibration_method", policy.calibration_method(), CalibrationMethods());
    }
    options.calibrator = *calibrator;
  }
  if (policy.percentile() != 0) options.percentile = policy.percentile();
  return absl::OkStatus();
}

absl::Status SetQuantize(const v1::Int8Policy& policy, QuantizeOptions& options) {
  if (policy.activations() == "s8") {
    options.activations = DataType::kInt8;
  } else if (policy.activations() == "u8") {
    options.activations = DataType::kUInt8;
  } else if (!policy.activations().empty()) {
    return Bad("activations", policy.activations(), "u8, s8");
  }
  if (policy.symmetric()) options.symmetric_activations = true;
  if (policy.per_tensor_weights()) options.per_channel_weights = false;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Int8Options> ToInt8Options(const v1::Int8Policy& policy) {
  Int8Options options;
  if (absl::Status status = SetCalibrator(policy, options.calibrator); !status.ok()) return status;
  if (absl::Status status = SetQuantize(policy, options.quantize); !status.ok()) return status;
  if (policy.fallback_precision() == v1::PRECISION_BF16) options.fallback_precision = VariantKind::kBf16;
  if (policy.quant_format() == v1::QUANT_FORMAT_QOPERATOR) options.form = QuantFormat::kQOperator;
  if (policy.mode() == v1::INT8_MODE_DYNAMIC) options.mode = Int8Mode::kDynamic;
  if (policy.mode() == v1::INT8_MODE_WEIGHT_ONLY) options.mode = Int8Mode::kWeightOnly;
  if (policy.no_bias_correction()) options.correct_bias = false;
  if (policy.no_equalization()) options.equalize = false;
  if (policy.smooth_quant()) options.smooth = true;
  if (policy.clip_weights()) options.quantize.clip_weights = true;
  if (policy.reduce_range()) options.quantize.reduce_range = true;
  if (policy.has_trim_ranges()) {
    const float percent = static_cast<float>(policy.trim_ranges());
    options.trim_ranges = {percent, percent};
  }
  const v1::AccuracyGoal& goal = policy.accuracy_goal();
  if (goal.has_top1_drop()) options.goal.max_top1_drop = goal.top1_drop();
  if (goal.has_sqnr()) options.goal.min_sqnr_db = goal.sqnr();
  if (goal.has_cosine()) options.goal.min_cosine = goal.cosine();
  options.search_configs = !policy.no_config_search();
  options.calibrator_is_named = !policy.calibration_method().empty();
  options.sensitivity = policy.sensitivity();
  options.budget_seconds = policy.budget_seconds();
  return options;
}

void AskToExplain(OptimizeOptions& options) {
  Int8Options& int8 = options.int8;
  if (int8.sensitivity || options.evaluation_samples().empty()) return;
  int8.sensitivity = true;
  if (int8.goal.empty() && int8.budget_seconds == 0) int8.budget_seconds = kSecondsToExplain;
}

v1::Calibration ToProto(const CalibrationSummary& summary) {
  v1::Calibration proto;
  proto.set_samples(summary.samples);
  proto.set_synthetic(summary.synthetic);
  proto.set_calibration_method(summary.calibrator);
  proto.set_source(summary.source);
  proto.mutable_file()->set_path(summary.file_name);
  proto.mutable_file()->set_sha256(summary.sha256);
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(summary.path, error);
  if (!error) proto.mutable_file()->set_size_bytes(static_cast<int64_t>(size));
  for (const auto& [value, channels] : summary.always_zero_channels) {
    v1::AlwaysZeroChannels* row = proto.add_always_zero_channels();
    row->set_tensor(value);
    row->set_channels(channels);
  }
  for (const std::string& value : summary.still_widening) proto.add_not_converged(value);
  proto.set_seconds(summary.seconds);
  return proto;
}

v1::GoalResult ToProto(const GoalResult& result) {
  v1::GoalResult proto;
  proto.set_met(result.met);
  proto.set_fallback_nodes(result.fallbacks);
  proto.set_trials(result.tried);
  proto.set_seconds(result.seconds);
  proto.set_text(result.text);
  proto.set_config(result.config);
  for (const TriedConfig& tried : result.configs) {
    v1::TriedConfig* row = proto.add_configs();
    row->set_config(tried.config);
    row->set_sqnr_db(tried.sqnr_db);
    row->set_top1_drop(tried.top1_drop);
    row->set_cosine(tried.cosine);
    row->set_met(tried.met);
  }
  return proto;
}

v1::SaturationCheck ToProto(const SaturationCheck& check) {
  v1::SaturationCheck proto;
  proto.set_node(check.node);
  proto.set_saturation(std::string(SaturationName(check.saturation)));
  proto.set_most(check.most);
  proto.set_least(check.least);
  return proto;
}

std::optional<std::map<std::string, std::string>> KnownRangesOf(const WorkerRequest& request) {
  if (request.spec().no_ranges_cache()) return std::nullopt;
  std::map<std::string, std::string> known;
  for (const KnownRanges& ranges : request.known_ranges()) known[ranges.key()] = ranges.local_path();
  return known;
}

void SetRangesUse(const std::optional<CalibrationSummary>& calibration, WorkerResult& result) {
  if (!calibration.has_value() || calibration->key.empty()) return;
  RangesUse& use = *result.mutable_ranges();
  use.set_key(calibration->key);
  use.set_from_cache(calibration->source == "cache");
  if (!use.from_cache()) use.set_local_path(calibration->path);
}

}  // namespace halftone::worker
