// Ways to make the int8 variant that need no new samples. The search after an accuracy goal (accuracy_control.h) tries
// them before it takes nodes out of int8: what they change costs no speed.
#ifndef HALFTONE_OPTIMIZER_INT8_RECIPES_H_
#define HALFTONE_OPTIMIZER_INT8_RECIPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/target.h"
#include "ir/value_ranges.h"
#include "optimizer/int8_source.h"
#include "optimizer/job.h"
#include "optimizer/lower_int8.h"

namespace halftone {

struct Int8Recipe {
  Calibrator calibrator = Calibrator::kMinMax;
  bool smooth = false;        // passes/quantize/smooth_activations.h
  bool clip_weights = false;  // passes/quantize/weight_clipping.h

  bool operator==(const Int8Recipe&) const = default;
};

// In the words of the command line: "percentile, smooth, clip-weights".
std::string DescribeRecipe(const Int8Recipe& recipe);

// What an int8 variant is made of.
struct Int8Candidate {
  Int8Recipe recipe;
  OptimizeOptions options;  // the job's, with the recipe in them
  Int8Base base;            // smoothed where the recipe says so
  ValueRanges ranges;       // of its values
};

// What the job asks for: its own options, and the ranges as they were calibrated or given.
absl::StatusOr<Int8Candidate> OwnCandidate(const Int8Source& source, const Target& target,
                                           const OptimizeOptions& options);

// Another recipe from the same source. Where its calibrator is another one, ranges are chosen again from what the
// samples showed (RangesByCalibrator, which `source` keeps that for).
absl::StatusOr<Int8Candidate> MakeCandidate(const Int8Recipe& recipe, Int8Source& source, const Target& target,
                                            const OptimizeOptions& options);

// Whether something was smoothed: a recipe that wants it of a model without outliers is the one without it.
bool IsSmoothed(const Int8Candidate& candidate, const Int8Source& source);

// One thing about a recipe.
enum class RecipeChange : uint8_t { kSmooth, kMeanSquaredError, kPercentile, kEntropy, kClipWeights };

// Those that may be tried, in this order: not of what the user named, nor of ranges that a file gave. None for modes
// without ranges.
std::vector<RecipeChange> ChangesFor(const Int8Options& int8);

Int8Recipe Changed(Int8Recipe recipe, RecipeChange change);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_INT8_RECIPES_H_
