// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdlib>
#include <random>
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/text_values_internal.h"

namespace halftone::text_internal {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 32;  // of a constant without data

}  // namespace

absl::StatusOr<std::string> ValueParser::ParseAnyName() {
  const Token token = lexer_.token();
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kString) return lexer_.Error("a name");
  lexer_.Advance();
  return token.text;
}

absl::StatusOr<double> ValueParser::ParseNumber() {
  const Token token = lexer_.token();
  double value = 0;
  if (token.kind != TokenKind::kNumber && !lexer_.IsWord("inf") && !lexer_.IsWord("nan"))
    return lexer_.Error("a number");
  char* end = nullptr;
  value = std::strtod(token.text.c_str(), &end);
  if (*end != '\0') return lexer_.Error("a number");
  lexer_.Advance();
  return value;
}

absl::StatusOr<int64_t> ValueParser::ParseInt() {
  int64_t value = 0;
  if (lexer_.token().kind != TokenKind::kNumber || !absl::SimpleAtoi(lexer_.token().text, &value))
    return lexer_.Error("an integer");
  lexer_.Advance();
  return value;
}

// 3, 0.5, [1, 0], [], each with an optional ":type".
absl::StatusOr<Tensor> ValueParser::ParseLiteral() {
  std::vector<double> floats;
  std::vector<int64_t> ints;
  bool all_ints = true;
  const bool is_list = lexer_.TryPunctuation('[');
  while (!is_list || !lexer_.IsPunctuation(']')) {
    int64_t integer = 0;
    const bool is_int = absl::SimpleAtoi(lexer_.token().text, &integer);
    all_ints = all_ints && is_int;
    HALFTONE_ASSIGN_OR_RETURN(const double number, ParseNumber());
    floats.push_back(number);
    ints.push_back(integer);
    if (!is_list || !lexer_.TryPunctuation(',')) break;
  }
  if (is_list) HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
  DataType type = all_ints ? DataType::kInt64 : DataType::kFloat32;
  if (lexer_.TryPunctuation(':')) {
    HALFTONE_ASSIGN_OR_RETURN(type, ParseType());
  }
  std::vector<int64_t> dims;
  if (is_list) dims.push_back(static_cast<int64_t>(floats.size()));
  const Tensor wide = all_ints ? Tensor::Of<int64_t>(dims, ints) : Tensor::Of<double>(dims, floats);
  return wide.ConvertTo(type);
}

absl::StatusOr<DataType> ValueParser::ParseType() {
  const std::optional<DataType> type =
      lexer_.IsWord("unknown") ? DataType::kUnknown : DataTypeFromName(lexer_.token().text);
  if (!type.has_value()) return lexer_.Error("an element type such as f32");
  lexer_.Advance();
  return *type;
}

absl::StatusOr<Shape> ValueParser::ParseShape() {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('['));
  if (lexer_.TryPunctuation('*')) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
    return Shape();
  }
  std::vector<Dim> dims;
  while (!lexer_.IsPunctuation(']')) {
    if (lexer_.token().kind == TokenKind::kNumber) {
      HALFTONE_ASSIGN_OR_RETURN(const int64_t value, ParseInt());
      if (value < 0) return lexer_.Error("a dimension >= 0");
      dims.push_back(Dim::Of(value));
    } else if (lexer_.TryPunctuation('?')) {
      dims.push_back(Dim::Unknown());
    } else {
      HALFTONE_ASSIGN_OR_RETURN(std::string symbol, ParseAnyName());
      dims.push_back(Dim::Symbol(std::move(symbol)));
    }
    if (!lexer_.TryPunctuation(',')) break;
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
  return Shape(std::move(dims));
}

