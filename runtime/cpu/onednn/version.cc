// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/version.h"

#include "base/strings.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace halftone::onednn {

std::string Version() {
  const dnnl::version_t* version = dnnl::version();
  return Concat(version->major, ".", version->minor, ".", version->patch);
}

std::string CommitHash() { return dnnl::version()->hash; }

}  // namespace halftone::onednn
