// SPDX-License-Identifier: Apache-2.0
// Parsing the text form. The grammar is in text.h. Statements are read as they stand here; text_builder.cc makes nodes
// of them.

#include "base/status.h"
#include "base/strings.h"
#include "ir/text.h"
#include "ir/text_statements_internal.h"
#include "ir/text_values_internal.h"

namespace halftone {
namespace text_internal {
namespace {

constexpr int kMaxNesting = 24;      // of graphs in attributes
constexpr int kMaxCallNesting = 64;  // of ops in operands

std::string KeyOf(const Token& token) {
  if (token.kind == TokenKind::kTemporary) return "%" + token.text;
  const bool looks_special = token.text == "_" || token.text.starts_with('%') || token.text.starts_with('"');
  return token.kind == TokenKind::kString && looks_special ? "\"" + token.text : token.text;
}

class Parser {
 public:
  Parser(Lexer& lexer, int depth, const std::shared_ptr<const Buffer>& weights)
      : lexer_(lexer), values_(lexer, depth, weights), depth_(depth) {}

  absl::StatusOr<Graph> Parse();

 private:
  absl::Status ParseProperties();
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

  Lexer& lexer_;
  ValueParser values_;
  const int depth_;
  ParsedGraph parsed_;
};

absl::StatusOr<Graph> Parser::Parse() {
  if (depth_ > kMaxNesting) return lexer_.Error("at most 24 levels of nested graphs");
  if (!lexer_.TryWord("graph")) return lexer_.Error("'graph'");
  HALFTONE_RETURN_IF_ERROR(ParseProperties());
  if (lexer_.token().kind == TokenKind::kString) {
    HALFTONE_ASSIGN_OR_RETURN(parsed_.name, lexer_.ExpectString());
  }
  HALFTONE_RETURN_IF_ERROR(ParseInputs());
  HALFTONE_RETURN_IF_ERROR(ParseBody());
  if (lexer_.TryWord("header")) {
    HALFTONE_ASSIGN_OR_RETURN(parsed_.header, values_.ParseAttributes());
  }
  if (!parsed_.format.empty()) parsed_.header.Set(std::string(kHeaderFormat), parsed_.format);
  return BuildGraph(std::move(parsed_));
}

absl::Status Parser::ParseProperties() {
  if (lexer_.TryWord("format")) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
    HALFTONE_ASSIGN_OR_RETURN(parsed_.format, values_.ParseAnyName());
  }
  if (lexer_.TryWord("layout")) {
    HALFTONE_RETURN_IF_ERROR(lexer_.Expect('='));
    if (!lexer_.TryWord("channels_last")) return lexer_.Error("'channels_last'");
    parsed_.layout = GraphLayout::kChannelsLast;
  }
  return absl::OkStatus();
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
      HALFTONE_RETURN_IF_ERROR(values_.ParseAnyName().status());
    } else {
      lexer_.Advance();
    }
    if (!lexer_.IsPunctuation(':')) return lexer_.Error("':' and the input's type");
    HALFTONE_RETURN_IF_ERROR(ParseAnnotation(declared));
    input.outputs.push_back(std::move(declared));
    HALFTONE_RETURN_IF_ERROR(ParseTail(input));
    parsed_.inputs.push_back(std::move(input));
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
      item.name = NameOf(name->key);
      HALFTONE_ASSIGN_OR_RETURN(item.operand, ParseOperand(0));
    }
    parsed_.returns.push_back(std::move(item));
    if (!lexer_.TryPunctuation(',')) break;
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseAnnotation(Declared& declared) {
  if (!lexer_.TryPunctuation(':')) return absl::OkStatus();
  declared.annotated = true;
  HALFTONE_ASSIGN_OR_RETURN(declared.type, values_.ParseType());
  HALFTONE_ASSIGN_OR_RETURN(declared.shape, values_.ParseShape());
  if (!lexer_.IsPunctuation('{')) return absl::OkStatus();
  HALFTONE_ASSIGN_OR_RETURN(Quantization quantization, values_.ParseQuantization());
  declared.quantization = std::make_shared<Quantization>(std::move(quantization));
  return absl::OkStatus();
}

// `first` has been read already. Leaves the lexer after '='.
absl::StatusOr<std::vector<Declared>> Parser::ParseDeclared(Token first) {
  std::vector<Declared> result;
  Declared declared;
  declared.key = KeyOf(first);
  while (true) {
    HALFTONE_RETURN_IF_ERROR(ParseAnnotation(declared));
    result.push_back(std::move(declared));
    if (!lexer_.TryPunctuation(',')) break;
    declared = Declared();
    declared.key = KeyOf(lexer_.token());
    if (lexer_.token().kind == TokenKind::kTemporary) {
      lexer_.Advance();
    } else {
      HALFTONE_RETURN_IF_ERROR(values_.ParseAnyName().status());
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
      parsed_.statements.push_back(std::move(statement));
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
  parsed_.statements.push_back(std::move(statement));
  return absl::OkStatus();
}

absl::Status Parser::ParseConstant(Statement& statement) {
  statement.node.op = OpKind::kConstant;
  if (lexer_.token().kind == TokenKind::kString) {
    HALFTONE_ASSIGN_OR_RETURN(statement.node.spelling, lexer_.ExpectString());
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor value, values_.ParseTensor(statement.outputs[0].key));
  statement.outputs[0].annotated = true;
  statement.outputs[0].type = value.type();
  statement.outputs[0].shape = value.shape();
  statement.node.attributes.Set("value", std::move(value));
  return ParseTail(statement);
}

// What follows the op's name: "Spelling" domain="x" (operands) {attributes} tail.
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
    HALFTONE_ASSIGN_OR_RETURN(statement.node.attributes, values_.ParseAttributes());
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
      HALFTONE_ASSIGN_OR_RETURN(node.extra, values_.ParseAttributes());
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

absl::StatusOr<Operand> Parser::ParseOperand(int nesting) {
  const Token token = lexer_.token();
  if (lexer_.IsPunctuation('[') || token.kind == TokenKind::kNumber || lexer_.IsWord("inf") || lexer_.IsWord("nan")) {
    HALFTONE_ASSIGN_OR_RETURN(Tensor literal, values_.ParseLiteral());
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
  parsed_.statements.push_back(std::move(statement));
  return Operand(NestedCall{parsed_.statements.size() - 1});
}

}  // namespace

absl::StatusOr<Graph> ParseNestedGraph(Lexer& lexer, int depth, const std::shared_ptr<const Buffer>& weights) {
  return Parser(lexer, depth, weights).Parse();
}

}  // namespace text_internal

absl::StatusOr<Graph> ParseGraph(std::string_view text, const std::shared_ptr<const Buffer>& weights) {
  text_internal::Lexer lexer(text);
  absl::StatusOr<Graph> graph = text_internal::ParseNestedGraph(lexer, 0, weights);
  if (!lexer.status().ok()) return lexer.status();
  if (graph.ok() && lexer.token().kind != text_internal::TokenKind::kEnd) return lexer.Error("the end of the text");
  return graph;
}

}  // namespace halftone
