#include "optimizer/int8_recipes.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

absl::StatusOr<Int8Candidate> CandidateOf(const Int8Recipe& recipe, const Int8Base& base, ValueRanges ranges,
                                          const Target& target, const OptimizeOptions& options) {
  Int8Candidate candidate{recipe, options, base, std::move(ranges)};
  Int8Options& int8 = candidate.options.int8;
  int8.calibrator.calibrator = recipe.calibrator;
  int8.smooth = recipe.smooth;
  int8.quantize.clip_weights = recipe.clip_weights;
  const bool has_ranges = int8.mode == Int8Mode::kStatic;
  if (has_ranges) HALFTONE_RETURN_IF_ERROR(SmoothBase(candidate.base, candidate.ranges, target, candidate.options));
  return candidate;
}

}  // namespace

std::string DescribeRecipe(const Int8Recipe& recipe) {
  return Concat(CalibratorName(recipe.calibrator), recipe.smooth ? ", smooth" : "",
                recipe.clip_weights ? ", clip-weights" : "");
}

absl::StatusOr<Int8Candidate> OwnCandidate(const Int8Source& source, const Target& target,
                                           const OptimizeOptions& options) {
  const Int8Recipe recipe{source.calibrated.origin.calibrator, options.int8.smooth, options.int8.quantize.clip_weights};
  return CandidateOf(recipe, source.base, source.calibrated.ranges, target, options);
}

absl::StatusOr<Int8Candidate> MakeCandidate(const Int8Recipe& recipe, Int8Source& source, const Target& target,
                                            const OptimizeOptions& options) {
  if (recipe.calibrator == source.calibrated.origin.calibrator) {
    return CandidateOf(recipe, source.base, source.calibrated.ranges, target, options);
  }
  OptimizeOptions others = options;
  others.int8.calibrator.calibrator = recipe.calibrator;
  HALFTONE_ASSIGN_OR_RETURN(ValueRanges ranges, RangesByCalibrator(source.base.graph, others, source.calibrated));
  return CandidateOf(recipe, source.base, std::move(ranges), target, options);
}

bool IsSmoothed(const Int8Candidate& candidate, const Int8Source& source) {
  return candidate.base.rewrites.applied.size() > source.base.rewrites.applied.size();
}

std::vector<RecipeChange> ChangesFor(const Int8Options& int8) {
  std::vector<RecipeChange> changes;
  if (int8.mode != Int8Mode::kStatic || !int8.try_recipes) return changes;
  if (!int8.smooth) changes.push_back(RecipeChange::kSmooth);
  if (!int8.calibrator_is_named && !int8.ranges.has_value()) {
    changes.insert(changes.end(), {RecipeChange::kMeanSquaredError, RecipeChange::kPercentile, RecipeChange::kEntropy});
  }
  if (!int8.quantize.clip_weights) changes.push_back(RecipeChange::kClipWeights);
  return changes;
}

Int8Recipe Changed(Int8Recipe recipe, RecipeChange change) {
  switch (change) {
    case RecipeChange::kSmooth:
      recipe.smooth = true;
      break;
    case RecipeChange::kMeanSquaredError:
      recipe.calibrator = Calibrator::kMeanSquaredError;
      break;
    case RecipeChange::kPercentile:
      recipe.calibrator = Calibrator::kPercentile;
      break;
    case RecipeChange::kEntropy:
      recipe.calibrator = Calibrator::kEntropy;
      break;
    case RecipeChange::kClipWeights:
      recipe.clip_weights = true;
      break;
  }
  return recipe;
}

}  // namespace halftone
