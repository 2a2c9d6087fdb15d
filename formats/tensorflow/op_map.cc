#include "formats/tensorflow/op_map.h"

#include <algorithm>
#include <unordered_map>

#include "base/status.h"
#include "base/strings.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

// --- Type attributes.
constexpr std::span<const TypeRow> kNoTypes;
constexpr TypeRow kT[] = {{"T"}};
constexpr TypeRow kFloatT[] = {{"T", DataType::kFloat32}};
constexpr TypeRow kTU[] = {{"T"}, {"U"}};
constexpr TypeRow kTidx[] = {{"T"}, {"Tidx", DataType::kInt32}};
constexpr TypeRow kTshape[] = {{"T"}, {"Tshape", DataType::kInt32}};
constexpr TypeRow kTperm[] = {{"T"}, {"Tperm", DataType::kInt32}};
constexpr TypeRow kTdim[] = {{"T"}, {"Tdim", DataType::kInt32}};
constexpr TypeRow kTpaddings[] = {{"T"}, {"Tpaddings", DataType::kInt32}};
constexpr TypeRow kTIndex[] = {{"T"}, {"Index"}};
constexpr TypeRow kGatherV2Types[] = {{"Tparams"}, {"Tindices"}, {"Taxis"}};
constexpr TypeRow kGatherTypes[] = {{"Tparams"}, {"Tindices"}};
constexpr TypeRow kShapeTypes[] = {{"T"}, {"out_type", DataType::kInt32}};
constexpr TypeRow kCastTypes[] = {{"SrcT"}, {"DstT"}};
constexpr TypeRow kDtype[] = {{"dtype"}};

// --- Other attributes.
constexpr std::span<const AttrRow> kNone;
constexpr AttrRow kRequiredStrides{.name = "strides", .form = kSpatial, .canonical = "strides", .required = true};
constexpr AttrRow kKsize{.name = "ksize", .form = kSpatial, .canonical = "kernel", .required = true};
constexpr AttrRow kDilations{.name = "dilations", .form = kSpatial, .canonical = "dilations"};
constexpr AttrRow kPaddingRow{.name = "padding", .form = kPadding, .canonical = "auto_pad", .required = true};
constexpr AttrRow kExplicit{.name = "explicit_paddings", .form = kExplicitPads, .canonical = "pads"};
constexpr AttrRow kDataFormat{.name = "data_format", .form = kLayout, .canonical = "layout"};
constexpr AttrRow kAdjX{.name = "adj_x", .form = kBool, .canonical = "transpose_a"};
constexpr AttrRow kAdjY{.name = "adj_y", .form = kBool, .canonical = "transpose_b"};

// data_format comes first: the others are read in its order.
constexpr AttrRow kConvAttrs[] = {kDataFormat, kRequiredStrides, kDilations, kPaddingRow, kExplicit};
constexpr AttrRow kPoolAttrs[] = {kDataFormat, kKsize, kRequiredStrides, kPaddingRow, kExplicit};
constexpr AttrRow kMatMulAttrs[] = {{.name = "transpose_a", .form = kBool, .canonical = "transpose_a"},
                                    {.name = "transpose_b", .form = kBool, .canonical = "transpose_b"}};
constexpr AttrRow kBatchMatMulAttrs[] = {kAdjX, kAdjY};
constexpr AttrRow kBiasAddAttrs[] = {kDataFormat};
constexpr AttrRow kLeakyReluAttrs[] = {
    {.name = "alpha", .form = kFloat, .canonical = "alpha", .tf_default = 0.2f, .canonical_default = 0.01f}};
constexpr AttrRow kBatchNormAttrs[] = {
    kDataFormat,
    {.name = "epsilon", .form = kFloat, .canonical = "epsilon", .tf_default = 1e-4f, .canonical_default = 1e-5f},
    {.name = "is_training", .form = kBool, .canonical = "is_training", .tf_default = 1, .canonical_default = 0}};
