// SPDX-License-Identifier: Apache-2.0
// conv(pad(x), w)  =>  conv(x, w) {pads + the pads of the pad}
//
// Legal when the pad fills with constant zeros, pads only spatial dimensions by less than the kernel's size, and the
// conv's own padding is explicit (or VALID: none). Bit-exact: the conv pads with zeros as well.

#include "passes/fusion/contraction.h"
#include "passes/fusion/pads.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

class FusePadConv final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-pad-conv"; }
  std::string_view equation() const override { return "conv(pad(x), w) => conv(x, w) {pads}"; }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kConv; }

  FindResult Find(const Graph& g, NodeId conv, const Target&) const override {
    const ValueId padded = g.input(conv, 0);
    if (!padded.valid() || g.op(padded) != OpKind::kPad) return No("the input is not a pad");
    const NodeId pad = g.producer(padded);
    if (std::string reason = CannotPad(g, conv, pad); !reason.empty()) return Kept(std::move(reason));
    return Match({conv, pad}, {g.input(pad, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [conv, pad] = m.nodes<2>();
    const std::vector<int64_t> pads = PadsTogether(edit.graph(), conv, pad);
    edit.SetInput(conv, 0, m.value(0));
    edit.SetAttribute(conv, "pads", pads);
    edit.EraseAttribute(conv, "auto_pad");
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFusePadConv() { return std::make_unique<FusePadConv>(); }

}  // namespace halftone
