// SPDX-License-Identifier: Apache-2.0
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
  ExpectError({"optimize", "m.onnx", "--min-speedup", "fast"}, 2, "--min-speedup fast: PRECISION=NUMBER is expected");
  ExpectError({"optimize", "m.onnx", "--min-speedup", "bf16=1", "--no-bench"}, 2, "leave out --no-bench");
  ExpectError({"optimize", "m.onnx", "--max-top1-drop", "bf16=0.01"}, 2, "give --eval");
  ExpectError({"optimize", "m.onnx", "--min-sqnr", "bf16=30", "--precision", "fp32"}, 2,
              "no bf16 variant is asked for");
  ExpectError({"optimize", "m.onnx", "--max-top1-drop", "bf16=1"}, 2, "one percentage point is 0.01");
  ExpectError({"optimize", "m.onnx", "--max-top1-drop", "1"}, 2, "is --accuracy-goal");
}

TEST_F(CommandsTest, FlagsOfInt8NeedInt8) {
  const std::vector<std::vector<std::string>> flags = {{"--ranges", "r.json"},
                                                       {"--calibration-method", "entropy"},
                                                       {"--percentile", "99.9"},
                                                       {"--activations", "s8"},
                                                       {"--symmetric"},
                                                       {"--per-tensor-weights"},
                                                       {"--fallback-precision", "bf16"},
                                                       {"--quant-format", "qdq"},
                                                       {"--int8-mode", "weight-only"},
                                                       {"--no-bias-correction"},
                                                       {"--no-equalization"},
                                                       {"--smooth-quant"},
                                                       {"--clip-weights"},
                                                       {"--reduce-range"},
                                                       {"--trim-ranges", "2"},
                                                       {"--no-ranges-cache"},
                                                       {"--no-config-search"},
                                                       {"--sensitivity"},
                                                       {"--accuracy-goal", "cosine=0.99"},
                                                       {"--budget", "10"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> words = {"optimize", "/none.onnx"};
    words.insert(words.end(), flag.begin(), flag.end());
    ExpectError(words, 2, "needs --precision int8");
  }
}

TEST_F(CommandsTest, WrongFlagsOfInt8) {
  const auto expect = [this](std::vector<std::string> flags, int code, const char* message) {
    flags.insert(flags.begin(), {"optimize", "/none.onnx", "--precision", "int8"});
    ExpectError(flags, code, message);
  };
  expect({"--calibration-method", "percentil"}, 2,
         "--calibration-method: unknown value 'percentil'; did you mean 'percentile'?");
  expect({"--activations", "u9"}, 2, "did you mean 'u8'?");
  expect({"--percentile", "99"}, 2, "--percentile: needs calibration method percentile");
  expect({"--percentile", "101", "--calibration-method", "percentile"}, 2, "--percentile");
  expect({"--fallback-precision", "fp16"}, 2, "--fallback-precision: should be fp32 or bf16, is fp16");
  expect({"--fallback-precision", "bf61"}, 2, "did you mean 'bf16'?");
  expect({"--quant-format", "qoperatr"}, 2, "did you mean 'qoperator'?");
  expect({"--int8-mode", "dynamik"}, 2, "did you mean 'dynamic'?");
  expect({"--int8-mode", "weight-only", "--calibration-method", "entropy"}, 2,
         "--int8-mode: weight-only has no calibration and excludes a calibration method");
  expect({"--trim-ranges", "51"}, 2, "--trim-ranges: should be 0 to 50 percent, is 51");
  expect({"--trim-ranges", "some"}, 2, "--trim-ranges some: a number is expected");
  expect({"--accuracy-goal", "cosine=1.5"}, 2, "--accuracy-goal: cosine should be -1 to 1, is 1.5");
  expect({"--accuracy-goal", "cosine=high"}, 2, "--accuracy-goal cosine=high: the value should be a number");
  expect({"--accuracy-goal", "top1-drop=1"}, 2,
         "--accuracy-goal: top1-drop is a share from 0 to 0.5, is 1; one percentage point is 0.01");
  expect({"--accuracy-goal", "1"}, 2, "--accuracy-goal 1: KEY=VALUE is expected, with one of the keys top1-drop, sqnr");
  expect({"--accuracy-goal", "top1drop=0.01"}, 2, "unknown key 'top1drop'; did you mean 'top1-drop'?");
  expect({"--accuracy-goal", "sqnr=20", "--accuracy-goal", "sqnr=30"}, 2, "sqnr is given twice");
  expect({"--budget", "10"}, 2, "--budget: needs an accuracy goal");
  expect({"--min-sqnr", "bf16=30"}, 2, "no bf16 variant is asked for");
  expect({"--accuracy-goal", "top1-drop=0.01,sqnr=20", "--accuracy-goal", "cosine=0.9", "--budget", "5"}, 3,
         "no such file");
  ExpectError({"profile", "m.onnx", "--smooth-quant"}, 2, "--smooth-quant needs --precision int8");
  ExpectError({"profile", "/none.onnx", "--precision", "int8", "--smooth-quant"}, 3, "no such file");
}

TEST(SetInt8, FlagsOverrideThePolicy) {
  v1::Policy policy;
  policy.add_precisions(v1::PRECISION_INT8);
  policy.mutable_int8()->set_calibration_method("entropy");
  policy.mutable_int8()->set_smooth_quant(true);
  Int8Flags flags;
  flags.calibration_method = "percentile";
  flags.percentile = 99.9;
  flags.fallback_precision = "bf16";
  flags.quant_format = "qoperator";
  flags.accuracy_goal = {"top1-drop=0"};
  const absl::Status set = SetInt8(flags, &policy);
  ASSERT_TRUE(set.ok()) << set;
  EXPECT_EQ(policy.int8().calibration_method(), "percentile");
  EXPECT_EQ(policy.int8().percentile(), 99.9);
  EXPECT_TRUE(policy.int8().smooth_quant());
  EXPECT_EQ(policy.int8().fallback_precision(), v1::PRECISION_BF16);
  EXPECT_EQ(policy.int8().quant_format(), v1::QUANT_FORMAT_QOPERATOR);
  EXPECT_TRUE(policy.int8().accuracy_goal().has_top1_drop());
  EXPECT_FALSE(policy.int8().accuracy_goal().has_cosine());
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
  ExpectError({"inspect", "m.onnx", "--weights"}, 2, "--weights needs --text");
  ExpectError({"inspect", "m.onnx", "--precision-plan", "magic"}, 2, "--precision-plan");
  ExpectError({"inspect", "m.onnx", "--text", "--json"}, 2, "--json");
  ExpectError({"inspect", "m.onnx", "--precision-plan", "lists", "--precision", "fp32"}, 2, "--precision");
  ExpectError({"jobs", "list", "--state", "asleep"}, 2, "--state");
  ExpectError({"bench", "m.onnx", "--preset", "sloppy"}, 2, "--preset");
  ExpectError({"bench", "m.onnx", "--cores", "0,x"}, 2, "--cores");
  ExpectError({"bench", "m.onnx", "--export", "xml"}, 2, "no format 'xml'; there are json, csv");
  ExpectError({"bench", "m.onnx", "--export", "csv", "--export", "text"}, 2, "only one format can be printed");
  ExpectError({"bench", "a.onnx", "b.onnx", "--json"}, 2, "give one model");
  ExpectError({"bench", "a/m.onnx", "b/m.onnx", "--out", "o"}, 2, "two models would be reported in o/m");
  ExpectError({"jobs", "cancel"}, 2, "NAME");
}

TEST_F(CommandsTest, WhatChangesAPlanNeedsOne) {
  const std::vector<std::vector<std::string>> flags = {
      {"--policy", "p.yaml"}, {"--precision", "fp16"}, {"--lists-version", "itex"}, {"--op-types", "fc"},
      {"--keep-first"},       {"--keep-last"},         {"--pass", "f(a=1)"},        {"--verify-passes"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> words = {"inspect", "m.onnx"};
    words.insert(words.end(), flag.begin(), flag.end());
    ExpectError(words, 2, (flag[0] + " needs --precision-plan").c_str());
    words.insert(words.end(), {"--precision-plan", "placement", "--policy", "/none.yaml"});
    if (flag[0] != "--policy") ExpectError(words, 2, "/none.yaml");
  }
}

TEST_F(CommandsTest, CompareReadsReports) {
  ExpectError({"compare", "/none.json", "/none.json"}, 2, "/none.json");
  ExpectError({"compare", "/none.json", "/none.json", "--max-slowdown", "5%"}, 2, "5 % is 0.05");
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
  ExpectError({"capabilities", "--server", "unix:/none/socket"}, 6, "server unreachable at unix:/none/socket");
  ExpectError({"health", "--server", "unix:/none/socket", "--timeout", "0.5"}, 6, "server unreachable");
  ExpectError({"health", "--server", "nonsense"}, 2, "HOST:PORT or unix:PATH is expected");
  ExpectError({"capabilities", "--halftoned", "/none/halftoned"}, 6, "/none/halftoned: no such program");
}

TEST(ToPolicy, FlagsOverrideTheFile) {
  const absl::StatusOr<v1::Policy> policy = ToPolicy({.precisions = {"fp32", "bf16", "bf16"}, .allow_emulation = true});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->precisions_size(), 2);
  EXPECT_TRUE(policy->allow_emulation());
  EXPECT_FALSE(ToPolicy({.precisions = {"original"}}).ok());
}

TEST(ToPolicy, DialectAndPasses) {
  const absl::StatusOr<v1::Policy> policy =
      ToPolicy({.dialect = "onnxruntime", .passes = {"a", "b(c=1, d=2)"}, .verify_passes = true});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->dialect(), v1::DIALECT_ONNXRUNTIME);
  EXPECT_EQ(policy->passes(1), "b(c=1, d=2)");
  EXPECT_TRUE(policy->verify_passes());
}

