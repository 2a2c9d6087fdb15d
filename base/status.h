// SPDX-License-Identifier: Apache-2.0
// Macros and helpers for absl::Status: how an error travels through every folder of Halftone.
//
//   HALFTONE_RETURN_IF_ERROR(Verify(graph));
//   HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
//   return Annotate(status, "node 'conv1'");

#ifndef HALFTONE_BASE_STATUS_H_
#define HALFTONE_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/strings.h"

namespace halftone {

// The same code and payloads; the message gets the prefix "context: ". An OK status is returned unchanged.
absl::Status Annotate(absl::Status status, TextArg context);

// A status from an errno value: ENOSPC, EDQUOT and EFBIG are RESOURCE_EXHAUSTED, ENOENT is NOT_FOUND, EPIPE is
// UNAVAILABLE, everything else INTERNAL. The message is "what: strerror".
absl::Status ErrnoToStatus(int error_number, TextArg what);

}  // namespace halftone

#define HALFTONE_STATUS_CONCAT_INNER_(a, b) a##b
#define HALFTONE_STATUS_CONCAT_(a, b) HALFTONE_STATUS_CONCAT_INNER_(a, b)

// Returns the status of `expr` from the function unless it is OK.
#define HALFTONE_RETURN_IF_ERROR(expr)                                      \
  do {                                                                      \
    if (::absl::Status halftone_status_ = (expr); !halftone_status_.ok()) { \
      return halftone_status_;                                              \
    }                                                                       \
  } while (false)

// Evaluates `expr`, a StatusOr. Returns its status from the function unless it is OK, else assigns its value to `lhs`,
// which may declare a variable. Expands to several statements: an `if` around it needs braces.
#define HALFTONE_ASSIGN_OR_RETURN(lhs, ...) \
  HALFTONE_ASSIGN_OR_RETURN_IMPL_(HALFTONE_STATUS_CONCAT_(halftone_status_or_, __LINE__), lhs, (__VA_ARGS__))

#define HALFTONE_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = expr;                                      \
  if (!result.ok()) return std::move(result).status();     \
  lhs = *std::move(result)

#endif  // HALFTONE_BASE_STATUS_H_