constexpr AttrRow kReduceAttrs[] = {
    {.name = "keep_dims", .form = kBool, .canonical = "keepdims", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kSqueezeAttrs[] = {{.name = "squeeze_dims", .form = kSqueezeDims}};
constexpr AttrRow kConcatAttrs[] = {{.name = "N", .form = kCount, .required = true}};
constexpr AttrRow kMirrorPadAttrs[] = {{.name = "mode", .form = kMirrorMode, .canonical = "mode", .required = true}};
constexpr AttrRow kStridedSliceAttrs[] = {{.name = "begin_mask", .form = kMustBe},
                                          {.name = "end_mask", .form = kMustBe},
                                          {.name = "ellipsis_mask", .form = kMustBe},
                                          {.name = "new_axis_mask", .form = kMustBe},
                                          {.name = "shrink_axis_mask", .form = kMustBe}};
constexpr AttrRow kGatherV2Attrs[] = {{.name = "batch_dims", .form = kMustBe}};
constexpr AttrRow kCastAttrs[] = {{.name = "Truncate", .form = kMustBe}};
constexpr AttrRow kDepthToSpaceAttrs[] = {
    kDataFormat, {.name = "block_size", .form = kInt, .canonical = "block_size", .required = true}};
constexpr AttrRow kConstAttrs[] = {{.name = "value", .form = kTensor, .canonical = "value", .required = true}};
constexpr AttrRow kPlaceholderAttrs[] = {{.name = "shape", .form = kOutputShape}};
constexpr AttrRow kEnterAttrs[] = {{.name = "frame_name", .form = kKeep, .required = true}};

// Ops of one kind: what a node without spelling becomes comes first.
constexpr OpRow kRows[] = {
    {"Placeholder", kInput, "", "dtype", kDtype, kPlaceholderAttrs},
    {"PlaceholderV2", kInput, "", "dtype", kDtype, kPlaceholderAttrs},
    {"Const", kConstant, "", "dtype", kDtype, kConstAttrs},
    {"Identity", kIdentity, "T", "T", kT, kNone},
    {"Snapshot", kIdentity, "T", "T", kT, kNone},
    {"StopGradient", kIdentity, "T", "T", kT, kNone},
    {"PreventGradient", kIdentity, "T", "T", kT, kNone},
    {"Conv2D", kConv, "T,T", "T", kT, kConvAttrs},
    {"DepthwiseConv2dNative", kConv, "T,T", "T", kT, kConvAttrs},
    {"Conv3D", kConv, "T,T", "T", kT, kConvAttrs, InputOrder::kSame, 3},
    {"MatMul", kMatMul, "T,T", "T", kT, kMatMulAttrs},
    {"BatchMatMulV2", kMatMul, "T,T", "T", kT, kBatchMatMulAttrs},
    {"BatchMatMul", kMatMul, "T,T", "T", kT, kBatchMatMulAttrs},
    {"BiasAdd", kBiasAdd, "T,T", "T", kT, kBiasAddAttrs},
    {"BiasAddV1", kBiasAdd, "T,T", "T", kT, kNone},
    {"AddV2", kAdd, "T,T", "T", kT, kNone},
    {"Add", kAdd, "T,T", "T", kT, kNone},
    {"Sub", kSub, "T,T", "T", kT, kNone},
    {"Mul", kMul, "T,T", "T", kT, kNone},
    {"RealDiv", kDiv, "T,T", "T", kT, kNone},
    {"Div", kDiv, "T,T", "T", kT, kNone},
    {"Maximum", kMaximum, "T,T", "T", kT, kNone},
    {"Minimum", kMinimum, "T,T", "T", kT, kNone},
    {"Pow", kPow, "T,T", "T", kT, kNone},
    {"SquaredDifference", kSquaredDifference, "T,T", "T", kT, kNone},
    {"Abs", kAbs, "T", "T", kT, kNone},
    {"Neg", kNeg, "T", "T", kT, kNone},
    {"Exp", kExp, "T", "T", kT, kNone},
    {"Log", kLog, "T", "T", kT, kNone},
    {"Sqrt", kSqrt, "T", "T", kT, kNone},
    {"Rsqrt", kRsqrt, "T", "T", kT, kNone},
    {"Reciprocal", kReciprocal, "T", "T", kT, kNone},
    {"Inv", kReciprocal, "T", "T", kT, kNone},
    {"Square", kSquare, "T", "T", kT, kNone},
    {"Floor", kFloor, "T", "T", kT, kNone},
    {"Erf", kErf, "T", "T", kT, kNone},
    {"Relu", kRelu, "T", "T", kT, kNone},
    {"Relu6", kRelu6, "T", "T", kT, kNone},
    {"Tanh", kTanh, "T", "T", kT, kNone},
    {"Sigmoid", kSigmoid, "T", "T", kT, kNone},
    {"Softplus", kSoftplus, "T", "T", kT, kNone},
    {"Elu", kElu, "T", "T", kT, kNone},
    {"LeakyRelu", kLeakyRelu, "T", "T", kFloatT, kLeakyReluAttrs},
    {"Softmax", kSoftmax, "T", "T", kT, kNone},
    {"FusedBatchNormV3", kBatchNorm, "T,U,U,U,U", "T,U,U,U,U,U", kTU, kBatchNormAttrs},
    {"FusedBatchNormV2", kBatchNorm, "T,U,U,U,U", "T,U,U,U,U", kTU, kBatchNormAttrs},
    {"FusedBatchNorm", kBatchNorm, "T,T,T,T,T", "T,T,T,T,T", kT, kBatchNormAttrs},
    {"MaxPool", kMaxPool, "T", "T", kFloatT, kPoolAttrs},
    {"MaxPool3D", kMaxPool, "T", "T", kT, kPoolAttrs, InputOrder::kSame, 3},
    {"AvgPool", kAveragePool, "T", "T", kT, kPoolAttrs},
    {"AvgPool3D", kAveragePool, "T", "T", kT, kPoolAttrs, InputOrder::kSame, 3},
    {"Mean", kReduceMean, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Sum", kReduceSum, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Max", kReduceMax, "T,Tidx", "T", kTidx, kReduceAttrs},
    {"Reshape", kReshape, "T,Tshape", "T", kTshape, kNone},
    {"Transpose", kTranspose, "T,Tperm", "T", kTperm, kNone},
    {"Squeeze", kSqueeze, "T", "T", kT, kSqueezeAttrs},
    {"ExpandDims", kUnsqueeze, "T,Tdim", "T", kTdim, kNone},
    {"ConcatV2", kConcat, "N*T,Tidx", "T", kTidx, kConcatAttrs},
    {"Concat", kConcat, "s32,N*T", "T", kT, kConcatAttrs, InputOrder::kAxisFirst},
    {"Pad", kPad, "T,Tpaddings", "T", kTpaddings, kNone},
    {"PadV2", kPad, "T,Tpaddings,T", "T", kTpaddings, kNone},
    {"MirrorPad", kPad, "T,Tpaddings", "T", kTpaddings, kMirrorPadAttrs},
    {"StridedSlice", kSlice, "T,Index,Index,Index", "T", kTIndex, kStridedSliceAttrs, InputOrder::kStridedSlice},
    {"Slice", kSlice, "T,Index,Index", "T", kTIndex, kNone, InputOrder::kSizeIsEnd},
    {"GatherV2", kGather, "Tparams,Tindices,Taxis", "Tparams", kGatherV2Types, kGatherV2Attrs},
    {"Gather", kGather, "Tparams,Tindices", "Tparams", kGatherTypes, kNone},
    {"Shape", kShape, "T", "out_type", kShapeTypes, kNone},
    {"Cast", kCast, "SrcT", "DstT", kCastTypes, kCastAttrs},
    {"DepthToSpace", kDepthToSpace, "T", "T", kT, kDepthToSpaceAttrs},
    {"Enter", kEnter, "T", "T", kT, kEnterAttrs},
    {"Exit", kExit, "T", "T", kT, kNone},
    {"Merge", kMerge, "N*T", "T,s32", kT, kConcatAttrs},
    {"Switch", kSwitch, "T,bool", "T,T", kT, kNone},
    {"NextIteration", kNextIteration, "T", "T", kT, kNone},
    {"LoopCond", kLoopCond, "bool", "bool", kNoTypes, kNone},
    {"NoOp", kNoOp, "", "", kNoTypes, kNone},
};

}  // namespace

const OpRow* FindRow(std::string_view tf_op) {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<std::string_view, const OpRow*>;
    for (const OpRow& row : kRows) map->emplace(row.tf_op, &row);
    return map;
  }();
  const auto it = by_name.find(tf_op);
  return it == by_name.end() ? nullptr : it->second;
}