absl::StatusOr<Quantization> ValueParser::ParseQuantization() {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('{'));
  Quantization quantization;
  const bool many = lexer_.TryPunctuation('[');
  do {
    HALFTONE_ASSIGN_OR_RETURN(const double scale, ParseNumber());
    quantization.scales.push_back(static_cast<float>(scale));
  } while (many && lexer_.TryPunctuation(','));
  if (many) HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect(','));
  const bool many_zeros = lexer_.TryPunctuation('[');
  do {
    HALFTONE_ASSIGN_OR_RETURN(const int64_t zero, ParseInt());
    if (zero < INT32_MIN || zero > INT32_MAX) return lexer_.Error("a zero point of 32 bits before");
    quantization.zero_points.push_back(static_cast<int32_t>(zero));
  } while (many_zeros && lexer_.TryPunctuation(','));
  if (many_zeros) HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
  if (!many_zeros) quantization.zero_points.resize(quantization.scales.size(), quantization.zero_points[0]);
  if (many) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect(','));
    if (!lexer_.TryWord("axis")) return lexer_.Error("'axis=' of the scales");
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
    HALFTONE_ASSIGN_OR_RETURN(const int64_t axis, ParseInt());
    if (axis < 0 || axis > INT32_MAX) return lexer_.Error("an axis of at least 0 before");
    quantization.axis = static_cast<int>(axis);
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('}'));
  return quantization;
}

absl::StatusOr<std::string> ValueParser::ParseBase64() {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, lexer_.ExpectString());
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return lexer_.Error("base64 in the string before");
  return bytes;
}

// type[dims] and then {elements}, base64 "...", at=..., hash=..., uniform(low, high) or nothing.
absl::StatusOr<Tensor> ValueParser::ParseTensor(std::string_view name) {
  HALFTONE_ASSIGN_OR_RETURN(const DataType type, ParseType());
  HALFTONE_ASSIGN_OR_RETURN(const Shape shape, ParseShape());
  if (!shape.fully_known()) return lexer_.Error("known dimensions of a constant");
  const std::optional<int64_t> size = shape.num_elements();
  if (!size.has_value() || *size > kMaxElements) return lexer_.Error("a constant of at most 2^32 elements");
  if (lexer_.IsPunctuation('{')) return ParseElements(type, shape.values());
  if (lexer_.TryWord("base64")) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ParseBase64());
    if (ElementSize(type) == 0 || bytes.size() != static_cast<size_t>(*size) * ElementSize(type)) {
      return lexer_.Error(
          Concat("as many bytes as ", DataTypeName(type), shape.ToString(), " has, not ", bytes.size()));
    }
    return Tensor(type, shape.values(), Buffer::CopyOf(bytes.data(), bytes.size()));
  }
  if (lexer_.TryWord("at")) return ParseStored(type, shape.values());
  if (lexer_.IsWord("hash"))
    return lexer_.Error("the constant's data (printed without weights, so that it cannot be read back)");
  double low = -1;
  double high = 1;
  if (lexer_.TryWord("uniform")) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('('));
    HALFTONE_ASSIGN_OR_RETURN(low, ParseNumber());
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect(','));
    HALFTONE_ASSIGN_OR_RETURN(high, ParseNumber());
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect(')'));
  } else if (!IsFloatingPoint(type)) {
    low = 0;
    high = 8;
  }
  return MakeRandom(name, type, shape.values(), low, high);
}

// A view of the weights beside the text.
absl::StatusOr<Tensor> ValueParser::ParseStored(DataType type, std::vector<int64_t> dims) {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t offset, ParseInt());
  const uint64_t size = static_cast<uint64_t>(*CheckedProduct(dims)) * ElementSize(type);
  const uint64_t stored = weights_ == nullptr ? 0 : weights_->size();
  if (ElementSize(type) == 0 || offset < 0 || static_cast<uint64_t>(offset) > stored ||
      size > stored - static_cast<uint64_t>(offset)) {
    return lexer_.Error(Concat("an offset at which the ", stored, " bytes of weights hold ", size, " more, before"));
  }
  return Tensor(type, std::move(dims), Buffer::View(weights_->data() + offset, size, weights_));
}

