// SPDX-License-Identifier: Apache-2.0
// Ops that move values and make no new ones.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kTshape[] = {{"T"}, {"Tshape", DataType::kInt32}};
constexpr TypeRow kTperm[] = {{"T"}, {"Tperm", DataType::kInt32}};
constexpr TypeRow kTdim[] = {{"T"}, {"Tdim", DataType::kInt32}};
constexpr TypeRow kTpaddings[] = {{"T"}, {"Tpaddings", DataType::kInt32}};
constexpr TypeRow kTIndex[] = {{"T"}, {"Index"}};
constexpr TypeRow kTlen[] = {{"T"}, {"Tlen", DataType::kInt64}};
constexpr TypeRow kTmultiples[] = {{"T"}, {"Tmultiples", DataType::kInt32}};
constexpr TypeRow kTindex64[] = {{"T"}, {"Tindex", DataType::kInt64}};
constexpr TypeRow kGatherV2Types[] = {{"Tparams"}, {"Tindices"}, {"Taxis"}};
constexpr TypeRow kGatherTypes[] = {{"Tparams"}, {"Tindices"}};
constexpr TypeRow kScatterTypes[] = {{"T"}, {"Tindices"}};
constexpr TypeRow kOneHotTypes[] = {{"T"}, {"TI", DataType::kInt64}};
constexpr TypeRow kFillTypes[] = {{"T"}, {"index_type", DataType::kInt32}};
constexpr TypeRow kRangeTypes[] = {{"Tidx", DataType::kInt32}};
constexpr TypeRow kLinSpaceTypes[] = {{"T"}, {"Tidx", DataType::kInt32}};
constexpr TypeRow kInt32T[] = {{"T", DataType::kInt32}};
constexpr TypeRow kBoolT[] = {{"T", DataType::kBool}};
constexpr TypeRow kBlocksTypes[] = {{"T"}, {"Tblock_shape", DataType::kInt32}, {"Tpaddings", DataType::kInt32}};
constexpr TypeRow kCropsTypes[] = {{"T"}, {"Tblock_shape", DataType::kInt32}, {"Tcrops", DataType::kInt32}};
constexpr TypeRow kUniqueTypes[] = {{"T"}, {"out_idx", DataType::kInt32}};
constexpr TypeRow kUniqueV2Types[] = {{"T"}, {"Taxis", DataType::kInt64}, {"out_idx", DataType::kInt32}};

constexpr AttrRow kAxis{.name = "axis", .form = kAnyInt, .canonical = "axis"};
constexpr AttrRow kSqueezeAttrs[] = {{.name = "squeeze_dims", .form = kSqueezeDims}};
constexpr AttrRow kMirrorPadAttrs[] = {{.name = "mode", .form = kMirrorMode, .canonical = "mode", .required = true}};
constexpr AttrRow kNoMasks[] = {{.name = "begin_mask", .form = kMustBe},
                                {.name = "end_mask", .form = kMustBe},
                                {.name = "ellipsis_mask", .form = kMustBe},
                                {.name = "new_axis_mask", .form = kMustBe},
                                {.name = "shrink_axis_mask", .form = kMustBe}};
constexpr AttrRow kMasks[] = {{.name = "begin_mask", .form = kAnyInt, .canonical = "begin_mask"},
                              {.name = "end_mask", .form = kAnyInt, .canonical = "end_mask"},
                              {.name = "ellipsis_mask", .form = kAnyInt, .canonical = "ellipsis_mask"},
                              {.name = "new_axis_mask", .form = kAnyInt, .canonical = "new_axis_mask"},
                              {.name = "shrink_axis_mask", .form = kAnyInt, .canonical = "shrink_axis_mask"}};
constexpr AttrRow kBatchDims[] = {{.name = "batch_dims", .form = kAnyInt, .canonical = "batch_dims"}};
constexpr AttrRow kPackAttrs[] = {{.name = "N", .form = kCount, .required = true}, kAxis};
constexpr AttrRow kUnpackAttrs[] = {{.name = "num", .form = kCount, .required = true}, kAxis};
constexpr AttrRow kSplitAttrs[] = {{.name = "num_split", .form = kCount, .required = true}};
constexpr AttrRow kPartitionAttrs[] = {{.name = "num_partitions", .form = kCount, .required = true}};
constexpr AttrRow kTopKAttrs[] = {
    {.name = "sorted", .form = kBool, .canonical = "sorted", .tf_default = 1, .canonical_default = 1}};
