// SPDX-License-Identifier: Apache-2.0
// Rules of rows that move values.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

bool AllAre(const std::optional<std::vector<int64_t>>& list, bool (*holds)(int64_t)) {
  return list.has_value() && std::all_of(list->begin(), list->end(), holds);
}

}  // namespace

// The values off and on in one tensor.
absl::StatusOr<bool> ReadOneHot(const RuleInput&, ConvertedNode& result) {
  const DataType type = result.outputs[0].type;
  if (ElementSize(type) == 0) return false;
  result.inputs.push_back(result.AddHelper(OpKind::kStack, {3, 2}, type));
  return true;
}

absl::StatusOr<bool> ReadTopK(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t k, input.Int("k", 0));
  if (k < 0 || k > INT32_MAX) return absl::InvalidArgumentError(Concat("attribute 'k' is ", k, "; it must be >= 0"));
  result.inputs.push_back(result.AddConstant(Tensor::IntScalar(k, DataType::kInt32)));
  return true;
}

// SpaceToBatch and BatchToSpace: blocks of one size in both dimensions.
absl::StatusOr<bool> ReadBlockSize(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t size, input.Int("block_size", 0));
  if (size < 2 || size > INT32_MAX) {
    return absl::InvalidArgumentError(Concat("attribute 'block_size' is ", size, "; it must be at least 2"));
  }
  const std::vector<int64_t> blocks = {size, size};
  result.inputs = {0, result.AddConstant(Tensor::Ints(blocks, DataType::kInt32)), 1};
  return true;
}

// Dimensions by a list of bools.
absl::StatusOr<bool> ReadReverse(const RuleInput& input, ConvertedNode& result) {
  const Tensor* dims = input.context.constant(1);
  if (dims == nullptr || dims->type() != DataType::kBool || dims->rank() != 1) return false;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < dims->num_elements(); ++i) {
    if (dims->data<uint8_t>()[i] != 0) axes.push_back(i);
  }
  result.inputs.push_back(result.AddConstant(Tensor::Ints(axes, DataType::kInt32)));
  return true;
}

// x[0 : size]: the sizes are the ends.
absl::StatusOr<bool> ReadSliceFromZero(const RuleInput& input, ConvertedNode&) {
  return AllAre(input.context.constant_ints(1), [](int64_t b) { return b == 0; }) &&
         AllAre(input.context.constant_ints(2), [](int64_t s) { return s >= 0; });
}

// x[begin : begin + size], a size of -1 reaches to the end.
absl::StatusOr<bool> ReadSlice(const RuleInput& input, ConvertedNode& result) {
  const DataType type = result.input_types[1];
  if (type != DataType::kInt32 && type != DataType::kInt64) {
    return absl::InvalidArgumentError("attribute 'Index' must be DT_INT32 or DT_INT64");
  }
  const int64_t far = type == DataType::kInt32 ? INT32_MAX : INT64_MAX;
  const auto begin = input.context.constant_ints(1), size = input.context.constant_ints(2);
  if (begin.has_value() && size.has_value() && begin->size() == size->size()) {
    std::vector<int64_t> more;  // what makes an end of a size
    for (size_t i = 0; i < begin->size(); ++i) {
      const int64_t from = (*begin)[i], count = (*size)[i];
      if (from < 0 || count < -1 || count > far - from) {
        return absl::InvalidArgumentError(Concat("a slice of ", count, " elements from ", from,
                                                 " on; begin must not be negative, size not below -1"));
      }
      more.push_back(count == -1 ? far : from);
    }
    result.inputs.push_back(result.AddHelper(OpKind::kAdd, {2, result.AddConstant(Tensor::Ints(more, type))}, type));
    return true;
  }
  const int zero = result.AddConstant(Tensor::IntScalar(0, type));
  const int farthest = result.AddConstant(Tensor::IntScalar(far, type));
  const int sum = result.AddHelper(OpKind::kAdd, {2, 1}, type);
  if (AllAre(size, [](int64_t s) { return s >= 0; })) {
    result.inputs.push_back(sum);
    return true;
  }
  const int to_end = result.AddHelper(OpKind::kLess, {2, zero}, DataType::kBool);
  result.inputs.push_back(result.AddHelper(OpKind::kWhere, {to_end, farthest, sum}, type));
  return true;
}

absl::StatusOr<bool> ReadNotNegativeBatchDims(const RuleInput& input, ConvertedNode&) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t batch_dims, input.Int("batch_dims", 0));
  return batch_dims >= 0;
}

absl::StatusOr<bool> ReadUniqueV2(const RuleInput& input, ConvertedNode& result) {
  const auto axis = input.context.constant_ints(1);
  if (!axis.has_value() || axis->size() > 1) return false;
  if (!axis->empty()) result.node.attributes.Set("axis", axis->front());
  return true;
}

}  // namespace halftone::graphdef