// The same numbers for the same name and shape, on every machine.
absl::StatusOr<Tensor> ValueParser::MakeRandom(std::string_view name, DataType type, std::vector<int64_t> dims,
                                               double low, double high) {
  uint32_t seed = 2166136261u;
  for (const char c : Concat(name, Shape::Of(dims).ToString()))
    seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
  std::mt19937 random(seed);
  Tensor floats(DataType::kFloat32, std::move(dims));
  for (float& value : floats.mutable_data<float>()) {
    value = static_cast<float>(low + (high - low) * (static_cast<double>(random() >> 8) / (1 << 24)));
  }
  return floats.ConvertTo(type);
}

absl::StatusOr<Tensor> ValueParser::ParseElements(DataType type, std::vector<int64_t> dims) {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('{'));
  const int64_t expected = *CheckedProduct(dims);
  std::vector<std::string> strings;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  while (!lexer_.IsPunctuation('}')) {
    if (type == DataType::kString) {
      HALFTONE_ASSIGN_OR_RETURN(std::string text, lexer_.ExpectString());
      strings.push_back(std::move(text));
    } else if (type == DataType::kBool && (lexer_.IsWord("true") || lexer_.IsWord("false"))) {
      ints.push_back(lexer_.IsWord("true") ? 1 : 0);
      lexer_.Advance();
    } else if (IsFloatingPoint(type)) {
      HALFTONE_ASSIGN_OR_RETURN(const double number, ParseNumber());
      floats.push_back(number);
    } else if (uint64_t big = 0; type == DataType::kUInt64 && absl::SimpleAtoi(lexer_.token().text, &big)) {
      ints.push_back(static_cast<int64_t>(big));
      lexer_.Advance();
    } else {
      HALFTONE_ASSIGN_OR_RETURN(const int64_t number, ParseInt());
      ints.push_back(number);
    }
    if (!lexer_.TryPunctuation(',')) break;
  }
  const int64_t found = static_cast<int64_t>(strings.size() + floats.size() + ints.size());
  if (found != expected) return lexer_.Error(Concat(expected, " elements, not ", found, ","));
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('}'));
  if (type == DataType::kString) return Tensor::OfStrings(std::move(dims), std::move(strings));
  if (type == DataType::kUInt64) return Tensor(type, dims, Buffer::CopyOf(ints.data(), ints.size() * sizeof(int64_t)));
  if (IsFloatingPoint(type)) return Tensor::Of<double>(std::move(dims), floats).ConvertTo(type);
  return Tensor::Of<int64_t>(std::move(dims), ints).ConvertTo(type);
}

absl::StatusOr<Attributes> ValueParser::ParseAttributes() {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('{'));
  Attributes attributes;
  while (!lexer_.IsPunctuation('}')) {
    HALFTONE_ASSIGN_OR_RETURN(std::string name, ParseAnyName());
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
    HALFTONE_ASSIGN_OR_RETURN(AttributeValue value, ParseValue());
    attributes.Set(std::move(name), std::move(value));
    if (!lexer_.TryPunctuation(',')) break;
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('}'));
  return attributes;
}

