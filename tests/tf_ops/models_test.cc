// SPDX-License-Identifier: Apache-2.0
// Runs real models with loops through PrepareToRun and the engine and compares with the recorded outputs.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/npz/npz.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "optimizer/import.h"
#include "optimizer/prepare.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

class AudioModels : public ::testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(AudioModels, GiveTheRecordedOutputs) {
  const auto& [model, fuse] = GetParam();
  const char* shared = std::getenv("HALFTONE_SHARED");
  const std::string folder = shared == nullptr ? "" : Concat(shared, "/data/models/audio/");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with data/models";
  absl::StatusOr<Graph> graph = LoadModel({.path = Concat(folder, model, ".pb")});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(OpsThatCannotRun(*graph).empty());
  const std::unique_ptr<Target> target = MakeCpuTarget();
  const absl::Status prepared =
      PrepareToRun(*graph, DimSizes(), {}, fuse ? Preparation::kOptimize : Preparation::kPlain, *target);
  ASSERT_TRUE(prepared.ok()) << prepared;
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto npz = NpzReader::Open(folder + "io.npz", "io.npz");
  ASSERT_TRUE(npz.ok()) << npz.status();
  int clips = 0;
  for (const NpzArray& array : (*npz)->arrays()) {
    const std::string prefix = Concat(model, "__in__");
    if (!array.name.starts_with(prefix)) continue;
    ++clips;
    const std::string clip = array.name.substr(prefix.size());
    const Tensor in = *(*npz)->ReadAll((*npz)->Find(array.name));
    const Tensor out = *(*npz)->ReadAll((*npz)->Find(Concat(model, "__out__", clip)));
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(std::vector<Tensor>{in});
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(reference::Compare((*actual)[0].WithDims(out.dims()), out, 1e-4f, 1e-5f), "") << clip;
  }
  EXPECT_EQ(clips, 4);
}

INSTANTIATE_TEST_SUITE_P(All, AudioModels,
                         ::testing::Combine(::testing::Values("DS_CNN_S_mfcc", "CNN_S_mfcc", "GRU_S_mfcc",
                                                              "LSTM_S_mfcc"),
                                            ::testing::Bool()));

}  // namespace
}  // namespace halftone
