// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/time_util.h"
#include "nlohmann/json.hpp"
#include "report/names.h"

namespace halftone::report {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;
using Json = nlohmann::ordered_json;

Json MessageValue(const Message& message);

Json Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json EnumValue(const FieldDescriptor& field, int number) {
  const auto* value = field.enum_type()->FindValueByNumber(number);
  if (value == nullptr) return number;  // of a newer contract
  return ShortName(*value);
}

Json StringValue(const FieldDescriptor& field, const std::string& value) {
  return field.type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(value) : value;
}

Json SingularValue(const Message& message, const FieldDescriptor& field) {
  const Reflection& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return r.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Number(r.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Number(r.GetFloat(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumValue(field, r.GetEnumValue(message, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return StringValue(field, r.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageValue(r.GetMessage(message, &field));
  }
  return nullptr;
}

Json ElementValue(const Message& message, const FieldDescriptor& field, int i) {
  const Reflection& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r.GetRepeatedInt32(message, &field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return r.GetRepeatedInt64(message, &field, i);
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.GetRepeatedUInt32(message, &field, i);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.GetRepeatedUInt64(message, &field, i);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Number(r.GetRepeatedDouble(message, &field, i));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Number(r.GetRepeatedFloat(message, &field, i));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetRepeatedBool(message, &field, i);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumValue(field, r.GetRepeatedEnumValue(message, &field, i));
    case FieldDescriptor::CPPTYPE_STRING:
      return StringValue(field, r.GetRepeatedString(message, &field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageValue(r.GetRepeatedMessage(message, &field, i));
  }
  return nullptr;
}

// Of a map with string keys: an object, as in protobuf's JSON.
Json MapValue(const Message& message, const FieldDescriptor& field) {
  Json object = Json::object();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const Descriptor& type = *entry.GetDescriptor();
    const std::string key = entry.GetReflection()->GetString(entry, type.map_key());
    object[key] = SingularValue(entry, *type.map_value());
  }
  return object;
}

Json MessageValue(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  if (&type == google::protobuf::Timestamp::descriptor()) {
    return TimeUtil::ToString(static_cast<const google::protobuf::Timestamp&>(message));
  }
  if (&type == google::protobuf::Duration::descriptor()) {
    return TimeUtil::ToString(static_cast<const google::protobuf::Duration&>(message));
  }
  Json object = Json::object();
  for (int f = 0; f < type.field_count(); ++f) {
    const FieldDescriptor& field = *type.field(f);
    if (field.is_map()) {
      object[field.name()] = MapValue(message, field);
    } else if (field.is_repeated()) {
      Json array = Json::array();
      const int size = reflection.FieldSize(message, &field);
      for (int i = 0; i < size; ++i) array.push_back(ElementValue(message, field, i));
      object[field.name()] = std::move(array);
    } else if (field.containing_oneof() == nullptr || reflection.HasField(message, &field)) {
      object[field.name()] = SingularValue(message, field);
    }
  }
  return object;
}

// A scalar. Names in a model may hold bytes that are not UTF-8: they are replaced, because dump() would throw.
std::string ScalarText(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// As dump(2), but for columns of numbers (samples, medians), which are one line each.
void AppendText(const Json& value, const std::string& indent, std::string* text) {
  if (!value.is_structured() || value.empty()) {
    absl::StrAppend(text, ScalarText(value));
    return;
  }
  const bool numbers =
      value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& e) { return e.is_number(); });
  const std::string deeper = indent + "  ";
  absl::StrAppend(text, value.is_array() ? "[" : "{");
  bool first = true;
  for (const auto& [key, element] : value.items()) {
    if (!first) absl::StrAppend(text, numbers ? ", " : ",");
    first = false;
    if (!numbers) absl::StrAppend(text, "\n", deeper);
    if (value.is_object()) absl::StrAppend(text, ScalarText(key), ": ");
    AppendText(element, deeper, text);
  }
  if (!numbers) absl::StrAppend(text, "\n", indent);
  absl::StrAppend(text, value.is_array() ? "]" : "}");
}

void UseProtoNames(const Descriptor& type, Json* object);

// Protobuf's parser wants the full names of enum values; 0 is accepted for UNSPECIFIED.
void UseProtoName(const FieldDescriptor& field, Json* value) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    if (value->is_object()) UseProtoNames(*field.message_type(), value);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM && value->is_string()) {
    const std::string& name = value->get_ref<const std::string&>();
    const auto* found = FindEnumValue(*field.enum_type(), name);
    if (found == nullptr && name == ShortName(*field.enum_type()->value(0))) found = field.enum_type()->value(0);
    if (found != nullptr) *value = found->name();
  }
}

// In all of `object`, which stands for a message of this type.
void UseProtoNames(const Descriptor& type, Json* object) {
  for (auto& [key, value] : object->items()) {
    const FieldDescriptor* field = type.FindFieldByName(key);
    if (field == nullptr || field->is_map()) continue;
    if (!field->is_repeated()) {
      UseProtoName(*field, &value);
    } else if (value.is_array()) {
      for (Json& element : value) UseProtoName(*field, &element);
    }
  }
}

absl::Status Parse(absl::string_view text, absl::string_view what, Message* message) {
  const auto error = [&](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("not a ", what, ": ", why));
  };
  Json json = Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return error("no JSON object");
  UseProtoNames(*message->GetDescriptor(), &json);
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), message);
  return status.ok() ? absl::OkStatus() : error(status.message().as_string());
}

}  // namespace

std::string MessageToJson(const Message& message) {
  std::string text;
  AppendText(MessageValue(message), "", &text);
  text += "\n";
  return text;
}

absl::StatusOr<v1::Report> ReportFromJson(absl::string_view json) {
  v1::Report report;
  if (absl::Status status = Parse(json, "report", &report); !status.ok()) return status;
  return report;
}

absl::StatusOr<v1::Profile> ProfileFromJson(absl::string_view json) {
  v1::Profile profile;
  if (absl::Status status = Parse(json, "profile", &profile); !status.ok()) return status;
  return profile;
}

}  // namespace halftone::report
