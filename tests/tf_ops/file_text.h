// SPDX-License-Identifier: Apache-2.0
// GraphDefs from text, for tests. One node per line:
//
//   x = Placeholder() dtype=f32 shape=[2,3]
//   c = Const() value=s32[2]:4,5
//   y = Add(x, z:1, ^w) T=f32 N=3 alpha=0.5 flag=true name="text" sizes=[1,2] types={f32,s32} f=@function
//   function g(a: s32, b: f32) -> (s32 r = sum:z:0) {
//     sum = AddV2(a, a) T=s32
//   }
#ifndef HALFTONE_TESTS_TF_OPS_FILE_TEXT_H_
#define HALFTONE_TESTS_TF_OPS_FILE_TEXT_H_

#include <string_view>

#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::testing {

// Parses the text. Malformed text is a test failure.
tensorflow::GraphDef FileFromText(std::string_view text);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_TF_OPS_FILE_TEXT_H_
