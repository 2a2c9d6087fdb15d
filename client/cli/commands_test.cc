// The command line as such: every command has an example in its help, wrong flags are found.

#include "client/cli/commands.h"

#include <cstdlib>

#include "base/files.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/int8_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::cli {
namespace {

using ::testing::HasSubstr;

class CommandsTest : public ::testing::Test {
 protected:
  // The error of the parser, or of the command itself (which must fail before it needs a server).
  absl::Status Do(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    CLI::App app;
    app.require_subcommand(1);
    Action action;
    AddCommands(app, &action);
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      return UsageError(error.what());
    }
    return action(interrupts_);
  }

  void ExpectError(const std::vector<std::string>& words, int code, const char* message) {
    const absl::Status status = Do(words);
    EXPECT_EQ(ExitCodeFor(status), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  Interrupts interrupts_;
};

void ExpectExamples(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    EXPECT_THAT(command->get_footer(), HasSubstr("halftone ")) << command->get_name();
    EXPECT_FALSE(command->get_description().empty()) << command->get_name();
    ExpectExamples(*command);
  }
}

TEST(AddCommands, EachHasAnExample) {
  CLI::App app;
  Action action;
  AddCommands(app, &action);
  ExpectExamples(app);
}

TEST_F(CommandsTest, GatesAreCheckedBeforeAnyWork) {
  ExpectError({"optimize", "m.onnx", "--min-speedup", "fast"}, 2, "--min-speedup fast: PRECISION=NUMBER is wanted");
  ExpectError({"optimize", "m.onnx", "--min-speedup", "bf16=1", "--no-bench"}, 2, "leave out --no-bench");
  ExpectError({"optimize", "m.onnx", "--max-top1-drop", "bf16=0.01"}, 2, "give --eval");
  ExpectError({"optimize", "m.onnx", "--min-sqnr", "bf16=30", "--precision", "fp32"}, 2,
              "no bf16 variant is asked for");
}

TEST_F(CommandsTest, FlagsOfInt8NeedInt8) {
  const std::vector<std::vector<std::string>> flags = {{"--ranges", "r.json"},
                                                       {"--calibrator", "entropy"},
                                                       {"--percentile", "99.9"},
                                                       {"--activations", "s8"},
                                                       {"--symmetric"},
                                                       {"--per-tensor-weights"},
                                                       {"--fallback-precision", "bf16"},
                                                       {"--quant-format", "qdq"},
                                                       {"--int8-mode", "weights"},
                                                       {"--no-bias-correction"},
                                                       {"--no-equalization"},
                                                       {"--smooth"},
                                                       {"--clip-weights"},
                                                       {"--reduce-range"},
                                                       {"--trim-ranges", "2"},
                                                       {"--no-ranges-cache"},
                                                       {"--no-config-search"},
                                                       {"--sensitivity"},
                                                       {"--min-cosine", "0.99"},
                                                       {"--max-top1-drop", "1"},
                                                       {"--min-sqnr", "30"},
                                                       {"--budget", "10"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> words = {"optimize", "/none.onnx"};
    words.insert(words.end(), flag.begin(), flag.end());
    ExpectError(words, 2, "goes with --precision int8");
  }
}

TEST_F(CommandsTest, WrongFlagsOfInt8) {
  const auto expect = [this](std::vector<std::string> flags, int code, const char* message) {
    flags.insert(flags.begin(), {"optimize", "/none.onnx", "--precision", "int8"});
    ExpectError(flags, code, message);
  };
  expect({"--calibrator", "percentil"}, 2, "--calibrator: no such word 'percentil'; did you mean 'percentile'?");
  expect({"--activations", "u9"}, 2, "did you mean 'u8'?");
  expect({"--percentile", "99"}, 2, "--percentile: goes with calibrator percentile");
  expect({"--percentile", "101", "--calibrator", "percentile"}, 2, "--percentile");
  expect({"--fallback-precision", "fp16"}, 2, "--fallback-precision: fp32 or bf16 is wanted, this is fp16");
  expect({"--fallback-precision", "bf61"}, 2, "did you mean 'bf16'?");
  expect({"--quant-format", "qoperatr"}, 2, "did you mean 'qoperator'?");
  expect({"--int8-mode", "dynamik"}, 2, "did you mean 'dynamic'?");
  expect({"--int8-mode", "weights", "--calibrator", "entropy"}, 2,
         "--int8-mode: weights needs no ranges of samples, and goes without a calibrator");
  expect({"--trim-ranges", "51"}, 2, "--trim-ranges: 0 to 50 percent is wanted, this is 51");
  expect({"--trim-ranges", "some"}, 2, "--trim-ranges some: a number is wanted");
  expect({"--min-cosine", "1.5"}, 2, "--min-cosine: -1 to 1 is wanted, this is 1.5");
  expect({"--min-cosine", "high"}, 2, "--min-cosine high: a number is wanted");
  expect({"--max-top1-drop", "101"}, 2, "--max-top1-drop: 0 to 100 percentage points is wanted");
  expect({"--max-top1-drop", "1", "--max-top1-drop", "2"}, 2, "--max-top1-drop: both 1 and 2 for int8");
  expect({"--budget", "10"}, 2, "--budget: goes with a goal");
  expect({"--min-sqnr", "bf16=30"}, 2, "no bf16 variant is asked for");
  expect({"--max-top1-drop", "1", "--min-sqnr", "20", "--min-cosine", "0.9", "--budget", "5"}, 3, "no such file");
  ExpectError({"profile", "m.onnx", "--smooth"}, 2, "--smooth goes with --precision int8");
  ExpectError({"profile", "/none.onnx", "--precision", "int8", "--smooth"}, 3, "no such file");
}

TEST(SetInt8, FlagsAreOverThePolicy) {
  v1::Policy policy;
  policy.add_precisions(v1::INT8);
  policy.mutable_int8()->set_calibrator("entropy");
  policy.mutable_int8()->set_smooth(true);
  Int8Flags flags;
  flags.calibrator = "percentile";
  flags.percentile = 99.9;
  flags.rest = "bf16";
  flags.form = "qoperator";
  flags.max_top1_drop = "0";
  const absl::Status set = SetInt8(flags, &policy);
  ASSERT_TRUE(set.ok()) << set;
  EXPECT_EQ(policy.int8().calibrator(), "percentile");
  EXPECT_EQ(policy.int8().percentile(), 99.9);
  EXPECT_TRUE(policy.int8().smooth());
  EXPECT_EQ(policy.int8().rest(), v1::BF16);
  EXPECT_EQ(policy.int8().form(), v1::QOPERATOR);
  EXPECT_TRUE(policy.int8().has_max_top1_drop());
  EXPECT_FALSE(policy.int8().has_min_cosine());
}

TEST_F(CommandsTest, AMissingModelIsABadModel) {
  ExpectError({"optimize", "/none.onnx"}, 3, "/none.onnx: no such file");
}

TEST_F(CommandsTest, WrongFlagsAreUsageErrors) {
  ExpectError({"optimize"}, 2, "MODEL");
  ExpectError({"optimize", "m.onnx", "--threads", "0"}, 2, "--threads");
  ExpectError({"optimize", "m.onnx", "--format", "tflite"}, 2, "--format");
  ExpectError({"optimize", "m.onnx", "--precision", "bf61"}, 2, "did you mean 'bf16'?");
  ExpectError({"optimize", "m.onnx", "--dialect", "onnxruntim"}, 2, "did you mean 'onnxruntime'?");
  ExpectError({"optimize", "m.onnx", "--planner", "placment"}, 2, "did you mean 'placement'?");
  ExpectError({"optimize", "m.onnx", "--target-runtime", "onnxruntim"}, 2, "did you mean 'onnxruntime'?");
  ExpectError({"optimize", "m.onnx", "--policy", "/none.yaml"}, 2, "/none.yaml");
  ExpectError({"inspect", "m.onnx", "--weights"}, 2, "--weights goes with --text");
  ExpectError({"inspect", "m.onnx", "--precision-plan", "magic"}, 2, "--precision-plan");
  ExpectError({"inspect", "m.onnx", "--text", "--json"}, 2, "--json");
  ExpectError({"inspect", "m.onnx", "--precision-plan", "lists", "--precision", "fp32"}, 2, "--precision");
  ExpectError({"jobs", "list", "--state", "asleep"}, 2, "--state");
  ExpectError({"bench", "m.onnx", "--profile", "sloppy"}, 2, "--profile");
  ExpectError({"bench", "m.onnx", "--cores", "0,x"}, 2, "--cores");
  ExpectError({"bench", "m.onnx", "--export", "xml"}, 2, "no format 'xml'; there are json, csv");
  ExpectError({"bench", "m.onnx", "--export", "csv", "--export", "text"}, 2, "only one format can be printed");
  ExpectError({"bench", "a.onnx", "b.onnx", "--json"}, 2, "give one model");
  ExpectError({"bench", "a/m.onnx", "b/m.onnx", "--out", "o"}, 2, "two models would be reported in o/m");
  ExpectError({"jobs", "cancel"}, 2, "NAME");
}

TEST_F(CommandsTest, WhatChangesAPlanNeedsOne) {
  const std::vector<std::vector<std::string>> flags = {
      {"--policy", "p.yaml"}, {"--precision", "fp16"}, {"--lists", "itex"},  {"--op-list", "fc"},
      {"--keep-first"},       {"--keep-last"},         {"--pass", "f(a=1)"}, {"--verify-passes"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> words = {"inspect", "m.onnx"};
    words.insert(words.end(), flag.begin(), flag.end());
    ExpectError(words, 2, (flag[0] + " goes with --precision-plan").c_str());
    words.insert(words.end(), {"--precision-plan", "placement", "--policy", "/none.yaml"});
    if (flag[0] != "--policy") ExpectError(words, 2, "/none.yaml");
  }
}

TEST_F(CommandsTest, CompareReadsReports) {
  ExpectError({"compare", "/none.json", "/none.json"}, 2, "/none.json");
  ExpectError({"compare", "/none.json", "/none.json", "--max-slowdown", "0.05"}, 2, "a percentage is wanted");
  const absl::StatusOr<TempDir> folder = TempDir::Create();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/report.json";
  ASSERT_TRUE(WriteFileAtomically(path, "{}").ok());
  ExpectError({"compare", path, path}, 3, "A: nothing was measured");
  ASSERT_TRUE(WriteFileAtomically(path, "[]").ok());
  ExpectError({"compare", path, path}, 3, "not a report");
}

TEST_F(CommandsTest, JobsNeedAServer) { ExpectError({"jobs", "list"}, 2, "give --server or set HALFTONE_SERVER"); }

TEST_F(CommandsTest, NoServerIsUnreachable) {
  ExpectError({"capabilities", "--server", "unix:/none/socket"}, 6, "no server answers at unix:/none/socket");
  ExpectError({"health", "--server", "unix:/none/socket", "--timeout", "0.5"}, 6, "no server answers");
  ExpectError({"health", "--server", "nonsense"}, 2, "HOST:PORT or unix:PATH is wanted");
  ExpectError({"capabilities", "--halftoned", "/none/halftoned"}, 6, "/none/halftoned: no such program");
}

TEST(ToPolicy, FlagsAreOverTheFile) {
  const absl::StatusOr<v1::Policy> policy = ToPolicy({.precisions = {"fp32", "bf16", "bf16"}, .force = true});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->precisions_size(), 2);
  EXPECT_TRUE(policy->force());
  EXPECT_FALSE(ToPolicy({.precisions = {"original"}}).ok());
}

TEST(ToPolicy, DialectAndPasses) {
  const absl::StatusOr<v1::Policy> policy =
      ToPolicy({.dialect = "onnxruntime", .passes = {"a", "b(c=1, d=2)"}, .verify_passes = true});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->dialect(), v1::ONNXRUNTIME);
  EXPECT_EQ(policy->passes(1), "b(c=1, d=2)");
  EXPECT_TRUE(policy->verify_passes());
}

TEST(ToPolicy, PlannerFlags) {
  const absl::StatusOr<v1::Policy> policy = ToPolicy({.precisions = {"fp16"},
                                                      .planner = "placement",
                                                      .lists_variant = "paddle-2.x",
                                                      .op_list = {"conv2d", "fc"},
                                                      .keep_first = true,
                                                      .keep_last = true,
                                                      .bf16_math_mode = true,
                                                      .target_runtime = "onnxruntime"});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->precisions(0), v1::FP16);
  EXPECT_EQ(policy->planner(), v1::PLACEMENT);
  EXPECT_EQ(policy->lists_variant(), "paddle-2.x");
  EXPECT_EQ(policy->op_list(1), "fc");
  EXPECT_TRUE(policy->keep_first() && policy->keep_last() && policy->bf16_math_mode());
  EXPECT_EQ(policy->target_runtime(), v1::Policy::ONNXRUNTIME);
  EXPECT_FALSE(SaysAnything({}));
  EXPECT_TRUE(SaysAnything({.keep_last = true}));
}

TEST(ToPolicy, TheEnvironmentOfTheCallerIsInIt) {
  setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD", "Foo", 1);
  const absl::StatusOr<v1::Policy> policy = ToPolicy({});
  unsetenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD");
  ASSERT_TRUE(policy.ok());
  ASSERT_EQ(policy->lists().allow().add_size(), 1);
  EXPECT_EQ(policy->lists().allow().add(0), "Foo");
}

TEST(ShellQuote, MakesOneWord) {
  EXPECT_EQ(ShellQuote("/a/b-c.d"), "/a/b-c.d");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote(""), "''");
}

}  // namespace
}  // namespace halftone::cli
