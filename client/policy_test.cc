// SPDX-License-Identifier: Apache-2.0
#include "client/policy.h"

#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace halftone::client {
namespace {

v1::Policy Expected(const char* text) {
  v1::Policy policy;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &policy));
  return policy;
}

void ExpectPolicy(const char* file, const char* expected) {
  const absl::StatusOr<v1::Policy> policy = ParsePolicy(file, "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*policy, Expected(expected))) << policy->DebugString();
}

constexpr char kFull[] = R"pb(
  planner: PLANNER_LISTS
  precisions: PRECISION_BF16
  lists {
    allow { add: "Foo" }
    deny { remove: "Exp" }
  }
  nodes { match: "conv1.*" precision: PRECISION_FP32 }
  nodes { match: "head/.*" precision: PRECISION_BF16 }
  allow_emulation: true
  dialect: DIALECT_ONNXRUNTIME
  passes: "fold_batch_norms"
  passes: "round_weights(num_steps=64)"
  verify_passes: true
)pb";

TEST(Policy, Yaml) {
  ExpectPolicy(R"(# for the camera
planner: lists
precisions: [bf16]
lists:
  allow: {add: [Foo]}
  deny:
    remove:
      - Exp
nodes:
  - {match: "conv1.*", precision: fp32}
  - match: head/.*
    precision: bf16
allow_emulation: true
dialect: onnxruntime
passes: [fold_batch_norms, round_weights(num_steps=64)]
verify_passes: true
)",
               kFull);
}

TEST(Policy, Json) {
  ExpectPolicy(R"json({"planner": "lists", "precisions": ["bf16"],
    "lists": {"allow": {"add": ["Foo"]}, "deny": {"remove": ["Exp"]}},
    "nodes": [{"match": "conv1.*", "precision": "fp32"}, {"match": "head\/.*", "precision": "bf16"}],
    "allow_emulation": true, "dialect": "onnxruntime", "verify_passes": true,
    "passes": ["fold_batch_norms", "round_weights(num_steps=64)"]})json",
               kFull);
}

TEST(Policy, JsonIndentedByTabs) {
  ExpectPolicy("{\n\t\"precisions\": [\n\t\t\"bf16\"\n\t],\n\t\"nodes\": []\n}\n", "precisions: PRECISION_BF16");
}

TEST(Policy, EmptyFilesAndEmptyKeysSayNothing) {
  ExpectPolicy("", "");
  ExpectPolicy("# nothing\n", "");
  ExpectPolicy("lists:\nnodes:\n", "");
}

TEST(Policy, RulesKeepTheirOrder) {
  const absl::StatusOr<v1::Policy> policy =
      ParsePolicy("nodes: [{match: b, precision: fp32}, {match: a, precision: bf16}]", "p");
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->nodes(0).match(), "b");
  EXPECT_EQ(policy->nodes(1).match(), "a");
}

struct Wrong {
  const char* name;
  const char* file;
  const char* message;  // the whole of it
};