constexpr AttrRow kTopKV1Attrs[] = {
    {.name = "sorted", .form = kBool, .canonical = "sorted", .tf_default = 1, .canonical_default = 1},
    {.name = "k", .form = kKeep, .required = true}};
constexpr AttrRow kWhereAttrs[] = {{.form = kImpliedBool, .canonical = "rows", .tf_default = 1}};
constexpr AttrRow kSelectAttrs[] = {{.form = kImpliedBool, .canonical = "rows", .tf_default = 1}};
constexpr AttrRow kSelectV2Attrs[] = {{.form = kImpliedBool, .canonical = "rows", .tf_default = 0}};
constexpr AttrRow kOneHotAttrs[] = {
    {.name = "axis", .form = kAnyInt, .canonical = "axis", .tf_default = -1, .canonical_default = -1},
    {.form = kImpliedBool, .canonical = "wrap_negative", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kReverseSequenceAttrs[] = {
    {.name = "seq_dim", .form = kAnyInt, .canonical = "time_axis", .required = true},
    {.name = "batch_dim", .form = kAnyInt, .canonical = "batch_axis", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kBlockAttrs[] = {{.name = "block_size", .form = kKeep, .required = true}};
constexpr AttrRow kUnsorted[] = {
    {.form = kImpliedBool, .canonical = "sorted", .tf_default = 0, .canonical_default = 1}};
constexpr AttrRow kZeros[] = {{.form = kImpliedFloat, .canonical = "number", .tf_default = 0, .canonical_default = -1}};
constexpr AttrRow kOnes[] = {{.form = kImpliedFloat, .canonical = "number", .tf_default = 1, .canonical_default = -1}};
constexpr AttrRow kReplaces[] = {{.form = kImpliedString, .canonical = "reduction", .text = "none"}};
constexpr AttrRow kAdds[] = {{.form = kImpliedString, .canonical = "reduction", .text = "add"}};
constexpr AttrRow kTakesMax[] = {{.form = kImpliedString, .canonical = "reduction", .text = "max"}};
constexpr AttrRow kTakesMin[] = {{.form = kImpliedString, .canonical = "reduction", .text = "min"}};

constexpr OpRow kRows[] = {
    {"Reshape", kReshape, "T,Tshape", "T", kTshape, kNone},
    {"Transpose", kTranspose, "T,Tperm", "T", kTperm, kNone},
    {"Squeeze", kSqueeze, "T", "T", kT, kSqueezeAttrs},
    {"ExpandDims", kUnsqueeze, "T,Tdim", "T", kTdim, kNone},
    // Joining and splitting.
    {"ConcatV2", kConcat, "N*T,Tidx", "T", kTidx, kCountedN},
    {"Concat", kConcat, "s32,N*T", "T", kT, kCountedN, "+0"},
    {"Pack", kStack, "N*T", "T", kT, kPackAttrs},
    {"Unpack", kUnstack, "T", "num*T", kT, kUnpackAttrs},
    {"Split", kSplit, "s32,T", "num_split*T", kT, kSplitAttrs, "1-0"},
    {"SplitV", kSplit, "T,Tlen,s32", "num_split*T", kTlen, kSplitAttrs},
    {"DynamicStitch", kDynamicStitch, "N*s32,N*T", "T", kT, kCountedN},
    {"ParallelDynamicStitch", kDynamicStitch, "N*s32,N*T", "T", kT, kCountedN},
    {"DynamicPartition", kDynamicPartition, "T,s32", "num_partitions*T", kT, kPartitionAttrs},
    // Padding and cutting. The rows of one op are tried in turn.
    {"Pad", kPad, "T,Tpaddings", "T", kTpaddings, kNone},
    {"PadV2", kPad, "T,Tpaddings,T", "T", kTpaddings, kNone},
    {"MirrorPad", kPad, "T,Tpaddings", "T", kTpaddings, kMirrorPadAttrs},
    {"StridedSlice", kSlice, "T,Index,Index,Index", "T", kTIndex, kNoMasks, "012-3"},
    {"StridedSlice", kStridedSlice, "T,Index,Index,Index", "T", kTIndex, kMasks},
    {"Slice", kSlice, "T,Index,Index", "T", kTIndex, kNone, "", 0, ReadSliceFromZero},
    {"Slice", kSlice, "T,Index,Index", "T", kTIndex, kNone, "01", 0, ReadSlice, WriteSliceWithSize},
    // By index.
    {"GatherV2", kGather, "Tparams,Tindices,Taxis", "Tparams", kGatherV2Types, kBatchDims, "", 0,
     ReadNotNegativeBatchDims},
    {"Gather", kGather, "Tparams,Tindices", "Tparams", kGatherTypes, kNone},
    {"GatherNd", kGatherNd, "Tparams,Tindices", "Tparams", kGatherTypes, kNone},
    {"ScatterNd", kScatterNdNew, "Tindices,T,Tindices", "T", kScatterTypes, kNone},
    {"TensorScatterUpdate", kScatterNd, "T,Tindices,T", "T", kScatterTypes, kReplaces},
    {"TensorScatterAdd", kScatterNd, "T,Tindices,T", "T", kScatterTypes, kAdds},
    {"TensorScatterMax", kScatterNd, "T,Tindices,T", "T", kScatterTypes, kTakesMax},
    {"TensorScatterMin", kScatterNd, "T,Tindices,T", "T", kScatterTypes, kTakesMin},
    {"TopKV2", kTopK, "T,s32", "T,s32", kT, kTopKAttrs},
    {"TopK", kTopK, "T", "T,s32", kT, kTopKV1Attrs, "", 0, ReadTopK, WriteTopK},
    {"OneHot", kOneHot, "TI,s32,T,T", "T", kOneHotTypes, kOneHotAttrs, "01", 0, ReadOneHot, WriteOneHot},
    {"Where", kNonZero, "T", "s64", kBoolT, kWhereAttrs},
    {"SelectV2", kWhere, "bool,T,T", "T", kT, kSelectV2Attrs},
    {"Select", kWhere, "bool,T,T", "T", kT, kSelectAttrs},
    {"Unique", kUnique, "T", "T,out_idx", kUniqueTypes, kUnsorted, "", 0, nullptr, nullptr, "0-1"},
    {"UniqueV2", kUnique, "T,Taxis", "T,out_idx", kUniqueV2Types, kUnsorted, "0", 0, ReadUniqueV2, WriteUniqueV2,
     "0-1"},
    {"UniqueWithCounts", kUnique, "T", "T,out_idx,out_idx", kUniqueTypes, kUnsorted, "", 0, nullptr, nullptr, "0-12"},
    // Filling and repeating.
    {"Fill", kFill, "index_type,T", "T", kFillTypes, kNone},
    {"ZerosLike", kFillLike, "T", "T", kT, kZeros},
    {"OnesLike", kFillLike, "T", "T", kT, kOnes},
    {"Range", kRange, "Tidx,Tidx,Tidx", "Tidx", kRangeTypes, kNone},
    {"LinSpace", kLinSpace, "T,T,Tidx", "T", kLinSpaceTypes, kNone},
    {"Tile", kTile, "T,Tmultiples", "T", kTmultiples, kNone},
    {"BroadcastTo", kExpand, "T,Tidx", "T", kTidx, kNone},
    {"MatrixBandPart", kMatrixBandPart, "T,Tindex,Tindex", "T", kTindex64, kNone},
    {"InvertPermutation", kInvertPermutation, "T", "T", kInt32T, kNone},
    // Reversing; blocks.
    {"ReverseV2", kReverse, "T,Tidx", "T", kTidx, kNone},
    {"Reverse", kReverse, "T,bool", "T", kT, kNone, "0", 0, ReadReverse, WriteReverse},
    {"ReverseSequence", kReverseSequence, "T,Tlen", "T", kTlen, kReverseSequenceAttrs},
    {"SpaceToBatchND", kSpaceToBatch, "T,Tblock_shape,Tpaddings", "T", kBlocksTypes, kNone},
    {"SpaceToBatch", kSpaceToBatch, "T,Tpaddings", "T", kTpaddings, kBlockAttrs, "0", 0, ReadBlockSize, WriteBlockSize},
    {"BatchToSpaceND", kBatchToSpace, "T,Tblock_shape,Tcrops", "T", kCropsTypes, kNone},
    {"BatchToSpace", kBatchToSpace, "T,Tidx", "T", kTidx, kBlockAttrs, "0", 0, ReadBlockSize, WriteBlockSize},
};

}  // namespace

std::span<const OpRow> MoveRows() { return kRows; }

}  // namespace halftone::graphdef
