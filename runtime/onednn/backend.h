// The backend of a Plan: oneDNN's kernels, or the reference functions alone.
#ifndef HALFTONE_RUNTIME_ONEDNN_BACKEND_H_
#define HALFTONE_RUNTIME_ONEDNN_BACKEND_H_

#include "runtime/kernel.h"

namespace halftone {

// Live as long as the program. Thread-safe.
const Backend& OneDnnBackend();
const Backend& ReferenceBackend();

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_ONEDNN_BACKEND_H_
