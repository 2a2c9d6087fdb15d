// SPDX-License-Identifier: Apache-2.0
#include "formats/ranges/ranges_json.h"

#include <charconv>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "nlohmann/json.hpp"

namespace halftone {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "halftone-ranges";
constexpr int kVersion = 2;
constexpr char kSyntheticWarning[] =
    "These ranges come from random numbers, not from data: real data have others, and a model quantized with these "
    "may compute wrong outputs.";

// The shortest decimal that reads back to the same f32, as the f64 that JSON prints with the same digits.
double Shortest(float number) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number);
  double read = 0;
  std::from_chars(text, end.ptr, read);
  return static_cast<float>(read) == number ? read : number;
}

std::string Text(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json ToJson(const ValueRange& range) {
  Json json;
  json["min"] = Shortest(range.min);
  json["max"] = Shortest(range.max);
  json["calibration_method"] = std::string(CalibratorName(range.calibrator));
  json["observed_min"] = Shortest(range.observed_min);
  json["observed_max"] = Shortest(range.observed_max);
  json["count"] = range.count;
  json["zeros"] = range.zeros;
  json["bin_width"] = range.bin_width;
  json["channel_axis"] = range.channel_axis;
  json["channel_magnitudes"] = Json::array();
  for (const float magnitude : range.channel_magnitudes) json["channel_magnitudes"].push_back(Shortest(magnitude));
  json["channel_means"] = Json::array();
  for (const float mean : range.channel_means) json["channel_means"].push_back(Shortest(mean));
  json["still_widening"] = range.still_widening;
  return json;
}

// Reads the fields of one object; keeps the first error.
class Fields {
 public:
  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) Fail("", "must be an object");
  }

  const Json* Find(const std::string& key) {
    seen_.insert(key);
    if (!status_.ok()) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    Fail(key, "is missing");
    return nullptr;
  }
  void Skip(const std::string& key) { seen_.insert(key); }

  std::string Text(const std::string& key) {
    const Json* value = Find(key);
    if (value == nullptr) return "";
    if (!value->is_string()) Fail(key, "must be a string");
    return value->is_string() ? value->get<std::string>() : "";
  }
  bool Bool(const std::string& key) {
    const Json* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Fail(key, "must be true or false");
    return value->is_boolean() && value->get<bool>();
  }
  double Number(const std::string& key) {
    const Json* value = Find(key);
    return value == nullptr ? 0 : Number(key, *value);
  }
  float Float(const std::string& key) {
    const Json* value = Find(key);
    return value == nullptr ? 0 : Float(key, *value);
  }
  uint64_t Count(const std::string& key) {
    const Json* value = Find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_unsigned()) Fail(key, "must be an integer of at least 0");
    return value->is_number_unsigned() ? value->get<uint64_t>() : 0;
  }
  int64_t Integer(const std::string& key, int64_t least, int64_t most) {
    const Json* value = Find(key);
    if (value == nullptr) return 0;
    const bool fits = value->is_number_integer() && value->get<double>() >= static_cast<double>(least) &&
                      value->get<double>() <= static_cast<double>(most);
    if (!fits) Fail(key, Concat("must be an integer from ", least, " to ", most));
    return fits ? value->get<int64_t>() : 0;
  }
  std::vector<float> Floats(const std::string& key) {
    std::vector<float> result;
    const Json* value = Find(key);
    if (value == nullptr) return result;
    if (!value->is_array()) {
      Fail(key, "must be a list of numbers");
      return result;
    }
    for (const Json& element : *value) result.push_back(Float(Concat(key, "[", result.size(), "]"), element));
    return result;
  }
  Calibrator CalibratorOf(const std::string& key) {
    const std::string name = Text(key);
    const std::optional<Calibrator> calibrator = CalibratorFromName(name);
    if (!calibrator.has_value()) {
      std::string names;
      for (int i = 0; i <= static_cast<int>(Calibrator::kLog); ++i)
        names += Concat(i > 0 ? ", " : "", CalibratorName(static_cast<Calibrator>(i)));
      Fail(key, Concat("is '", name, "', must be one of ", names));
    }
    return calibrator.value_or(Calibrator::kMinMax);
  }
  std::string Digest(const std::string& key) {
    const std::string digest = Text(key);
    if (!digest.empty() && !IsSha256Hex(digest)) Fail(key, "must be empty or 64 lower-case hexadecimal digits");
    return digest;
  }

  void Fail(const std::string& key, TextArg what) {
    if (!status_.ok()) return;
    const std::string_view dot = path_.empty() || key.empty() ? "" : ".";
    const std::string field = Concat(path_, dot, key);
    status_ = absl::InvalidArgumentError(field.empty() ? Concat("the file ", what.std())
                                                       : Concat("field '", field, "' ", what.std()));
  }
  // The first error; else that of a key that is not a field.
  absl::Status Finish() {
    if (!status_.ok()) return status_;
    for (const auto& [key, value] : object_.items()) {
      if (!seen_.contains(key)) Fail(key, "is not known");
    }
    return status_;
  }

 private:
  double Number(const std::string& key, const Json& value) {
    if (!value.is_number()) Fail(key, "must be a number");
    return value.is_number() ? value.get<double>() : 0;
  }
  float Float(const std::string& key, const Json& value) {
    const double number = Number(key, value);
    constexpr double kNoF32 = 0x1.ffffffp127;  // from here on numbers do not round to the largest f32
    if (std::fabs(number) >= kNoF32) Fail(key, Concat("is ", number, ", which is no f32"));
    return std::fabs(number) >= kNoF32 ? 0 : static_cast<float>(number);
  }

  const Json& object_;
  const std::string path_;
  std::set<std::string> seen_;
  absl::Status status_;
};

