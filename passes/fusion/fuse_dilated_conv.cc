// SPDX-License-Identifier: Apache-2.0
// batch_to_space(conv(space_to_batch(x, b, p), w), b, c)  =>  conv(x, w) {dilations=b, pads=p - c}
//
// TensorFlow writes a dilated convolution this way; a 1-D one also has an unsqueeze before the conv and a squeeze after
// it. Legal in layout NHWC when blocks, pads and crops are constant, both blocks are equal, the conv has stride 1 and
// no padding, dilation or residual (bias and activation are allowed), and no more is cropped than was padded. The
// additional crops at the end remove what fills up the blocks. Bit-exact: the same sums in the same order.

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

bool All(const std::vector<int64_t>& numbers, int64_t wanted) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return number == wanted; });
}

std::string List(const std::vector<int64_t>& numbers) { return Concat("[", absl::StrJoin(numbers, ", "), "]"); }

// The numbers of constant input `i`; empty if it is not constant.
std::vector<int64_t> Numbers(const Graph& g, NodeId node, int i) {
  return g.input(node, i).valid() ? g.ConstantInts(g.input(node, i)).value_or(std::vector<int64_t>())
                                  : std::vector<int64_t>();
}

struct Dilated {
  NodeId conv, to_batch, unsqueeze, squeeze;  // both of the last two are valid, or neither is
  std::vector<int64_t> dilations, pads;       // of the conv's spatial dimensions
};

// The unsqueeze or squeeze that adds or removes dimension `axis` of `rank`.
bool TouchesAxis(const Graph& g, NodeId node, int64_t axis, int rank) {
  const std::vector<int64_t> axes = Numbers(g, node, 1);
  return axes.size() == 1 && (axes[0] == axis || axes[0] == axis - rank);
}

