// SPDX-License-Identifier: Apache-2.0
// Rules of rows whose canonical op expresses by attributes, inputs or nodes before it what TensorFlow expresses by the
// op's name.

#include <algorithm>
#include <cstdint>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

absl::Status WrongKind(std::string_view name, std::string_view kind) {
  return absl::InvalidArgumentError(Concat("attribute '", name, "' must be of type ", kind));
}

}  // namespace

absl::StatusOr<int64_t> RuleInput::Int(std::string_view name, int64_t otherwise) const {
  const tf::AttrValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (!value->has_i()) return WrongKind(name, "int");
  return value->i();
}

absl::StatusOr<float> RuleInput::Float(std::string_view name, float otherwise) const {
  const tf::AttrValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (!value->has_f()) return WrongKind(name, "float");
  return value->f();
}

absl::StatusOr<bool> RuleInput::Bool(std::string_view name, bool otherwise) const {
  const tf::AttrValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (!value->has_b()) return WrongKind(name, "bool");
  return value->b();
}

absl::StatusOr<bool> ReadConvWeights(const RuleInput& input, ConvertedNode& result) {
  const bool depthwise = input.row.tf_op.find("DepthwiseConv2dNative") != std::string_view::npos;
  result.node.attributes.Set("weights_layout", std::string(depthwise ? "HWCM" : "HWIO"));
  const Shape weights = input.context.input_shape(1);
  if (depthwise && weights.has_rank() && weights.rank() == 4 && weights.dim(2).value > 0) {
    result.node.attributes.Set("group", weights.dim(2).value);
  }
  return true;
}

absl::StatusOr<bool> ReadPlainBiasAdd(const RuleInput&, ConvertedNode& result) {
  result.node.attributes.Set("layout", std::string("NHWC"));
  return true;
}

// A mirrored pad before the convolution, which has no name of its own.
absl::StatusOr<bool> ReadFusedPadConv(const RuleInput& input, ConvertedNode& result) {
  const tf::AttrValue& mode = *input.Find("mode");
  if (mode.s() != "REFLECT" && mode.s() != "SYMMETRIC") {
    return absl::InvalidArgumentError(Concat("attribute 'mode' is '", mode.s(), "'; it must be REFLECT or SYMMETRIC"));
  }
  Attributes attributes;
  attributes.Set("mode", std::string(mode.s() == "REFLECT" ? "reflect" : "symmetric"));
  result.node.attributes.Set("weights_layout", std::string("HWIO"));
  result.inputs = {result.AddHelper(OpKind::kPad, {0, 1}, result.outputs[0].type, std::move(attributes)), 2};
  return true;
}

// Window and steps are inputs: canonical where they are constant and leave batch and channel alone.
absl::StatusOr<bool> ReadMaxPoolV2(const RuleInput& input, ConvertedNode& result) {
  const bool last = result.node.attributes.String("layout", "NHWC") == "NHWC";
  for (const auto& [index, name] : {std::pair(1, "kernel"), std::pair(2, "strides")}) {
    const auto sizes = input.context.constant_ints(index);
    if (!sizes.has_value() || sizes->size() != 4 || (*sizes)[0] != 1 || (*sizes)[last ? 3 : 1] != 1) return false;
    if (std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 1 || size > INT32_MAX; }))
      return false;
    const int first = last ? 1 : 2;
    result.node.attributes.Set(name, std::vector<int64_t>{(*sizes)[first], (*sizes)[first + 1]});
  }
  return true;
}

