// SPDX-License-Identifier: Apache-2.0
// gemm(a, b, c)  =>  matmul(a, b) + c
//
// Legal when alpha is 1, beta is 1 or c is absent, and a and b are known to be matrices: ONNX can express a transposed
// operand only in a Gemm of matrices, and the export must be able to write one. c broadcasts as in add. The fusions
// then handle only matmul, and fuse the addition into its kernel again. Bit-exact in f32 but for the order of the sum.

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/simplify/rules.h"

namespace halftone {
namespace {

bool IsMatrix(const Shape& shape) { return shape.has_rank() && shape.rank() == 2; }

class ConvertGemm final : public RewriteRule {
 public:
  std::string_view name() const override { return "convert-gemm"; }
  std::string_view equation() const override { return "gemm(a, b, c) => matmul(a, b) + c"; }
  OpSet root() const override { return OpKind::kGemm; }

  FindResult Find(const Graph& g, NodeId gemm, const Target&) const override {
    const Attributes& attributes = g.node(gemm).attributes;
    if (attributes.Float("alpha", 1) != 1) return Kept(Concat("alpha is not 1 but ", attributes.Float("alpha", 1)));
    if (g.input(gemm, 2).valid() && attributes.Float("beta", 1) != 1)
      return Kept(Concat("beta is not 1 but ", attributes.Float("beta", 1)));
    if (!IsMatrix(g.shape(g.input(gemm, 0))) || !IsMatrix(g.shape(g.input(gemm, 1))))
      return Kept(DescribeBoth("the ranks of a and b are not known", g, g.input(gemm, 0), g.input(gemm, 1)));
    return Match({gemm});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Node gemm = g.node(m.root());
    const ValueSpec result{g.type(gemm.outputs[0]), g.shape(gemm.outputs[0]), ""};
    Node matmul;
    matmul.op = OpKind::kMatMul;
    matmul.inputs = {gemm.inputs[0], gemm.inputs[1]};
    for (const char* name : {"transpose_a", "transpose_b"}) {
      if (gemm.attributes.Bool(name, false)) matmul.attributes.Set(name, true);
    }
    matmul.device = gemm.device;
    matmul.origin = gemm.origin;
    const NodeId multiplied = edit.AddNode(std::move(matmul), {result});
    const ValueId c = g.input(m.root(), 2);
    if (!c.valid()) {
      edit.ReplaceNode(m.root(), multiplied);
      return absl::OkStatus();
    }
    Node add;
    add.op = OpKind::kAdd;
    add.inputs = {g.output(multiplied), c};
    add.device = gemm.device;
    add.origin = gemm.origin;
    edit.ReplaceNode(m.root(), edit.AddNode(std::move(add), {result}));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeConvertGemm() { return std::make_unique<ConvertGemm>(); }

}  // namespace halftone
