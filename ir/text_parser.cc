// Parsing the text form. The grammar is in text.h. Two steps: statements are read as they stand, then nodes are made
// and wired by name, so that a value may be read before the line that makes it.

#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "ir/text.h"
#include "ir/text_internal.h"
#include "ir/verifier.h"

namespace halftone {
namespace {

using text_internal::Lexer;
using text_internal::Token;
using text_internal::TokenKind;

constexpr int kMaxNesting = 24;                     // of graphs in attributes
constexpr int kMaxCallNesting = 64;                 // of ops in operands
constexpr int64_t kMaxElements = int64_t{1} << 32;  // of a constant without data

struct Absent {};
struct ByName {
  std::string key;  // a name, or '%' and a number
  int line, column;
};
struct NestedCall {
  size_t statement;
};
using Operand = std::variant<Absent, ByName, NestedCall, Tensor>;

struct Declared {
  std::string key;  // name, '%' and a number, "_" for absent, "" for nested
  bool annotated = false;
  DataType type = DataType::kUnknown;
  Shape shape;
};

struct Statement {
  Node node;  // without inputs, outputs and control inputs
  std::vector<Declared> outputs;
  std::vector<Operand> operands;
  std::vector<std::string> after;
  bool has_name = false;
  int line = 0, column = 0;
};

struct ReturnItem {
  std::string name;  // "" if not given
  Operand operand;
};

std::string KeyOf(const Token& token) { return token.kind == TokenKind::kTemporary ? "%" + token.text : token.text; }
std::string NameOf(const std::string& key) { return key.empty() || key[0] == '%' ? "" : key; }

class Parser {
 public:
  Parser(Lexer& lexer, int depth) : lexer_(lexer), depth_(depth) {}

  absl::StatusOr<Graph> Parse();

 private:
  absl::Status ParseInputs();
  absl::Status ParseBody();
  absl::Status ParseStatement();
  absl::Status ParseReturn();
  absl::StatusOr<std::vector<Declared>> ParseDeclared(Token first);
  absl::Status ParseAnnotation(Declared& declared);
  absl::Status ParseConstant(Statement& statement);
  absl::Status ParseCall(Statement& statement, int nesting);
  absl::Status ParseTail(Statement& statement);
  absl::StatusOr<Operand> ParseOperand(int nesting);
  absl::StatusOr<Tensor> ParseLiteral();
  absl::StatusOr<DataType> ParseType();
  absl::StatusOr<Shape> ParseShape();
  absl::StatusOr<Tensor> ParseTensor(std::string_view name);
  absl::StatusOr<Tensor> ParseElements(DataType type, std::vector<int64_t> dims);
  absl::StatusOr<Tensor> MakeRandom(std::string_view name, DataType type, std::vector<int64_t> dims, double low,
                                    double high);
  absl::StatusOr<Attributes> ParseAttributes();
  absl::StatusOr<AttributeValue> ParseValue();
  absl::StatusOr<AttributeValue> ParseList(std::string_view kind);
  absl::StatusOr<double> ParseNumber();
  absl::StatusOr<int64_t> ParseInt();
  absl::StatusOr<std::string> ParseBase64();
  absl::StatusOr<std::string> ParseAnyName();

  absl::StatusOr<Graph> Build();
  absl::StatusOr<ValueId> Resolve(const Operand& operand) const;
  absl::Status InferMissing(GraphEditor& edit);

