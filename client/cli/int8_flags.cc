// SPDX-License-Identifier: Apache-2.0
#include "client/cli/int8_flags.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/key_values.h"
#include "client/int8_policy.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

// "percentile" -> "--percentile".
std::string FlagOf(const std::string& field) {
  static const std::map<std::string, std::string> others = {{"mode", "--int8-mode"}, {"budget_seconds", "--budget"}};
  const auto found = others.find(field);
  return found != others.end() ? found->second : absl::StrCat("--", absl::StrReplaceAll(field, {{"_", "-"}}));
}

absl::Status NeedsInt8(const Int8Flags& flags) {
  const std::pair<const char*, bool> given[] = {
      {"--ranges", !flags.ranges.empty()},
      {"--calibration-method", !flags.calibration_method.empty()},
      {"--percentile", flags.percentile != 0},
      {"--activations", !flags.activations.empty()},
      {"--symmetric", flags.symmetric},
      {"--per-tensor-weights", flags.per_tensor_weights},
      {"--fallback-precision", !flags.fallback_precision.empty()},
      {"--quant-format", !flags.quant_format.empty()},
      {"--int8-mode", !flags.mode.empty()},
      {"--no-bias-correction", flags.no_bias_correction},
      {"--no-equalization", flags.no_equalization},
      {"--smooth-quant", flags.smooth_quant},
      {"--clip-weights", flags.clip_weights},
      {"--reduce-range", flags.reduce_range},
      {"--trim-ranges", !flags.trim_ranges.empty()},
      {"--no-ranges-cache", flags.no_ranges_cache},
      {"--accuracy-goal", !flags.accuracy_goal.empty()},
      {"--no-config-search", flags.no_config_search},
      {"--sensitivity", flags.sensitivity},
      {"--budget", flags.budget != 0},
  };
  for (const auto& [flag, is_given] : given) {
    if (is_given) return UsageError(absl::StrCat(flag, " needs --precision int8"));
  }
  return absl::OkStatus();
}

absl::Status SetGoal(const Int8Flags& flags, v1::Int8Policy* policy) {
  v1::AccuracyGoal goal;
  for (const std::string& text : flags.accuracy_goal) {
    HALFTONE_RETURN_IF_ERROR(SetKeyValue("accuracy-goal", text, &goal));
  }
  if (goal.ByteSizeLong() > 0) policy->mutable_accuracy_goal()->MergeFrom(goal);
  if (flags.no_config_search) policy->set_no_config_search(true);
  if (flags.sensitivity) policy->set_sensitivity(true);
  if (flags.budget != 0) policy->set_budget_seconds(flags.budget);
  return absl::OkStatus();
}

// The number of an enum value of the policy.
absl::StatusOr<int> EnumNumber(const char* flag, const std::string& text, const char* what,
                               const google::protobuf::EnumDescriptor& type) {
  if (const auto* value = report::FindEnumValue(type, text); value != nullptr) return value->number();
  return UsageError(
      absl::StrCat(flag, " ", text, ": no such ", what, client::DidYouMean(text, report::EnumNames(type))));
}

absl::Status SetEnums(const Int8Flags& flags, v1::Int8Policy* policy) {
  if (!flags.fallback_precision.empty()) {
    const std::optional<v1::Precision> precision = report::ParsePrecision(flags.fallback_precision);
    if (!precision) {
      return UsageError(absl::StrCat("--fallback-precision ", flags.fallback_precision, ": no such precision",
                                     client::DidYouMean(flags.fallback_precision, {"fp32", "bf16"})));
    }
    policy->set_fallback_precision(*precision);
  }
  if (!flags.quant_format.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(
        const int format, EnumNumber("--quant-format", flags.quant_format, "format", *v1::QuantFormat_descriptor()));
    policy->set_quant_format(static_cast<v1::QuantFormat>(format));
  }
  if (!flags.mode.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int mode,
                              EnumNumber("--int8-mode", flags.mode, "mode", *v1::Int8Mode_descriptor()));
    policy->set_mode(static_cast<v1::Int8Mode>(mode));
  }
  return absl::OkStatus();
}

absl::Status SetTrimRanges(const std::string& text, v1::Int8Policy* policy) {
  if (text.empty()) return absl::OkStatus();
  double percent = 0;
  if (!absl::SimpleAtod(text, &percent) || !std::isfinite(percent)) {
    return UsageError(absl::StrCat("--trim-ranges ", text, ": a number is expected"));
  }
  policy->set_trim_ranges(percent);
  return absl::OkStatus();
}

void AddQuantizationFlags(CLI::App& app, Int8Flags* flags) {
  app.option_defaults()->group(kInt8Group);
  app.add_option(
         "--int8-mode", flags->mode,
         "static (default): weights and activations, with --calibration; dynamic: MatMul with constant weights, "
         "each run finds the activation ranges; weight-only: weights, dequantized to fp32 for computing")
      ->type_name("MODE");
  app.add_option("--quant-format", flags->quant_format,
                 "qdq (default): QuantizeLinear and DequantizeLinear around standard ops, or FakeQuant; qoperator: "
                 "QLinearConv, QuantizedConv2D, ...")
      ->type_name("FORMAT");
  app.add_option("--fallback-precision", flags->fallback_precision,
                 "precision of nodes that are not int8: fp32 (default), or bf16 where the planner says so")
      ->type_name("PRECISION");
  app.add_flag("--reduce-range", flags->reduce_range,
               "7-bit weights where int16 sums could saturate on CPUs without VNNI (on such a CPU: always)");
}

}  // namespace

