// SPDX-License-Identifier: Apache-2.0
// Names of the outputs of TensorFlow's ops, which only bodies of functions use: "node:name:index".

#include <map>
#include <sstream>
#include <string>

#include "formats/tensorflow/function_library.h"

namespace halftone::graphdef {
namespace {

// Ops whose outputs have these names. Ops that are not here have one list of outputs, called "output".
struct Row {
  std::string_view outputs;
  std::string_view ops;
};

constexpr Row kRows[] = {
    {"y",
     "Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh DeepCopy Digamma Erf Erfc Exp Expm1 Floor "
     "Inv Invert InvertPermutation IsFinite IsInf IsNan Lgamma Log Log1p LogicalNot Neg OnesLike "
     "Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Transpose ZerosLike"},
    {"z",
     "Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv "
     "FloorMod Greater GreaterEqual LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul "
     "MulNoNan NotEqual Pow RealDiv RightShift SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy"},
    {"activations", "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign"},
    {"outputs", "DynamicPartition FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel"},
    {"resized_images", "ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor"},
    {"contents", "EncodeJpeg EncodePng ReadFile"},
    {"flow_out", "TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3"},
    {"i,cs,f,o,ci,co,h", "BlockLSTM BlockLSTMV2 LSTMBlockCell"},
    {"output_handle", "TensorListFromTensor TensorListPushBack TensorListSetItem"},
    {"output_ref", "Assign AssignAdd AssignSub"},
    {"product", "Cross MatMul SparseMatMul"},
    {"selected_indices", "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3"},
    {"value", "ReadVariableOp TensorArrayGatherV3 TensorArrayReadV3"},
    {"handle", "EmptyTensorList TensorListReserve"},
    {"image", "DecodeJpeg DecodePng"},
    {"loss,backprop", "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits"},
    {"merged", "DynamicStitch ParallelDynamicStitch"},
    {"out", "Cumprod Cumsum"},
    {"output,value_index", "Merge RefMerge"},
    {"output_false,output_true", "RefSwitch Switch"},
    {"precision", "InTopK InTopKV2"},
    {"ref", "Variable VariableV2"},
    {"size", "LookupTableSizeV2 TensorArraySizeV3"},
    {"sum", "AccumulateNV2 AddN"},
    {"table_handle", "HashTable HashTableV2"},
    {"values,indices", "TopK TopKV2"},
    {"y,batch_mean,batch_variance,reserve_space_1,reserve_space_2", "FusedBatchNorm FusedBatchNormV2"},
    {"y,idx", "Unique UniqueV2"},
    {"audio,sample_rate", "DecodeWav"},
    {"band", "MatrixBandPart"},
    {"bins", "Bincount"},
    {"crops", "CropAndResize"},
    {"diagonal", "MatrixDiagPart"},
    {"filename", "ShardedFilename"},
    {"grad_handle,flow_out", "TensorArrayGradV3"},
    {"handle,flow", "TensorArrayV3"},
    {"index", "Where"},
    {"indices,values,shape", "StringSplit"},
    {"is_initialized", "VarIsInitializedOp"},
    {"item", "TensorListGetItem"},
    {"length", "TensorListLength"},
    {"logsoftmax", "LogSoftmax"},
    {"nmsed_boxes,nmsed_scores,nmsed_classes,valid_detections", "CombinedNonMaxSuppression"},
    {"out,idx", "ListDiff"},
    {"output,argmax", "MaxPoolWithArgmax"},
    {"output,output_min,output_max", "QuantizeV2"},
    {"output,row_pooling_sequence,col_pooling_sequence", "FractionalMaxPool"},
    {"output_handle,tensor", "TensorListPopBack"},
    {"patches", "ExtractImagePatches"},
    {"r,u,c,h", "GRUBlockCell"},
    {"r0", "BroadcastArgs"},
    {"r0,r1", "BroadcastGradientArgs"},
    {"resource", "VarHandleOp"},
    {"result", "BatchNormWithGlobalNormalization"},
    {"selected_indices,selected_scores,valid_outputs", "NonMaxSuppressionV5"},
    {"selected_indices,valid_outputs", "NonMaxSuppressionV4"},
    {"softmax", "Softmax"},
    {"spectrogram", "AudioSpectrogram"},
    {"tensor", "TensorListStack"},
    {"tensors", "RestoreV2"},
    {"value,lengths", "TensorArrayConcatV3"},
    {"values", "LookupTableFindV2"},
    {"y,batch_mean,batch_variance,reserve_space_1,reserve_space_2,reserve_space_3", "FusedBatchNormV3"},
    {"y,idx,count", "UniqueWithCounts"},
};

}  // namespace

std::string_view OutputNames(std::string_view tf_op) {
  static const auto& by_op = *[] {
    auto* map = new std::map<std::string, std::string_view, std::less<>>;
    for (const Row& row : kRows) {
      std::istringstream ops{std::string(row.ops)};
      for (std::string op; ops >> op;) map->emplace(op, row.outputs);
    }
    return map;
  }();
  const auto it = by_op.find(tf_op);
  return it == by_op.end() ? "output" : it->second;
}

}  // namespace halftone::graphdef
