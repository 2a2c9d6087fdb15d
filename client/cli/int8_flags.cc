#include "client/cli/int8_flags.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/int8_policy.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kGroup[] = "With --precision int8";

// "percentile" -> "--percentile".
std::string FlagOf(const std::string& field) {
  static const std::map<std::string, std::string> others = {{"rest", "--fallback-precision"},
                                                            {"form", "--quant-format"},
                                                            {"mode", "--int8-mode"},
                                                            {"min_sqnr_db", "--min-sqnr"},
                                                            {"budget_seconds", "--budget"}};
  const auto found = others.find(field);
  return found != others.end() ? found->second : absl::StrCat("--", absl::StrReplaceAll(field, {{"_", "-"}}));
}

absl::Status NeedsInt8(const Int8Flags& flags) {
  const std::pair<const char*, bool> given[] = {
      {"--ranges", !flags.ranges.empty()},
      {"--calibrator", !flags.calibrator.empty()},
      {"--percentile", flags.percentile != 0},
      {"--activations", !flags.activations.empty()},
      {"--symmetric", flags.symmetric},
      {"--per-tensor-weights", flags.per_tensor_weights},
      {"--fallback-precision", !flags.rest.empty()},
      {"--quant-format", !flags.form.empty()},
      {"--int8-mode", !flags.mode.empty()},
      {"--no-bias-correction", flags.no_bias_correction},
      {"--no-equalization", flags.no_equalization},
      {"--smooth", flags.smooth},
      {"--clip-weights", flags.clip_weights},
      {"--reduce-range", flags.reduce_range},
      {"--trim-ranges", !flags.trim_ranges.empty()},
      {"--no-ranges-cache", flags.no_ranges_cache},
      {"--max-top1-drop without a precision", !flags.max_top1_drop.empty()},
      {"--min-sqnr without a precision", !flags.min_sqnr.empty()},
      {"--min-cosine", !flags.min_cosine.empty()},
      {"--no-config-search", flags.no_config_search},
      {"--sensitivity", flags.sensitivity},
      {"--budget", flags.budget != 0},
  };
  for (const auto& [flag, is_given] : given) {
    if (is_given) return UsageError(absl::StrCat(flag, " goes with --precision int8"));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> Number(const char* flag, const std::string& text) {
  double number = 0;
  if (absl::SimpleAtod(text, &number) && std::isfinite(number)) return number;
  return UsageError(absl::StrCat(flag, " ", text, ": a number is wanted"));
}

absl::Status SetGoal(const Int8Flags& flags, v1::Int8Policy* policy) {
  if (!flags.max_top1_drop.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const double points, Number("--max-top1-drop", flags.max_top1_drop));
    policy->set_max_top1_drop(points);
  }
  if (!flags.min_sqnr.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const double db, Number("--min-sqnr", flags.min_sqnr));
    policy->set_min_sqnr_db(db);
  }
  if (!flags.min_cosine.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const double cosine, Number("--min-cosine", flags.min_cosine));
    policy->set_min_cosine(cosine);
  }
  if (flags.no_config_search) policy->set_no_config_search(true);
  if (flags.sensitivity) policy->set_sensitivity(true);
  if (flags.budget != 0) policy->set_budget_seconds(flags.budget);
  return absl::OkStatus();
}

// A word of an enum of the policy.
absl::StatusOr<int> EnumWord(const char* flag, const std::string& text, const char* what,
                             const google::protobuf::EnumDescriptor& type) {
  if (const auto* value = report::FindEnumValue(type, text); value != nullptr) return value->number();
  return UsageError(
      absl::StrCat(flag, " ", text, ": no such ", what, client::DidYouMean(text, report::EnumNames(type))));
}

absl::Status SetRestFormAndMode(const Int8Flags& flags, v1::Int8Policy* policy) {
  if (!flags.rest.empty()) {
    const std::optional<v1::Precision> rest = report::ParsePrecision(flags.rest);
    if (!rest) {
      return UsageError(absl::StrCat("--fallback-precision ", flags.rest, ": no such precision",
                                     client::DidYouMean(flags.rest, {"fp32", "bf16"})));
    }
    policy->set_rest(*rest);
  }
  if (!flags.form.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int form,
                              EnumWord("--quant-format", flags.form, "form", *v1::QuantFormat_descriptor()));
    policy->set_form(static_cast<v1::QuantFormat>(form));
  }
  if (!flags.mode.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int mode, EnumWord("--int8-mode", flags.mode, "mode", *v1::Int8Mode_descriptor()));
    policy->set_mode(static_cast<v1::Int8Mode>(mode));
  }
  return absl::OkStatus();
}

}  // namespace

