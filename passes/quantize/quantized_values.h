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
// no answer: all who make or read them pass integers (PassesIntegers), or move them (QuantizedRole::kMove), and then
// what is moved gets the same one. Where two nodes say two things, the first quantize_linear is right, without one the
// first dequantize_linear.
void AnnotateIntegers(GraphEditor& edit);

// Takes them away again where nobody computes with them: all who make or read them, and what is moved from or to them,
// pass integers or move them. Not where one of them is in `kept`: a mover that the target was asked about.
void ForgetUnusedQuantizations(GraphEditor& edit, const std::set<NodeId>& kept);

// The integers behind a real number: the input of its dequantize_linear, if that says of them what their quantization
// says; else kNoValue. REQUIRES: AnnotateIntegers
ValueId IntegersOf(const Graph& graph, ValueId number);

// The quantize_linear that alone reads this value, and says of its result what the result's quantization (one scale)
// says; else kNoNode. REQUIRES: AnnotateIntegers
NodeId OnlyQuantize(const Graph& graph, ValueId number);

}  // namespace halftone

#endif  // HALFTONE_PASSES_QUANTIZE_QUANTIZED_VALUES_H_
