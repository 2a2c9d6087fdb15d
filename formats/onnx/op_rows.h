// SPDX-License-Identifier: Apache-2.0
// The tables that op_map.cc looks through, by family.
#ifndef HALFTONE_FORMATS_ONNX_OP_ROWS_H_
#define HALFTONE_FORMATS_ONNX_OP_ROWS_H_

#include <span>

#include "formats/onnx/op_map.h"

namespace halftone::onnx_format {

std::span<const OpRow> BasicRows();        // rows_basic.cc: what convolutional networks are made of
std::span<const OpRow> ElementwiseRows();  // rows_elementwise.cc
std::span<const OpRow> TensorRows();       // rows_tensor.cc: moving, indexing, reducing
std::span<const OpRow> NnRows();           // rows_nn.cc: pools, normalization, images, detection
std::span<const OpRow> RecurrentRows();    // rows_recurrent.cc: recurrent ops, attention, einsum, signals
std::span<const OpRow> FusedRows();        // rows_fused.cc: com.microsoft's fused ops
std::span<const OpRow> QuantizeRows();     // rows_quantize.cc: quantized ops, losses, com.microsoft
std::span<const OpRow> ControlRows();      // rows_control.cc: if, loop, scan

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_OP_ROWS_H_
