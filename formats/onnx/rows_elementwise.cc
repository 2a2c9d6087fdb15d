// Rows of elementwise ops: activations, comparisons, logic.
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {

std::span<const OpRow> ElementwiseRows() { return {}; }

}  // namespace halftone::onnx_format
