// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/message_differencer.h"
#include "report/figures.h"
#include "report/names.h"
#include "report/table.h"

namespace halftone::report {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Fields of Environment that need not agree: what is compared (another build), or what follows from other fields.
constexpr const char* kMayDiffer[] = {"halftone_version", "build_id", "compiler", "threads"};

// Fields of BenchmarkRun that must agree.
constexpr const char* kSettings[] = {"preset", "threads", "instances", "batch", "cold_cache", "round_seconds"};

std::string ValueText(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (field.is_repeated()) {  // strings
    std::vector<std::string> values;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      values.push_back(reflection.GetRepeatedString(message, &field, i));
    }
    return values.empty() ? "none" : absl::StrJoin(values, " ");
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string value = reflection.GetString(message, &field);
      return value.empty() ? "unknown" : value;
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "yes" : "no";
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.GetEnum(message, &field)->name();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(reflection.GetDouble(message, &field));
    default:
      return "";
  }
}

void AddFieldDifference(const Message& a, const Message& b, const FieldDescriptor& field, absl::string_view what,
                        std::vector<std::string>& differences) {
  const std::string of_a = ValueText(a, field), of_b = ValueText(b, field);
  if (of_a == of_b) return;
  differences.push_back(absl::StrCat(what, " ", field.name(), ": ", Printable(of_a), " and ", Printable(of_b)));
}

// Only of a file whose figures are those of its samples.
absl::StatusOr<v1::Report> Checked(const v1::Report& report) {
  absl::StatusOr<v1::Report> computed = Recompute(report);
  if (!computed.ok()) return computed.status();
  const std::vector<std::string> differences = FigureDifferences(report, *computed);
  if (differences.empty()) return computed;
  return absl::InvalidArgumentError(
      absl::StrCat("its figures are not those of its samples: ", differences[0],
                   differences.size() > 1 ? absl::StrCat(" and ", differences.size() - 1, " more") : ""));
}

absl::Status Name(absl::string_view which, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(which, ": ", absl::string_view(status.message())));
}

std::vector<double> RoundMs(const v1::Variant& variant) {
  const auto& ms = variant.benchmark().round_medians_ms();
  return {ms.begin(), ms.end()};
}

std::string VerdictText(const v1::ComparedVariant& variant) {
  const std::string verdict = VerdictName(variant.speedup().verdict());
  return variant.valid() ? verdict : absl::StrCat(verdict, " INVALID");
}

void AddInvalidReasons(absl::string_view prefix, const v1::Benchmark& benchmark, v1::ComparedVariant& variant) {
  if (benchmark.valid()) return;
  for (const std::string& reason : benchmark.invalid_reasons())
    variant.add_invalid_reasons(absl::StrCat(prefix, reason));
  for (const std::string& reason : benchmark.noise()) variant.add_invalid_reasons(absl::StrCat(prefix, reason));
}

// What of machine and settings differs, one sentence each; empty: the numbers may be compared.
std::vector<std::string> ClassDifferences(const v1::Report& a, const v1::Report& b) {
  std::vector<std::string> differences;
  if (a.environment().isa() != b.environment().isa()) {
    differences.push_back(absl::StrCat("other instruction sets: ", Printable(a.environment().isa()), " and ",
                                       Printable(b.environment().isa())));
  }
  const auto& environment = *v1::Environment::descriptor();
  for (int i = 0; i < environment.field_count(); ++i) {
    const FieldDescriptor& field = *environment.field(i);
    const bool may_differ = std::any_of(std::begin(kMayDiffer), std::end(kMayDiffer),
                                        [&](const char* name) { return field.name() == name; });
    if (may_differ || field.name() == "isa") continue;
    AddFieldDifference(a.environment(), b.environment(), field, "environment", differences);
  }
  for (const char* name : kSettings) {
    AddFieldDifference(a.benchmark_run(), b.benchmark_run(), *v1::BenchmarkRun::descriptor()->FindFieldByName(name),
                       "benchmark", differences);
  }
  if (a.model_digest().sha256() != b.model_digest().sha256()) {
    differences.push_back(absl::StrCat("other models: ", Printable(a.model()), " and ", Printable(b.model())));
  }
  return differences;
}

}  // namespace

absl::StatusOr<v1::Comparison> Compare(const v1::Report& a, const v1::Report& b) {
  const absl::StatusOr<v1::Report> checked_a = Checked(a), checked_b = Checked(b);
  if (!checked_a.ok()) return Name("A", checked_a.status());
  if (!checked_b.ok()) return Name("B", checked_b.status());
  v1::Comparison comparison;
  for (const std::string& difference : ClassDifferences(a, b)) comparison.add_warnings(difference);
  double log_sum = 0;
  int counted = 0;
  for (const v1::Variant& of_a : checked_a->variants()) {
    const v1::Variant* of_b = FindVariant(*checked_b, of_a.precision());
    if (of_b == nullptr || !of_a.not_measured().empty() || !of_b->not_measured().empty()) continue;
    const std::vector<double> ms_a = RoundMs(of_a), ms_b = RoundMs(*of_b);
    const std::optional<RatioEstimate> ratio = CompareRuns(ms_a, ms_b, static_cast<uint32_t>(a.seed()));
    if (!ratio.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "at least ", kFewestRounds, " rounds in each are needed; there are ", ms_a.size(), " and ", ms_b.size()));
    }
    v1::ComparedVariant& variant = *comparison.add_variants();
    variant.set_precision(of_a.precision());
    variant.set_a_ms(Median(ms_a));
    variant.set_b_ms(Median(ms_b));
    *variant.mutable_speedup() = ToSpeedup(*ratio);
    variant.set_valid(of_a.benchmark().valid() && of_b->benchmark().valid());
    AddInvalidReasons("A: ", of_a.benchmark(), variant);
    AddInvalidReasons("B: ", of_b->benchmark(), variant);
    if (of_a.precision() == v1::PRECISION_ORIGINAL) continue;
    log_sum += std::log(variant.speedup().median());
    ++counted;
  }
  if (comparison.variants().empty()) return absl::InvalidArgumentError("the reports have no variant in common");
  if (counted > 0) comparison.set_geometric_mean_speedup(std::exp(log_sum / counted));
  return comparison;
}

std::string ComparisonTable(const v1::Comparison& comparison) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"variant", "A ms", "B ms", "A / B (95 % interval)", "B is"}};
  for (const v1::ComparedVariant& variant : comparison.variants()) {
    const v1::Speedup& s = variant.speedup();
    rows.push_back({PrecisionName(variant.precision()), absl::StrFormat("%.4f", variant.a_ms()),
                    absl::StrFormat("%.4f", variant.b_ms()),
                    absl::StrFormat("%.3f (%.3f .. %.3f)", s.median(), s.low(), s.high()), VerdictText(variant)});
  }
  std::array<size_t, 4> width{};
  for (const Row& row : rows) {
    for (size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text = absl::StrCat("A  ", Printable(comparison.a()), "\nB  ", Printable(comparison.b()), "\n");
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-*s", static_cast<int>(width[0]), row[0]);
    for (size_t c = 1; c < width.size(); ++c) absl::StrAppendFormat(&text, "  %*s", static_cast<int>(width[c]), row[c]);
    absl::StrAppend(&text, "  ", row[4], "\n");
  }
  return text;
}

}  // namespace halftone::report
