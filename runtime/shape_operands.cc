#include "runtime/shape_operands.h"

#include <cstdint>
#include <iterator>

namespace halftone {
namespace {

using enum OpKind;

// Bit i: input i. The others decide nothing.
struct Row {
  OpKind op;
  uint32_t inputs;
};

constexpr Row kRows[] = {
    {kReduceMean, 0b10},
    {kReduceSum, 0b10},
    {kReduceMax, 0b10},
    {kReduceMin, 0b10},
    {kReduceProd, 0b10},
    {kReduceL1, 0b10},
    {kReduceL2, 0b10},
    {kReduceLogSum, 0b10},
    {kReduceLogSumExp, 0b10},
    {kReduceSumSquare, 0b10},
    {kReduceAll, 0b10},
    {kReduceAny, 0b10},
    {kArgMax, 0b10},
    {kArgMin, 0b10},
    {kReshape, 0b10},
    {kTranspose, 0b10},
    {kSqueeze, 0b10},
    {kUnsqueeze, 0b10},
    {kPad, 0b1010},
    {kSlice, 0b11110},
    {kGather, 0b100},
    {kResize, 0b1110},
    {kConvTranspose, 0b1000},
    {kCol2Im, 0b110},
    {kMaxUnpool, 0b100},
    {kTopK, 0b10},
    {kExpand, 0b10},
    {kTile, 0b10},
    {kSplit, 0b110},
    {kStridedSlice, 0b1110},
    {kScatterNdNew, 0b100},
    {kOneHot, 0b10},
    {kRange, 0b111},
    {kFill, 0b1},
    {kSpaceToBatch, 0b110},
    {kBatchToSpace, 0b110},
    {kCenterCropPad, 0b10},
    {kAffineGrid, 0b10},
    {kCropAndResize, 0b1000},
    {kDft, 0b110},
    {kStft, 0b1010},
    {kWindow, 0b1},
    {kMelWeightMatrix, 0b11111},
    {kRandomUniform, 0b1},
    {kRandomNormal, 0b1},
};

}  // namespace

bool DecidesShape(const Node& node, int input) {
  if (node.op == kConcat) return input + 1 == static_cast<int>(node.inputs.size());  // the axis
  for (const Row& row : kRows) {
    if (row.op == node.op) return input < 32 && (row.inputs >> input & 1) != 0;
  }
  return false;
}

}  // namespace halftone