  Lexer& lexer_;
  const int depth_;
  Graph graph_;
  std::vector<Statement> inputs_;
  std::vector<Statement> statements_;
  std::vector<ReturnItem> returns_;
  Attributes header_;
  std::string name_;
  GraphFormat format_ = GraphFormat::kNone;
  absl::flat_hash_map<std::string, ValueId> values_;
  std::vector<NodeId> built_;  // by statement
};

absl::StatusOr<Graph> Parser::Parse() {
  if (depth_ > kMaxNesting) return lexer_.Error("at most 24 levels of nested graphs");
  if (!lexer_.TryWord("graph")) return lexer_.Error("'graph'");
  if (lexer_.TryWord("onnx")) format_ = GraphFormat::kOnnx;
  if (lexer_.TryWord("graphdef")) format_ = GraphFormat::kGraphDef;
  if (lexer_.token().kind == TokenKind::kString) {
    HALFTONE_ASSIGN_OR_RETURN(name_, lexer_.ExpectString());
  }
  HALFTONE_RETURN_IF_ERROR(ParseInputs());
  HALFTONE_RETURN_IF_ERROR(ParseBody());
  if (lexer_.TryWord("header")) {
    HALFTONE_ASSIGN_OR_RETURN(header_, ParseAttributes());
  }
  return Build();
}

absl::Status Parser::ParseInputs() {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('('));
  while (!lexer_.IsPunctuation(')')) {
    Statement input;
    input.line = lexer_.token().line;
    input.column = lexer_.token().column;
    input.node.op = OpKind::kInput;
    Declared declared;
    declared.key = KeyOf(lexer_.token());
    if (lexer_.token().kind != TokenKind::kTemporary) {
      HALFTONE_ASSIGN_OR_RETURN(declared.key, ParseAnyName());
    } else {
      lexer_.Advance();
    }
    if (!lexer_.IsPunctuation(':')) return lexer_.Error("':' and the input's type");
    HALFTONE_RETURN_IF_ERROR(ParseAnnotation(declared));
    input.outputs.push_back(std::move(declared));
    HALFTONE_RETURN_IF_ERROR(ParseTail(input));
    inputs_.push_back(std::move(input));
    if (!lexer_.TryPunctuation(',')) break;
  }
  return lexer_.Expect(')');
}

absl::Status Parser::ParseBody() {
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('{'));
  while (!lexer_.IsWord("return")) HALFTONE_RETURN_IF_ERROR(ParseStatement());
  lexer_.Advance();
  HALFTONE_RETURN_IF_ERROR(ParseReturn());
  return lexer_.Expect('}');
}

