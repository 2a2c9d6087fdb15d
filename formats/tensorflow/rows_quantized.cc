// SPDX-License-Identifier: Apache-2.0
// TensorFlow's ops on quantized tensors: each output of 8 bits has two more, the ends of its range. They are read as
// what they compute on real numbers, between dequantize_linear and quantize_linear (quantized_chain.h); graphs know no
// row of them, so nothing is written along one.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kQuantizeTypes[] = {{"T"}};
constexpr TypeRow kRequantizeTypes[] = {{"Tinput"}, {"out_type"}};
constexpr TypeRow kRangeTypes[] = {{"Tinput"}};
constexpr TypeRow kChannelRangeTypes[] = {{"T", DataType::kInt32}};
constexpr TypeRow kRequantizeChannelTypes[] = {{"T", DataType::kInt32}, {"out_type", DataType::kUInt8}};
constexpr TypeRow kTo32[] = {{"Tinput"}, {"Tfilter"}, {"out_type", DataType::kInt32}};
constexpr TypeRow kToU8[] = {{"Tinput"}, {"Tfilter"}, {"out_type", DataType::kUInt8}};
constexpr TypeRow kToS8[] = {{"Tinput"}, {"Tfilter"}, {"out_type", DataType::kInt8}};
constexpr TypeRow kBiasToU8[] = {{"Tinput"}, {"Tfilter"}, {"Tbias"}, {"out_type", DataType::kUInt8}};
constexpr TypeRow kBiasToS8[] = {{"Tinput"}, {"Tfilter"}, {"Tbias"}, {"out_type", DataType::kInt8}};
constexpr TypeRow kSumToU8[] = {{"Tinput"}, {"Tfilter"}, {"Tbias"}, {"Tsummand"}, {"out_type", DataType::kUInt8}};
constexpr TypeRow kMatMulTo32[] = {{"T1"}, {"T2"}, {"Toutput", DataType::kInt32}};
constexpr TypeRow kMatMulBiasTo32[] = {{"T1"}, {"T2"}, {"Tbias"}, {"Toutput", DataType::kInt32}};
constexpr TypeRow kMatMulBiasToU8[] = {{"T1"}, {"T2"}, {"Tbias"}, {"Toutput", DataType::kUInt8}};
constexpr TypeRow kMatMulBiasToReal[] = {{"T1"}, {"T2"}, {"Tbias"}, {"Toutput"}};
constexpr TypeRow kBinaryTo32[] = {{"T1"}, {"T2"}, {"Toutput", DataType::kInt32}};
constexpr TypeRow kBiasAddTypes[] = {{"T1"}, {"T2"}, {"out_type"}};
constexpr TypeRow kReluTypes[] = {{"Tinput"}, {"out_type", DataType::kUInt8}};
constexpr TypeRow kReshapeTypes[] = {{"T"}, {"Tshape", DataType::kInt32}};

constexpr AttrRow kQuantizeAttrs[] = {{.name = "mode", .form = kByRule},
                                      {.name = "round_mode", .form = kByRule},
                                      {.name = "narrow_range", .form = kByRule},
                                      {.name = "axis", .form = kByRule},
                                      {.name = "ensure_minimum_range", .form = kByRule}};
constexpr AttrRow kClipAttrs[] = {{.name = "clip_value_max", .form = kByRule, .required = true}};
constexpr AttrRow kLastChannel{.form = kImpliedString, .canonical = "layout", .text = "NHWC"};
constexpr AttrRow kStrides{.name = "strides", .form = kSpatial, .canonical = "strides", .required = true};
constexpr AttrRow kDilations{.name = "dilations", .form = kSpatial, .canonical = "dilations"};
constexpr AttrRow kPaddingRow{.name = "padding", .form = kPadding, .canonical = "auto_pad", .required = true};
constexpr AttrRow kConvAttrs[] = {kLastChannel, kStrides, kDilations, kPaddingRow};
constexpr AttrRow kPadConvAttrs[] = {
    kLastChannel, kStrides, kDilations, kPaddingRow, {.name = "padding_list", .form = kByRule}};
