// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/fidelity.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace halftone {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Floats(std::vector<int64_t> dims, std::vector<float> values) {
  return Tensor::Of<float>(std::move(dims), values);
}

TEST(FidelityTest, EqualOutputs) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({2, 3}, {1, 2, 3, 4, 5, -6}), Floats({2, 3}, {1, 2, 3, 4, 5, -6})).ok());
  const Fidelity fidelity = accumulator.Result();
  EXPECT_EQ(fidelity.sqnr_db, kExactSqnr);
  EXPECT_EQ(fidelity.cosine, 1);
  EXPECT_EQ(fidelity.max_error, 0);
  EXPECT_EQ(fidelity.top1_agreement(), 1.0);
}

TEST(FidelityTest, SumsOverSamples) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({1, 2}, {3, 4}), Floats({1, 2}, {3, 3.5})).ok());
  ASSERT_TRUE(accumulator.Add(Floats({1, 2}, {0, 5}), Floats({1, 2}, {0.5, 0})).ok());
  const Fidelity fidelity = accumulator.Result();
  EXPECT_NEAR(fidelity.sqnr_db, 10 * std::log10(50 / 25.5), 1e-9);
  EXPECT_NEAR(fidelity.cosine, (9 + 14) / std::sqrt(50 * (9 + 12.25 + 0.25)), 1e-9);
  EXPECT_EQ(fidelity.max_error, 5);
  EXPECT_EQ(fidelity.rows, 2);
  EXPECT_EQ(fidelity.top1_agreement(), 0.5);
}

TEST(FidelityTest, ZeroReference) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({2}, {0, 0}), Floats({2}, {0, 1})).ok());
  EXPECT_EQ(accumulator.Result().sqnr_db, -kExactSqnr);
  EXPECT_EQ(accumulator.Result().cosine, 0);
}

TEST(FidelityTest, SharedSpecialsAreEqual) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({3}, {kNan, kInf, 2}), Floats({3}, {kNan, kInf, 2})).ok());
  EXPECT_EQ(accumulator.Result().sqnr_db, kExactSqnr);
  EXPECT_EQ(accumulator.Result().mismatched_specials, 0);
}

TEST(FidelityTest, OneSidedSpecialsSpoilTheResult) {
  for (const float bad : {kNan, kInf, -kInf}) {
    FidelityAccumulator accumulator;
    ASSERT_TRUE(accumulator.Add(Floats({3}, {1, 1, 2}), Floats({3}, {bad, 1, 2})).ok());
    EXPECT_EQ(accumulator.Result().sqnr_db, -kExactSqnr);
    EXPECT_EQ(accumulator.Result().max_error, kInf);
    EXPECT_EQ(accumulator.Result().mismatched_specials, 1);
  }
}

TEST(FidelityTest, NanIsNeverTheLargest) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({1, 3}, {1, 3, 2}), Floats({1, 3}, {kNan, 3, 2})).ok());
  EXPECT_EQ(accumulator.Result().top1_agreement(), 1.0);
}

TEST(FidelityTest, OutputsOfOtherTypes) {
  FidelityAccumulator accumulator;
  ASSERT_TRUE(accumulator.Add(Floats({2}, {1, 2}), *Floats({2}, {1, 2}).ConvertTo(DataType::kBFloat16)).ok());
  EXPECT_EQ(accumulator.Result().sqnr_db, kExactSqnr);
}

TEST(FidelityTest, DifferentShapesAreAnError) {
  FidelityAccumulator accumulator;
  const absl::Status status = accumulator.Add(Floats({2}, {1, 2}), Floats({1, 2}, {1, 2}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "output has shape [1,2], the reference has [2]");
}

TEST(AccuracyTest, TopOneAndFive) {
  AccuracyCounter counter;
  // Label 0 has the sixth place, label 6 the first, label 2 the second (after its equal with the smaller index).
  const std::vector<float> scores = {1, 2, 3, 4, 5, 6, 0,  //
                                     1, 2, 3, 4, 5, 6, 7,  //
                                     0, 9, 9, 0, 0, 0, 0};
  ASSERT_TRUE(counter.Add(Floats({3, 7, 1, 1}, scores), std::vector<int64_t>{0, 6, 2}).ok());
  EXPECT_EQ(counter.rows(), 3);
  EXPECT_EQ(counter.top1(), 1);
  EXPECT_EQ(counter.top5(), 2);
  EXPECT_NEAR(*counter.top5_accuracy(), 2.0 / 3, 1e-12);
}

TEST(AccuracyTest, LabelsMustFit) {
  AccuracyCounter counter;
  const Tensor scores = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(counter.Add(scores, std::vector<int64_t>{0}).message(),
            "1 labels for 2 rows of scores of shape [2,3]; each row needs one");
  EXPECT_EQ(counter.Add(scores, std::vector<int64_t>{0, 3}).message(), "label 3 is not one of the 3 classes");
  EXPECT_EQ(counter.top1_accuracy(), std::nullopt);
}

}  // namespace
}  // namespace halftone
