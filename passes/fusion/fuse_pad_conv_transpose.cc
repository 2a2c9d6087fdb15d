// SPDX-License-Identifier: Apache-2.0
// conv_transpose(pad(x), w)  =>  conv_transpose(x, w) {pads - strides * the pads of the pad}
//
// Padded zeros contribute zero: they only shift the result, and the convolution's own pads, or a crop that has become
// pads, remove that shift. Legal when the pad fills with constant zeros, pads only spatial dimensions, does not crop,
// and removes no more than the conv_transpose's pads, which are explicit or follow from known sizes. Bit-exact: only
// multiplications by zero are left out.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "passes/fusion/contraction.h"
#include "passes/fusion/pads.h"
#include "passes/fusion/rules.h"
#include "passes/fusion/transposed_conv.h"

namespace halftone {
namespace {

// The remaining pads, begins then ends, or the reason why the pad cannot be fused.
std::variant<std::vector<int64_t>, std::string> PadsLeft(const Graph& g, NodeId conv, NodeId pad) {
  const Attributes& attributes = g.node(conv).attributes;
  std::vector<int64_t> pads = TransposedPads(g, conv);
  if (pads.empty()) return "the pads of the conv_transpose depend on unknown sizes";
  if (!SaysTransposedPads(g, conv)) return "the operator has no explicit pads for this rank";
  const int spatial = static_cast<int>(pads.size()) / 2, rank = spatial + 2;
  const auto zeros = ZeroPads(g, pad, rank);
  if (const std::string* reason = std::get_if<std::string>(&zeros)) return *reason;
  const std::vector<int64_t>& all = std::get<std::vector<int64_t>>(zeros);
  const bool nchw = attributes.String("layout", "NCHW") == "NCHW";
  const int first = nchw ? 2 : 1, channel = nchw ? 1 : rank - 1;
  for (const int fixed : {0, channel}) {
    if (all[fixed] != 0 || all[rank + fixed] != 0) return "the pad is not only spatial";
  }
  const std::vector<int64_t> strides = attributes.Ints("strides", std::vector<int64_t>(spatial, 1));
  if (static_cast<int>(strides.size()) != spatial) return "its attributes do not match its rank";
  for (int i = 0; i < spatial; ++i) {
    for (const bool end : {false, true}) {
      const int64_t more = all[(end ? rank : 0) + first + i];
      int64_t& left = pads[i + (end ? spatial : 0)];
      left -= more * strides[i];
      if (more < 0) return "the pad crops";
      if (left < 0) return "the pads of the conv_transpose do not remove what the padded zeros add";
    }
  }
  return pads;
}

class FusePadConvTranspose final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-pad-conv-transpose"; }
  std::string_view equation() const override {
    return "conv_transpose(pad(x), w) => conv_transpose(x, w) {pads - strides * the pads of the pad}";
  }
  float tolerance() const override { return kBitExact; }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return OpKind::kConvTranspose; }

  FindResult Find(const Graph& g, NodeId conv, const Target&) const override {
    const ValueId padded = g.input(conv, 0);
    if (!padded.valid() || g.op(padded) != OpKind::kPad) return No("the input is not a pad");
    const NodeId pad = g.producer(padded);
    const auto left = PadsLeft(g, conv, pad);
    if (const std::string* reason = std::get_if<std::string>(&left)) return Kept(*reason);
    return Match({conv, pad}, {g.input(pad, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const auto [conv, pad] = m.nodes<2>();
    const std::vector<int64_t> pads = std::get<std::vector<int64_t>>(PadsLeft(edit.graph(), conv, pad));
    edit.SetInput(conv, 0, m.value(0));
    SetTransposedPads(edit, conv, pads);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFusePadConvTranspose() { return std::make_unique<FusePadConvTranspose>(); }

}  // namespace halftone
