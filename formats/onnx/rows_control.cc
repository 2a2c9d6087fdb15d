// Rows of control flow.
#include "formats/onnx/op_rows.h"

namespace halftone::onnx_format {

std::span<const OpRow> ControlRows() { return {}; }

}  // namespace halftone::onnx_format
