// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "halftone/v1/jobs.pb.h"
#include "nlohmann/json.hpp"

namespace halftone::report {
namespace {

using ::testing::HasSubstr;

// Every field of this Report has a value; the first test fails when one is added to the proto and not here.
constexpr char kFull[] = "report/testdata/full_report.textproto";
constexpr char kFullJson[] = "report/testdata/full_report.json";

std::string ReadText(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

v1::Report FullReport() {
  v1::Report report;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadText(kFull), &report));
  return report;
}

// Every field below `message` is set.
void ExpectFull(const google::protobuf::Message& message) {
  const auto& type = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    const bool set =
        field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
    EXPECT_TRUE(set) << field.full_name() << ": give it a value in " << kFull;
    if (!set || field.cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    ExpectFull(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, 0)
                                   : reflection.GetMessage(message, &field));
  }
}

TEST(ReportJson, GoldenOfEveryField) {
  const v1::Report report = FullReport();
  ExpectFull(report);
  EXPECT_EQ(ReportToJson(report), ReadText(kFullJson));
}

TEST(ReportJson, RoundTripKeepsEveryField) {
  const v1::Report report = FullReport();
  const absl::StatusOr<v1::Report> back = ReportFromJson(ReportToJson(report));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(report, *back)) << back->DebugString();
}

TEST(ReportJson, UnsetFieldsHaveKeys) {
  v1::Report report;
  report.add_variants()->set_precision(v1::PRECISION_FP32);
  const auto json = nlohmann::json::parse(ReportToJson(report));
  EXPECT_EQ(json["model_digest"]["size_bytes"], 0);
  EXPECT_EQ(json["environment"]["native_bf16"], false);
  EXPECT_EQ(json["warnings"], nlohmann::json::array());
  const auto& variant = json["variants"][0];
  EXPECT_EQ(variant["precision"], "fp32");
  EXPECT_EQ(variant["artifact"]["path"], "");
  EXPECT_EQ(variant["benchmark"]["speedup"]["low"], 0.0);
  EXPECT_EQ(variant["benchmark"]["valid"], false);
  EXPECT_EQ(variant["nodes"], nlohmann::json::array());
}

TEST(ReportJson, NanAndInfinityAreStrings) {
  v1::Report report;
  auto* fidelity = report.add_variants()->add_fidelity();
  fidelity->set_sqnr_db(std::nan(""));
  fidelity->set_max_abs_error(std::numeric_limits<double>::infinity());
  const std::string json = ReportToJson(report);
  EXPECT_THAT(json, HasSubstr("\"sqnr_db\": \"NaN\""));
  EXPECT_THAT(json, HasSubstr("\"max_abs_error\": \"Infinity\""));
  const absl::StatusOr<v1::Report> back = ReportFromJson(json);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(std::isnan(back->variants(0).fidelity(0).sqnr_db()));
  EXPECT_TRUE(std::isinf(back->variants(0).fidelity(0).max_abs_error()));
}

TEST(ReportJson, RejectsWhatIsNotAReport) {
  for (const char* text :
       {"", "[]", "{", "{\"modell\": \"x\"}", "{\"variants\": [{\"precision\": \"BF17\"}]}", "{\"seed\": \"many\"}"}) {
    EXPECT_EQ(ReportFromJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(MessageJson, OneofHasOnlyTheMemberThatIsSet) {
  v1::Job job;
  job.set_name("jobs/1");
  job.set_state(v1::JOB_STATE_RUNNING);
  job.mutable_create_time()->set_seconds(1700000000);
  job.mutable_spec()->mutable_inspect()->set_text(true);
  job.mutable_spec()->mutable_timeout()->set_seconds(90);
  const auto json = nlohmann::json::parse(MessageToJson(job));
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["create_time"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(json["spec"]["timeout"], "90s");
  EXPECT_TRUE(json["spec"].contains("inspect"));
  EXPECT_FALSE(json["spec"].contains("optimize"));
}

}  // namespace
}  // namespace halftone::report
