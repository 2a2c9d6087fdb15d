// Kernels of our own, in plain loops over plain memory: what oneDNN does not have. The list of which op tries which, in
// order, is runtime/onednn/kernels.cc. Each accepts only what it computes (types, ranks) and says UNIMPLEMENTED to the rest.
#ifndef HALFTONE_RUNTIME_HOST_KERNELS_H_
#define HALFTONE_RUNTIME_HOST_KERNELS_H_

#include <memory>

#include "runtime/kernel.h"

namespace halftone::host {}  // namespace halftone::host

#endif  // HALFTONE_RUNTIME_HOST_KERNELS_H_
