#include "runtime/onednn/fixed_product.h"

#include "base/status.h"

namespace halftone::onednn {

absl::StatusOr<FixedProduct> FixedProduct::Make(const Form& form, const Tensor* weights, const Tensor* bias,
                                                const FixedProduct* same) {
  FixedProduct product;
  const Desc x = PlainDesc(Dims{form.m, form.k}, form.type);
  const Desc y(Dims{form.m, form.n}, dnnl::memory::data_type::f32, Dims{form.row_stride, 1}, /*allow_empty=*/true);
  const Desc w = same == nullptr ? AnyDesc(Dims{form.k, form.n}, form.type) : same->weights_->memory.get_desc();
  dnnl::primitive_attr attributes;
  if (form.add) {
    dnnl::post_ops post_ops;
    post_ops.append_sum(1.0f);
    attributes.set_post_ops(post_ops);
  }
  const bool has_bias = bias != nullptr || (same != nullptr && same->bias_ != nullptr);
  const Desc b = PlainDesc(Dims{1, form.n}, DataType::kFloat32);
  using Primitive = dnnl::matmul::primitive_desc;
  const Primitive primitive = has_bias ? Primitive(CpuEngine(), x, w, b, y, attributes, /*allow_empty=*/true)
                                       : Primitive(CpuEngine(), x, w, y, attributes, /*allow_empty=*/true);
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matrix product");
  product.name_ = ImplementationName(primitive);
  if (weights != nullptr) {
    const Desc from(Dims{form.k, form.n}, *DnnlType(form.type), Dims{1, form.k}, /*allow_empty=*/true);
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed, Pack(*weights, from, primitive.weights_desc()));
    product.weights_ = std::make_shared<FixedMemory>(std::move(packed));
  } else {
    product.weights_ = same->weights_;
    product.bias_ = same->bias_;
  }
  if (bias != nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed, Pack(*bias, b, b));
    product.bias_ = std::make_shared<FixedMemory>(std::move(packed));
  }
  HALFTONE_RETURN_IF_ERROR(Guard([&] {
    product.primitive_ = dnnl::matmul(primitive);
    product.x_ = dnnl::memory(x, CpuEngine(), nullptr);
    product.y_ = dnnl::memory(y, CpuEngine(), nullptr);
    product.stream_ = dnnl::stream(CpuEngine());
    product.arguments_ = {
        {DNNL_ARG_SRC, product.x_}, {DNNL_ARG_WEIGHTS, product.weights_->memory}, {DNNL_ARG_DST, product.y_}};
    if (product.bias_ != nullptr) product.arguments_[DNNL_ARG_BIAS] = product.bias_->memory;
  }));
  return product;
}

StepFacts FixedProduct::facts() const {
  StepFacts facts;
  for (const FixedMemory* fixed : {weights_.get(), bias_.get()}) {
    if (fixed != nullptr) facts.fixed.emplace_back(fixed->pages->data(), fixed->pages->size());
  }
  return facts;
}

void FixedProduct::Run(const void* x, float* y) const {
  x_.set_data_handle(const_cast<void*>(x));  // a product does not write its source
  y_.set_data_handle(y);
  primitive_.execute(stream_, arguments_);
}

}  // namespace halftone::onednn