absl::StatusOr<AttributeValue> ValueParser::ParseValue() {
  const Token token = lexer_.token();
  if (lexer_.IsPunctuation('[')) return ParseList("");
  if (token.kind == TokenKind::kString) {
    lexer_.Advance();
    return AttributeValue(token.text);
  }
  if (int64_t integer = 0; token.kind == TokenKind::kNumber && absl::SimpleAtoi(token.text, &integer)) {
    lexer_.Advance();
    return AttributeValue(integer);
  }
  if (token.kind == TokenKind::kNumber || lexer_.IsWord("inf") || lexer_.IsWord("nan")) {
    HALFTONE_ASSIGN_OR_RETURN(const double number, ParseNumber());
    return AttributeValue(static_cast<float>(number));
  }
  if (lexer_.IsWord("graph")) {
    HALFTONE_ASSIGN_OR_RETURN(Graph nested, ParseNestedGraph(lexer_, depth_ + 1, weights_));
    return AttributeValue(std::shared_ptr<const Graph>(std::make_shared<Graph>(std::move(nested))));
  }
  if (token.kind != TokenKind::kWord) return lexer_.Error("an attribute's value");
  lexer_.Advance();
  if (token.text == "true") return AttributeValue(true);
  if (token.text == "false") return AttributeValue(false);
  if (token.text == "tensor") {
    HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, ParseTensor(""));
    return AttributeValue(std::move(tensor));
  }
  if (lexer_.IsPunctuation('[')) return ParseList(token.text);
  if (!lexer_.IsPunctuation(':')) return lexer_.Error("':' after the kind of the value");
  lexer_.Advance();
  if (token.text == "type") {
    HALFTONE_ASSIGN_OR_RETURN(const DataType type, ParseType());
    return AttributeValue(type);
  }
  if (token.text == "shape") {
    HALFTONE_ASSIGN_OR_RETURN(Shape shape, ParseShape());
    return AttributeValue(std::move(shape));
  }
  if (token.text == "raw") {
    HALFTONE_ASSIGN_OR_RETURN(std::string bytes, ParseBase64());
    return AttributeValue(RawBytes{std::move(bytes)});
  }
  if (token.text == "floatbits") {
    HALFTONE_ASSIGN_OR_RETURN(const std::string hex, lexer_.ExpectString());
    uint32_t bits = 0;
    if (!absl::SimpleHexAtoi(hex, &bits)) return lexer_.Error("eight hexadecimal digits before");
    return AttributeValue(std::bit_cast<float>(bits));
  }
  return lexer_.Error("'type', 'shape', 'raw' or 'floatbits' before ':'");
}

template <typename T>
absl::StatusOr<AttributeValue> Collect(const std::vector<AttributeValue>& values, const Lexer& lexer) {
  std::vector<T> list;
  for (const AttributeValue& value : values) {
    if constexpr (std::is_same_v<T, float>) {  // an integer among floats is one too
      if (const int64_t* integer = std::get_if<int64_t>(&value)) {
        list.push_back(static_cast<float>(*integer));
        continue;
      }
    }
    const T* element = std::get_if<T>(&value);
    if (element == nullptr) return lexer.Error("a list of values of one kind before");
    list.push_back(*element);
  }
  return AttributeValue(std::move(list));
}

// `kind` is given for empty lists: ints[], floats[], ...
absl::StatusOr<AttributeValue> ValueParser::ParseList(std::string_view kind) {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('['));
  std::vector<AttributeValue> values;
  while (!lexer_.IsPunctuation(']')) {
    HALFTONE_ASSIGN_OR_RETURN(AttributeValue value, ParseValue());
    values.push_back(std::move(value));
    if (!lexer_.TryPunctuation(',')) break;
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect(']'));
  const auto holds = [&](auto* sample) {
    using T = std::remove_pointer_t<decltype(sample)>;
    for (const AttributeValue& value : values) {
      if (std::holds_alternative<T>(value)) return true;
    }
    return false;
  };
  if (kind == "floats" || holds(static_cast<float*>(nullptr))) return Collect<float>(values, lexer_);
  if (kind == "ints" || (kind.empty() && values.empty()) || holds(static_cast<int64_t*>(nullptr)))
    return Collect<int64_t>(values, lexer_);
  if (kind == "strings" || holds(static_cast<std::string*>(nullptr))) return Collect<std::string>(values, lexer_);
  if (kind == "bools" || holds(static_cast<bool*>(nullptr))) return Collect<bool>(values, lexer_);
  if (kind == "types" || holds(static_cast<DataType*>(nullptr))) return Collect<DataType>(values, lexer_);
  if (kind == "shapes" || holds(static_cast<Shape*>(nullptr))) return Collect<Shape>(values, lexer_);
  if (kind == "tensors" || holds(static_cast<Tensor*>(nullptr))) return Collect<Tensor>(values, lexer_);
  if (kind == "graphs" || holds(static_cast<std::shared_ptr<const Graph>*>(nullptr))) {
    return Collect<std::shared_ptr<const Graph>>(values, lexer_);
  }
  return lexer_.Error("a list of bools, ints, floats, strings, types, shapes, tensors or graphs before");
}

}  // namespace halftone::text_internal
