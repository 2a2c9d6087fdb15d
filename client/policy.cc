// SPDX-License-Identifier: Apache-2.0
#include "client/policy.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/status.h"
#include "client/int8_policy.h"
#include "client/suggest.h"
#include "google/protobuf/descriptor.h"
#include "re2/re2.h"
#include "report/names.h"
#include "yaml-cpp/yaml.h"

namespace halftone::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxProblems = 20;
constexpr size_t kMaxRegexChars = 1000;

const char* KindOf(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    case YAML::NodeType::Scalar:
      return "a single value";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      return "nothing";
  }
  return "something else";
}

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

// The name of an enum in a message.
std::string EnumName(const FieldDescriptor& field) {
  if (field.enum_type() == v1::Planner_descriptor()) return "planner";
  if (field.enum_type() == v1::Policy::TargetRuntime_descriptor()) return "target runtime";
  if (field.enum_type() == v1::QuantFormat_descriptor()) return "quantization format";
  if (field.enum_type() == v1::Int8Mode_descriptor()) return "mode";
  return field.enum_type() == v1::Dialect_descriptor() ? "dialect" : "precision";
}

// Fills a message from YAML by its descriptor and collects every problem. The depth is that of the message type, whatever
// the file nests.
class Reader {
 public:
  explicit Reader(absl::string_view file) : file_(file) {}

  const std::vector<std::string>& problems() const { return problems_; }

  void Problem(const YAML::Mark& mark, absl::string_view what) {
    if (problems_.size() < kMaxProblems) {
      problems_.push_back(absl::StrCat(file_, ":", mark.line + 1, ":", mark.column + 1, ": ", what));
    }
  }