absl::Status Parser::ParseReturn() {
  while (!lexer_.IsPunctuation('}')) {
    ReturnItem item;
    HALFTONE_ASSIGN_OR_RETURN(item.operand, ParseOperand(0));
    if (lexer_.TryPunctuation('=')) {
      const ByName* name = std::get_if<ByName>(&item.operand);
      if (name == nullptr || NameOf(name->key).empty()) return lexer_.Error("a name before '='");
      item.name = name->key;
      HALFTONE_ASSIGN_OR_RETURN(item.operand, ParseOperand(0));
    }
    returns_.push_back(std::move(item));
    if (!lexer_.TryPunctuation(',')) break;
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseAnnotation(Declared& declared) {
  if (!lexer_.TryPunctuation(':')) return absl::OkStatus();
  declared.annotated = true;
  HALFTONE_ASSIGN_OR_RETURN(declared.type, ParseType());
  HALFTONE_ASSIGN_OR_RETURN(declared.shape, ParseShape());
  return absl::OkStatus();
}

// `first` has been read already. Leaves the lexer behind '='.
absl::StatusOr<std::vector<Declared>> Parser::ParseDeclared(Token first) {
  std::vector<Declared> result;
  Declared declared;
  declared.key = KeyOf(first);
  while (true) {
    HALFTONE_RETURN_IF_ERROR(ParseAnnotation(declared));
    result.push_back(std::move(declared));
    if (!lexer_.TryPunctuation(',')) break;
    declared = Declared();
    if (lexer_.token().kind == TokenKind::kTemporary) {
      declared.key = KeyOf(lexer_.token());
      lexer_.Advance();
    } else {
      HALFTONE_ASSIGN_OR_RETURN(declared.key, ParseAnyName());
    }
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
  return result;
}

absl::Status Parser::ParseStatement() {
  Statement statement;
  const Token first = lexer_.token();
  statement.line = first.line;
  statement.column = first.column;
  if (first.kind != TokenKind::kWord && first.kind != TokenKind::kString && first.kind != TokenKind::kTemporary) {
    return lexer_.Error("a statement or 'return'");
  }
  lexer_.Advance();
  const bool declares = lexer_.IsPunctuation(':') || lexer_.IsPunctuation(',') || lexer_.IsPunctuation('=');
  if (declares) {
    HALFTONE_ASSIGN_OR_RETURN(statement.outputs, ParseDeclared(first));
    if (lexer_.TryWord("const")) {
      HALFTONE_RETURN_IF_ERROR(ParseConstant(statement));
      statements_.push_back(std::move(statement));
      return absl::OkStatus();
    }
    const Token op = lexer_.token();
    if (op.kind != TokenKind::kWord) return lexer_.Error("an op");
    const std::optional<OpKind> kind = OpFromName(op.text);
    if (!kind.has_value()) return lexer_.Error("a known op (unknown ones are written: opaque \"Name\" (...))");
    statement.node.op = *kind;
    lexer_.Advance();
  } else {
    const std::optional<OpKind> kind = OpFromName(first.text);
    if (first.kind != TokenKind::kWord || !kind.has_value())
      return lexer_.Error("':', ',' or '=' after the value's name");
    statement.node.op = *kind;
  }
  HALFTONE_RETURN_IF_ERROR(ParseCall(statement, 0));
  statements_.push_back(std::move(statement));
  return absl::OkStatus();
}

absl::Status Parser::ParseConstant(Statement& statement) {
  statement.node.op = OpKind::kConstant;
  if (lexer_.token().kind == TokenKind::kString) {
    HALFTONE_ASSIGN_OR_RETURN(statement.node.spelling, lexer_.ExpectString());
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor value, ParseTensor(statement.outputs[0].key));
  statement.outputs[0].annotated = true;
  statement.outputs[0].type = value.type();
  statement.outputs[0].shape = value.shape();
  statement.node.attributes.Set("value", std::move(value));
  return ParseTail(statement);
}

// Behind the op's name: "Spelling" domain="x" (operands) {attributes} tail.
absl::Status Parser::ParseCall(Statement& statement, int nesting) {
  if (nesting > kMaxCallNesting) return lexer_.Error("at most 64 levels of nested ops");
  if (lexer_.token().kind == TokenKind::kString) {
    HALFTONE_ASSIGN_OR_RETURN(statement.node.spelling, lexer_.ExpectString());
  }
  if (lexer_.TryWord("domain")) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
    HALFTONE_ASSIGN_OR_RETURN(statement.node.domain, lexer_.ExpectString());
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect('('));
  while (!lexer_.IsPunctuation(')')) {
    HALFTONE_ASSIGN_OR_RETURN(Operand operand, ParseOperand(nesting + 1));
    statement.operands.push_back(std::move(operand));
    if (!lexer_.TryPunctuation(',')) break;
  }
  HALFTONE_RETURN_IF_ERROR(lexer_.Expect(')'));
  if (lexer_.IsPunctuation('{')) {
    HALFTONE_ASSIGN_OR_RETURN(statement.node.attributes, ParseAttributes());
  }
  return ParseTail(statement);
}

absl::Status Parser::ParseTail(Statement& statement) {
  Node& node = statement.node;
  const auto names = [this](std::vector<std::string>& list) -> absl::Status {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('('));
    while (!lexer_.IsPunctuation(')')) {
      HALFTONE_ASSIGN_OR_RETURN(std::string name, lexer_.ExpectString());
      list.push_back(std::move(name));
      if (!lexer_.TryPunctuation(',')) break;
    }
    return lexer_.Expect(')');
  };
  // A word of the tail that is followed by ':', ',' or '=' and no value of its own would be the next statement's name;
  // the printer quotes such names.
  while (true) {
    if (lexer_.TryWord("extra")) {
      HALFTONE_ASSIGN_OR_RETURN(node.extra, ParseAttributes());
    } else if (lexer_.TryWord("name")) {
      HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
      HALFTONE_ASSIGN_OR_RETURN(node.name, lexer_.ExpectString());
      statement.has_name = true;
    } else if (lexer_.TryWord("device")) {
      HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
      HALFTONE_ASSIGN_OR_RETURN(node.device, lexer_.ExpectString());
    } else if (lexer_.TryWord("after")) {
      HALFTONE_RETURN_IF_ERROR(names(statement.after));
    } else if (lexer_.TryWord("captures")) {
      HALFTONE_RETURN_IF_ERROR(names(node.captures));
    } else {
      return absl::OkStatus();
    }
  }
}

absl::StatusOr<std::string> Parser::ParseAnyName() {
  const Token token = lexer_.token();
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kString) return lexer_.Error("a name");
  lexer_.Advance();
  return token.text;
}

absl::StatusOr<Operand> Parser::ParseOperand(int nesting) {
  const Token token = lexer_.token();
  if (lexer_.IsPunctuation('[') || token.kind == TokenKind::kNumber || lexer_.IsWord("inf") || lexer_.IsWord("nan")) {
    HALFTONE_ASSIGN_OR_RETURN(Tensor literal, ParseLiteral());
    return Operand(std::move(literal));
  }
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kString && token.kind != TokenKind::kTemporary) {
    return lexer_.Error("a value");
  }
  lexer_.Advance();
  if (token.kind == TokenKind::kWord && token.text == "_") return Operand(Absent{});
  const bool is_call =
      token.kind == TokenKind::kWord && (lexer_.IsPunctuation('(') || lexer_.token().kind == TokenKind::kString);
  if (!is_call) return Operand(ByName{KeyOf(token), token.line, token.column});
  const std::optional<OpKind> kind = OpFromName(token.text);
  if (!kind.has_value()) return lexer_.Error("a known op before '('");
  Statement statement;
  statement.node.op = *kind;
  statement.line = token.line;
  statement.column = token.column;
  statement.outputs.push_back({});
  HALFTONE_RETURN_IF_ERROR(ParseCall(statement, nesting));
  statements_.push_back(std::move(statement));
  return Operand(NestedCall{statements_.size() - 1});
}

