// SPDX-License-Identifier: Apache-2.0
// Rules of fused normalizations, of chains and of an attention.

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

absl::StatusOr<std::string> String(const RuleInput& input, std::string_view name, std::string_view otherwise) {
  const tf::AttrValue* value = input.Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->value_case() != tf::AttrValue::kS) {
    return absl::InvalidArgumentError(Concat("attribute '", name, "' must be of type string"));
  }
  return value->s();
}

template <typename Lists>
auto ListOf(const RuleInput& input, std::string_view name, Lists lists) {
  const tf::AttrValue* value = input.Find(name);
  return value == nullptr ? lists(tf::AttrValue::ListValue::default_instance()) : lists(value->list());
}

std::vector<int64_t> Ints(const RuleInput& input, std::string_view name) {
  return ListOf(input, name, [](const auto& list) { return std::vector<int64_t>(list.i().begin(), list.i().end()); });
}

std::vector<std::string> Strings(const RuleInput& input, std::string_view name) {
  return ListOf(input, name,
                [](const auto& list) { return std::vector<std::string>(list.s().begin(), list.s().end()); });
}

// False: a mode that is not supported.
absl::StatusOr<bool> SetMode(const RuleInput& input, std::string_view mode, Attributes& attributes) {
  if (mode == "Identity") return true;
  if (mode == "Relu") {
    attributes.Set("activation", std::string("relu"));
    return true;
  }
  if (mode != "LeakyRelu") return false;
  HALFTONE_ASSIGN_OR_RETURN(const float alpha, input.Float("leakyrelu_alpha", 0.2f));
  attributes.Set("activation", std::string("leaky_relu"));
  attributes.Set("activation_alpha", alpha);
  return true;
}

}  // namespace

absl::StatusOr<bool> ReadBatchNormEx(const RuleInput& input, ConvertedNode& result) {
  if (result.inputs.size() != 5) return false;  // a side input
  HALFTONE_ASSIGN_OR_RETURN(const std::string mode, String(input, "activation_mode", "Identity"));
  if (mode == "LeakyRelu") return false;
  return SetMode(input, mode, result.node.attributes);
}

// The other outputs are what a gradient needs.
absl::StatusOr<bool> ReadLayerNorm(const RuleInput& input, ConvertedNode&) {
  return input.context.num_read_outputs <= 1;
}

// TensorFlow's names the dimensions that it reduces, and had a list of names before it had a mode.
absl::StatusOr<bool> ReadInstanceNorm(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(std::string mode, String(input, "activation_mode", "Identity"));
  const std::vector<std::string> words = Strings(input, "fused_ops");
  if (words.size() > 1) return false;
  if (words.size() == 1) mode = words[0];
  if (input.Find("reduction_axes") != nullptr) {
    const std::vector<int64_t> axes = Ints(input, "reduction_axes");
    if (axes.size() != 2 && axes.size() != 3) return false;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != axes[0] + static_cast<int64_t>(i)) return false;
    }
    if (axes[0] != 1 && axes[0] != 2) return false;
    result.node.attributes.Set("layout", std::string(axes[0] == 1 ? "NHWC" : "NCHW"));
  }
  return SetMode(input, mode, result.node.attributes);
}

absl::StatusOr<bool> ReadGelu(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const bool approximate, input.Bool("approximate", true));
  if (approximate) result.node.attributes.Set("approximate", std::string("tanh"));
  return true;
}

// The entries and the orders go backwards, and so do the inputs; an order of 1 exchanges the operands. The first step
// has none.
absl::StatusOr<bool> ReadFusedBinary(const RuleInput& input, ConvertedNode& result) {
  const std::vector<std::string> words = Strings(input, "fused_ops");
  std::vector<int64_t> orders = Ints(input, "input_order");
  orders.push_back(0);
  const size_t count = result.inputs.size();
  if (count < 2 || words.size() != count - 1 || orders.size() != words.size()) return false;
  std::vector<std::string> ops;
  for (size_t i = words.size(); i-- > 0;) {
    if (words[i] == "Add" || words[i] == "AddV2") {
      ops.emplace_back("add");
    } else if (words[i] == "Mul") {
      ops.emplace_back("mul");
    } else if (words[i] == "Sub") {
      ops.emplace_back(orders[i] == 0 ? "sub" : "rsub");
    } else {
      return false;
    }
  }
  std::reverse(result.inputs.begin(), result.inputs.end());
  result.node.attributes.Set("ops", std::move(ops));
  return true;
}

absl::StatusOr<bool> ReadAttention(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const bool masked, input.Bool("use_mask", false));
  HALFTONE_ASSIGN_OR_RETURN(const bool causal, input.Bool("use_causal", false));
  if (causal) return false;
  std::vector<int> from = {0, 1, 2};
  if (masked) from.push_back(3);
  const std::vector<int64_t> perm = {0, 2, 1, 3};
  const int attention = result.AddHelper(OpKind::kScaledDotProductAttention, std::move(from), result.outputs[0].type);
  result.inputs = {attention, result.AddConstant(Tensor::Ints(perm, DataType::kInt32))};
  return true;
}

}  // namespace halftone::graphdef
