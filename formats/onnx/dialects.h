// SPDX-License-Identifier: Apache-2.0
// The dialects of an ONNX file: what it holds, for the export passes (ir/file_dialect.h).
#ifndef HALFTONE_FORMATS_ONNX_DIALECTS_H_
#define HALFTONE_FORMATS_ONNX_DIALECTS_H_

#include "ir/file_dialect.h"

namespace halftone {

const FileDialect& OnnxDialect();         // standard operators alone
const FileDialect& OnnxRuntimeDialect();  // those of the domain com.microsoft, too (FusedConv, Gelu, ...)

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_DIALECTS_H_
