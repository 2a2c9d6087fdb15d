// Facts: the lists are those of TensorFlow 2 for oneDNN bfloat16; "bf16" is what its registry of late 2020 allows for
// the type attribute. One row an op; a user's edits come on top.

#include "passes/precision/op_lists.h"

#include <algorithm>

#include "base/strings.h"

namespace halftone {
namespace {

constexpr bool kBf16 = true;
constexpr bool kNoBf16 = false;

constexpr std::string_view kHeavy = "most of the arithmetic; sums are kept in f32";
constexpr std::string_view kSums = "adds up many values";
constexpr std::string_view kRecurrence = "most of the arithmetic; sums, gates and cell states are kept in f32";
constexpr std::string_view kLayerNorm = "statistics are computed in f32; rounds its result";
constexpr std::string_view kArithmetic = "memory bound; rounds its result";
constexpr std::string_view kFunction = "memory bound; a smooth function, rounds its result";
constexpr std::string_view kStatistics = "statistics stay f32, data may be bfloat16";
constexpr std::string_view kRange = "a small error of its input is a large one of its result";
constexpr std::string_view kLoss = "a loss: sums over the whole batch";
constexpr std::string_view kFile = "written to a file in full precision";
constexpr std::string_view kMoves = "moves values, makes no new ones";
constexpr std::string_view kSelects = "selects or cuts values, which rounds nothing";
constexpr std::string_view kControl = "control flow: passes values on";
constexpr std::string_view kReads = "reads values or shapes, makes no new ones";
constexpr std::string_view kUnlisted = "on no list";

constexpr OpListRow kRows[] = {
    // --- allow: always lowered.
    {"Conv2D", Colour::kAllow, "T", kBf16, kHeavy},
    {"Conv2DBackpropFilter", Colour::kAllow, "T", kBf16, kHeavy},
    {"Conv2DBackpropInput", Colour::kAllow, "T", kBf16, kHeavy},
    {"Conv3D", Colour::kAllow, "T", kBf16, kHeavy},
    {"Conv3DBackpropFilterV2", Colour::kAllow, "T", kBf16, kHeavy},
    {"Conv3DBackpropInputV2", Colour::kAllow, "T", kBf16, kHeavy},
    {"DepthwiseConv2dNative", Colour::kAllow, "T", kBf16, kHeavy},
    {"DepthwiseConv2dNativeBackpropFilter", Colour::kAllow, "T", kBf16, kHeavy},
    {"DepthwiseConv2dNativeBackpropInput", Colour::kAllow, "T", kBf16, kHeavy},
    {"MatMul", Colour::kAllow, "T", kBf16, kHeavy},
    {"FusedPadConv2D", Colour::kAllow, "T", kNoBf16, kHeavy},
    {"BatchMatMul", Colour::kAllow, "T", kBf16, kHeavy},
    {"BatchMatMulV2", Colour::kAllow, "T", kBf16, kHeavy},
    {"Einsum", Colour::kAllow, "T", kBf16, kHeavy},
    // Names of our own for layers that TensorFlow writes as loops or in ops of other libraries; no GraphDef has them.
    {"_MklGRU", Colour::kAllow, "T", kBf16, kRecurrence},
    {"_MklLSTM", Colour::kAllow, "T", kBf16, kRecurrence},
    {"_MklRNN", Colour::kAllow, "T", kBf16, kRecurrence},
    // Fused ops of Intel's extension, where its own lists have them.
    {"ScaledDotProductAttentionInference", Colour::kAllow, "T", kBf16, kHeavy},
    // --- infer: lowered between lowered ops.
    {"Add", Colour::kInfer, "T", kBf16, kArithmetic},
    {"AddN", Colour::kInfer, "T", kBf16, kSums},
    {"AddV2", Colour::kInfer, "T", kBf16, kArithmetic},
    {"AvgPool", Colour::kInfer, "T", kBf16, kSums},
    {"AvgPool3D", Colour::kInfer, "T", kBf16, kSums},
    {"AvgPool3DGrad", Colour::kInfer, "T", kBf16, kSums},
    {"AvgPoolGrad", Colour::kInfer, "T", kBf16, kSums},
    {"BiasAdd", Colour::kInfer, "T", kBf16, kArithmetic},
    {"BiasAddGrad", Colour::kInfer, "T", kBf16, kSums},
    {"BiasAddV1", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Erf", Colour::kInfer, "T", kBf16, kFunction},
    {"Erfc", Colour::kInfer, "T", kBf16, kFunction},
    {"FusedBatchNormV2", Colour::kInfer, "T", kBf16, kStatistics},
    {"FusedBatchNormGradV2", Colour::kInfer, "T", kBf16, kStatistics},
    {"FusedBatchNormV3", Colour::kInfer, "T", kBf16, kStatistics},
    {"FusedBatchNormGradV3", Colour::kInfer, "T", kBf16, kStatistics},
    {"LeakyRelu", Colour::kInfer, "T", kBf16, kFunction},
    {"LeakyReluGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"Mul", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Sub", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Elu", Colour::kInfer, "T", kBf16, kFunction},
    {"EluGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"FloorDiv", Colour::kInfer, "T", kBf16, kArithmetic},
    {"_FusedBatchNormEx", Colour::kInfer, "", kNoBf16, kStatistics},
    {"Inv", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Log", Colour::kInfer, "T", kBf16, kFunction},
    {"Log1p", Colour::kInfer, "T", kBf16, kFunction},
    {"LogSoftmax", Colour::kInfer, "T", kBf16, kSums},
    {"Mean", Colour::kInfer, "T", kBf16, kSums},
    {"Prod", Colour::kInfer, "T", kBf16, kSums},
    {"RealDiv", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Reciprocal", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Rsqrt", Colour::kInfer, "T", kBf16, kFunction},
    {"Selu", Colour::kInfer, "T", kBf16, kFunction},
    {"SeluGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"Sigmoid", Colour::kInfer, "T", kBf16, kFunction},
    {"SigmoidGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"Softmax", Colour::kInfer, "T", kBf16, kSums},
    {"Softplus", Colour::kInfer, "T", kBf16, kFunction},
    {"SoftplusGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"Softsign", Colour::kInfer, "T", kBf16, kFunction},
    {"SoftsignGrad", Colour::kInfer, "T", kBf16, kFunction},
    {"Sqrt", Colour::kInfer, "T", kBf16, kFunction},
    {"Square", Colour::kInfer, "T", kBf16, kArithmetic},
    {"SquaredDifference", Colour::kInfer, "T", kBf16, kArithmetic},
    {"Sum", Colour::kInfer, "T", kBf16, kSums},
    {"Tanh", Colour::kInfer, "T", kBf16, kFunction},
    {"_MklGelu", Colour::kInfer, "T", kBf16, kFunction},
    {"_MklLayerNorm", Colour::kInfer, "T", kBf16, kLayerNorm},
    {"_MklFusedInstanceNorm", Colour::kInfer, "T", kBf16, kLayerNorm},
    {"_ITEXFusedBinary", Colour::kInfer, "T", kBf16, kArithmetic},
    {"TanhGrad", Colour::kInfer, "T", kBf16, kFunction},
    // --- deny: never lowered, nor what follows them up to the next deny or infer op.
    {"Exp", Colour::kDeny, "T", kBf16, kRange},
    {"Expm1", Colour::kDeny, "T", kBf16, kRange},
    {"L2Loss", Colour::kDeny, "T", kBf16, kLoss},
    {"Pow", Colour::kDeny, "T", kBf16, kRange},
    {"SaveV2", Colour::kDeny, "dtypes", kBf16, kFile},
    {"SoftmaxCrossEntropyWithLogits", Colour::kDeny, "T", kBf16, kLoss},
    {"SparseSoftmaxCrossEntropyWithLogits", Colour::kDeny, "T", kBf16, kLoss},
    // --- clear: safe in either precision; lowered where that saves a cast.
    {"Abs", Colour::kClear, "T", kBf16, kSelects},
    {"ArgMax", Colour::kClear, "T", kBf16, kReads},
    {"ArgMin", Colour::kClear, "T", kBf16, kReads},
    {"BatchToSpace", Colour::kClear, "T", kBf16, kMoves},
    {"BatchToSpaceND", Colour::kClear, "T", kBf16, kMoves},
    {"BroadcastTo", Colour::kClear, "T", kBf16, kMoves},
    {"Ceil", Colour::kClear, "T", kBf16, kSelects},
    {"CheckNumerics", Colour::kClear, "T", kBf16, kReads},
    {"ClipByValue", Colour::kClear, "T", kBf16, kSelects},
    {"Concat", Colour::kClear, "T", kBf16, kMoves},
    {"ConcatV2", Colour::kClear, "T", kBf16, kMoves},
    {"DepthToSpace", Colour::kClear, "T", kBf16, kMoves},
    {"DynamicPartition", Colour::kClear, "T", kBf16, kMoves},
    {"DynamicStitch", Colour::kClear, "T", kBf16, kMoves},
    {"EnsureShape", Colour::kClear, "T", kBf16, kMoves},
    {"Enter", Colour::kClear, "T", kBf16, kControl},
    {"Equal", Colour::kClear, "T", kBf16, kReads},
    {"Exit", Colour::kClear, "T", kBf16, kControl},
    {"ExpandDims", Colour::kClear, "T", kBf16, kMoves},
    {"Fill", Colour::kClear, "T", kBf16, kMoves},
    {"Floor", Colour::kClear, "T", kBf16, kSelects},
    {"Gather", Colour::kClear, "Tparams", kBf16, kMoves},
    {"GatherNd", Colour::kClear, "Tparams", kBf16, kMoves},
    {"GatherV2", Colour::kClear, "Tparams", kBf16, kMoves},
    {"Greater", Colour::kClear, "T", kBf16, kReads},
    {"GreaterEqual", Colour::kClear, "T", kBf16, kReads},
    {"Identity", Colour::kClear, "T", kBf16, kMoves},
    {"IdentityN", Colour::kClear, "T", kBf16, kMoves},
    {"IsFinite", Colour::kClear, "T", kBf16, kReads},
    {"IsInf", Colour::kClear, "T", kBf16, kReads},
    {"IsNan", Colour::kClear, "T", kBf16, kReads},
    {"Less", Colour::kClear, "T", kBf16, kReads},
    {"LessEqual", Colour::kClear, "T", kBf16, kReads},
    {"Max", Colour::kClear, "T", kBf16, kSelects},
    {"Maximum", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPool", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPool3D", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPool3DGrad", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPoolGrad", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPoolGradGrad", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPoolGradGradV2", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPoolGradV2", Colour::kClear, "T", kBf16, kSelects},
    {"MaxPoolV2", Colour::kClear, "T", kBf16, kSelects},
    {"Merge", Colour::kClear, "T", kBf16, kControl},
    {"Min", Colour::kClear, "T", kBf16, kSelects},
    {"Minimum", Colour::kClear, "T", kBf16, kSelects},
    {"MirrorPad", Colour::kClear, "T", kBf16, kMoves},
    {"MirrorPadGrad", Colour::kClear, "T", kBf16, kMoves},
    {"Neg", Colour::kClear, "T", kBf16, kSelects},
    {"NextIteration", Colour::kClear, "T", kBf16, kControl},
    {"NotEqual", Colour::kClear, "T", kBf16, kReads},
    {"OnesLike", Colour::kClear, "T", kBf16, kReads},
    {"Pack", Colour::kClear, "T", kBf16, kMoves},
    {"Pad", Colour::kClear, "T", kBf16, kMoves},
    {"PadV2", Colour::kClear, "T", kBf16, kMoves},
    {"PreventGradient", Colour::kClear, "T", kBf16, kMoves},
    {"Rank", Colour::kClear, "T", kBf16, kReads},
    {"Relu", Colour::kClear, "T", kBf16, kSelects},
    {"Relu6", Colour::kClear, "T", kBf16, kSelects},
    {"Relu6Grad", Colour::kClear, "T", kBf16, kSelects},
    {"ReluGrad", Colour::kClear, "T", kBf16, kSelects},
    {"Reshape", Colour::kClear, "T", kBf16, kMoves},
    {"ResizeNearestNeighbor", Colour::kClear, "T", kNoBf16, kMoves},
    {"ResizeNearestNeighborGrad", Colour::kClear, "T", kNoBf16, kMoves},
    // Its result is float32 whatever the type of its input.
    {"ResizeBilinear", Colour::kClear, "T", kNoBf16, kMoves},
    {"Reverse", Colour::kClear, "T", kNoBf16, kMoves},
    {"ReverseSequence", Colour::kClear, "T", kBf16, kMoves},
    {"ReverseV2", Colour::kClear, "T", kBf16, kMoves},
    {"Round", Colour::kClear, "T", kBf16, kSelects},
    {"ScatterNd", Colour::kClear, "T", kBf16, kMoves},
    {"Select", Colour::kClear, "T", kBf16, kMoves},
    {"SelectV2", Colour::kClear, "T", kBf16, kMoves},
    {"Shape", Colour::kClear, "T", kBf16, kReads},
    {"ShapeN", Colour::kClear, "T", kBf16, kReads},
    {"Sign", Colour::kClear, "T", kBf16, kSelects},
    {"Slice", Colour::kClear, "T", kBf16, kMoves},
    {"Snapshot", Colour::kClear, "T", kBf16, kMoves},
    {"SpaceToBatch", Colour::kClear, "T", kBf16, kMoves},
    {"SpaceToBatchND", Colour::kClear, "T", kBf16, kMoves},
    {"SpaceToDepth", Colour::kClear, "T", kBf16, kMoves},
    {"Split", Colour::kClear, "T", kBf16, kMoves},
    {"SplitV", Colour::kClear, "T", kBf16, kMoves},
    {"Squeeze", Colour::kClear, "T", kBf16, kMoves},
    {"StatelessWhile", Colour::kClear, "T", kBf16, kControl},
    {"StopGradient", Colour::kClear, "T", kBf16, kMoves},
    {"StridedSlice", Colour::kClear, "T", kBf16, kMoves},
    {"StridedSliceGrad", Colour::kClear, "T", kBf16, kMoves},
    {"Switch", Colour::kClear, "T", kBf16, kControl},
    {"Tile", Colour::kClear, "T", kBf16, kMoves},
    {"TopK", Colour::kClear, "T", kBf16, kSelects},
    {"TopKV2", Colour::kClear, "T", kBf16, kSelects},
    {"Transpose", Colour::kClear, "T", kBf16, kMoves},
    {"Where", Colour::kClear, "T", kBf16, kReads},
    {"While", Colour::kClear, "T", kBf16, kControl},
    {"Unpack", Colour::kClear, "T", kBf16, kMoves},
    {"ZerosLike", Colour::kClear, "T", kBf16, kReads},
    {"TensorListConcat", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListConcatLists", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListConcatV2", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListGather", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListGetItem", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListPopBack", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListPushBack", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListPushBackBatch", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListFromTensor", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListScatter", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListScatterV2", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListScatterIntoExistingList", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListSetItem", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListSplit", Colour::kClear, "element_dtype", kBf16, kMoves},
    {"TensorListStack", Colour::kClear, "element_dtype", kBf16, kMoves},
    // --- on no list, but users may put it on one.
    {"Div", Colour::kNone, "T", kBf16, kUnlisted},
    {"Cast", Colour::kNone, "DstT", kBf16, kUnlisted},
};

constexpr bool EveryOpIsThereOnce() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (kRows[i].op == kRows[j].op) return false;
    }
  }
  return true;
}
static_assert(EveryOpIsThereOnce(), "an op is on two lists");

struct NamedEdit {
  Colour colour;
  const ListEdit& edit;
};

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::span<const OpListRow> OpListRows() { return kRows; }

const OpListRow* FindOpListRow(std::string_view op) {
  for (const OpListRow& row : kRows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

std::string_view ColourName(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kAllow:
      return "allow";
    case Colour::kInfer:
      return "infer";
    case Colour::kDeny:
      return "deny";
    case Colour::kClear:
      return "clear";
  }
  return "";
}

OpLists::OpLists(std::span<const ListEdits> edits, std::vector<std::string>& warnings) {
  for (const OpListRow& row : kRows) list_of_.emplace(row.op, row.list);
  for (const ListEdits& one : edits) Apply(one, warnings);
}

void OpLists::Apply(const ListEdits& edits, std::vector<std::string>& warnings) {
  const NamedEdit named[] = {{Colour::kAllow, edits.allow},
                             {Colour::kInfer, edits.infer},
                             {Colour::kDeny, edits.deny},
                             {Colour::kClear, edits.clear}};
  for (const auto& [colour, edit] : named) {
    for (const std::string& op : edit.remove) {
      if (ListOf(op) == colour) {
        list_of_[op] = Colour::kNone;
      } else if (!Contains(edit.add, op)) {
        warnings.push_back(Concat("'", op, "' cannot be taken off the ", ColourName(colour), " list: it is not on it"));
      }
    }
  }
  for (const auto& [colour, edit] : named) {
    for (const std::string& op : edit.add) {
      if (Contains(edit.remove, op)) {
        warnings.push_back(
            Concat("'", op, "' is both added to and taken off the ", ColourName(colour), " list: it is off"));
        continue;
      }
      const Colour old = ListOf(op);
      if (old != Colour::kNone && old != colour) {
        warnings.push_back(Concat("'", op, "' was added to the ", ColourName(colour), " list and left the ",
                                  ColourName(old), " list (TensorFlow refuses an op on two lists)"));
      }
      list_of_[op] = colour;
    }
  }
}

Colour OpLists::ListOf(std::string_view op) const {
  const auto it = list_of_.find(op);
  return it == list_of_.end() ? Colour::kNone : it->second;
}

}  // namespace halftone
