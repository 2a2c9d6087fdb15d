// SPDX-License-Identifier: Apache-2.0
#include "passes/export/split_fused.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/file_dialect.h"
#include "passes/fusion/activation.h"
#include "passes/fusion/batch_norm.h"
#include "passes/fusion/contraction.h"

namespace halftone {
namespace {

// One part of the chain that replaces a fused node; its first input is the part before it.
struct Part {
  OpKind op;
  int unhooks = -1;                      // the input of the contraction whose work this part does
  std::vector<std::string_view> erases;  // its attributes that this part does
  std::vector<ValueId> inputs;           // beside the first
  Attributes attributes;
};

Part ActivationPart(GraphEditor& edit, NodeId fused) {
  const Graph& g = edit.graph();
  Node node = ActivationNode(edit, g.output(fused), FusedActivation(g, fused), g.Label(fused));
  return {node.op,
          -1,
          {"activation", "activation_alpha", "activation_beta", "activation_first"},
          {node.inputs.begin() + 1, node.inputs.end()},
          std::move(node.attributes)};
}

absl::StatusOr<Part> ScalePart(GraphEditor& edit, NodeId fused) {
  const Graph& g = edit.graph();
  const float scale = g.node(fused).attributes.Float("scale", 1);
  HALFTONE_ASSIGN_OR_RETURN(Tensor number, Tensor::Scalar(scale).ConvertTo(g.type(g.output(fused))));
  const ValueId factor = edit.AddConstant(FreshName(g, Concat(g.Label(fused), "/scale")), std::move(number));
  return Part{OpKind::kMul, -1, {"scale"}, {factor}, {}};
}

Part BiasPart(const Graph& g, NodeId fused, const FileDialect& file) {
  const ValueId bias = g.input(fused, kBiasInput);
  if (!file.has(FileFeature::kBiasAdd)) return {OpKind::kAdd, kBiasInput, {}, {bias}, {}};
  Attributes attributes;
  const bool conv = g.op(fused) == OpKind::kConv;
  attributes.Set("layout", conv ? g.node(fused).attributes.String("layout", "NCHW") : std::string("NHWC"));
  return {OpKind::kBiasAdd, kBiasInput, {}, {bias}, std::move(attributes)};
}

Part ResidualPart(const Graph& g, NodeId fused) {
  return {OpKind::kAdd, kResidualInput, {"activation_first"}, {g.input(fused, kResidualInput)}, {}};
}

// All parts, in the order in which they are computed.
absl::StatusOr<std::vector<Part>> PartsOf(GraphEditor& edit, NodeId fused, const FileDialect& file) {
  const Graph& g = edit.graph();
  const bool first = g.node(fused).attributes.Bool("activation_first", false);
  std::vector<Part> parts;
  if (IsContraction(g, fused) && g.node(fused).attributes.Float("scale", 1) != 1) {
    HALFTONE_ASSIGN_OR_RETURN(Part scale, ScalePart(edit, fused));
    parts.push_back(std::move(scale));
  }
  if (IsContraction(g, fused) && HasBias(g, fused)) parts.push_back(BiasPart(g, fused, file));
  if (HasActivation(g, fused) && first) parts.push_back(ActivationPart(edit, fused));
  if (IsContraction(g, fused) && HasResidual(g, fused)) parts.push_back(ResidualPart(g, fused));
  if (HasActivation(g, fused) && !first) parts.push_back(ActivationPart(edit, fused));
  return parts;
}

void Strip(GraphEditor& edit, NodeId node, const Part& part) {
  for (const std::string_view attribute : part.erases) edit.EraseAttribute(node, attribute);
  if (part.unhooks >= 0) edit.SetInput(node, part.unhooks, kNoValue);
}

// Whether a gemm says what this matmul does.
bool IsGemm(const Graph& g, NodeId matmul) {
  const Shape& a = g.shape(g.input(matmul, 0));
  const Shape& b = g.shape(g.input(matmul, 1));
  return a.has_rank() && b.has_rank() && a.rank() == 2 && b.rank() == 2;
}

bool IsTransposed(const Graph& g, NodeId matmul) {
  const Attributes& attributes = g.node(matmul).attributes;
  return attributes.Bool("transpose_a", false) || attributes.Bool("transpose_b", false);
}

// Puts `kept`, what is left of the fused node, first, then `parts`, each reading the one before; the last takes over
// `fused`. Only the first output goes through the chain.
void Chain(GraphEditor& edit, NodeId fused, NodeId kept, std::vector<Part> parts) {
  const Graph& g = edit.graph();
  const Node node = g.node(fused);
  const ValueSpec result{g.type(node.outputs[0]), g.shape(node.outputs[0]), ""};
  const std::string label = g.Label(fused);
  NodeId last = kept;
  edit.SetName(last, FreshName(g, Concat(label, "/", OpName(g.op(last)))));
  for (Part& part : parts) {
    Node next;
    next.op = part.op;
    next.attributes = std::move(part.attributes);
    next.inputs = {g.output(last)};
    next.inputs.insert(next.inputs.end(), part.inputs.begin(), part.inputs.end());
    next.device = node.device;
    next.origin = node.origin;
    next.name = FreshName(g, Concat(label, "/", OpName(part.op)));
    last = edit.AddNode(std::move(next), {result});
  }
  edit.ReplaceNode(fused, last);
}

// Where a file has no pads in numbers for depthwise and 3-D convolutions, which know SAME and VALID then.
bool NeedsPad(const Graph& g, NodeId conv) {
  const Node& node = g.node(conv);
  if (node.attributes.String("auto_pad", "NOTSET") != "NOTSET") return false;
  const std::vector<int64_t> pads = node.attributes.Ints("pads");
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return false;
  return pads.size() != 4 || node.attributes.String("weights_layout", "OIHW") == "HWCM" ||
         node.attributes.Int("group", 1) > 1;
}

// conv {pads}  =>  conv(pad(x)) {auto_pad="VALID"}
void SplitPad(GraphEditor& edit, NodeId conv) {
  const Graph& g = edit.graph();
  const Node node = g.node(conv);
  const std::vector<int64_t> pads = node.attributes.Ints("pads");
  const int spatial = static_cast<int>(pads.size()) / 2;
  const int rank = spatial + 2;
  const int first = node.attributes.String("layout", "NCHW") == "NCHW" ? 2 : 1;
  std::vector<int32_t> all(2 * rank, 0);  // [rank, 2]
  Shape shape = g.shape(node.inputs[0]);
  for (int i = 0; i < spatial; ++i) {
    all[2 * (first + i)] = static_cast<int32_t>(pads[i]);
    all[2 * (first + i) + 1] = static_cast<int32_t>(pads[spatial + i]);
    if (!shape.has_rank()) continue;
    Dim& dim = shape.mutable_dim(first + i);
    dim = dim.known() ? Dim::Of(dim.value + pads[i] + pads[spatial + i]) : Dim::Unknown();
  }
  const std::string label = g.Label(conv);
  const ValueId paddings = edit.AddConstant(FreshName(g, label + "/paddings"), Tensor::Of<int32_t>({rank, 2}, all));
  Node pad;
  pad.op = OpKind::kPad;
  pad.name = FreshName(g, label + "/pad");
  pad.inputs = {node.inputs[0], paddings};
  pad.device = node.device;
  pad.origin = node.origin;
  const NodeId padded = edit.AddNode(std::move(pad), {{g.type(node.inputs[0]), std::move(shape), ""}});
  edit.SetInput(conv, 0, g.output(padded));
  edit.EraseAttribute(conv, "pads");
  edit.SetAttribute(conv, "auto_pad", std::string("VALID"));
}

// matmul(a, b) {transpose_b}  =>  matmul(a, transpose(b)): for files that transpose operands of a gemm alone. `matmul` is what is
// left of `fused`.
absl::Status SplitTransposes(GraphEditor& edit, NodeId fused, NodeId matmul) {
  const Graph& g = edit.graph();
  const std::string label = g.Label(fused);
  for (const int operand : {0, 1}) {
    const std::string attribute = operand == 0 ? "transpose_a" : "transpose_b";
    if (!g.node(matmul).attributes.Bool(attribute, false)) continue;
    const ValueId x = g.input(matmul, operand);
    Shape shape = g.shape(x);
    if (!shape.has_rank() || shape.rank() < 2) {
      return absl::UnimplementedError(Concat("node '", label, "': a transposed matmul of operands of unknown rank"));
    }
    std::vector<int64_t> perm(shape.rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    std::swap(shape.mutable_dim(-1), shape.mutable_dim(-2));
    Node transpose;
    transpose.op = OpKind::kTranspose;
    transpose.name = FreshName(g, Concat(label, "/transpose"));
    transpose.inputs = {x, edit.AddConstant("", Tensor::Ints(perm, DataType::kInt64))};
    transpose.device = g.node(fused).device;
    transpose.origin = g.node(fused).origin;
    edit.SetInput(matmul, operand, g.output(edit.AddNode(std::move(transpose), {{g.type(x), std::move(shape), ""}})));
    edit.EraseAttribute(matmul, attribute);
  }
  return absl::OkStatus();
}

// The number of the first parts that the standard op of the file does itself.
size_t NativeParts(const Graph& g, NodeId fused, const FileDialect& file, bool gemm) {
  if (gemm) return (g.node(fused).attributes.Float("scale", 1) != 1 ? 1 : 0) + (HasBias(g, fused) ? 1 : 0);
  return file.has(FileFeature::kConvBias) && g.op(fused) == OpKind::kConv && HasBias(g, fused) ? 1 : 0;
}

// Its ports are matmul's: a, b, c.
void MakeGemm(GraphEditor& edit, NodeId matmul) {
  const float scale = edit.graph().node(matmul).attributes.Float("scale", 1);
  edit.EraseAttribute(matmul, "scale");
  edit.SetOp(matmul, OpKind::kGemm);
  if (scale != 1) edit.SetAttribute(matmul, "alpha", scale);
}

}  // namespace

absl::Status SplitFused::SplitNode(GraphEditor& edit, NodeId id) const {
  const Graph& g = edit.graph();
  if (file_.Writes(g, id)) return absl::OkStatus();
  const bool matmul = g.op(id) == OpKind::kMatMul, conv = g.op(id) == OpKind::kConv;
  if (conv && !file_.has(FileFeature::kConvPads) && NeedsPad(g, id)) {
    SplitPad(edit, id);
    if (file_.Writes(g, id)) return absl::OkStatus();
  }
  if (HasActivation(g, id) && !matmul && !conv && StatisticsAreRead(g, id)) {
    return absl::UnimplementedError(
        Concat("node '", g.Label(id), "': a ", OpName(g.op(id)), " with an activation whose statistics are read"));
  }
  const bool gemm = matmul && file_.has(FileFeature::kGemm) && IsGemm(g, id) && (IsTransposed(g, id) || HasBias(g, id));
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Part> parts, PartsOf(edit, id, file_));
  const size_t native = NativeParts(g, id, file_, gemm);
  size_t keeps = parts.size();
  NodeId kept = id;
  bool by_dialect = false;
  if (keeps > native) {
    for (kept = edit.Clone(id); keeps > native && !by_dialect; by_dialect = file_.Writes(g, kept)) {
      Strip(edit, kept, parts[--keeps]);
    }
  }
  if (!by_dialect && matmul && !file_.has(FileFeature::kMatMulTransposes) && IsTransposed(g, id) && !gemm) {
    HALFTONE_RETURN_IF_ERROR(SplitTransposes(edit, id, kept));
  }
  if (!by_dialect && gemm) MakeGemm(edit, kept);
  parts.erase(parts.begin(), parts.begin() + keeps);
  if (!parts.empty()) Chain(edit, id, kept, std::move(parts));
  return absl::OkStatus();
}

absl::Status SplitFused::Run(GraphEditor& edit, PassContext&) const {
  const Graph& g = edit.graph();
  for (const NodeId id : g.nodes()) {
    const OpKind op = g.op(id);
    const bool may_have_one = op == OpKind::kBatchNorm || op == OpKind::kInstanceNorm || op == OpKind::kSoftplus;
    if (!(may_have_one && HasActivation(g, id)) && !IsContraction(g, id)) continue;
    HALFTONE_RETURN_IF_ERROR(SplitNode(edit, id));
  }
  return absl::OkStatus();
}

}  // namespace halftone