void AddInt8Flags(CLI::App& app, Int8Flags* flags) {
  app.add_option("--calibration", flags->calibration,
                 "samples that the ranges of values are taken from: .npz files and folders of them; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH")
      ->group(kGroup);
  app.add_option("--ranges", flags->ranges,
                 "the ranges themselves in the place of --calibration: NAME.ranges.json of another run, or a log of "
                 "TensorFlow's insert_logging")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--calibrator", flags->calibrator,
                 "how a range is chosen: min-max, moving-average, percentile, entropy, mean-squared-error")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--percentile", flags->percentile, "of calibrator percentile: what is kept (default: 99.99)")
      ->check(CLI::Range(50.0, 100.0))
      ->type_name("P")
      ->group(kGroup);
  app.add_option("--activations", flags->activations, "their integers: u8 (default) or s8")
      ->type_name("TYPE")
      ->group(kGroup);
  app.add_flag("--symmetric", flags->symmetric, "activations have zero point 0 (u8 of both signs: 128)")->group(kGroup);
  app.add_flag("--per-tensor-weights", flags->per_tensor_weights, "one scale a weight, not one for each output channel")
      ->group(kGroup);
  app.add_option("--fallback-precision", flags->rest,
                 "what is not int8 is fp32 (default) or, where the planner says so, bf16")
      ->type_name("PRECISION")
      ->group(kGroup);
  app.add_option("--quant-format", flags->form,
                 "the file has qdq (default: QuantizeLinear and DequantizeLinear, or FakeQuant) or qoperator "
                 "(QLinearConv, QuantizedConv2D and their like)")
      ->type_name("FORM")
      ->group(kGroup);
  app.add_option(
         "--int8-mode", flags->mode,
         "static (default): weights and activations, with ranges of --calibration; dynamic: products of matrices, "
         "each run finds the ranges; weights: weights alone, computed as before")
      ->type_name("MODE")
      ->group(kGroup);
  app.add_flag("--no-bias-correction", flags->no_bias_correction, "biases do not take up the error of rounded weights")
      ->group(kGroup);
  app.add_flag("--no-equalization", flags->no_equalization, "ranges of channels are not evened out between layers")
      ->group(kGroup);
  app.add_flag("--smooth", flags->smooth, "outliers of activations move into the weights of products")->group(kGroup);
  app.add_flag("--clip-weights", flags->clip_weights,
               "the range of each scale of weights is the one of several with which its layer errs least")
      ->group(kGroup);
  app.add_flag("--reduce-range", flags->reduce_range,
               "weights of 7 bits where pairs of products might not fit 16 bits: for files that CPUs without VNNI will "
               "run (where this CPU is one, it is always so)")
      ->group(kGroup);
  app.add_option(
         "--trim-ranges", flags->trim_ranges,
         "of --ranges that are a log of TensorFlow's: percent of the records left out at either end (default: 5)")
      ->type_name("PERCENT")
      ->group(kGroup);
  app.add_flag(
         "--no-ranges-cache", flags->no_ranges_cache,
         "calibrate anew: ranges of an earlier job with the same model and samples are not taken, and these are not "
         "kept (by the server of --server; without it in $HALFTONE_CACHE or ~/.cache/halftone)")
      ->group(kGroup);
}

void AddInt8GoalFlags(CLI::App& app, Int8Flags* flags) {
  app.add_option(
         "--min-cosine", flags->min_cosine,
         "to reach against fp32, of every output, -1 to 1; as --min-sqnr DB and --max-top1-drop POINTS "
         "without a precision: other configs are tried (calibrators, --smooth, --clip-weights, whichever was not "
         "named), then nodes come up to --fallback-precision until it is reached")
      ->type_name("C")
      ->group(kGroup);
  app.add_flag("--no-config-search", flags->no_config_search,
               "for the goal only nodes come up: no other config is tried")
      ->group(kGroup);
  app.add_flag("--sensitivity", flags->sensitivity,
               "measure the SQNR of each node alone in int8: a table of the worst; --explain and report.json have all")
      ->group(kGroup);
  app.add_option("--budget", flags->budget, "seconds for the search and --sensitivity; the best so far is written")
      ->check(CLI::Range(0.001, 86'400.0))
      ->type_name("S")
      ->group(kGroup);
}

absl::Status SetInt8(const Int8Flags& flags, v1::Policy* policy) {
  const auto& wanted = policy->precisions();
  if (std::find(wanted.begin(), wanted.end(), v1::INT8) == wanted.end()) return NeedsInt8(flags);
  v1::Int8Policy int8 = policy->int8();
  if (!flags.calibrator.empty()) int8.set_calibrator(flags.calibrator);
  if (flags.percentile != 0) int8.set_percentile(flags.percentile);
  if (!flags.activations.empty()) int8.set_activations(flags.activations);
  if (flags.symmetric) int8.set_symmetric(true);
  if (flags.per_tensor_weights) int8.set_per_tensor_weights(true);
  HALFTONE_RETURN_IF_ERROR(SetRestFormAndMode(flags, &int8));
  if (flags.no_bias_correction) int8.set_no_bias_correction(true);
  if (flags.no_equalization) int8.set_no_equalization(true);
  if (flags.smooth) int8.set_smooth(true);
  if (flags.clip_weights) int8.set_clip_weights(true);
  if (flags.reduce_range) int8.set_reduce_range(true);
  if (!flags.trim_ranges.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const double percent, Number("--trim-ranges", flags.trim_ranges));
    int8.set_trim_ranges(percent);
  }
  HALFTONE_RETURN_IF_ERROR(SetGoal(flags, &int8));
  for (const client::Int8Problem& problem : client::CheckInt8Policy(int8)) {
    return UsageError(absl::StrCat(FlagOf(problem.field), ": ", problem.what));
  }
  if (int8.ByteSizeLong() > 0) *policy->mutable_int8() = std::move(int8);
  return absl::OkStatus();
}

}  // namespace halftone::cli