  void ReadMessage(const YAML::Node& node, absl::string_view where, Message* message) {
    if (!node.IsMap()) {
      Problem(node.Mark(), absl::StrCat(where, ": a map of keys is expected, found ", KindOf(node)));
      return;
    }
    const Descriptor& type = *message->GetDescriptor();
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        Problem(entry.first.Mark(), absl::StrCat(where, ": a key must be a word, found ", KindOf(entry.first)));
        continue;
      }
      const std::string& key = entry.first.Scalar();
      const FieldDescriptor* field = type.FindFieldByName(key);
      if (field == nullptr) {
        Problem(entry.first.Mark(), absl::StrCat("unknown key '", report::Printable(key), "' in ", where,
                                                 DidYouMean(key, FieldNames(type))));
      } else if (!seen.insert(key).second) {
        Problem(entry.first.Mark(), absl::StrCat("key '", key, "' is given twice in ", where));
      } else if (entry.second.IsNull()) {
        ReadNothing(entry.first, *field);
      } else if (field->is_repeated()) {
        ReadList(entry.second, *field, message);
      } else {
        ReadSingle(entry.second, *field, message);
      }
    }
    if (auto* rule = dynamic_cast<v1::NodeRule*>(message)) CheckNodeRule(node, *rule);
    if (auto* edit = dynamic_cast<v1::ListEdit*>(message)) CheckListEdit(node, *edit);
    if (auto* int8 = dynamic_cast<v1::Int8Policy*>(message)) CheckInt8(node, *int8);
  }

 private:
  // "key:" and nothing after it (which has no place of its own): no entries, but not a value.
  void ReadNothing(const YAML::Node& key, const FieldDescriptor& field) {
    const bool has_entries = field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!has_entries) Problem(key.Mark(), absl::StrCat(field.name(), ": a value is expected, there is none"));
  }

  void ReadList(const YAML::Node& node, const FieldDescriptor& field, Message* message) {
    if (!node.IsSequence()) {
      Problem(node.Mark(), absl::StrCat(field.name(), ": a list is expected, [...], found ", KindOf(node)));
      return;
    }
    const Reflection& reflection = *message->GetReflection();
    for (const YAML::Node& element : node) {
      switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          ReadMessage(element, absl::StrCat("one of '", field.name(), "'"), reflection.AddMessage(message, &field));
          break;
        case FieldDescriptor::CPPTYPE_ENUM: {
          const int number = ReadEnum(element, field);
          if (number == 0) break;
          CheckWantedPrecision(element, *message, field, number);
          reflection.AddEnumValue(message, &field, number);
          break;
        }
        default: {
          std::string text;
          if (!ReadString(element, field, &text)) break;
          if (message->GetDescriptor() == v1::Policy::descriptor() && field.name() == "passes")
            CheckPass(element, text);
          reflection.AddString(message, &field, text);
        }
      }
    }
  }

  void ReadSingle(const YAML::Node& node, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        ReadMessage(node, absl::StrCat("'", field.name(), "'"), reflection.MutableMessage(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection.SetEnumValue(message, &field, ReadEnum(node, field));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection.SetBool(message, &field, ReadBool(node, field));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        double number = 0;
        if (ReadNumber(node, field, &number)) reflection.SetDouble(message, &field, number);
        break;
      }
      default: {
        std::string text;
        if (!ReadString(node, field, &text)) break;
        if (message->GetDescriptor() == v1::NodeRule::descriptor() && field.name() == "match") CheckRegex(node, text);
        reflection.SetString(message, &field, text);
      }
    }
  }

  bool ReadString(const YAML::Node& node, const FieldDescriptor& field, std::string* text) {
    if (!node.IsScalar()) {
      Problem(node.Mark(), absl::StrCat(field.name(), ": a text is expected, found ", KindOf(node)));
      return false;
    }
    *text = node.Scalar();
    if (text->empty()) Problem(node.Mark(), absl::StrCat(field.name(), ": the text is empty"));
    return !text->empty();
  }

  bool ReadBool(const YAML::Node& node, const FieldDescriptor& field) {
    const bool plain = node.IsScalar() && node.Tag() != "!";  // "!": in quotes
    if (plain && node.Scalar() == "true") return true;
    if (plain && node.Scalar() == "false") return false;
    const std::string found = node.IsScalar() ? absl::StrCat("'", report::Printable(node.Scalar()), "'") : KindOf(node);
    Problem(node.Mark(), absl::StrCat(field.name(), ": true or false is expected, found ", found));
    return false;
  }

  bool ReadNumber(const YAML::Node& node, const FieldDescriptor& field, double* number) {
    const bool plain = node.IsScalar() && node.Tag() != "!";  // "!": in quotes
    if (plain && absl::SimpleAtod(node.Scalar(), number) && std::isfinite(*number)) return true;
    const std::string found = node.IsScalar() ? absl::StrCat("'", report::Printable(node.Scalar()), "'") : KindOf(node);
    Problem(node.Mark(), absl::StrCat(field.name(), ": a number is expected, found ", found));
    return false;
  }

  // 0: a problem was noted.
  int ReadEnum(const YAML::Node& node, const FieldDescriptor& field) {
    if (!node.IsScalar()) {
      Problem(node.Mark(), absl::StrCat(field.name(), ": a single value is expected, found ", KindOf(node)));
      return 0;
    }
    const auto* value = report::FindEnumValue(*field.enum_type(), node.Scalar());
    if (value != nullptr) return value->number();
    Problem(node.Mark(), absl::StrCat("no ", EnumName(field), " '", report::Printable(node.Scalar()), "'",
                                      DidYouMean(node.Scalar(), report::EnumNames(*field.enum_type()))));
    return 0;
  }

  void CheckWantedPrecision(const YAML::Node& node, const Message& message, const FieldDescriptor& field, int number) {
    if (number == v1::PRECISION_ORIGINAL) Problem(node.Mark(), "precisions: original is always measured, leave it out");
    const Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      if (reflection.GetRepeatedEnumValue(message, &field, i) == number) {
        Problem(node.Mark(), absl::StrCat("precisions: '", node.Scalar(), "' is given twice"));
      }
    }
  }

  void CheckRegex(const YAML::Node& node, const std::string& text) {
    if (text.size() > kMaxRegexChars) {
      Problem(node.Mark(), absl::StrCat("match: longer than ", kMaxRegexChars, " characters"));
      return;
    }
    const re2::RE2 compiled(text, re2::RE2::Quiet);
    if (compiled.ok()) return;
    Problem(node.Mark(), absl::StrCat("match: '", report::Printable(text),
                                      "' is not a regular expression (RE2): ", report::Printable(compiled.error())));
  }

  // The server knows the passes. A list in brackets cuts an unquoted pass at its commas.
  void CheckPass(const YAML::Node& node, const std::string& text) {
    const size_t open = text.find('(');
    const std::string_view name = std::string_view(text).substr(0, open);
    const bool named = std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
    const bool closed = open == std::string::npos ? text.find(')') == open : text.back() == ')';
    if (named && closed) return;
    Problem(node.Mark(), absl::StrCat("passes: '", report::Printable(text),
                                      "' is not NAME or NAME(ARGUMENT=VALUE, ...), in quotes if it has commas"));
  }

  // fp32 above bf16 and fp16, which are one level, above int8; 0: no precision of a node.
  static int LevelOf(v1::Precision precision) {
    if (precision == v1::PRECISION_FP32) return 3;
    if (precision == v1::PRECISION_BF16 || precision == v1::PRECISION_FP16) return 2;
    return precision == v1::PRECISION_INT8 ? 1 : 0;
  }

  void CheckInt8(const YAML::Node& node, const v1::Int8Policy& int8) {
    for (const Int8Problem& problem : CheckInt8Policy(int8)) {
      Problem(node[problem.field].Mark(), absl::StrCat(problem.field, ": ", problem.what));
    }
  }

  void CheckNodeRule(const YAML::Node& node, const v1::NodeRule& rule) {
    if (!node["match"] && !node["op"] && !node["name"]) {
      Problem(node.Mark(), "a rule of 'nodes' needs a key 'match', 'op' or 'name'");
    }
    const bool bounded = node["min_precision"] || node["max_precision"];
    if (!node["precision"] && !bounded) {
      Problem(node.Mark(), "a rule of 'nodes' needs a key 'precision', 'min_precision' or 'max_precision'");
    }
    if (node["precision"] && bounded) {
      Problem(node.Mark(), "a rule of 'nodes' has 'precision', or 'min_precision' and 'max_precision', not both");
    }
    for (const char* key : {"precision", "min_precision", "max_precision"}) {
      const auto* field = v1::NodeRule::descriptor()->FindFieldByName(key);
      if (rule.GetReflection()->GetEnumValue(rule, field) == v1::PRECISION_ORIGINAL) {
        Problem(node[key].Mark(), absl::StrCat(key, ": a node's precision is fp32, bf16, fp16 or int8"));
      }
    }
    const bool has_max = rule.max_precision() != v1::PRECISION_UNSPECIFIED;
    if (has_max && LevelOf(rule.min_precision()) > LevelOf(rule.max_precision())) {
      Problem(node.Mark(), "a rule of 'nodes': min_precision is above max_precision");
    }
  }

  void CheckListEdit(const YAML::Node& node, const v1::ListEdit& edit) {
    const std::set<std::string> added(edit.add().begin(), edit.add().end());
    for (const std::string& op : edit.remove()) {
      if (added.count(op) > 0) {
        Problem(node.Mark(), absl::StrCat("'", report::Printable(op), "' is both added to and removed from one list"));
      }
    }
  }

  const std::string file_;
  std::vector<std::string> problems_;
};

