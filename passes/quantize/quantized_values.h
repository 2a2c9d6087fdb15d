// SPDX-License-Identifier: Apache-2.0
// Scales and zero points of quantize_linear and dequantize_linear as quantizations of values.
#ifndef HALFTONE_PASSES_QUANTIZE_QUANTIZED_VALUES_H_
#define HALFTONE_PASSES_QUANTIZE_QUANTIZED_VALUES_H_

#include <memory>
#include <set>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

// What a quantize_linear or dequantize_linear says of its integers. nullptr: scale or zero point are no constants or do
// not fit, the integers are not u8, s8 or s32, the numbers not f32, or there are blocks.
std::shared_ptr<const Quantization> QuantizationOf(const Graph& graph, NodeId id);

// Gives a quantization to the integers that a quantize_linear makes or a dequantize_linear reads, wherever that changes
// no output: their producer and all consumers pass integers (PassesIntegers), or move them (QuantizedRole::kMove), and
// then the moved values get the same quantization. Where two nodes differ, the first quantize_linear decides, without one
// the first dequantize_linear.
void AnnotateIntegers(GraphEditor& edit);

// Removes the quantization again from integers that no node computes with: their producer and consumers, and those of the
// values that are moved from or to them, pass integers or move them. Not where one of these is in `kept`: a mover that the
// target was asked about.
void ForgetUnusedQuantizations(GraphEditor& edit, const std::set<NodeId>& kept);

// The integers of a real number: the input of its dequantize_linear, if its scale and zero point are those of their
// quantization; else kNoValue. REQUIRES: AnnotateIntegers
ValueId IntegersOf(const Graph& graph, ValueId number);

// The quantize_linear that alone reads this value, and says of its result what the result's quantization (one scale)
// says; else kNoNode. REQUIRES: AnnotateIntegers
NodeId OnlyQuantize(const Graph& graph, ValueId number);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZED_VALUES_H_