absl::StatusOr<double> Parser::ParseNumber() {
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

absl::StatusOr<int64_t> Parser::ParseInt() {
  int64_t value = 0;
  if (lexer_.token().kind != TokenKind::kNumber || !absl::SimpleAtoi(lexer_.token().text, &value))
    return lexer_.Error("an integer");
  lexer_.Advance();
  return value;
}

// 3, 0.5, [1, 0], [], each with an optional ":type".
absl::StatusOr<Tensor> Parser::ParseLiteral() {
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

absl::StatusOr<DataType> Parser::ParseType() {
  const std::optional<DataType> type =
      lexer_.IsWord("unknown") ? DataType::kUnknown : DataTypeFromName(lexer_.token().text);
  if (!type.has_value()) return lexer_.Error("an element type such as f32");
  lexer_.Advance();
  return *type;
}

absl::StatusOr<Shape> Parser::ParseShape() {
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

absl::StatusOr<std::string> Parser::ParseBase64() {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, lexer_.ExpectString());
  std::string bytes;
  if (!absl::Base64Unescape(text, &bytes)) return lexer_.Error("base64 in the string before");
  return bytes;
}

// type[dims] and then {elements}, base64 "...", hash=..., uniform(low, high) or nothing.
absl::StatusOr<Tensor> Parser::ParseTensor(std::string_view name) {
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

// The same numbers for the same name and shape, on every machine.
absl::StatusOr<Tensor> Parser::MakeRandom(std::string_view name, DataType type, std::vector<int64_t> dims, double low,
                                          double high) {
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

absl::StatusOr<Tensor> Parser::ParseElements(DataType type, std::vector<int64_t> dims) {
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

absl::StatusOr<Attributes> Parser::ParseAttributes() {
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

absl::StatusOr<AttributeValue> Parser::ParseValue() {
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
    HALFTONE_ASSIGN_OR_RETURN(Graph nested, Parser(lexer_, depth_ + 1).Parse());
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
absl::StatusOr<AttributeValue> Parser::ParseList(std::string_view kind) {
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

absl::StatusOr<ValueId> Parser::Resolve(const Operand& operand) const {
  if (const ByName* name = std::get_if<ByName>(&operand)) {
    const auto it = values_.find(name->key);
    if (it == values_.end()) {
      return absl::InvalidArgumentError(
          Concat(name->line, ":", name->column, ": no value is called '", name->key, "'"));
    }
    return it->second;
  }
  if (const NestedCall* call = std::get_if<NestedCall>(&operand)) return graph_.output(built_[call->statement]);
  return kNoValue;
}

absl::StatusOr<Graph> Parser::Build() {
  GraphEditor edit(graph_);
  edit.SetGraphName(name_);
  edit.SetFormat(format_);
  for (const auto& [name, value] : header_) edit.SetHeader(name, value);

  const auto make = [&](Statement& statement) -> absl::StatusOr<NodeId> {
    std::vector<ValueSpec> specs;
    for (const Declared& declared : statement.outputs)
      specs.push_back({declared.type, declared.shape, NameOf(declared.key)});
    if (!statement.has_name && !specs.empty() && statement.outputs[0].key != "_") statement.node.name = specs[0].name;
    for (ValueSpec& spec : specs) {
      if (spec.name == "_") spec.name.clear();
    }
    const NodeId id = edit.AddNode(statement.node, std::move(specs));
    for (size_t i = 0; i < statement.outputs.size(); ++i) {
      const std::string& key = statement.outputs[i].key;
      if (key.empty() || key == "_") continue;
      if (!values_.emplace(key, graph_.output(id, static_cast<int>(i))).second) {
        return absl::InvalidArgumentError(
            Concat(statement.line, ":", statement.column, ": the value '", key, "' is made twice"));
      }
    }
    return id;
  };
  std::vector<NodeId> input_nodes;
  for (Statement& input : inputs_) {
    HALFTONE_ASSIGN_OR_RETURN(const NodeId id, make(input));
    input_nodes.push_back(id);
  }
  std::vector<std::vector<ValueId>> literals(statements_.size());
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (const Operand& operand : statements_[i].operands) {
      const Tensor* literal = std::get_if<Tensor>(&operand);
      literals[i].push_back(literal == nullptr ? kNoValue : edit.AddConstant("", *literal));
    }
    HALFTONE_ASSIGN_OR_RETURN(const NodeId id, make(statements_[i]));
    built_.push_back(id);
  }
  for (size_t i = 0; i < statements_.size(); ++i) {
    std::vector<ValueId> operands;
    for (size_t j = 0; j < statements_[i].operands.size(); ++j) {
      HALFTONE_ASSIGN_OR_RETURN(const ValueId value, Resolve(statements_[i].operands[j]));
      operands.push_back(value.valid() ? value : literals[i][j]);
    }
    edit.SetInputs(built_[i], std::move(operands));
    edit.DropAbsentOutputs(built_[i], [&] {
      std::vector<bool> absent;
      for (const Declared& declared : statements_[i].outputs) absent.push_back(declared.key == "_");
      return absent;
    }());
  }
  absl::flat_hash_map<std::string, NodeId> labels;
  for (const NodeId id : graph_.nodes()) labels.emplace(graph_.Label(id), id);
  const auto set_control = [&](const Statement& statement, NodeId id) -> absl::Status {
    std::vector<NodeId> control;
    for (const std::string& name : statement.after) {
      const auto it = labels.find(name);
      if (it == labels.end()) {
        return absl::InvalidArgumentError(
            Concat(statement.line, ":", statement.column, ": after an unknown node '", name, "'"));
      }
      control.push_back(it->second);
    }
    edit.SetControlInputs(id, std::move(control));
    return absl::OkStatus();
  };
  for (size_t i = 0; i < inputs_.size(); ++i) HALFTONE_RETURN_IF_ERROR(set_control(inputs_[i], input_nodes[i]));
  for (size_t i = 0; i < statements_.size(); ++i) HALFTONE_RETURN_IF_ERROR(set_control(statements_[i], built_[i]));

  for (size_t i = 0; i < returns_.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(ValueId value, Resolve(returns_[i].operand));
    if (const Tensor* literal = std::get_if<Tensor>(&returns_[i].operand)) value = edit.AddConstant("", *literal);
    if (!value.valid()) return absl::InvalidArgumentError("an output of the graph is absent ('_')");
    const std::string& own = graph_.value(value).name;
    const std::string name = !returns_[i].name.empty() ? returns_[i].name : !own.empty() ? own : Concat("out", i);
    edit.AddGraphOutput(name, value);
  }
  HALFTONE_RETURN_IF_ERROR(InferMissing(edit));
  HALFTONE_RETURN_IF_ERROR(VerifyGraph(graph_));
  return std::move(graph_);
}

// Types and shapes of the values that the text gave none.
absl::Status Parser::InferMissing(GraphEditor& edit) {
  std::vector<bool> missing(graph_.num_values(), false);
  bool any = false;
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (size_t j = 0; j < statements_[i].outputs.size(); ++j) {
      const ValueId value = graph_.output(built_[i], static_cast<int>(j));
      if (statements_[i].outputs[j].annotated || !value.valid()) continue;
      missing[value.index] = true;
      any = true;
    }
  }
  if (!any) return absl::OkStatus();
  for (const NodeId id : graph_.TopologicalOrder()) {
    const Node& node = graph_.node(id);
    bool wanted = false;
    for (const ValueId output : node.outputs) wanted = wanted || (output.valid() && missing[output.index]);
    if (!wanted) continue;
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<ValueSpec> specs, InferNode(graph_, id));
    for (size_t i = 0; i < specs.size() && i < node.outputs.size(); ++i) {
      const ValueId output = graph_.output(id, static_cast<int>(i));
      if (!output.valid() || !missing[output.index]) continue;
      edit.SetType(output, specs[i].type);
      edit.SetShape(output, specs[i].shape);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> ParseGraph(std::string_view text) {
  Lexer lexer(text);
  absl::StatusOr<Graph> graph = Parser(lexer, 0).Parse();
  if (!lexer.status().ok()) return lexer.status();
  if (graph.ok() && lexer.token().kind != TokenKind::kEnd) return lexer.Error("the end of the text");
  return graph;
}

}  // namespace halftone
