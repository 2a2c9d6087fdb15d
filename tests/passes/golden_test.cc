// SPDX-License-Identifier: Apache-2.0
// Runs every golden file of this folder; the file's name is the name of the rule, pass or pipeline.
//
//   bazel test //tests/passes:golden_test
//   bazel run //tests/passes:golden_test -- --update      # rewrites wrong `out` texts whose numbers agree

#include "tests/support/golden.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "formats/onnx/dialects.h"
#include "gtest/gtest.h"
#include "passes/export/merges.h"
#include "passes/fusion/rules.h"
#include "passes/precision/conversions.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

bool update = false;

// In the source tree when run by hand, else among the test's data.
std::string Folder() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return workspace == nullptr ? "tests/passes" : std::string(workspace) + "/tests/passes";
}

std::set<std::string> Files() {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".graph") files.insert(entry.path().stem().string());
  }
  return files;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, Cases) {
  for (const std::string& problem : RunGoldenCases(Folder() + "/" + GetParam() + ".graph", update)) {
    ADD_FAILURE() << problem << "\nrepeat with: bazel run //tests/passes:golden_test -- --gtest_filter='*" << GetParam()
                  << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(Files()), [](const auto& file) {
  std::string name = file.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// Every rule must have cases: otherwise it is untested.
TEST(GoldenFiles, EveryRuleHasOne) {
  for (const Rules& rules :
       {SimplifyRules(), FusionRules(), LastFusionRules(), ConversionRules(), MergeRules(OnnxRuntimeDialect())}) {
    for (const std::unique_ptr<RewriteRule>& rule : rules) {
      const std::string path = Folder() + "/" + std::string(rule->name()) + ".graph";
      const absl::StatusOr<std::string> text = ReadFile(path);
      ASSERT_TRUE(text.ok()) << "rule without golden file: " << text.status();
      const absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldenCases(*text);
      ASSERT_TRUE(cases.ok()) << path << ": " << cases.status();
      int kept = 0;
      for (const GoldenCase& golden : *cases) kept += golden.kept() ? 1 : 0;
      EXPECT_GE(static_cast<int>(cases->size()) - kept, 1) << path << " has no case that is changed";
      EXPECT_GE(kept, 3) << path << " has too few cases that are kept";
    }
  }
}

// What is taken apart for export must not be more than what the format has no word for.
TEST(GoldenFiles, EverySplitKeepsThree) {
  for (const std::string& file : Files()) {
    if (!file.starts_with("split-")) continue;
    const absl::StatusOr<std::string> text = ReadFile(Folder() + "/" + file + ".graph");
    ASSERT_TRUE(text.ok()) << text.status();
    const absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldenCases(*text);
    ASSERT_TRUE(cases.ok()) << file << ": " << cases.status();
    int kept = 0;
    for (const GoldenCase& golden : *cases) kept += golden.kept() ? 1 : 0;
    EXPECT_GE(kept, 3) << file << " has too few cases that are kept";
  }
}

// Every op of ONNX Runtime must be written by a case: otherwise its spelling is untested. (Those of a GraphDef:
// tests/formats/tensorflow/dialect_cases.h.)
TEST(GoldenFiles, EveryOpOfOnnxRuntimeIsWritten) {
  const absl::StatusOr<std::string> text = ReadFile(Folder() + "/export-onnxruntime.graph");
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::vector<GoldenCase>> cases = ParseGoldenCases(*text);
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const std::string_view op : OnnxRuntimeDialect().fused_ops) {
    const std::string spelled = " \"" + std::string(op) + "\" domain=\"com.microsoft\"";
    bool written = false;
    for (const GoldenCase& golden : *cases) written = written || golden.out.find(spelled) != std::string::npos;
    EXPECT_TRUE(written) << "export-onnxruntime.graph writes no " << op;
  }
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--update") == 0) halftone::update = true;
  }
  return RUN_ALL_TESTS();
}