class FuseDilatedConv final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-dilated-conv"; }
  std::string_view equation() const override {
    return "batch_to_space(conv(space_to_batch(x, b, p), w), b, c) => conv(x, w) {dilations=b, pads=p - c}";
  }
  float tolerance() const override { return kBitExact; }
  OpSet root() const override { return OpKind::kBatchToSpace; }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    Dilated found;
    if (std::optional<Refusal> refusal = Read(g, root, found)) return *std::move(refusal);
    std::vector<NodeId> nodes = {root, found.conv, found.to_batch};
    if (found.squeeze.valid()) nodes.insert(nodes.end(), {found.squeeze, found.unsqueeze});
    return Match(std::move(nodes), {g.input(found.to_batch, 0)});
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    Dilated found;
    if (Read(g, m.root(), found).has_value()) return absl::InternalError("the pattern is gone");
    ValueId x = m.value(0);
    const Shape whole = g.shape(g.output(m.root()));
    if (found.unsqueeze.valid()) {  // x with the height of 1 that the 2-D conv needs
      const NodeId wide = edit.Clone(found.unsqueeze);
      edit.SetName(wide, FreshName(g, g.Label(m.root()) + "/wide"));
      edit.SetInput(wide, 0, x);
      Shape shape = g.shape(x);
      std::vector<Dim> dims = shape.dims();
      dims.insert(dims.begin() + 1, Dim::Of(1));
      x = g.output(wide);
      edit.SetShape(x, Shape(std::move(dims)));
    }
    const NodeId conv = edit.Clone(found.conv);
    edit.SetInput(conv, 0, x);
    edit.SetAttribute(conv, "dilations", found.dilations);
    edit.SetAttribute(conv, "pads", found.pads);
    edit.EraseAttribute(conv, "auto_pad");
    if (!found.squeeze.valid()) {
      edit.SetShape(g.output(conv), whole);
      edit.ReplaceNode(m.root(), conv);
      return absl::OkStatus();
    }
    edit.SetName(conv, FreshName(g, g.Label(m.root()) + "/conv"));
    edit.SetShape(g.output(conv), Shape());
    if (whole.has_rank()) {
      std::vector<Dim> dims = whole.dims();
      dims.insert(dims.begin() + 1, Dim::Of(1));
      edit.SetShape(g.output(conv), Shape(std::move(dims)));
    }
    const NodeId flat = edit.Clone(found.squeeze);
    edit.SetInput(flat, 0, g.output(conv));
    edit.SetShape(g.output(flat), whole);
    edit.ReplaceNode(m.root(), flat);
    return absl::OkStatus();
  }

 private:
  static std::optional<Refusal> Read(const Graph& g, NodeId root, Dilated& found) {
    ValueId y = g.input(root, 0);
    if (!y.valid()) return No("it has no input");
    if (g.op(y) == OpKind::kSqueeze) {
      found.squeeze = g.producer(y);
      y = g.input(found.squeeze, 0);
    }
    if (!y.valid() || g.op(y) != OpKind::kConv) return No("the input is not a conv");
    found.conv = g.producer(y);
    ValueId x = g.input(found.conv, 0);
    if (found.squeeze.valid()) {
      if (!x.valid() || g.op(x) != OpKind::kUnsqueeze)
        return No("the conv's result is squeezed, but its input is not unsqueezed");
      found.unsqueeze = g.producer(x);
      x = g.input(found.unsqueeze, 0);
    }
    if (!x.valid() || g.op(x) != OpKind::kSpaceToBatch) return No("the conv's input is not a space_to_batch");
    found.to_batch = g.producer(x);

    const Attributes& attributes = g.node(found.conv).attributes;
    const std::optional<int> rank = ResultRank(g, found.conv);
    const std::string layout = attributes.String("layout", "NCHW");
    const std::string weights_layout = attributes.String("weights_layout", "OIHW");
    if (layout != "NHWC" || weights_layout == "OIHW")
      return Kept(
          Concat("the conv's layout is not NHWC with weights HWIO: ", layout, " with weights ", weights_layout));
    if (!rank.has_value() || *rank < 3) return Kept(Concat("the conv's rank is not known: ", Describe(g, y)));
    if (HasResidual(g, found.conv))
      return Kept(Concat("the conv has a residual: ", Describe(g, g.input(found.conv, kResidualInput))));
    const std::vector<int64_t> strides = attributes.Ints("strides"), dilations = attributes.Ints("dilations");
    if (!All(strides, 1)) return Kept(Concat("the conv's strides are not 1: ", List(strides)));
    if (!All(dilations, 1)) return Kept(Concat("the conv already has dilations: ", List(dilations)));
    const std::string auto_pad = attributes.String("auto_pad", "NOTSET");
    if (auto_pad != "VALID" && !(auto_pad == "NOTSET" && All(attributes.Ints("pads"), 0)))
      return Kept(Concat("the conv pads its input, which would pad every block: ",
                         auto_pad == "NOTSET" ? List(attributes.Ints("pads")) : auto_pad));
    return ReadBlocks(g, root, *rank, found);
  }

  static std::optional<Refusal> ReadBlocks(const Graph& g, NodeId root, int rank, Dilated& found) {
    const std::vector<int64_t> blocks = Numbers(g, found.to_batch, 1), pads = Numbers(g, found.to_batch, 2);
    const std::vector<int64_t> crops = Numbers(g, root, 2);
    const size_t count = blocks.size(), spatial = static_cast<size_t>(rank) - 2;
    if (count == 0 || pads.size() != 2 * count || crops.size() != pads.size() || Numbers(g, root, 1) != blocks)
      return Kept(Concat("blocks, pads and crops are not constants of one size: ",
                         Describe(g, g.input(found.to_batch, 1)), ", ", Describe(g, g.input(found.to_batch, 2)), ", ",
                         Describe(g, g.input(root, 1)), ", ", Describe(g, g.input(root, 2))));
    size_t first = 0;  // the conv's spatial dimension that the first block stands for
    if (found.squeeze.valid()) {
      if (rank != 4 || count != 1 || !TouchesAxis(g, found.unsqueeze, 1, rank) ||
          !TouchesAxis(g, found.squeeze, 1, rank))
        return Kept(Concat(DescribeBoth("the squeeze does not remove the conv's height", g, g.input(found.unsqueeze, 1),
                                        g.input(found.squeeze, 1)),
                           " of rank ", rank, ", blocks ", List(blocks)));
      first = 1;
    }
    if (first + count > spatial)
      return Kept(Concat("the blocks include the channels: ", List(blocks), " of ", Describe(g, g.input(root, 0))));
    const Shape& weights = g.shape(g.input(found.conv, kWeightsInput));  // HWIO or HWCM
    const std::string kernels = Describe(g, g.input(found.conv, kWeightsInput));
    if (!weights.has_rank() || weights.rank() != rank) return Kept(Concat("the kernel's size is not known: ", kernels));
    found.dilations.assign(spatial, 1);
    found.pads.assign(2 * spatial, 0);
    for (size_t i = 0; i < count; ++i) {
      const int64_t begin = pads[2 * i] - crops[2 * i], end = pads[2 * i + 1] - crops[2 * i + 1];
      found.dilations[first + i] = blocks[i];
      found.pads[first + i] = begin;
      found.pads[spatial + first + i] = end;
      if (blocks[i] < 1) return Kept(Concat("a block is empty: ", List(blocks)));
      if (begin < 0 || end < 0)
        return Kept(Concat("more is cropped than was padded: ", List(crops), " of ", List(pads)));
      const Dim& kernel = weights.dim(static_cast<int>(first + i));
      const int64_t reach = kernel.known() ? (kernel.value - 1) * blocks[i] + 1 : 0;
      if (begin >= reach || end >= reach)
        return Kept(Concat("the padding is wider than the kernel: ", List({begin, end}), " for ", kernels,
                           " dilated by ", blocks[i]));
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseDilatedConv() { return std::make_unique<FuseDilatedConv>(); }

}  // namespace halftone
