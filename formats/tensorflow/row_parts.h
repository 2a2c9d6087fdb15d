// SPDX-License-Identifier: Apache-2.0
// Parts that the rows of several families share, and the rules of single rows.
#ifndef HALFTONE_FORMATS_TENSORFLOW_ROW_PARTS_H_
#define HALFTONE_FORMATS_TENSORFLOW_ROW_PARTS_H_

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/op_map.h"

namespace halftone::graphdef {

// --- The families, in the order of op_map.cc.
std::span<const OpRow> BasicRows();
std::span<const OpRow> MathRows();
std::span<const OpRow> NeuralRows();
std::span<const OpRow> QuantizeRows();
std::span<const OpRow> QuantizedRows();
std::span<const OpRow> MoveRows();
std::span<const OpRow> ControlRows();
std::span<const OpRow> CallRows();
std::span<const OpRow> CellRows();  // after the calls, as which they are written when they have changed
std::span<const OpRow> FusedRows();

// --- Type attributes.
inline constexpr std::span<const TypeRow> kNoTypes;
inline constexpr TypeRow kT[] = {{"T"}};
inline constexpr TypeRow kFloatT[] = {{"T", DataType::kFloat32}};
inline constexpr TypeRow kTidx[] = {{"T"}, {"Tidx", DataType::kInt32}};
inline constexpr TypeRow kShapeTypes[] = {{"T"}, {"out_type", DataType::kInt32}};

// --- Other attributes.
inline constexpr std::span<const AttrRow> kNone;
inline constexpr AttrRow kDataFormat{.name = "data_format", .form = AttrForm::kLayout, .canonical = "layout"};
inline constexpr AttrRow kCountedN[] = {{.name = "N", .form = AttrForm::kCount, .required = true}};

// --- Rules that complete what was read (import_rules.cc).
absl::StatusOr<bool> ReadConvWeights(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadPlainBiasAdd(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadFusedPadConv(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadMaxPoolV2(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadResize(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadLrn(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadFakeQuantArgs(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadRandom(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadClip(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadIntegerDivision(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadEqual(const RuleInput& input, ConvertedNode& result);
// Those of ops that move values (import_moves.cc).
absl::StatusOr<bool> ReadOneHot(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadTopK(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadBlockSize(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadReverse(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadSliceFromZero(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadSlice(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadNotNegativeBatchDims(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadUniqueV2(const RuleInput& input, ConvertedNode& result);

// Those of ranges (read_quantize.cc).
absl::StatusOr<bool> ReadFakeQuant(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadDequantize(const RuleInput& input, ConvertedNode& result);

// The attributes of a resize by one of TensorFlow's (import_rules.cc).
absl::StatusOr<Attributes> ResizeAttributes(const RuleInput& input);

// Those of ops on quantized tensors (read_quantized.cc, read_quantized_math.cc, quantized_run_ranges.cc).
absl::StatusOr<bool> ReadQuantizeV2(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadRequantize(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadRequantizationRange(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadQuantizedContraction(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadQuantizedBinary(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadQuantizedUnary(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadQuantizedResize(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadQuantizedConcat(const RuleInput& input, ConvertedNode& result);

// Those of fused ops (read_fused.cc, read_fused_norms.cc).
absl::StatusOr<bool> ReadFused(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadFusedAcc(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadConvBatchNorm(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadBatchNormEx(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadLayerNorm(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadInstanceNorm(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadGelu(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadFusedBinary(const RuleInput& input, ConvertedNode& result);
absl::StatusOr<bool> ReadAttention(const RuleInput& input, ConvertedNode& result);

// --- Rules of nodes that are still what was read (write_rules.cc).
absl::Status WriteFusedPadConv(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteConvTranspose(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteMaxPoolV2(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteResize(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteLrn(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteFakeQuantArgs(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteOneHot(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteTopK(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteBlockSize(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteReverse(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteSliceWithSize(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteUniqueV2(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteRow(GraphWriter& out, NodeId id, const OpRow& row);     // write_node.cc
absl::Status WriteRanges(GraphWriter& out, NodeId id, const OpRow& row);  // write_quantize.cc
// Those of fused ops (write_fused.cc, write_fused_norms.cc).
absl::Status WriteFused(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteConvBatchNorm(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteBatchNormEx(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteLayerNorm(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteInstanceNorm(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteGelu(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteFusedBinary(GraphWriter& out, NodeId id, const OpRow& row);
absl::Status WriteTransposedAttention(GraphWriter& out, NodeId id, const OpRow& row);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_ROW_PARTS_H_
