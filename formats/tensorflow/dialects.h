// SPDX-License-Identifier: Apache-2.0
// The dialects of a GraphDef: what its files hold, for the export passes (ir/file_dialect.h).
#ifndef HALFTONE_FORMATS_TENSORFLOW_DIALECTS_H_
#define HALFTONE_FORMATS_TENSORFLOW_DIALECTS_H_

#include <string_view>

#include "ir/file_dialect.h"

namespace halftone {

const FileDialect& GraphDefDialect();    // standard ops alone
const FileDialect& TensorFlowDialect();  // those of TensorFlow's remapper, too (_FusedConv2D, _MklSwish, ...)
const FileDialect& ItexDialect();        // those of Intel's extension, too (_ITEXFusedConv2D, ITEXGelu, ...)

// Whether an op is a fused one of either: a node that was read as one must be spelled anew.
bool IsFusedTensorFlowOp(std::string_view op);

// What every dialect has.
inline constexpr FileFeatures kGraphDefFeatures = {
    FileFeature::kBiasAdd,          FileFeature::kL2Loss,  FileFeature::kConvChannelsLast,
    FileFeature::kMatMulTransposes, FileFeature::kDevices, FileFeature::kDequantizeRange,
};

}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_DIALECTS_H_