constexpr AttrRow kPoolAttrs[] = {
    kLastChannel, {.name = "ksize", .form = kSpatial, .canonical = "kernel", .required = true}, kStrides, kPaddingRow};
constexpr AttrRow kTransposeA{.name = "transpose_a", .form = kBool, .canonical = "transpose_a"};
constexpr AttrRow kTransposeB{.name = "transpose_b", .form = kBool, .canonical = "transpose_b"};
constexpr AttrRow kMatMulAttrs[] = {kTransposeA, kTransposeB};
constexpr AttrRow kMatMulModeAttrs[] = {kTransposeA, kTransposeB, {.name = "input_quant_mode", .form = kByRule}};
constexpr AttrRow kResizeAttrs[] = {{.name = "align_corners", .form = kByRule},
                                    {.name = "half_pixel_centers", .form = kByRule}};

constexpr std::string_view kConvIn = "Tinput,Tfilter,f32,f32,f32,f32";
constexpr std::string_view kConvInRange = "Tinput,Tfilter,f32,f32,f32,f32,f32,f32";
constexpr std::string_view kConvBias = "Tinput,Tfilter,f32,f32,f32,f32,f32";
constexpr std::string_view kConvBiasRange = "Tinput,Tfilter,Tbias,f32,f32,f32,f32,f32,f32";
constexpr std::string_view kConvSumRange = "Tinput,Tfilter,Tbias,f32,f32,f32,f32,f32,f32,Tsummand,f32,f32";
constexpr std::string_view kOut = "out_type,f32,f32";
constexpr std::string_view kMatMulOut = "Toutput,f32,f32";
constexpr std::string_view kBinaryIn = "T1,T2,f32,f32,f32,f32";
constexpr std::string_view kMatMulBiasRange = "T1,T2,Tbias,f32,f32,f32,f32,f32,f32";

constexpr OpRow Conv(std::string_view op, std::string_view inputs, std::span<const TypeRow> types,
                     std::span<const AttrRow> attrs) {
  return {op, kQuantizeLinear, inputs, kOut, types, attrs, "", 2, ReadQuantizedContraction};
}
constexpr OpRow Product(std::string_view op, std::string_view inputs, std::span<const TypeRow> types,
                        std::span<const AttrRow> attrs) {
  return {op, kQuantizeLinear, inputs, kMatMulOut, types, attrs, "", 0, ReadQuantizedContraction};
}