TEST(ToPolicy, PlannerFlags) {
  const absl::StatusOr<v1::Policy> policy = ToPolicy({.precisions = {"fp16"},
                                                      .planner = "placement",
                                                      .lists_version = "paddle-2.x",
                                                      .op_types = {"conv2d", "fc"},
                                                      .keep_first = true,
                                                      .keep_last = true,
                                                      .bf16_math_mode = true,
                                                      .target_runtime = "onnxruntime"});
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->precisions(0), v1::PRECISION_FP16);
  EXPECT_EQ(policy->planner(), v1::PLANNER_PLACEMENT);
  EXPECT_EQ(policy->lists_version(), "paddle-2.x");
  EXPECT_EQ(policy->op_types(1), "fc");
  EXPECT_TRUE(policy->keep_first() && policy->keep_last() && policy->bf16_math_mode());
  EXPECT_EQ(policy->target_runtime(), v1::Policy::TARGET_RUNTIME_ONNXRUNTIME);
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

TEST(ToBenchmarkSpec, DimsAndNoiseLimits) {
  const absl::StatusOr<v1::BenchmarkSpec> spec =
      ToBenchmarkSpec({.dims = {"seq_len=128", "a=b=2"}, .noise_limits = {"steal=0.05", "context-switches=100"}});
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->dims().at("seq_len"), 128);
  EXPECT_EQ(spec->dims().at("a=b"), 2);
  EXPECT_EQ(spec->noise_limits().steal(), 0.05);
  EXPECT_EQ(spec->noise_limits().context_switches(), 100);
  EXPECT_FALSE(spec->noise_limits().has_load());
  for (const char* wrong : {"seq_len", "=3", "n=0", "n=many"}) {
    EXPECT_THAT(ToBenchmarkSpec({.dims = {wrong}}).status().message(), HasSubstr("NAME=N is expected")) << wrong;
  }
  EXPECT_FALSE(ToBenchmarkSpec({.dims = {"n=1", "n=2"}}).ok());
  EXPECT_FALSE(ToBenchmarkSpec({.noise_limits = {"quiet=1"}}).ok());
}

// Group by group, the most used first.
TEST_F(CommandsTest, TheHelpOfOptimizeIsGrouped) {
  CLI::App app;
  Action action;
  AddCommands(app, &action);
  const std::string help = app.get_subcommand("optimize")->help();
  size_t last = 0;
  for (const char* group : {kModelGroup, kPrecisionGroup, kInt8Group, kEvaluationGroup, kGateGroup, kMeasuringGroup,
                            kDisplayGroup, kServerGroup, kAdvancedGroup}) {
    const size_t place = help.find(std::string("\n") + group);
    ASSERT_NE(place, std::string::npos) << group;
    EXPECT_GT(place, last) << group;
    last = place;
  }
  EXPECT_LT(help.find("--eval "), help.find("--op-types"));
}

TEST(ShellQuote, MakesOneWord) {
  EXPECT_EQ(ShellQuote("/a/b-c.d"), "/a/b-c.d");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote(""), "''");
}

}  // namespace
}  // namespace halftone::cli
