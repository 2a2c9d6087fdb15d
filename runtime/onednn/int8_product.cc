#include "runtime/onednn/int8_product.h"

#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "ir/pair_sums.h"
#include "ir/weight_channels.h"
#include "runtime/onednn/target.h"

namespace halftone::onednn {
namespace {

using dnnl::algorithm;

// f(c y) = c f(y) for c > 0.
bool IsHomogeneous(Activation activation) {
  return activation == Activation::kNone || activation == Activation::kRelu || activation == Activation::kLeakyRelu;
}

// An activation that the bounds of dst's type are already is none.
Activation NeededActivation(const Int8Product& product) {
  const Epilogue& epilogue = product.epilogue;
  const bool last = !epilogue.activation_first || !product.residual.has_value();
  if (!product.dst.bytes || !last) return epilogue.activation;
  const host::Int8Finish finish = FinishOf(product.dst, epilogue);
  const host::Int8Finish bare = FinishOf(product.dst, Epilogue());
  const std::optional<host::IntegerBounds> bounds = host::BoundsOf(finish), whole = host::BoundsOf(bare);
  const bool same = bounds.has_value() && bounds->low == whole->low && bounds->high == whole->high;
  return same ? Activation::kNone : epilogue.activation;
}

}  // namespace

Int8Attributes AttributesOf(const Int8Product& product) {
  Int8Attributes result;
  Epilogue epilogue = product.epilogue;
  epilogue.activation = NeededActivation(product);
  const bool homogeneous = IsHomogeneous(epilogue.activation);
  const bool residual = product.residual.has_value(), binary = epilogue.residual == ResidualMode::kBinary;
  const bool bytes = residual && product.residual->bytes;
  const bool folds = product.dst.bytes && homogeneous && (!residual || bytes);
  const float last_unit = folds ? product.dst.scale : 1.0f;
  result.unit = last_unit;

  dnnl::post_ops post_ops;
  const bool first = residual && epilogue.activation_first;
  if (residual && binary && bytes) {
    // In units of the residual, which is added as it is.
    result.unit = first && !homogeneous ? 1.0f : product.residual->scale;
    if (first) AddActivation(epilogue, post_ops);
    if (result.unit != product.residual->scale)
      post_ops.append_eltwise(algorithm::eltwise_linear, 1 / product.residual->scale, 0);
    result.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
    post_ops.append_binary(algorithm::binary_add, epilogue.residual_desc);
    const float factor = product.residual->scale / last_unit;
    post_ops.append_eltwise(algorithm::eltwise_linear, factor,
                            -factor * static_cast<float>(product.residual->zero_point));
  } else {
    if (first) AddActivation(epilogue, post_ops);
    if (residual && binary) {
      result.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
      post_ops.append_binary(algorithm::binary_add, epilogue.residual_desc);
    } else if (residual) {
      post_ops.append_sum(product.residual->scale / last_unit, product.residual->zero_point,
                          *DnnlType(product.residual->type));
    }
  }
  if (!first) AddActivation(epilogue, post_ops);

  result.attributes = UserScratch();
  result.attributes.set_post_ops(post_ops);
  result.attributes.set_scales_mask(DNNL_ARG_WEIGHTS, product.weights_mask);
  result.dst_scale = product.dst.bytes && !folds;
  if (result.dst_scale) result.attributes.set_scales_mask(DNNL_ARG_DST, 0);
  if (product.src.zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (product.weights_zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  if (product.dst.zero_point != 0) result.attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
  return result;
}

absl::Status AddScales(const Int8Product& product, const Int8Attributes& attributes, const std::vector<float>& scales,
                       PrimitiveStep& step) {
  std::vector<float> factors = scales;
  for (float& factor : factors) factor *= product.src.scale / attributes.unit;
  const auto count = static_cast<int64_t>(factors.size());
  HALFTONE_ASSIGN_OR_RETURN(FixedMemory fixed,
                            FixedNumbers(std::move(factors), PlainDesc(Dims{count}, DataType::kFloat32)));
  step.AddFixed(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, std::move(fixed));
  if (attributes.dst_scale) {
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory scale,
                              FixedNumbers({product.dst.scale}, PlainDesc(Dims{1}, DataType::kFloat32)));
    step.AddFixed(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, std::move(scale));
  }
  HALFTONE_RETURN_IF_ERROR(AddZeroPoint(DNNL_ARG_SRC, product.src.zero_point, step));
  HALFTONE_RETURN_IF_ERROR(AddZeroPoint(DNNL_ARG_WEIGHTS, product.weights_zero_point, step));
  return AddZeroPoint(DNNL_ARG_DST, product.dst.zero_point, step);
}

absl::Status CannotSaturate(const Element& src, const Node& node, const Tensor& weights) {
  if (HasNativeInt8()) return absl::OkStatus();
  if (src.type == DataType::kInt8) return absl::UnimplementedError("s8 halves the weights where there is no VNNI");
  const std::span<const int8_t> numbers = weights.data<int8_t>();
  const std::optional<WeightChannels> channels = WeightChannelsOf(node, weights.dims());
  const PairSums sums = channels.has_value() ? PairSumsOf(numbers, *channels) : PairSumsOfAny(numbers);
  if (sums.fit()) return absl::OkStatus();
  return absl::UnimplementedError("pairs of products may saturate sums of 16 bits where there is no VNNI");
}

}  // namespace halftone::onednn
