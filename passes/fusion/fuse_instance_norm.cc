// SPDX-License-Identifier: Apache-2.0
// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale + offset  =>  instance_norm(x, scale, offset)
//
// In the spellings of normalization.h, over the spatial dimensions of each image and channel. Legal when the mean is
// over all dimensions between batch and channel (layout NHWC) or after the channel (NCHW), and scale and offset are
// constants over the channels, or vectors for NHWC. NCHW also needs a scale or an offset along the channels, because
// without them the pattern is a layer norm as well. ONNX has the op only for NCHW. Not bit-exact: the order of the sums
// differs, and below f32 it rounds once where the ops round nine times.

#include <numeric>
#include <utility>

#include "base/strings.h"
#include "passes/core/reasons.h"
#include "passes/fusion/contraction.h"
#include "passes/fusion/normalization.h"
#include "passes/fusion/rules.h"

namespace halftone {
namespace {

// The channel dimension if `axes` are all spatial dimensions of a tensor of this rank; else -1.
int ChannelBeside(const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> spatial(axes.size());
  if (rank < 3 || static_cast<int>(axes.size()) != rank - 2) return -1;
  for (const int channel : {1, rank - 1}) {
    std::iota(spatial.begin(), spatial.end(), channel == 1 ? 2 : 1);
    if (spatial == axes) return channel;
  }
  return -1;
}

bool IsVector(const Shape& shape, int64_t size) {
  return shape.has_rank() && shape.rank() == 1 && shape.dim(0).value == size;
}

class FuseInstanceNorm final : public RewriteRule {
 public:
  std::string_view name() const override { return "fuse-instance-norm"; }
  std::string_view equation() const override {
    return "(x - mean(x)) / sqrt(variance(x) + epsilon) * scale + offset => instance_norm(x, scale, offset)";
  }
  bool makes_one_node() const override { return true; }
  OpSet root() const override { return NormalizationRoots(); }

  FindResult Find(const Graph& g, NodeId root, const Target&) const override {
    return FindLongestNormalization(g, root, Check);
  }

  absl::Status Apply(const Match& m, GraphEditor& edit) const override {
    const Graph& g = edit.graph();
    const Normalization norm = std::get<Normalization>(ReadNormalization(g, m.root()));
    const Shape shape = g.shape(norm.x);  // a copy: constants are added below
    const int channel = ChannelBeside(norm.axes, shape.rank());
    const int64_t channels = shape.dim(channel).value;
    const std::string label = g.Label(m.root());
    const auto vector = [&](ValueId parameter, float otherwise, std::string_view suffix) {
      if (parameter.valid() && IsVector(g.shape(parameter), channels)) {
        // A parameter along the last dimension. For NCHW with as many columns as channels it was refused.
        if (channel == shape.rank() - 1) return parameter;
      }
      const Tensor tensor = parameter.valid() ? *ChannelVector(g, parameter, channels, channel, shape.rank())
                                              : Tensor::Of<float>({channels}, std::vector<float>(channels, otherwise));
      return edit.AddConstant(FreshName(g, Concat(label, "/", suffix)), tensor);
    };
    Node node;
    node.op = OpKind::kInstanceNorm;
    node.inputs = {norm.x, vector(norm.scale, 1, "scale"), vector(norm.offset, 0, "offset")};
    if (channel != 1) node.attributes.Set("layout", std::string("NHWC"));
    node.attributes.Set("epsilon", norm.epsilon);
    ReplaceByNode(edit, m.root(), std::move(node));
    return absl::OkStatus();
  }

 private:
  // Find for a pattern that ends in this node, ignoring its consumers.
  static FindResult Check(const Graph& g, NodeId root) {
    auto read = ReadNormalization(g, root);
    if (Refusal* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
    const Normalization& norm = std::get<Normalization>(read);
    const Shape& shape = g.shape(norm.x);
    const int channel = ChannelBeside(norm.axes, shape.rank());
    if (channel < 0) return No("the means are not over exactly the spatial dimensions");
    if (channel == 1 && !norm.scale.valid() && !norm.offset.valid()) return No("it is a layer norm without parameters");
    if (g.type(norm.x) != DataType::kFloat32) return Kept(Concat("its type is not f32: ", Describe(g, norm.x)));
    if (!shape.dim(channel).known()) return Kept(Concat("the number of channels is not known: ", Describe(g, norm.x)));
    if (channel != 1 && g.layout() == GraphLayout::kChannelsFirst)
      return Kept("it has channels last, and the layout of the graph is channels first");
    for (const ValueId parameter : {norm.scale, norm.offset}) {
      if (!parameter.valid()) continue;
      const bool vector = channel == shape.rank() - 1 && IsVector(g.shape(parameter), shape.dim(channel).value);
      if (!vector && !ChannelVector(g, parameter, shape.dim(channel).value, channel, shape.rank()).has_value())
        return Kept(DescribeBoth("scale or offset is not a vector over the channels", g, parameter, norm.x));
    }
    return Match(norm.nodes);
  }
};

}  // namespace

std::unique_ptr<RewriteRule> MakeFuseInstanceNorm() { return std::make_unique<FuseInstanceNorm>(); }

}  // namespace halftone