absl::StatusOr<ValueRange> ReadRange(const Json& json, const std::string& path) {
  Fields fields(json, path);
  ValueRange range;
  range.min = fields.Float("min");
  range.max = fields.Float("max");
  range.calibrator = fields.CalibratorOf("calibration_method");
  range.observed_min = fields.Float("observed_min");
  range.observed_max = fields.Float("observed_max");
  range.count = fields.Count("count");
  range.zeros = fields.Count("zeros");
  range.bin_width = fields.Number("bin_width");
  range.channel_axis = static_cast<int>(fields.Integer("channel_axis", -1, 63));
  range.channel_magnitudes = fields.Floats("channel_magnitudes");
  range.channel_means = fields.Floats("channel_means");
  range.still_widening = fields.Bool("still_widening");
  if (range.min > range.max) fields.Fail("min", Concat("is ", range.min, ", above the max ", range.max));
  if (range.observed_min > range.observed_max) fields.Fail("observed_min", "is above observed_max");
  const size_t means = range.channel_means.size(), channels = range.channel_magnitudes.size();
  if (means != 0 && means != channels)
    fields.Fail("channel_means", Concat("has ", means, " numbers, channel_magnitudes has ", channels));
  if (range.zeros > range.count) fields.Fail("zeros", "is above count");
  HALFTONE_RETURN_IF_ERROR(fields.Finish());
  return range;
}

absl::StatusOr<RangesFile> Read(const Json& json) {
  Fields fields(json, "");
  RangesFile file;
  const std::string format = fields.Text("format");
  if (format != kFormat) fields.Fail("format", Concat("is '", format, "', must be '", kFormat, "'"));
  const uint64_t version = fields.Count("version");
  if (version != kVersion) fields.Fail("version", Concat("is ", version, "; this program reads version ", kVersion));
  file.tool_version = fields.Text("tool_version");
  file.model_sha256 = fields.Digest("model_sha256");
  file.samples_sha256 = fields.Digest("samples_sha256");
  file.calibrator = fields.CalibratorOf("calibration_method");
  const std::string type = fields.Text("type");
  file.integers.type = DataTypeFromName(type).value_or(DataType::kUnknown);
  if (file.integers.type != DataType::kUInt8 && file.integers.type != DataType::kInt8)
    fields.Fail("type", Concat("is '", type, "', must be u8 or s8"));
  file.integers.symmetric = fields.Bool("symmetric");
  file.integers.narrow = fields.Bool("narrow");
  file.percentile = fields.Number("percentile");
  file.ranges.samples = fields.Integer("samples", 0, int64_t{1} << 53);
  file.ranges.synthetic = fields.Bool("synthetic");
  fields.Skip("warning");
  const Json* values = fields.Find("values");
  if (values != nullptr && !values->is_object()) fields.Fail("values", "must be an object");
  HALFTONE_RETURN_IF_ERROR(fields.Finish());
  for (const auto& [name, value] : values->items()) {
    HALFTONE_ASSIGN_OR_RETURN(file.ranges.values[name], ReadRange(value, Concat("values.", name)));
  }
  return file;
}

}  // namespace

std::string WriteRanges(const RangesFile& file) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["tool_version"] = file.tool_version;
  if (file.ranges.synthetic) json["warning"] = kSyntheticWarning;
  json["model_sha256"] = file.model_sha256;
  json["samples_sha256"] = file.samples_sha256;
  json["calibration_method"] = std::string(CalibratorName(file.calibrator));
  json["type"] = std::string(DataTypeName(file.integers.type));
  json["symmetric"] = file.integers.symmetric;
  json["narrow"] = file.integers.narrow;
  json["percentile"] = file.percentile;
  json["samples"] = file.ranges.samples;
  json["synthetic"] = file.ranges.synthetic;
  std::string text = Text(json, /*indent=*/1);
  text.resize(text.size() - std::string_view("\n}").size());
  text += ",\n \"values\": {";
  std::string_view comma = "";
  for (const auto& [name, range] : file.ranges.values) {  // a line each
    text += Concat(comma, "\n  ", Text(name, /*indent=*/-1), ": ", Text(ToJson(range), /*indent=*/-1));
    comma = ",";
  }
  return text + "\n }\n}\n";
}

absl::StatusOr<RangesFile> ReadRanges(std::string_view text, std::string_view label) {
  const Json json = Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError(Concat(label, ": the file is not JSON"));
  absl::StatusOr<RangesFile> file = Read(json);
  if (!file.ok()) return Annotate(file.status(), label);
  return file;
}

}  // namespace halftone