void AddAdvancedInt8Flags(CLI::App& app, Int8Flags* flags) {
  app.option_defaults()->group("Advanced INT8 quantization");
  app.add_option("--activations", flags->activations, "integer type of activations: u8 (default) or s8")
      ->type_name("TYPE");
  app.add_flag("--symmetric", flags->symmetric, "symmetric activations: zero point 0 (u8 with negative values: 128)");
  app.add_flag("--per-tensor-weights", flags->per_tensor_weights, "per-tensor instead of per-channel weight scales");
  app.add_flag("--smooth-quant", flags->smooth_quant, "SmoothQuant: activation outliers migrate into MatMul weights");
  app.add_flag("--clip-weights", flags->clip_weights, "MSE-optimal weight clipping");
  app.add_flag("--no-bias-correction", flags->no_bias_correction, "no correction of biases for rounded weights");
  app.add_flag("--no-equalization", flags->no_equalization, "no cross-layer equalization");
  app.add_option(
         "--trim-ranges", flags->trim_ranges,
         "for a --ranges file that is a TensorFlow log: percentage of outlier records dropped at each end (default: 5)")
      ->type_name("PERCENT");
  app.add_flag("--no-ranges-cache", flags->no_ranges_cache,
               "calibrate again: do not reuse the ranges of an earlier job with the same model and samples");
}

void AddInt8Flags(CLI::App& app, Int8Flags* flags) {
  app.option_defaults()->group(kInt8Group);
  app.add_option("--calibration", flags->calibration,
                 "calibration data for activation ranges: .npz files and folders of them; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH");
  app.add_option("--calibration-method", flags->calibration_method,
                 "min-max, moving-average, percentile, entropy (KL divergence) or mse")
      ->type_name("NAME");
  app.add_option("--percentile", flags->percentile,
                 "percentage of the values that the method percentile keeps (default: 99.99)")
      ->check(CLI::Range(50.0, 100.0))
      ->type_name("P");
  app.add_option(
         "--ranges", flags->ranges,
         "activation ranges instead of --calibration: NAME.ranges.json of another run, or a log of TensorFlow's "
         "insert_logging")
      ->type_name("FILE");
  AddQuantizationFlags(app, flags);
}

void AddInt8GoalFlags(CLI::App& app, Int8Flags* flags) {
  app.option_defaults()->group(kInt8Group);
  app.add_option("--accuracy-goal", flags->accuracy_goal,
                 "accuracy to reach against fp32: top1-drop=0.01 (a share), sqnr=22 (dB) or cosine=0.99. Other "
                 "quantization configurations are tried, then nodes fall back to --fallback-precision; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  app.add_flag("--no-config-search", flags->no_config_search,
               "for the accuracy goal, nodes only fall back: no other quantization configuration is tried");
  app.add_option("--budget", flags->budget,
                 "time limit of --accuracy-goal and --sensitivity in seconds; the best variant so far is written")
      ->check(CLI::Range(0.001, 86'400.0))
      ->type_name("S");
  app.add_flag("--sensitivity", flags->sensitivity,
               "per-layer sensitivity: the model's SQNR when only this node is int8, the worst nodes as a table");
}

absl::Status SetInt8(const Int8Flags& flags, v1::Policy* policy) {
  const auto& wanted = policy->precisions();
  if (std::find(wanted.begin(), wanted.end(), v1::PRECISION_INT8) == wanted.end()) return NeedsInt8(flags);
  v1::Int8Policy int8 = policy->int8();
  if (!flags.calibration_method.empty()) int8.set_calibration_method(flags.calibration_method);
  if (flags.percentile != 0) int8.set_percentile(flags.percentile);
  if (!flags.activations.empty()) int8.set_activations(flags.activations);
  if (flags.symmetric) int8.set_symmetric(true);
  if (flags.per_tensor_weights) int8.set_per_tensor_weights(true);
  HALFTONE_RETURN_IF_ERROR(SetEnums(flags, &int8));
  if (flags.no_bias_correction) int8.set_no_bias_correction(true);
  if (flags.no_equalization) int8.set_no_equalization(true);
  if (flags.smooth_quant) int8.set_smooth_quant(true);
  if (flags.clip_weights) int8.set_clip_weights(true);
  if (flags.reduce_range) int8.set_reduce_range(true);
  HALFTONE_RETURN_IF_ERROR(SetTrimRanges(flags.trim_ranges, &int8));
  HALFTONE_RETURN_IF_ERROR(SetGoal(flags, &int8));
  for (const client::Int8Problem& problem : client::CheckInt8Policy(int8)) {
    return UsageError(absl::StrCat(FlagOf(problem.field), ": ", problem.what));
  }
  if (int8.ByteSizeLong() > 0) *policy->mutable_int8() = std::move(int8);
  return absl::OkStatus();
}

}  // namespace halftone::cli
