// SPDX-License-Identifier: Apache-2.0
// Integer matmuls with float results as ops that the format has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_INTEGER_MATMUL_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_INTEGER_MATMUL_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// ONNX:
//   matmul_integer_to_float(a, b, sa, sb, za, zb, c)  =>  mul(cast(matmul_integer(a, b, za, zb)), mul(sa, sb)) + c
//
// followed by the activation, where there is one. Other tools write dynamic quantization like this, and runtimes fuse this
// pattern.
//
// GraphDef, which has a matmul of two matrices after a dynamic quantization (formats/tensorflow/write_run_ranges.cc); m is
// matmul_integer_to_float:
//   m(dynamic_quantize(x), b)   =>  reshape(m(dynamic_quantize(reshape(x, [-1,k])), b), shape of the result)
//   m(a, b, sa, sb, za, zb, c)  =>  matmul(dequantize(a, sa, za), dequantize(b, sb, zb), c)
//
// the first where x is no matrix; the second where b has several scales or zero points, or one with s8, or a is not the
// result of a dynamic quantization. An activation other than relu follows as a node. The last part keeps the name.
class SplitIntegerMatMul final : public Pass {
 public:
  explicit SplitIntegerMatMul(const FileDialect& file) : file_(file) {}

  std::string_view name() const override { return "split-integer-matmul"; }
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;
  float tolerance() const override { return file_.has(FileFeature::kMatMulInteger) ? kBitExact : kRounding; }

 private:
  const FileDialect& file_;
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLIT_INTEGER_MATMUL_H_
