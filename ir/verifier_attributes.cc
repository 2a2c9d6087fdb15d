// SPDX-License-Identifier: Apache-2.0
// What each attribute may hold.

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/strings.h"
#include "ir/verifier_internal.h"

namespace halftone::verifier {
namespace {

enum class Kind : uint8_t { kBool, kInt, kFloat, kString, kTensor, kInts, kFloats, kStrings, kGraph };

struct AttributeRow {
  std::string_view name;
  Kind kind;
  std::string_view words;  // strings: what it may say, separated by '|'; empty: the op's rules know
};

// Every name that a row of the op table lists.
constexpr AttributeRow kAttributes[] = {
    {"activation", Kind::kString,
     "relu|relu6|clip|elu|leaky_relu|tanh|sigmoid|swish|hard_swish|hard_sigmoid|gelu|gelu_tanh|mish"},
    {"activation_alpha", Kind::kFloat, ""},
    {"activation_alphas", Kind::kFloats, ""},
    {"activation_beta", Kind::kFloat, ""},
    {"activation_betas", Kind::kFloats, ""},
    {"activation_first", Kind::kBool, ""},
    {"activations", Kind::kStrings, ""},
    {"align_corners", Kind::kBool, ""},
    {"allowzero", Kind::kBool, ""},
    {"alpha", Kind::kFloat, ""},
    {"antialias", Kind::kInt, ""},
    {"approximate", Kind::kString, "none|tanh"},
    {"auto_pad", Kind::kString, "NOTSET|SAME_UPPER|SAME_LOWER|VALID"},
    {"axes", Kind::kInts, ""},
    {"axis", Kind::kInt, ""},
    {"batch_axis", Kind::kInt, ""},
    {"batch_dims", Kind::kInt, ""},
    {"batch_first", Kind::kBool, ""},
    {"begin_mask", Kind::kInt, ""},
    {"beta", Kind::kFloat, ""},
    {"bias", Kind::kFloat, ""},
    {"block_size", Kind::kInt, ""},
    {"body", Kind::kGraph, ""},
    {"ceil_mode", Kind::kBool, ""},
    {"center_point_box", Kind::kBool, ""},
    {"clip", Kind::kFloat, ""},
    {"condition", Kind::kGraph, ""},
    {"coordinate_transformation_mode", Kind::kString, ""},
    {"count_include_pad", Kind::kBool, ""},
    {"cubic_coeff_a", Kind::kFloat, ""},
    {"detect_negative", Kind::kBool, ""},
    {"detect_positive", Kind::kBool, ""},
    {"dilations", Kind::kInts, ""},
    {"direction", Kind::kString, "forward|reverse|bidirectional|LEFT|RIGHT"},
    {"ellipsis_mask", Kind::kInt, ""},
    {"else", Kind::kGraph, ""},
    {"end", Kind::kInt, ""},
    {"end_mask", Kind::kInt, ""},
    {"epsilon", Kind::kFloat, ""},
    {"equation", Kind::kString, ""},
    {"exclude_outside", Kind::kInt, ""},
    {"exclusive", Kind::kBool, ""},
    {"extrapolation_value", Kind::kFloat, ""},
    {"flatten", Kind::kBool, ""},
    {"fmod", Kind::kBool, ""},
    {"gamma", Kind::kFloat, ""},
    {"group", Kind::kInt, ""},
    {"hidden_size", Kind::kInt, ""},
    {"high", Kind::kFloat, ""},
    {"ignore_index", Kind::kInt, ""},
    {"input_forget", Kind::kBool, ""},
    {"inverse", Kind::kBool, ""},
    {"is_training", Kind::kBool, ""},
    {"k", Kind::kInt, ""},
    {"k_transposed", Kind::kBool, ""},
    {"keep_aspect_ratio_policy", Kind::kString, ""},
    {"keepdims", Kind::kBool, ""},
    {"kernel", Kind::kInts, ""},
    {"lambd", Kind::kFloat, ""},
    {"largest", Kind::kBool, ""},
    {"layout", Kind::kString, "NCHW|NHWC"},
    {"linear_before_reset", Kind::kBool, ""},
    {"low", Kind::kFloat, ""},
    {"mask_filter_value", Kind::kFloat, ""},
    {"math_mode", Kind::kString, "bf16"},
    {"mean", Kind::kFloat, ""},
    {"mode", Kind::kString, ""},
    {"momentum", Kind::kFloat, ""},
    {"narrow_range", Kind::kBool, ""},
    {"nearest_mode", Kind::kString, ""},
    {"new_axis_mask", Kind::kInt, ""},
    {"noop_with_empty_axes", Kind::kBool, ""},
    {"num_bits", Kind::kInt, ""},
    {"num_groups", Kind::kInt, ""},
    {"num_heads", Kind::kInt, ""},
    {"num_scan_inputs", Kind::kInt, ""},
    {"number", Kind::kFloat, ""},
    {"offset_group", Kind::kInt, ""},
    {"onesided", Kind::kBool, ""},
    {"ops", Kind::kStrings, "add|sub|rsub|mul|div|rdiv|max|min"},
    {"output_height", Kind::kInt, ""},
    {"output_padding", Kind::kInts, ""},
    {"output_shape", Kind::kInts, ""},
    {"output_width", Kind::kInt, ""},
    {"p", Kind::kInt, ""},
    {"padding_mode", Kind::kString, "zeros|border|reflection"},
    {"pads", Kind::kInts, ""},
    {"per_group", Kind::kBool, ""},
    {"periodic", Kind::kBool, ""},
    {"pooled_shape", Kind::kInts, ""},
    {"qkv_hidden_sizes", Kind::kInts, ""},
    {"ratio", Kind::kFloat, ""},
    {"reduction", Kind::kString, "none|add|mul|max|min|mean|sum"},
    {"reverse", Kind::kBool, ""},
    {"rows", Kind::kBool, ""},
    {"sampling_ratio", Kind::kInt, ""},
    {"scale", Kind::kFloat, ""},
    {"scan_input_axes", Kind::kInts, ""},
    {"scan_input_directions", Kind::kInts, ""},
    {"scan_output_axes", Kind::kInts, ""},
    {"scan_output_directions", Kind::kInts, ""},
    {"seed", Kind::kInt, ""},
    {"select_last_index", Kind::kBool, ""},
    {"shrink_axis_mask", Kind::kInt, ""},
    {"size", Kind::kInt, ""},
    {"sorted", Kind::kBool, ""},
    {"spatial_scale", Kind::kFloat, ""},
    {"start", Kind::kInt, ""},
    {"state_scale", Kind::kFloat, ""},
    {"state_zero_point", Kind::kInt, ""},
    {"statistics", Kind::kString, "running|batch"},
    {"storage_order", Kind::kInt, ""},
    {"strides", Kind::kInts, ""},
    {"then", Kind::kGraph, ""},
    {"time_axis", Kind::kInt, ""},
    {"transpose_a", Kind::kBool, ""},
    {"transpose_b", Kind::kBool, ""},
    {"unidirectional", Kind::kBool, ""},
    {"upper", Kind::kBool, ""},
    {"value", Kind::kTensor, ""},
    {"weights_layout", Kind::kString, "OIHW|HWIO|HWCM|IOHW|HWOI"},
    {"wrap_negative", Kind::kBool, ""},
};

constexpr std::pair<Kind, std::string_view> kKindNames[] = {
    {Kind::kBool, "a bool"},
    {Kind::kInt, "an integer"},
    {Kind::kFloat, "a float"},
    {Kind::kString, "a string"},
    {Kind::kTensor, "a tensor"},
    {Kind::kInts, "a list of integers"},
    {Kind::kFloats, "a list of floats"},
    {Kind::kStrings, "a list of strings"},
    {Kind::kGraph, "a graph"},
};

bool HasKind(const AttributeValue& value, Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return std::holds_alternative<bool>(value);
    case Kind::kInt:
      return std::holds_alternative<int64_t>(value);
    case Kind::kFloat:
      return std::holds_alternative<float>(value);
    case Kind::kString:
      return std::holds_alternative<std::string>(value);
    case Kind::kTensor:
      return std::holds_alternative<Tensor>(value);
    case Kind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(value);
    case Kind::kFloats:
      return std::holds_alternative<std::vector<float>>(value);
    case Kind::kStrings:
      return std::holds_alternative<std::vector<std::string>>(value);
    case Kind::kGraph:
      return std::holds_alternative<std::shared_ptr<const Graph>>(value);
  }
  return false;
}

bool IsOneOf(std::string_view word, std::string_view words) {
  return (Concat("|", words, "|").find(Concat("|", word, "|")) != std::string::npos) &&
         word.find('|') == std::string_view::npos;
}

}  // namespace

absl::Status CheckAttribute(std::string_view name, const AttributeValue& value) {
  const auto* row = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                 [name](const AttributeRow& r) { return r.name == name; });
  const auto error = [name](const auto&... parts) {
    return absl::InvalidArgumentError(Concat("attribute '", name, "' ", parts...));
  };
  if (row == std::end(kAttributes)) return error("is in no table of kinds: a bug");
  if (!HasKind(value, row->kind)) return error("must be ", kKindNames[static_cast<int>(row->kind)].second);
  if (row->words.empty()) return absl::OkStatus();
  const bool is_list = row->kind == Kind::kStrings;
  for (const std::string& word :
       is_list ? std::get<std::vector<std::string>>(value) : std::vector<std::string>{std::get<std::string>(value)}) {
    if (!IsOneOf(word, row->words)) return error(is_list ? "has '" : "is '", word, "', must be ", row->words);
  }
  return absl::OkStatus();
}

}  // namespace halftone::verifier