// Coordinates, as TensorFlow computes them:
//   align_corners        y (in - 1) / (out - 1); the nearest one is rounded half up
//   half_pixel_centers   (y + 0.5) in / out - 0.5; the nearest one is the floor of it without "- 0.5", that is half up
//   neither (legacy)     y in / out; the nearest one is the floor
// Cubic: Keys with a = -0.75, or a = -0.5 with the weights outside of the image left out for half_pixel_centers.
// (TensorFlow rounds the fraction to 1/1024 there.)
absl::StatusOr<Attributes> ResizeAttributes(const RuleInput& input) {
  HALFTONE_ASSIGN_OR_RETURN(const bool corners, input.Bool("align_corners", false));
  HALFTONE_ASSIGN_OR_RETURN(const bool centers, input.Bool("half_pixel_centers", false));
  if (corners && centers) {
    return absl::InvalidArgumentError("align_corners and half_pixel_centers exclude each other");
  }
  Attributes attributes;
  const bool nearest = input.row.tf_op == "ResizeNearestNeighbor";
  const bool cubic = input.row.tf_op == "ResizeBicubic";
  attributes.Set("axes", std::vector<int64_t>{1, 2});
  attributes.Set("mode", std::string(nearest ? "nearest" : cubic ? "cubic" : "linear"));
  attributes.Set("coordinate_transformation_mode", std::string(corners   ? "align_corners"
                                                               : centers ? "half_pixel"
                                                                         : "asymmetric"));
  if (nearest) attributes.Set("nearest_mode", std::string(corners || centers ? "round_prefer_ceil" : "floor"));
  if (cubic) attributes.Set("cubic_coeff_a", centers ? -0.5f : -0.75f);
  if (cubic && centers) attributes.Set("exclude_outside", int64_t{1});
  return attributes;
}

absl::StatusOr<bool> ReadResize(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const Attributes attributes, ResizeAttributes(input));
  for (const auto& [name, value] : attributes) result.node.attributes.Set(name, value);
  if (input.row.tf_op != "ResizeNearestNeighbor" && result.input_types[0] != DataType::kFloat32) {
    result.inputs[0] = result.AddHelper(OpKind::kCast, {0}, DataType::kFloat32);
  }
  return true;
}

// TensorFlow's alpha is that of one element, the canonical one is divided by the size.
absl::StatusOr<bool> ReadLrn(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t radius, input.Int("depth_radius", 5));
  HALFTONE_ASSIGN_OR_RETURN(const float bias, input.Float("bias", 1));
  HALFTONE_ASSIGN_OR_RETURN(const float alpha, input.Float("alpha", 1));
  HALFTONE_ASSIGN_OR_RETURN(const float beta, input.Float("beta", 0.5f));
  if (radius < 0 || radius > INT32_MAX / 4) {
    return absl::InvalidArgumentError(Concat("attribute 'depth_radius' is ", radius, "; it must not be negative"));
  }
  Attributes& attributes = result.node.attributes;
  attributes.Set("size", 2 * radius + 1);
  attributes.Set("alpha", alpha * static_cast<float>(2 * radius + 1));
  attributes.Set("beta", beta);
  attributes.Set("bias", bias);
  return true;
}

absl::StatusOr<bool> ReadFakeQuantArgs(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const float low, input.Float("min", -6));
  HALFTONE_ASSIGN_OR_RETURN(const float high, input.Float("max", 6));
  result.inputs.push_back(result.AddConstant(Tensor::Scalar(low)));
  result.inputs.push_back(result.AddConstant(Tensor::Scalar(high)));
  return true;
}

absl::StatusOr<bool> ReadRandom(const RuleInput& input, ConvertedNode& result) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t seed, input.Int("seed", 0));
  HALFTONE_ASSIGN_OR_RETURN(const int64_t seed2, input.Int("seed2", 0));
  const auto mixed = static_cast<uint64_t>(seed) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(seed2);
  result.node.attributes.Set("seed", static_cast<int64_t>(mixed >> 33));
  return true;
}

// Bounds of a shape of their own are another op.
absl::StatusOr<bool> ReadClip(const RuleInput& input, ConvertedNode&) {
  const auto may_be_scalar = [&](int i) {
    const Shape shape = input.context.input_shape(i);
    return !shape.has_rank() || shape.rank() == 0;
  };
  return may_be_scalar(1) && may_be_scalar(2);
}

absl::StatusOr<bool> ReadIntegerDivision(const RuleInput&, ConvertedNode& result) {
  return IsInteger(result.outputs[0].type);
}

// Where shapes do not fit the result would be one "false".
absl::StatusOr<bool> ReadEqual(const RuleInput& input, ConvertedNode&) {
  return input.Bool("incompatible_shape_error", true);
}

}  // namespace halftone::graphdef
