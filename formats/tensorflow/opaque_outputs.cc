// SPDX-License-Identifier: Apache-2.0
// Number and types of the outputs of common TensorFlow ops that have no canonical op. What is missing here gets as many
// outputs as are read, of unknown type.

#include <unordered_map>

#include "formats/tensorflow/op_map.h"

namespace halftone::graphdef {
namespace {

struct Row {
  std::string_view tf_op;
  std::string_view outputs;  // see OpRow
};

constexpr Row kOutputs[] = {
    // Splitting and joining.
    {"LinSpace", "T"},
    {"MatrixDiag", "T"},
    {"MatrixDiagPart", "T"},
    {"Roll", "T"},
    {"ExtractImagePatches", "T"},
    {"Bitcast", "type"},
    {"PlaceholderWithDefault", "dtype"},
    {"Print", "T"},
    {"Empty", "dtype"},
    // Shapes.
    {"BroadcastArgs", "T=s32"},
    {"BroadcastGradientArgs", "T=s32,T=s32"},
    // Comparisons and logic.
    {"InTopK", "bool"},
    {"InTopKV2", "bool"},
    {"ApproximateEqual", "bool"},
    // Arithmetic.
    {"MulNoNan", "T"},
    {"Xdivy", "T"},
    {"Xlogy", "T"},
    {"Lgamma", "T"},
    {"Digamma", "T"},
    {"Cross", "T"},
    {"SegmentSum", "T"},
    {"SegmentMean", "T"},
    {"UnsortedSegmentSum", "T"},
    {"Bincount", "T"},
    {"ListDiff", "T,out_idx=s32"},
    {"BatchMatMulV3", "Tout"},
    {"SparseMatMul", "f32"},
    // Neural networks.
    {"Conv2DBackpropFilter", "T"},
    {"DepthwiseConv2dNativeBackpropInput", "T"},
    {"Dilation2D", "T"},
    {"MaxPoolWithArgmax", "T,Targmax=s64"},
    {"FractionalMaxPool", "T,s64,s64"},
    {"BatchNormWithGlobalNormalization", "T"},
    {"SoftmaxCrossEntropyWithLogits", "T,T"},
    {"SparseSoftmaxCrossEntropyWithLogits", "T,T"},
    {"LSTMBlockCell", "T,T,T,T,T,T,T"},
    {"BlockLSTM", "T,T,T,T,T,T,T"},
    {"BlockLSTMV2", "T,T,T,T,T,T,T"},
    {"GRUBlockCell", "T,T,T,T"},
    {"_FusedConv2D", "T"},
    {"_FusedMatMul", "T"},
    {"QuantizeV2", "T,f32,f32"},
    {"QuantizeAndDequantizeV2", "T"},
    {"QuantizeAndDequantizeV3", "T"},
    // Images and detection.
    {"ResizeArea", "f32"},
    {"DecodeJpeg", "u8"},
    {"DecodePng", "dtype=u8"},
    {"DecodeImage", "dtype=u8"},
    {"EncodeJpeg", "string"},
    {"EncodePng", "string"},
    {"NonMaxSuppression", "s32"},
    {"NonMaxSuppressionV2", "s32"},
    {"NonMaxSuppressionV3", "s32"},
    {"NonMaxSuppressionV4", "s32,s32"},
    {"NonMaxSuppressionV5", "s32,T=f32,s32"},
    {"CombinedNonMaxSuppression", "f32,f32,f32,s32"},
    {"RGBToHSV", "T=f32"},
    {"HSVToRGB", "T=f32"},
    {"AdjustContrastv2", "T=f32"},
    // Audio.
    {"AudioSpectrogram", "f32"},
    {"Mfcc", "f32"},
    {"DecodeWav", "f32,s32"},
    // Random numbers.
    {"TruncatedNormal", "dtype"},
    {"RandomUniformInt", "Tout"},
    {"RandomShuffle", "T"},
    {"Multinomial", "output_dtype=s64"},
    // Variables, tensor arrays, references.
    {"Variable", "dtype"},
    {"VariableV2", "dtype"},
    {"VarHandleOp", "resource"},
    {"ReadVariableOp", "dtype"},
    {"Assign", "T"},
    {"AssignAdd", "T"},
    {"AssignSub", "T"},
    {"AssignVariableOp", ""},
    {"VarIsInitializedOp", "bool"},
    {"TensorArrayGradV3", "resource,f32"},
    {"TensorArrayCloseV3", ""},
    {"TensorListReserve", "variant"},
    {"TensorListFromTensor", "variant"},
    {"TensorListSetItem", "variant"},
    {"TensorListGetItem", "element_dtype"},
    {"TensorListStack", "element_dtype"},
    {"TensorListLength", "s32"},
    {"EmptyTensorList", "variant"},
    {"TensorListPushBack", "variant"},
    {"TensorListPopBack", "variant,element_dtype"},
    {"RefIdentity", "T"},
    {"RefEnter", "T"},
    {"RefExit", "T"},
    {"RefMerge", "T,s32"},
    {"RefSwitch", "T,T"},
    {"RefNextIteration", "T"},
    {"RefSelect", "T"},
    {"ControlTrigger", ""},
    // Calls.
    {"Case", "Tout[]"},
    {"StatelessCase", "Tout[]"},
    {"For", "T[]"},
    {"SymbolicGradient", "Tout[]"},
    {"RemoteCall", "Tout[]"},
    {"PyFunc", "Tout[]"},
    {"_Arg", "T"},
    {"_Retval", ""},
    // Files, tables, strings.
    {"RestoreV2", "dtypes[]"},
    {"SaveV2", ""},
    {"MergeV2Checkpoints", ""},
    {"ShardedFilename", "string"},
    {"HashTable", "string"},
    {"HashTableV2", "resource"},
    {"InitializeTableV2", ""},
    {"InitializeTableFromTextFileV2", ""},
    {"LookupTableFindV2", "Tout"},
    {"LookupTableSizeV2", "s64"},
    {"LookupTableImportV2", ""},
    {"Assert", ""},
    {"PrintV2", ""},
    {"ReadFile", "string"},
    {"WriteFile", ""},
    {"StringJoin", "string"},
    {"AsString", "string"},
    {"StringToNumber", "out_type=f32"},
    {"StringToHashBucketFast", "s64"},
    {"StringSplit", "s64,string,s64"},
    {"DecodeRaw", "out_type"},
    {"RegexReplace", "string"},
    {"ReduceJoin", "string"},
};

}  // namespace

std::optional<std::string_view> OpaqueOutputs(std::string_view tf_op) {
  static const auto& by_name = *[] {
    auto* map = new std::unordered_map<std::string_view, std::string_view>;
    for (const Row& row : kOutputs) map->emplace(row.tf_op, row.outputs);
    return map;
  }();
  const auto it = by_name.find(tf_op);
  if (it == by_name.end()) return std::nullopt;
  return it->second;
}

}  // namespace halftone::graphdef
