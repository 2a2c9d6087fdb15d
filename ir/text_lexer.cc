// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "base/strings.h"
#include "ir/text_internal.h"

namespace halftone::text_internal {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::Step() {
  if (text_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

void Lexer::Advance() {
  while (at_ < text_.size()) {
    if (Peek() == '#') {
      while (at_ < text_.size() && Peek() != '\n') Step();
    } else if (std::isspace(static_cast<unsigned char>(Peek())) != 0) {
      Step();
    } else {
      break;
    }
  }
  token_ = Token{TokenKind::kEnd, "", line_, column_};
  if (at_ >= text_.size()) return;
  const char c = Peek();
  const size_t start = at_;
  if (c == '"') return LexString();
  if (IsWordStart(c)) {
    token_.kind = TokenKind::kWord;
    while (IsWordStart(Peek()) || IsDigit(Peek()) || Peek() == '.') Step();
  } else if (c == '%' && IsDigit(Peek(1))) {
    token_.kind = TokenKind::kTemporary;
    Step();
    while (IsDigit(Peek())) Step();
    token_.text = std::string(text_.substr(start + 1, at_ - start - 1));
    return;
  } else if (IsDigit(c) || (c == '-' && (IsDigit(Peek(1)) || Peek(1) == 'i' || Peek(1) == 'n' || Peek(1) == '.'))) {
    token_.kind = TokenKind::kNumber;
    Step();
    while (IsDigit(Peek()) || Peek() == '.' || std::isalpha(static_cast<unsigned char>(Peek())) != 0 ||
           ((Peek() == '-' || Peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      Step();
    }
  } else {
    token_.kind = TokenKind::kPunctuation;
    Step();
  }
  token_.text = std::string(text_.substr(start, at_ - start));
}

void Lexer::LexString() {
  token_.kind = TokenKind::kString;
  Step();
  while (at_ < text_.size() && Peek() != '"') {
    char c = Peek();
    Step();
    if (c == '\\') {
      const char escape = Peek();
      if (at_ < text_.size()) Step();
      if (escape == 'n') {
        c = '\n';
      } else if (escape == 't') {
        c = '\t';
      } else if (escape == 'x' && HexDigit(Peek()) >= 0 && HexDigit(Peek(1)) >= 0) {
        c = static_cast<char>(HexDigit(Peek()) * 16 + HexDigit(Peek(1)));
        Step();
        Step();
      } else {
        c = escape;
      }
    }
    token_.text += c;
  }
  if (at_ >= text_.size()) {
    status_ =
        absl::InvalidArgumentError(Concat(token_.line, ":", token_.column, ": a string that begins here has no end"));
    token_.kind = TokenKind::kEnd;
    return;
  }
  Step();
}

bool Lexer::TryPunctuation(char c) {
  if (!IsPunctuation(c)) return false;
  Advance();
  return true;
}

bool Lexer::TryWord(std::string_view word) {
  if (!IsWord(word)) return false;
  Advance();
  return true;
}

absl::Status Lexer::Expect(char c) {
  if (TryPunctuation(c)) return absl::OkStatus();
  return Error(Concat("'", std::string(1, c), "'"));
}

absl::StatusOr<std::string> Lexer::ExpectString() {
  if (token_.kind != TokenKind::kString) return Error("a quoted string");
  std::string text = token_.text;
  Advance();
  return text;
}

absl::Status Lexer::Error(std::string_view expected) const {
  if (!status_.ok()) return status_;
  const std::string found =
      token_.kind == TokenKind::kEnd ? "the end of the text" : Concat("'", token_.text.substr(0, 80), "'");
  return absl::InvalidArgumentError(
      Concat(token_.line, ":", token_.column, ": expected ", expected, ", found ", found));
}

}  // namespace halftone::text_internal
