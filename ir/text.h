// SPDX-License-Identifier: Apache-2.0
// The text form: test input, golden output, debug dump, bug report. Printing and parsing are inverse.
//
//   graph format=NAME layout=channels_last "name" (x: f32[2,3], "y:0": s64[N]) {          -- inputs; names that are not identifiers are quoted
//     w = const f32[3,5] hash=0123456789abcdef           -- a big constant; parsing one without its weights is an error, but
//     w = const f32[3,5]                                 -- this one, for tests, is filled from a seed of its name and shape
//     b = const f32[5] {0, 1, 2.5, -inf, nan}            -- elements (floats print so that they read back to the same bits)
//     c = const f32[2,2] base64 "..."                    -- little-endian bytes; with_weights prints all above 16 elements so
//     w = const f32[3,5] at=4096                         -- in the bytes of the weights that are kept beside the text
//     m: f32[2,5] = matmul(x, w) {transpose_b=true}      -- ": type[shape]" is printed where it is known; without it, it is inferred
//     q: u8[2,5]{0.1, 128} = relu(m)                     -- integers that stand for numbers (quantization.h): scale, zero point
//     v: s8[3,5]{[0.5, 0.25, 0.5], 0, axis=0} = const s8[3,5]   -- one scale for each index along an axis; one zero point for
//                                                        -- all, or [as many]
//     t = transpose(m, [1, 0])                           -- unnamed constants stand inline: [1, 0] and 3 are s64, [1, 0]:s32, 0:u8, 0.5:f32
//     y1, _, y2 = op(t, _) {...} ...                     -- several outputs; "_" is an absent one
//     r = add(relu(m), b)                                -- nested ops make unnamed nodes and values
//     o = opaque "LSTM" domain="x" (a, b) extra {...}    -- Node::spelling is the quoted word; known ops may have one too: add "AddV2" (a, b)
//     z = relu(m) extra {_class=["loc:@w"]} name="dense/relu" device="/cpu:0" after("init") captures("h")
//     return m, "out:0"=z                                -- outputs; name=value where the name is not the value's
//   } header {opset=[13], ...}
//
// format=NAME is kHeaderFormat of the header: the format whose files the graph is read from and written to. Without it and
// without a layout (Graph::layout) the line is: graph "name" (...).
//
// A value may be read before the line that makes it (loops). '#' begins a comment to the end of the line.
#ifndef HALFTONE_IR_TEXT_H_
#define HALFTONE_IR_TEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone {

struct PrintOptions {
  bool with_weights = false;  // every constant with all its bytes
  int max_elements = 16;      // constants up to this size print their elements
  bool shapes = true;         // ": f32[2,5]" of computed values
  // Keeps the bytes of a constant above max_elements and returns where they lie: the text then says "at=" that offset.
  std::function<uint64_t(const Tensor&)> store_weights = nullptr;
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});

// Errors: INVALID_ARGUMENT with line:column, what was found and what was expected. Shapes and types that the text leaves out
// are inferred where the op's rule can. The result is verified. `weights`: the bytes that "at=" refers to, which the
// constants of the graph keep.
absl::StatusOr<Graph> ParseGraph(std::string_view text, const std::shared_ptr<const Buffer>& weights = nullptr);

}  // namespace halftone

#endif  // HALFTONE_IR_TEXT_H_
