// What may be changed about a recipe, and what it is called.

#include "optimizer/int8_recipes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangesFor, OnlyWhatTheUserLeftOpen) {
  Int8Options int8;
  EXPECT_THAT(ChangesFor(int8), ElementsAre(RecipeChange::kSmooth, RecipeChange::kMeanSquaredError,
                                            RecipeChange::kPercentile, RecipeChange::kEntropy,
                                            RecipeChange::kClipWeights));
  int8.smooth = true;
  int8.calibrator_is_named = true;
  EXPECT_THAT(ChangesFor(int8), ElementsAre(RecipeChange::kClipWeights));
  int8.calibrator_is_named = false;
  int8.quantize.clip_weights = true;
  int8.ranges = SampleFile{"r.json", "r.json"};
  EXPECT_THAT(ChangesFor(int8), IsEmpty()) << "ranges that a file gave are not chosen again";
}

TEST(ChangesFor, NothingWithoutRangesOrWhereItIsSwitchedOff) {
  for (const Int8Mode mode : {Int8Mode::kDynamic, Int8Mode::kWeights}) {
    Int8Options int8;
    int8.mode = mode;
    EXPECT_THAT(ChangesFor(int8), IsEmpty());
  }
  Int8Options switched_off;
  switched_off.try_recipes = false;
  EXPECT_THAT(ChangesFor(switched_off), IsEmpty());
}

TEST(Changed, OneThingAtATime) {
  Int8Recipe recipe;
  EXPECT_EQ(DescribeRecipe(recipe), "min-max");
  recipe = Changed(recipe, RecipeChange::kSmooth);
  EXPECT_EQ(DescribeRecipe(recipe), "min-max, smooth");
  recipe = Changed(recipe, RecipeChange::kMeanSquaredError);
  EXPECT_EQ(DescribeRecipe(recipe), "mean-squared-error, smooth");
  recipe = Changed(recipe, RecipeChange::kPercentile);
  recipe = Changed(recipe, RecipeChange::kClipWeights);
  EXPECT_EQ(DescribeRecipe(recipe), "percentile, smooth, clip-weights");
  EXPECT_EQ(Changed(recipe, RecipeChange::kEntropy), (Int8Recipe{Calibrator::kEntropy, true, true}));
}

}  // namespace
}  // namespace halftone
