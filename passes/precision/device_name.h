// SPDX-License-Identifier: Apache-2.0
// TensorFlow's device names: "/job:worker/replica:0/task:0/device:CPU:0", "/cpu:0", "".
#ifndef HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_
#define HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_

#include <string_view>

namespace halftone {

// Whether a node with this device runs on a CPU by TensorFlow's rule: the name is complete, with type and number, and
// the type contains "cpu". A node without a device runs on this CPU.
bool IsOnCpu(std::string_view device);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_
