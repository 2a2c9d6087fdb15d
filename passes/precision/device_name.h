// TensorFlow's names of devices: "/job:worker/replica:0/task:0/device:CPU:0", "/cpu:0", "".
#ifndef HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_
#define HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_

#include <string_view>

namespace halftone {

// Whether a node on this device is one of the CPU's, as TensorFlow's planner asks: the name is a whole one with type
// and number, and the type has "cpu" in it. No name: the node is placed later, on the CPU that we are.
bool IsOnCpu(std::string_view device);

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_DEVICE_NAME_H_
