// SPDX-License-Identifier: Apache-2.0
// Shared by the printer and the parser of the text form.
#ifndef HALFTONE_IR_TEXT_INTERNAL_H_
#define HALFTONE_IR_TEXT_INTERNAL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace halftone::text_internal {

// A name as it is printed: quoted where it is no identifier, or a keyword.
std::string Name(std::string_view text);

enum class TokenKind { kEnd, kWord, kString, kNumber, kTemporary, kPunctuation };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // words, numbers, punctuation: as written; strings: unescaped; temporaries: without '%'
  int line = 1;
  int column = 1;
};

// Cuts text into tokens, one ahead. Not thread-safe; the text must outlive it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Advance(); }

  const Token& token() const { return token_; }
  const absl::Status& status() const { return status_; }  // a bad character or string, with line:column
  void Advance();

  bool IsPunctuation(char c) const { return token_.kind == TokenKind::kPunctuation && token_.text[0] == c; }
  bool IsWord(std::string_view word) const { return token_.kind == TokenKind::kWord && token_.text == word; }
  bool TryPunctuation(char c);
  bool TryWord(std::string_view word);
  absl::Status Expect(char c);
  absl::StatusOr<std::string> ExpectString();
  // INVALID_ARGUMENT "line:column: expected X, found Y".
  absl::Status Error(std::string_view expected) const;

 private:
  void LexString();
  void Step();
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  Token token_;
  absl::Status status_;
};

}  // namespace halftone::text_internal

#endif  // HALFTONE_IR_TEXT_INTERNAL_H_
