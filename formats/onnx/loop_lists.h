// SPDX-License-Identifier: Apache-2.0
// Lists that a Loop appends to in every run.
#ifndef HALFTONE_FORMATS_ONNX_LOOP_LISTS_H_
#define HALFTONE_FORMATS_ONNX_LOOP_LISTS_H_

#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// PyTorch writes `ys.append(y)` in a loop and `torch.stack(ys)` after it as an empty sequence that the Loop carries,
// SequenceInsert in its body, and ConcatFromSequence with new_axis. That is what a scanned output is: the Loop then
// collects y, and ConcatFromSequence becomes an Identity or a Transpose. Only where nothing else reads the list;
// stacking wants equal shapes of all elements, as scanned outputs do. (Not torch.cat: there lengths may differ.)
// Changes the nodes of `graph` and the bodies of its Loops, not what is deeper.
void ScanAppendedLists(onnx::GraphProto& graph);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_LOOP_LISTS_H_