// JSON may be indented by tabs, YAML may not: outside of strings each becomes one blank, so that columns stay.
std::string WithoutJsonTabs(absl::string_view text) {
  std::string result(text);
  const size_t first = result.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || result[first] != '{') return result;
  bool in_string = false;
  for (size_t i = 0; i < result.size(); ++i) {
    if (in_string && result[i] == '\\') {
      ++i;
    } else if (result[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && result[i] == '\t') {
      result[i] = ' ';
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<v1::Policy> ParsePolicy(absl::string_view text, absl::string_view file_name) {
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(file_name, ":1:1: larger than ", kMaxFileBytes, " bytes"));
  }
  Reader reader(file_name);
  v1::Policy policy;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(WithoutJsonTabs(text));
    if (documents.size() > 1) reader.Problem(documents[1].Mark(), "a second document: a file is one policy");
    if (!documents.empty() && !documents[0].IsNull()) reader.ReadMessage(documents[0], "the policy", &policy);
  } catch (const YAML::Exception& error) {
    reader.Problem(error.mark, absl::StrCat("neither YAML nor JSON: ", error.msg));
  }
  if (reader.problems().empty()) return policy;
  return absl::InvalidArgumentError(absl::StrJoin(reader.problems(), "\n"));
}

absl::StatusOr<v1::Policy> LoadPolicy(const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParsePolicy(text, path);
}

}  // namespace halftone::client
