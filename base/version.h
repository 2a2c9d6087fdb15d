// SPDX-License-Identifier: Apache-2.0
// The version of Halftone: one number for server, worker and command line.

#ifndef HALFTONE_BASE_VERSION_H_
#define HALFTONE_BASE_VERSION_H_

namespace halftone {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace halftone

#endif  // HALFTONE_BASE_VERSION_H_