std::vector<const OpRow*> RowsOf(OpKind kind) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : kRows) {
    if (row.kind == kind) rows.push_back(&row);
  }
  return rows;
}

absl::StatusOr<std::vector<PortType>> ExpandSignature(
    std::string_view signature, const std::function<absl::StatusOr<int64_t>(std::string_view)>& count,
    const std::function<absl::StatusOr<int64_t>(std::string_view)>& list) {
  std::vector<PortType> ports;
  while (!signature.empty()) {
    const size_t comma = std::min(signature.find(','), signature.size());
    std::string_view item = signature.substr(0, comma);
    signature.remove_prefix(std::min(comma + 1, signature.size()));
    int64_t repeat = 1;
    std::string_view counted_by;
    if (const size_t star = item.find('*'); star != std::string_view::npos) {
      counted_by = item.substr(0, star);
      item.remove_prefix(star + 1);
      HALFTONE_ASSIGN_OR_RETURN(repeat, count(counted_by));
    } else if (item.ends_with("[]")) {
      counted_by = item.substr(0, item.size() - 2);
      HALFTONE_ASSIGN_OR_RETURN(repeat, list(counted_by));
    }
    if (repeat < 0 || repeat > kMaxPorts) {
      return absl::InvalidArgumentError(
          Concat("attribute '", counted_by, "' is ", repeat, "; it must be between 0 and ", kMaxPorts));
    }
    PortType port{item};
    if (const size_t equals = item.find('='); equals != std::string_view::npos) {
      port = {item.substr(0, equals), item.substr(equals + 1)};
    }
    ports.insert(ports.end(), repeat, port);
  }
  return ports;
}

}  // namespace halftone::graphdef
