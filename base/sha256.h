// SPDX-License-Identifier: Apache-2.0
// SHA-256, by which blobs are named.

#ifndef HALFTONE_BASE_SHA256_H_
#define HALFTONE_BASE_SHA256_H_

#include <memory>
#include <string>
#include <string_view>

namespace halftone {

// The digest of data that arrives in pieces. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void Update(std::string_view bytes);

  // The digest of everything so far as 64 lower-case hexadecimal digits. Update may go on afterwards.
  std::string Hex() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// Whether `text` is 64 lower-case hexadecimal digits.
bool IsSha256Hex(std::string_view text);

}  // namespace halftone

#endif  // HALFTONE_BASE_SHA256_H_
