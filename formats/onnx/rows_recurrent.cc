// Rows of recurrent ops, attention, einsum and signals.
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {

std::span<const OpRow> RecurrentRows() { return {}; }

}  // namespace halftone::onnx_format
