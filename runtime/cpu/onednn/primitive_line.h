// SPDX-License-Identifier: Apache-2.0
// One line of oneDNN's verbose output, taken apart:
//
//   onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,
//   src:f32::blocked:acdb::f0 wei:f32:a:blocked:Acdb64a::f0 bia:... dst:...,attr-post-ops:eltwise_relu,
//   alg:convolution_direct,mb1_ic64oc64_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1,1.07
//
// (one line there). Includes no dnnl.hpp, so that tests can read it without oneDNN.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_PRIMITIVE_LINE_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_PRIMITIVE_LINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone::onednn {

struct LineTensor {
  std::string role;              // "src", "wei", "bia", "dst", "data", ...
  std::string type;              // "f32"; "undef": absent
  bool any = false;              // the implementation chose the layout
  std::string kind;              // "blocked"
  std::string tag;               // "acdb"
  std::vector<int64_t> strides;  // where they are not those of the tag
  std::string rest;              // flags: "f0", "f0_mask4"

  bool present() const { return !type.empty() && type != "undef"; }
};

struct PrimitiveLine {
  std::string primitive;  // "convolution"
  std::string kernel;     // "brg_conv_fwd:avx512_core"
  std::string direction;  // "forward_inference", "undef"
  std::vector<LineTensor> tensors;
  std::map<std::string, std::string> attributes;  // "post-ops": "sum+eltwise_relu"
  std::map<std::string, std::string> settings;    // "alg": "convolution_direct", "axis": "2"
  std::string problem;                            // "1x64x56x56:1x64x1x1"
  double ms = 0;

  // The nth tensor of this role; an absent one where there is none.
  const LineTensor& tensor(std::string_view role, int n = 0) const;
  std::string setting(const std::string& name, const std::string& otherwise = "") const;
};

// INVALID_ARGUMENT: no line of an execution, with what is wrong.
absl::StatusOr<PrimitiveLine> ParsePrimitiveLine(std::string_view line);

// "2x3:4" => {{2, 3}, {4}}. INVALID_ARGUMENT where it is something else.
absl::StatusOr<std::vector<std::vector<int64_t>>> ParseProblemDims(std::string_view problem);
// "mb1_ic3oc64_ih224..." => {"mb": 1, "ic": 3, ...}.
absl::StatusOr<std::map<std::string, int64_t>> ParseProblemLetters(std::string_view problem);

// The same for oneDNN's benchmark program, which Debian does not package. Empty where it cannot be said.
std::string BenchdnnCommand(const PrimitiveLine& line);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_PRIMITIVE_LINE_H_
