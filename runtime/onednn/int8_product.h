// What conv, matmul and gemm of bytes share: how real numbers are made of sums of bytes, inside oneDNN's primitive.
// Private to runtime/onednn.
#ifndef HALFTONE_RUNTIME_ONEDNN_INT8_PRODUCT_H_
#define HALFTONE_RUNTIME_ONEDNN_INT8_PRODUCT_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/onednn/problem.h"
#include "runtime/onednn/quantized.h"

namespace halftone::onednn {

// sums of (src - zero point) * weights, times their scales, plus bias; then as the Epilogue says, its residual read as
// `residual` is; then as dst is.
struct Int8Product {
  Element src, dst;
  std::optional<Element> residual;
  Epilogue epilogue;               // of it: residual mode and descriptor, activation, activation_first
  int weights_mask = 0;            // over its dimensions: 0: one scale
  int32_t weights_zero_point = 0;  // of weights that are no constant
};

// The attributes of the primitive, and what its arguments are.
struct Int8Attributes {
  dnnl::primitive_attr attributes;
  // Sums times scales, and the bias, are divided by it: the scale of dst or of the residual, where that saves a
  // multiplication of each number.
  float unit = 1;
  bool dst_scale = false;     // dst's is an argument
  int residual_argument = 0;  // of ResidualMode::kBinary
};
Int8Attributes AttributesOf(const Int8Product& product);

// Adds the arguments of scales and zero points. `scales`: of the weights, one or one for each channel.
absl::Status AddScales(const Int8Product& product, const Int8Attributes& attributes, const std::vector<float>& scales,
                       PrimitiveStep& step);

// On a CPU with VNNI (HasNativeInt8): OK. On others: whether no pair of products of `node` can saturate, from the weights (ir/pair_sums.h).
// s8 there is refused: oneDNN halves its weights.
absl::Status CannotSaturate(const Element& src, const Node& node, const Tensor& weights);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_ONEDNN_INT8_PRODUCT_H_
