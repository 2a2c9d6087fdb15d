// SPDX-License-Identifier: Apache-2.0
// The internal ops of TensorFlow's remapper and of Intel's extension, and ops that builds with oneDNN alone register,
// which TensorFlow's list of ops leaves out: names, ports, attributes, types and defaults, as far as a CPU's inference
// has them.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_INTERNAL_OPS_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_INTERNAL_OPS_H_

#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::testing {

enum class InternalOpsOf { kTensorFlow, kItex, kOneDnn };

// To be merged into the registry of whoever has a file of that dialect checked.
tensorflow::OpList InternalOps(InternalOpsOf whose);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_INTERNAL_OPS_H_