// As people get them wrong.
const Wrong kWrong[] = {
    {"KeyUnknown", "planer: lists", "p.yaml:1:1: unknown key 'planer' in the policy; did you mean 'planner'?"},
    {"KeySingular", "\nprecision: [bf16]",
     "p.yaml:2:1: unknown key 'precision' in the policy; did you mean 'precisions'?"},
    {"KeyFarFromAny", "zzz: 1",
     "p.yaml:1:1: unknown key 'zzz' in the policy; known are planner, precisions, lists, nodes, "
     "allow_emulation, dialect, passes, verify_passes, lists_version, op_types, keep_first, keep_last, bf16_math_mode, "
     "target_runtime, "
     "lists_level, int8"},
    {"KeyOfAList", "lists:\n  alow: {add: [Foo]}", "p.yaml:2:3: unknown key 'alow' in 'lists'; did you mean 'allow'?"},
    {"KeyOfAnEdit", "lists: {allow: {ad: [Foo]}}", "p.yaml:1:17: unknown key 'ad' in 'allow'; did you mean 'add'?"},
    {"KeyOfARule", "nodes:\n  - match: a\n    precision: fp32\n    why: x",
     "p.yaml:4:5: unknown key 'why' in one of 'nodes'; known are match, precision, op, name, min_precision, "
     "max_precision"},
    {"KeyTwice", "keep_last: true\nkeep_last: false", "p.yaml:2:1: key 'keep_last' is given twice in the policy"},
    {"KeyIsAList", "? [a, b]\n: 1", "p.yaml:1:3: the policy: a key must be a word, found a list"},
    {"PrecisionUnknown", "precisions: [bf61]", "p.yaml:1:14: no precision 'bf61'; did you mean 'bf16'?"},
    {"PrecisionUpperCase", "precisions: [BF16]", "p.yaml:1:14: no precision 'BF16'; did you mean 'bf16'?"},
    {"PrecisionNotOurs", "precisions: [quarter]",
     "p.yaml:1:14: no precision 'quarter'; known are original, fp32, bf16, fp16, int8"},
    {"PrecisionOriginal", "precisions: [original]",
     "p.yaml:1:14: precisions: original is always measured, leave it out"},
    {"PrecisionTwice", "precisions: [bf16, bf16]", "p.yaml:1:20: precisions: 'bf16' is given twice"},
    {"PrecisionUnspecified", "precisions: [precision_unspecified]",
     "p.yaml:1:14: no precision 'precision_unspecified'; known are original, fp32, bf16, fp16, int8"},
    {"PrecisionsNotAList", "precisions: bf16",
     "p.yaml:1:13: precisions: a list is expected, [...], found a single value"},
    {"PrecisionIsAMap", "precisions: [{a: b}]", "p.yaml:1:14: precisions: a single value is expected, found a map"},
    {"PlannerUnknown", "planner: list", "p.yaml:1:10: no planner 'list'; did you mean 'lists'?"},
    {"PlannerIsAList", "planner: [lists]", "p.yaml:1:10: planner: a single value is expected, found a list"},
    {"TargetRuntimeUnknown", "target_runtime: onnxruntim",
     "p.yaml:1:17: no target runtime 'onnxruntim'; did you mean 'onnxruntime'?"},
    {"OpTypesNotAList", "op_types: conv2d", "p.yaml:1:11: op_types: a list is expected, [...], found a single value"},
    {"DialectUnknown", "dialect: onnxruntim", "p.yaml:1:10: no dialect 'onnxruntim'; did you mean 'onnxruntime'?"},
    {"PassesNotAList", "passes: fold_constants", "p.yaml:1:9: passes: a list is expected, [...], found a single value"},
    {"PassCutAtItsComma", "passes: [rename_op(old=a, new=b)]",
     "p.yaml:1:10: passes: 'rename_op(old=a' is not NAME or NAME(ARGUMENT=VALUE, ...), in quotes if it has commas\n"
     "p.yaml:1:27: passes: 'new=b)' is not NAME or NAME(ARGUMENT=VALUE, ...), in quotes if it has commas"},
    {"ListsNotAMap", "lists: [Foo]", "p.yaml:1:8: 'lists': a map of keys is expected, found a list"},
    {"EditNotAMap", "lists: {deny: [Exp]}", "p.yaml:1:15: 'deny': a map of keys is expected, found a list"},
    {"OpsNotAList", "lists: {deny: {add: Exp}}", "p.yaml:1:21: add: a list is expected, [...], found a single value"},
    {"OpIsAMap", "lists: {deny: {add: [{Exp: 1}]}}", "p.yaml:1:22: add: a text is expected, found a map"},
    {"OpEmpty", "lists: {deny: {add: ['']}}", "p.yaml:1:22: add: the text is empty"},
    {"OpBothWays", "lists:\n  deny: {add: [Exp], remove: [Exp]}",
     "p.yaml:2:9: 'Exp' is both added to and removed from one list"},
    {"NodesNotAList", "nodes: {match: a, precision: fp32}",
     "p.yaml:1:8: nodes: a list is expected, [...], found a map"},
    {"RuleNotAMap", "nodes: [conv1]", "p.yaml:1:9: one of 'nodes': a map of keys is expected, found a single value"},
    {"RuleIsNothing", "nodes: [~]", "p.yaml:1:9: one of 'nodes': a map of keys is expected, found nothing"},
    {"RuleWithoutPrecision", "nodes:\n  - match: a",
     "p.yaml:2:5: a rule of 'nodes' needs a key 'precision', 'min_precision' or 'max_precision'"},
    {"RuleWithoutMatch", "nodes: [{precision: fp32}]",
     "p.yaml:1:9: a rule of 'nodes' needs a key 'match', 'op' or 'name'"},
    {"RuleWithPrecisionAndMinimum", "nodes: [{op: Conv, precision: bf16, min_precision: fp32}]",
     "p.yaml:1:9: a rule of 'nodes' has 'precision', or 'min_precision' and 'max_precision', not both"},
    {"RuleWithMinimumAboveMaximum", "nodes: [{op: Conv, min_precision: fp32, max_precision: fp16}]",
     "p.yaml:1:9: a rule of 'nodes': min_precision is above max_precision"},
    {"RuleMinimumOriginal", "nodes: [{name: a, min_precision: original}]",
     "p.yaml:1:34: min_precision: a node's precision is fp32, bf16, fp16 or int8"},
    {"RuleOriginal", "nodes: [{match: a, precision: original}]",
     "p.yaml:1:31: precision: a node's precision is fp32, bf16, fp16 or int8"},
    {"ForceWord", "keep_last: maybe", "p.yaml:1:12: keep_last: true or false is expected, found 'maybe'"},
    {"ForceYes", "keep_last: yes", "p.yaml:1:12: keep_last: true or false is expected, found 'yes'"},
    {"ForceQuoted", "keep_last: \"true\"", "p.yaml:1:12: keep_last: true or false is expected, found 'true'"},
    {"ForceNothing", "keep_last:", "p.yaml:1:1: keep_last: a value is expected, there is none"},
    {"NotAMap", "- a\n- b", "p.yaml:1:1: the policy: a map of keys is expected, found a list"},
    {"JustAWord", "bf16", "p.yaml:1:1: the policy: a map of keys is expected, found a single value"},
    {"ControlCharacters", "\"a\\eb\": 1",
     "p.yaml:1:1: unknown key 'a\\x1bb' in the policy; known are planner, precisions, lists, nodes, "
     "allow_emulation, dialect, passes, verify_passes, lists_version, op_types, keep_first, keep_last, bf16_math_mode, "
     "target_runtime, "
     "lists_level, int8"},
};

