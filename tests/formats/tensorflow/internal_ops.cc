// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/tensorflow/internal_ops.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "formats/tensorflow/element_types.h"
#include "ir/types.h"

namespace halftone::testing {
namespace {

namespace tf = ::halftone::tensorflow;

// One row per op. Ports: "name:type", the type one of T's kind (an attribute), f32's kind, "n*T" or "list[]". Attributes:
// "name:kind", then "{allowed,...}", ">=least", "=default"; kinds are type, types, int, ints, float, bool, string,
// strings. "%" is the common part of its family of ops.
struct Row {
  std::string_view name;
  std::string_view inputs;
  std::string_view outputs;
  std::string_view attributes;
};

constexpr std::string_view kCommon[] = {
    // %2: a convolution in two dimensions; %3: in three; %f: words of what is fused; %p: pads in numbers
    "%2 strides:ints data_format:string{NHWC,NCHW}=NHWC dilations:ints=1,1,1,1",
    "%3 strides:ints>=5 data_format:string{NDHWC,NCDHW}=NDHWC dilations:ints=1,1,1,1,1",
    "%f fused_ops:strings= leakyrelu_alpha:float=0.2",
    "%p padding:string{SAME,VALID,EXPLICIT} explicit_paddings:ints=",
    "%s padding:string{SAME,VALID}",
    "%v padding:string{VALID} Tpaddings:type{s32,s64}=s32 is_filter_const:bool=false",
    "%n num_args:int>=0",
    // %q: a product of quantized tensors
    "%q T1:type T2:type Tbias:type transpose_a:bool=false transpose_b:bool=false "
    "input_quant_mode:string{MIN_FIRST,SCALED}=MIN_FIRST",
};

constexpr std::string_view kQuantizedProductIn =
    "a:T1 b:T2 bias:Tbias min_a:f32 max_a:f32 min_b:f32 max_b:f32 min_freezed_output:f32 max_freezed_output:f32";

constexpr Row kTensorFlow[] = {
    {"_FusedConv2D", "input:T filter:T args:TArgs[] host_args:num_host_args*f32", "output:T",
     "T:type{bf16,f16,f32,f64} TArgs:types num_host_args:int>=0=0 filter_format:string{HWIO,OIHW,OIHW_VECT_I}=HWIO "
     "use_cudnn_on_gpu:bool=true epsilon:float=0.0001 %n %2 %p %f"},
    {"_FusedDepthwiseConv2dNative", "input:T filter:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32,f64} epsilon:float=0.0001 %n %2 %s %f"},
    {"_FusedConv3D", "input:T filter:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32} epsilon:float=0.0001 padding_list:ints= %n %3 %s %f"},
    {"_FusedMatMul", "a:T b:T args:num_args*T", "product:T",
     "T:type{bf16,f16,f32} transpose_a:bool=false transpose_b:bool=false epsilon:float=0.0001 %n %f"},
    {"_MklFusedBatchMatMulV2", "x:T y:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32} adj_x:bool=false adj_y:bool=false fused_ops:strings= %n"},
    {"_FusedBatchNormEx", "x:T scale:U offset:U mean:U variance:U side_input:num_side_inputs*T",
     "y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U reserve_space_3:U",
     "T:type{bf16,f16,f32} U:type{f32} epsilon:float=0.0001 exponential_avg_factor:float=1 num_side_inputs:int>=0=0 "
     "activation_mode:string=Identity data_format:string{NHWC,NCHW}=NHWC is_training:bool=true"},
    {"_MklLayerNorm", "x:T scale:T offset:T", "y:T", "T:type{bf16,f32} epsilon:float=0.001"},
    {"_MklFusedInstanceNorm", "x:T scale:T offset:T", "y:T",
     "T:type{bf16,f32} epsilon:float=0.0001 reduction_axes:ints %f"},
    {"_MklSwish", "features:T", "activations:T", "T:type{bf16,f16,f32}"},
    {"_MklFusedMish", "features:T", "activations:T", "T:type{bf16,f16,f32}"},
    {"_EqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
    {"_NotEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
    {"_LessWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
    {"_LessEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
    {"_GreaterWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
    {"_GreaterEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f32}"},
};

constexpr Row kItex[] = {
    {"_ITEXFusedConv2D", "input:T filter:T args:num_args*T bn_args:num_bn_args*f32", "output:T",
     "T:type{bf16,f16,f32} num_bn_args:int>=0 is_filter_const:bool=false use_cudnn_on_gpu:bool=true "
     "epsilon:float=0.0001 %n %2 %p %f"},
    {"_ITEXFusedDepthwiseConv2dNative", "input:T filter:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32} is_filter_const:bool=false epsilon:float=0.0001 %n %2 %p %f"},
    {"_ITEXFusedConv3D", "input:T filter:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32,f64} is_filter_const:bool=false %n %3 %p %f"},
    {"_ITEXPadWithConv2D", "input:T filter:T paddings:Tpaddings", "output:T",
     "T:type{bf16,f16,f32} use_cudnn_on_gpu:bool=true %2 %v"},
    {"_ITEXPadWithDepthwiseConv2dNative", "input:T filter:T paddings:Tpaddings", "output:T",
     "T:type{bf16,f16,f32} %2 %v"},
    {"_ITEXPadWithConv3D", "input:T filter:T paddings:Tpaddings", "output:T", "T:type{bf16,f16,f32} %3 %v"},
    {"_ITEXPadWithFusedConv2D", "input:T filter:T args:num_args*T paddings:Tpaddings", "output:T",
     "T:type{bf16,f16,f32} use_cudnn_on_gpu:bool=true explicit_paddings:ints= %n %2 %v %f"},
    {"_ITEXPadWithFusedConv3D", "input:T filter:T args:num_args*T paddings:Tpaddings", "output:T",
     "T:type{bf16,f16,f32} %n %3 %v %f"},
    {"_ITEXFusedMatMul", "a:T b:T args:num_args*T", "product:T",
     "T:type{bf16,f16,f32}=f32 transpose_a:bool=false transpose_b:bool=false epsilon:float=0.0001 "
     "is_filter_const:bool=false %n %f"},
    {"_ITEXFusedBatchMatMulV2", "x:T y:T args:num_args*T", "output:T",
     "T:type{bf16,f16,f32}=f32 adj_x:bool=false adj_y:bool=false is_filter_const:bool=false fused_ops:strings= %n"},
    {"_ITEXAccMatMul", "a:T b:T", "product:Tout",
     "T:type{bf16,f32}=bf16 Tout:type{f32}=f32 Tpost:type{f32,bf16}=f32 transpose_a:bool=false "
     "transpose_b:bool=false is_filter_const:bool=false is_bf16_math_mode:bool=false"},
    {"_ITEXFusedAccMatMul", "a:T b:T args:num_args*Tpost", "product:Tout",
     "T:type{bf16,f32}=bf16 Tout:type{f32}=f32 Tpost:type{f32,bf16}=f32 transpose_a:bool=false "
     "transpose_b:bool=false epsilon:float=0.0001 is_filter_const:bool=false is_bf16_math_mode:bool=false %n %f"},
    {"_ITEXFusedBatchNormEx", "x:T scale:U offset:U mean:U variance:U side_input:num_side_inputs*T",
     "y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U reserve_space_3:U",
     "T:type{bf16,f16,f32} U:type{f32} epsilon:float=0.0001 exponential_avg_factor:float=1 num_side_inputs:int>=0=0 "
     "activation_mode:string=Identity data_format:string{NHWC,NCHW,NDHWC,NCDHW}=NHWC is_training:bool=true "
     "is_inplace:bool=false"},
    {"ITEXLayerNorm", "x:T scale:U offset:U", "y:T layer_mean:U layer_variance:U",
     "T:type{bf16,f16,f32} U:type{f32} epsilon:float=0.0001 is_training:bool=true data_format:string{NHWC,NCHW}=NHWC "
     "is_inplace:bool=false"},
    {"_ITEXMklLayerNorm", "x:T scale:T offset:T", "y:T",
     "T:type{bf16,f16,f32} epsilon:float=0.0001 is_inplace:bool=false"},
    {"_ITEXInstanceNorm", "x:T scale:U offset:U", "y:T",
     "T:type{bf16,f16,f32} U:type{f32} epsilon:float=0.0001 data_format:string{NHWC,NCHW,NDHWC,NCDHW}=NHWC "
     "is_inplace:bool=false"},
    {"_ITEXFusedInstanceNorm", "x:T scale:U offset:U", "y:T",
     "T:type{bf16,f16,f32} U:type{f32} epsilon:float=0.0001 data_format:string{NHWC,NCHW,NDHWC,NCDHW}=NHWC "
     "activation_mode:string=Identity leakyrelu_alpha:float=0.2 is_inplace:bool=false"},
    {"_ITEXFusedAddV2WithSoftmax", "logits:T sum:T", "softmax:T", "T:type{bf16,f16,f32}=f32 is_inplace:bool=false"},
    {"_ITEXSwish", "features:T", "activations:T", "T:type{bf16,f16,f32}=f32 alpha:float=1"},
    {"_ITEXMish", "features:T", "activations:T", "T:type{bf16,f16,f32}=f32"},
    {"ITEXGelu", "features:T", "activations:T", "T:type{bf16,f16,f32} approximate:bool=true"},
    {"_ITEXFusedBinary", "args:num_args*T", "output:T",
     "T:type{bf16,f16,f32} num_args:int>=3 fused_ops:strings= input_order:ints="},
    {"ScaledDotProductAttentionInference", "query:T key:T value:T atten_mask:T", "output:T",
     "T:type{bf16,f16,f32} use_mask:bool=false use_causal:bool=false is_inference:bool=true"},
    {"_ITEXEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32} incompatible_shape_error:bool=true"},
    {"_ITEXNotEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32} incompatible_shape_error:bool=true"},
    {"_ITEXLessWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32}"},
    {"_ITEXLessEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32}"},
    {"_ITEXGreaterWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32}"},
    {"_ITEXGreaterEqualWithCast", "x:T y:T", "z:T", "T:type{bf16,f16,f32}"},
};

constexpr Row kOneDnn[] = {
    {"QuantizedConcatV2", "values:N*T axis:Tidx input_mins:N*f32 input_maxes:N*f32",
     "output:T output_min:f32 output_max:f32", "N:int>=2 T:type Tidx:type{s32,s64}=s32"},
    {"QuantizedMatMulWithBiasAndRequantize", kQuantizedProductIn, "out:Toutput min_out:f32 max_out:f32",
     "Toutput:type=u8 %q"},
    {"QuantizedMatMulWithBiasAndDequantize", kQuantizedProductIn, "out:Toutput", "Toutput:type{f32} %q"},
};

tf::DataType TypeOf(std::string_view word) {
  const std::optional<DataType> type = DataTypeFromName(word);
  CHECK(type.has_value()) << word;
  return graphdef::ToTfType(*type);
}

int64_t IntOf(std::string_view word) {
  int64_t number = 0;
  CHECK(absl::SimpleAtoi(absl::string_view(word.data(), word.size()), &number)) << word;
  return number;
}

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), separator, absl::SkipEmpty());
}

template <typename Args>
void AddPorts(std::string_view ports, Args add) {
  for (const std::string& port : SplitAt(ports, ' ')) {
    tf::OpDef::ArgDef& arg = *add();
    const size_t colon = port.find(':');
    arg.set_name(port.substr(0, colon));
    std::string type = port.substr(colon + 1);
    if (type.ends_with("[]")) {
      arg.set_type_list_attr(type.substr(0, type.size() - 2));
      continue;
    }
    if (const size_t star = type.find('*'); star != std::string::npos) {
      arg.set_number_attr(type.substr(0, star));
      type = type.substr(star + 1);
    }
    if (const std::optional<DataType> fixed = DataTypeFromName(type)) {
      arg.set_type(graphdef::ToTfType(*fixed));
    } else {
      arg.set_type_attr(type);
    }
  }
}

tf::AttrValue ValueOf(std::string_view kind, std::string_view text) {
  tf::AttrValue value;
  if (kind == "type") value.set_type(TypeOf(text));
  if (kind == "int") value.set_i(IntOf(text));
  if (kind == "float") value.set_f(std::stof(std::string(text)));
  if (kind == "bool") value.set_b(text == "true");
  if (kind == "string") value.set_s(std::string(text));
  if (kind == "ints" || kind == "strings") value.mutable_list();
  for (const std::string& item : SplitAt(kind == "ints" ? text : "", ',')) value.mutable_list()->add_i(IntOf(item));
  return value;
}

void AddAttribute(std::string_view text, tf::OpDef& op) {
  tf::OpDef::AttrDef& attr = *op.add_attr();
  const size_t colon = text.find(':');
  attr.set_name(std::string(text.substr(0, colon)));
  text.remove_prefix(colon + 1);
  const std::string kind(text.substr(0, text.find_first_of("{>=")));
  text.remove_prefix(kind.size());
  attr.set_type(kind.ends_with('s') && kind != "s" ? "list(" + kind.substr(0, kind.size() - 1) + ")" : kind);
  if (text.starts_with('{')) {
    for (const std::string& item : SplitAt(text.substr(1, text.find('}') - 1), ',')) {
      tf::AttrValue::ListValue& list = *attr.mutable_allowed_values()->mutable_list();
      if (kind == "string") list.add_s(item);
      if (kind == "type") list.add_type(TypeOf(item));
    }
    text.remove_prefix(text.find('}') + 1);
  }
  if (text.starts_with(">=")) {
    const std::string_view least = text.substr(2, text.find('=', 2) - 2);
    attr.set_has_minimum(true);
    attr.set_minimum(IntOf(least));
    text.remove_prefix(2 + least.size());
  }
  if (text.starts_with('=')) *attr.mutable_default_value() = ValueOf(kind, text.substr(1));
}

void AddAttributes(std::string_view attributes, tf::OpDef& op) {
  for (const std::string& text : SplitAt(attributes, ' ')) {
    if (!text.starts_with('%')) {
      AddAttribute(text, op);
      continue;
    }
    for (const std::string_view common : kCommon) {
      if (common.starts_with(text + " ")) AddAttributes(common.substr(text.size()), op);
    }
  }
}

}  // namespace

tf::OpList InternalOps(InternalOpsOf whose) {
  tf::OpList list;
  const std::span<const Row> lists[] = {kTensorFlow, kItex, kOneDnn};  // by InternalOpsOf
  for (const Row& row : lists[static_cast<int>(whose)]) {
    tf::OpDef& op = *list.add_op();
    op.set_name(std::string(row.name));
    AddPorts(row.inputs, [&] { return op.add_input_arg(); });
    AddPorts(row.outputs, [&] { return op.add_output_arg(); });
    AddAttributes(row.attributes, op);
  }
  return list;
}

}  // namespace halftone::testing