// name, inputs, types, attributes
constexpr OpRow kRows[] = {
    {"QuantizeV2", kQuantizeLinear, "f32,f32,f32", "T,f32,f32", kQuantizeTypes, kQuantizeAttrs, "", 0, ReadQuantizeV2},
    {"Requantize", kQuantizeLinear, "Tinput,f32,f32,f32,f32", kOut, kRequantizeTypes, kNone, "", 0, ReadRequantize},
    {"RequantizationRange", kQuantizeLinear, "Tinput,f32,f32", "f32,f32", kRangeTypes, kNone, "", 0,
     ReadRequantizationRange},
    {"RequantizationRangePerChannel", kQuantizeLinear, "T,f32,f32", "f32,f32", kChannelRangeTypes, kClipAttrs, "", 0,
     ReadRequantizationRange},
    {"RequantizePerChannel", kQuantizeLinear, "T,f32,f32,f32,f32", kOut, kRequantizeChannelTypes, kNone, "", 0,
     ReadRequantize},
    Conv("QuantizedConv2D", kConvIn, kTo32, kConvAttrs),
    Conv("QuantizedConv2DPerChannel", kConvIn, kTo32, kConvAttrs),
    Conv("QuantizedConv2DAndRelu", kConvIn, kTo32, kPadConvAttrs),
    Conv("QuantizedConv2DAndRequantize", kConvInRange, kToS8, kPadConvAttrs),
    Conv("QuantizedConv2DAndReluAndRequantize", kConvInRange, kToU8, kPadConvAttrs),
    Conv("QuantizedConv2DWithBias", kConvBias, kTo32, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasAndRelu", kConvBias, kTo32, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasAndRequantize", kConvBiasRange, kBiasToS8, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasAndReluAndRequantize", kConvBiasRange, kBiasToU8, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasSumAndRelu", "Tinput,Tfilter,f32,f32,f32,f32,f32,f32", kTo32, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasSumAndReluAndRequantize", kConvSumRange, kSumToU8, kPadConvAttrs),
    Conv("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", kConvSumRange, kSumToU8, kPadConvAttrs),
    Conv("QuantizedDepthwiseConv2D", kConvIn, kTo32, kConvAttrs),
    Conv("QuantizedDepthwiseConv2DWithBias", kConvBias, kTo32, kConvAttrs),
    Conv("QuantizedDepthwiseConv2DWithBiasAndRelu", kConvBias, kTo32, kConvAttrs),
    Conv("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", kConvBiasRange, kBiasToU8, kConvAttrs),
    Product("QuantizedMatMul", "T1,T2,f32,f32,f32,f32", kMatMulTo32, kMatMulAttrs),
    Product("QuantizedMatMulWithBias", "T1,T2,Tbias,f32,f32,f32,f32", kMatMulBiasTo32, kMatMulModeAttrs),
    Product("QuantizedMatMulWithBiasAndRelu", "T1,T2,f32,f32,f32,f32,f32", kMatMulTo32, kMatMulModeAttrs),
    Product("QuantizedMatMulWithBiasAndReluAndRequantize", kMatMulBiasRange, kMatMulBiasToU8, kMatMulModeAttrs),
    Product("QuantizedMatMulWithBiasAndRequantize", kMatMulBiasRange, kMatMulBiasToU8, kMatMulModeAttrs),
    {"QuantizedMatMulWithBiasAndDequantize", kQuantizeLinear, kMatMulBiasRange, "Toutput", kMatMulBiasToReal,
     kMatMulModeAttrs, "", 0, ReadQuantizedContraction},
    {"QuantizedBiasAdd", kQuantizeLinear, kBinaryIn, kOut, kBiasAddTypes, kNone, "", 0, ReadQuantizedBinary},
    {"QuantizedAdd", kQuantizeLinear, kBinaryIn, kMatMulOut, kBinaryTo32, kNone, "", 0, ReadQuantizedBinary},
    {"QuantizedMul", kQuantizeLinear, kBinaryIn, kMatMulOut, kBinaryTo32, kNone, "", 0, ReadQuantizedBinary},
    {"QuantizedRelu", kQuantizeLinear, "Tinput,f32,f32", kOut, kReluTypes, kNone, "", 0, ReadQuantizedUnary},
    {"QuantizedRelu6", kQuantizeLinear, "Tinput,f32,f32", kOut, kReluTypes, kNone, "", 0, ReadQuantizedUnary},
    {"QuantizedMaxPool", kQuantizeLinear, "T,f32,f32", "T,f32,f32", kQuantizeTypes, kPoolAttrs, "", 2,
     ReadQuantizedUnary},
    {"QuantizedAvgPool", kQuantizeLinear, "T,f32,f32", "T,f32,f32", kQuantizeTypes, kPoolAttrs, "", 2,
     ReadQuantizedUnary},
    {"QuantizedReshape", kQuantizeLinear, "T,Tshape,f32,f32", "T,f32,f32", kReshapeTypes, kNone, "", 0,
     ReadQuantizedUnary},
    {"QuantizedResizeBilinear", kQuantizeLinear, "T,s32,f32,f32", "T,f32,f32", kQuantizeTypes, kResizeAttrs, "", 2,
     ReadQuantizedResize},
    {"QuantizedConcatV2", kQuantizeLinear, "N*T,Tidx,N*f32,N*f32", "T,f32,f32", kTidx, kCountedN, "", 0,
     ReadQuantizedConcat},
    {"QuantizedConcat", kQuantizeLinear, "s32,N*T,N*f32,N*f32", "T,f32,f32", kQuantizeTypes, kCountedN, "", 0,
     ReadQuantizedConcat},
};

}  // namespace

std::span<const OpRow> QuantizedRows() { return kRows; }

}  // namespace halftone::graphdef