class PolicyWrong : public ::testing::TestWithParam<Wrong> {};

TEST_P(PolicyWrong, SaysWhereAndWhat) {
  const absl::StatusOr<v1::Policy> policy = ParsePolicy(GetParam().file, "p.yaml");
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(policy.status().message()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Cases, PolicyWrong, ::testing::ValuesIn(kWrong),
                         [](const auto& info) { return std::string(info.param.name); });

std::string Message(absl::string_view file) { return std::string(ParsePolicy(file, "p.yaml").status().message()); }

TEST(Policy, EveryKeyOfThePlannersIsRead) {
  const absl::StatusOr<v1::Policy> policy = ParsePolicy(
      "planner: placement\nlists_version: paddle-2.x\nop_types: [conv2d, 'fc']\nkeep_first: true\nkeep_last: true\n"
      "bf16_math_mode: true\ntarget_runtime: onnxruntime\nlists_level: UNSAFE_FORCE_ALL\nprecisions: [bf16, fp16]\n"
      "nodes:\n  - {op: 'Conv(', name: 'a(b', min_precision: bf16, max_precision: fp32}\n",
      "p.yaml");
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(policy->planner(), v1::PLANNER_PLACEMENT);
  EXPECT_EQ(policy->lists_version(), "paddle-2.x");
  EXPECT_EQ(policy->op_types_size(), 2);
  EXPECT_TRUE(policy->keep_first() && policy->keep_last() && policy->bf16_math_mode());
  EXPECT_EQ(policy->target_runtime(), v1::Policy::TARGET_RUNTIME_ONNXRUNTIME);
  EXPECT_EQ(policy->lists_level(), "UNSAFE_FORCE_ALL");
  EXPECT_EQ(policy->precisions(1), v1::PRECISION_FP16);
  EXPECT_EQ(policy->nodes(0).op(), "Conv(") << "only match is a regular expression";
  EXPECT_EQ(policy->nodes(0).name(), "a(b");
  EXPECT_EQ(policy->nodes(0).min_precision(), v1::PRECISION_BF16);
  EXPECT_EQ(policy->nodes(0).max_precision(), v1::PRECISION_FP32);
}

TEST(Policy, BadRegularExpressionHasItsPlace) {
  EXPECT_THAT(Message("nodes:\n  - {match: \"conv(\", precision: fp32}"),
              ::testing::StartsWith("p.yaml:2:13: match: 'conv(' is not a regular expression (RE2): "));
  EXPECT_THAT(Message("nodes: [{match: '" + std::string(1001, 'a') + "', precision: fp32}]"),
              ::testing::StartsWith("p.yaml:1:17: match: longer than 1000 characters"));
}

TEST(Policy, BadSyntaxHasItsPlace) {
  EXPECT_THAT(Message("keep_last: true\nlists: {allow: [}"),
              ::testing::StartsWith("p.yaml:2:17: neither YAML nor JSON: "));
  EXPECT_THAT(Message("{\"allow_emulation\": true"), ::testing::HasSubstr("neither YAML nor JSON: "));
  EXPECT_THAT(Message("a: b: c"), ::testing::StartsWith("p.yaml:1:5: neither YAML nor JSON: "));
  EXPECT_THAT(Message("lists: *nowhere"), ::testing::HasSubstr("neither YAML nor JSON: "));
  EXPECT_THAT(Message("keep_last: true\n---\nkeep_last: true\n"), ::testing::HasSubstr("a second document"));
}

TEST(Policy, AllProblemsAreSaidAtOnce) {
  EXPECT_EQ(Message("planer: lists\nprecisions: [bf61]\n"),
            "p.yaml:1:1: unknown key 'planer' in the policy; did you mean 'planner'?\n"
            "p.yaml:2:14: no precision 'bf61'; did you mean 'bf16'?");
}

TEST(Policy, HostileFilesAreErrorsNotCrashes) {
  EXPECT_FALSE(ParsePolicy(std::string(100'000, '['), "p").ok());
  EXPECT_FALSE(ParsePolicy(std::string(2 << 20, ' '), "p").ok());
  EXPECT_FALSE(ParsePolicy(std::string("\0\xff\xfe", 3), "p").ok());
}

TEST(Policy, NoFile) { EXPECT_EQ(LoadPolicy("/does/not/exist.yaml").status().code(), absl::StatusCode::kNotFound); }

TEST(Policy, Int8) {
  ExpectPolicy(R"(precisions: [int8]
nodes:
  - {op: Softmax, min_precision: bf16}
  - {op: Conv, max_precision: int8}
int8:
  calibration_method: percentile
  percentile: 99.9
  activations: s8
  fallback_precision: bf16
  quant_format: qoperator
  smooth_quant: true
  clip_weights: true
  reduce_range: true
  trim_ranges: 2.5
  accuracy_goal: {top1_drop: 0, cosine: 0.99}
  budget_seconds: 60
  no_config_search: true
)",
               R"pb(
                 precisions: PRECISION_INT8
                 nodes { op: "Softmax" min_precision: PRECISION_BF16 }
                 nodes { op: "Conv" max_precision: PRECISION_INT8 }
                 int8 {
                   calibration_method: "percentile"
                   percentile: 99.9
                   activations: "s8"
                   fallback_precision: PRECISION_BF16
                   quant_format: QUANT_FORMAT_QOPERATOR
                   smooth_quant: true
                   clip_weights: true
                   reduce_range: true
                   trim_ranges: 2.5
                   accuracy_goal { top1_drop: 0 cosine: 0.99 }
                   budget_seconds: 60
                   no_config_search: true
                 }
               )pb");
}

TEST(Policy, Int8ProblemsHavePlaces) {
  const absl::StatusOr<v1::Policy> policy = ParsePolicy(R"(precisions: [int8]
int8:
  calibration_method: entrpy
  percentile: 99
  activations: "u8"
  fallback_precision: fp16
  quant_format: qqd
  accuracy_goal: {top1_drop: 1, cosine: high}
  budget_seconds: 100000
nodes:
  - {op: Conv, min_precision: bf16, max_precision: int8}
)",
                                                        "p.yaml");
  ASSERT_FALSE(policy.ok());
  const std::string message(policy.status().message());
  for (const char* part :
       {"p.yaml:3:23: calibration_method: unknown value 'entrpy'; did you mean 'entropy'?",
        "p.yaml:4:15: percentile: needs calibration method percentile",
        "p.yaml:6:23: fallback_precision: should be fp32 or bf16",
        "p.yaml:7:17: no quantization format 'qqd'; did you mean 'qdq'?",
        "p.yaml:8:18: accuracy_goal: top1-drop is a share from 0 to 0.5, is 1; one percentage point is 0.01",
        "p.yaml:8:41: cosine: a number is expected, found 'high'",
        "p.yaml:9:19: budget_seconds: should be 0 to 86400 seconds",
        "p.yaml:11:5: a rule of 'nodes': min_precision is above max_precision"}) {
    EXPECT_THAT(message, ::testing::HasSubstr(part));
  }
}

}  // namespace
}  // namespace halftone::client
