// SPDX-License-Identifier: Apache-2.0
// Products of integers with real results as ops that the format has, for export.
#ifndef HALFTONE_PASSES_EXPORT_SPLIT_INTEGER_MATMUL_H_
#define HALFTONE_PASSES_EXPORT_SPLIT_INTEGER_MATMUL_H_

#include "ir/file_dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// ONNX:
//   matmul_integer_to_float(a, b, sa, sb, za, zb, c)  =>  mul(cast(matmul_integer(a, b, za, zb)), mul(sa, sb)) + c
//
// and the activation behind it, where there is one. As other tools write dynamic quantization, and as runtimes look for
// it to fuse it.
//
// GraphDef, which has a product of two matrices behind a quantization of its own
// (formats/tensorflow/write_run_ranges.cc):
//   product(dynamic_quantize(x), b)  =>  reshape(product(dynamic_quantize(reshape(x, [-1,k])), b), shape of the result)
//   product(a, b, sa, sb, za, zb, c)  =>  matmul(dequantize(a, sa, za), dequantize(b, sb, zb), c)
//
// the first where x is no matrix; the second where b has several scales or zero points, or one with s8, or a comes from
// elsewhere. Another activation than relu stands behind it. The last part keeps the name.
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
