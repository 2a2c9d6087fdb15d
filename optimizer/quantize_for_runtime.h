// SPDX-License-Identifier: Apache-2.0
// What a runtime that loads an int8 file needs so that it computes with integers, too.
//
// ONNX Runtime makes an operator of integers of DequantizeLinear -> op -> QuantizeLinear where nothing but a Relu or a
// Clip that the integers' limits imply is between. So the result of every op has to be quantized, outputs of the graph
// too, and nothing else may be fused: the range of what lies before a sum or another activation would not be known. The
// same holds for every ONNX file of operators (QLinearConv and its like), whoever loads it, but for outputs, which stay
// as they are there.
#ifndef HALFTONE_OPTIMIZER_QUANTIZE_FOR_RUNTIME_H_
#define HALFTONE_OPTIMIZER_QUANTIZE_FOR_RUNTIME_H_

#include <memory>

#include "formats/formats.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "optimizer/int8_options.h"
#include "optimizer/variant_kind.h"
#include "passes/quantize/quantize_options.h"

namespace halftone {

// Whether results are quantized and fusion is held back as above. Never where the format's ops on integers add and
// activate (Int8Support::operators_fuse).
bool WantsPlainOps(ModelFormat format, TargetRuntime target_runtime, QuantFormat form);

// `options` with what the target runtime and the format need added.
QuantizeOptions OptionsFor(ModelFormat format, TargetRuntime target_runtime, QuantFormat form, QuantizeOptions options);

// How a variant's ONNX file is written: the int8 one with operators of integers where the form says so.
ExportOptions FileOptionsOf(VariantKind kind, QuantFormat form);

// A target for the optimize pipeline of an int8 variant, where it must fuse less than for other variants; nullptr: it
// need not. It supports the fusions that the target runtime has for ops of integers (bias, relu, relu6, clip), and only
// a bias and an activation in the matmuls of mode kDynamic; all else as `target` does, which must outlive it.
// Thread-safe.
std::unique_ptr<const Target> FusionTargetFor(ModelFormat format, TargetRuntime target_runtime,
                                              const Int8Options& options, const Target& target);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_QUANTIZE_FOR_RUNTIME_H_
