// SPDX-License-Identifier: Apache-2.0
// Which oneDNN is linked.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_VERSION_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_VERSION_H_

#include <string>

namespace halftone::onednn {

std::string Version();     // "3.7.2"
std::string CommitHash();  // as its build reports it

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_VERSION_H_
