// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/prepacked_matmul.h"

#include "base/status.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/quantized.h"
#include "runtime/cpu/onednn/skinny_matmul_step.h"

namespace halftone::onednn {
namespace {

// With more, oneDNN is as fast where weights stay in a cache from step to step.
constexpr int64_t kMostSkinnyRows = 8;

DataType WeightsType(DataType x) { return x == DataType::kUInt8 ? DataType::kInt8 : x; }

}  // namespace

using MatMulDesc = dnnl::matmul::primitive_desc;

absl::StatusOr<MatMulDesc> PrepackedMatMul::Choose(const Desc& weights, bool has_bias) {
  const Desc x = PlainDesc(Dims{form_.m, form_.k}, form_.type);
  const Desc y(Dims{form_.m, form_.n}, dnnl::memory::data_type::f32, Dims{form_.row_stride, 1}, /*allow_empty=*/true);
  dnnl::primitive_attr attributes = UserScratch();
  if (!form_.scales.empty()) attributes.set_scales_mask(DNNL_ARG_WEIGHTS, 1 << 1);
  if (form_.add) {
    dnnl::post_ops post_ops;
    post_ops.append_sum(1.0f);
    attributes.set_post_ops(post_ops);
  }
  const Desc bias = PlainDesc(Dims{1, form_.n}, DataType::kFloat32);
  MatMulDesc chosen = has_bias ? MatMulDesc(CpuEngine(), x, weights, bias, y, attributes, /*allow_empty=*/true)
                               : MatMulDesc(CpuEngine(), x, weights, y, attributes, /*allow_empty=*/true);
  if (!chosen) return absl::UnimplementedError("oneDNN has no such matmul");
  HALFTONE_RETURN_IF_ERROR(Guard([&] { chosen = WithPackedWeights(std::move(chosen)); }));
  return chosen;
}

// Few rows of large weights: the loop that reads them in the order of memory, where they lie as it wants them.
void PrepackedMatMul::ChooseSkinnyMatMul() {
  const simd::SkinnyMatMulFunction function = simd::SkinnyMatMulFor(form_.type, DataType::kFloat32);
  simd::SkinnyMatMulTask task{.x_stride = form_.k, .rows = form_.m, .depth = form_.k, .columns = form_.n};
  const bool dense = form_.m == 1 || form_.row_stride == form_.n;
  const bool int8 = form_.type == DataType::kUInt8;  // with scales, which oneDNN applies
  if (function == nullptr || int8 || form_.m > kMostSkinnyRows || !dense) return;
  if (!IsWorthIt(task, form_.type).ok()) return;
  if (const Desc panels = PanelsOf(form_.type, task); IsEmpty(panels) || panels != weights_->memory.get_desc()) return;
  task.weights = weights_->pages->data();
  if (bias_ != nullptr) task.bias = reinterpret_cast<const float*>(bias_->pages->data());
  task.residual_stride = form_.n;
  task_ = task;
  skinny_ = function;
  implementation_ = "skinny matmul";
}

absl::Status PrepackedMatMul::Finish(const MatMulDesc& chosen) {
  implementation_ = ImplementationOf(chosen);
  scratch_bytes_ = chosen.scratchpad_desc().get_size();
  ChooseSkinnyMatMul();
  return Guard([&] {
    primitive_ = dnnl::matmul(chosen);
    stream_ = dnnl::stream(CpuEngine());
    x_ = dnnl::memory(chosen.src_desc(), CpuEngine(), nullptr);
    y_ = dnnl::memory(chosen.dst_desc(), CpuEngine(), nullptr);
    scratch_ = dnnl::memory(chosen.scratchpad_desc(), CpuEngine(), nullptr);
    arguments_ = {{DNNL_ARG_SRC, x_.get()},
                  {DNNL_ARG_WEIGHTS, weights_->memory.get()},
                  {DNNL_ARG_DST, y_.get()},
                  {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
    if (bias_ != nullptr) arguments_.push_back({DNNL_ARG_BIAS, bias_->memory.get()});
    if (scales_ != nullptr) arguments_.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales_->memory.get()});
  });
}

absl::StatusOr<PrepackedMatMul> PrepackedMatMul::Make(const Form& form, const Tensor& weights, int64_t first,
                                                      const Tensor* bias, const PrepackedMatMul* like) {
  PrepackedMatMul matmul;
  matmul.form_ = form;
  absl::StatusOr<MatMulDesc> shared = absl::NotFoundError("nothing to share");
  if (like != nullptr) shared = matmul.Choose(like->weights_->memory.get_desc(), bias != nullptr);
  if (shared.ok() && !IsSlow(*shared)) {
    matmul.weights_ = like->weights_;
    matmul.bias_ = like->bias_;
    matmul.scales_ = like->scales_;
    HALFTONE_RETURN_IF_ERROR(matmul.Finish(*shared));
    return matmul;
  }
  HALFTONE_ASSIGN_OR_RETURN(const MatMulDesc chosen,
                            matmul.Choose(AnyDesc(Dims{form.k, form.n}, WeightsType(form.type)), bias != nullptr));
  Tensor known = weights;
  if (!DnnlType(known.type()).has_value()) {
    HALFTONE_ASSIGN_OR_RETURN(known, weights.ConvertTo(form.type));
  }
  const int64_t rows = known.num_elements() / form.k;
  Desc from;  // a part of the whole tensor: the same part is packed once
  HALFTONE_RETURN_IF_ERROR(Guard([&] {
    from = Desc(Dims{form.k, rows}, *DnnlType(known.type()), Dims{1, form.k})
               .submemory_desc(Dims{form.k, form.n}, Dims{0, first});
  }));
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(known, from, chosen.weights_desc()));
  matmul.weights_ = std::make_shared<const PrepackedMemory>(std::move(packed));
  if (bias != nullptr) {
    const Desc plain = chosen.bias_desc();
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, Pack(*bias, plain, plain));
    matmul.bias_ = std::make_shared<const PrepackedMemory>(std::move(fixed));
  }
  if (!form.scales.empty()) {
    const Desc plain = PlainDesc(Dims{form.n}, DataType::kFloat32);
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, PrepackedFloats(form.scales, plain));
    matmul.scales_ = std::make_shared<const PrepackedMemory>(std::move(fixed));
  }
  HALFTONE_RETURN_IF_ERROR(matmul.Finish(chosen));
  return matmul;
}

StepFacts PrepackedMatMul::facts() const {
  StepFacts facts;
  for (const PrepackedMemory* fixed : {weights_.get(), bias_.get(), scales_.get()}) {
    if (fixed != nullptr) facts.constants.emplace_back(fixed->pages->data(), fixed->pages->size());
  }
  return facts;
}

void PrepackedMatMul::Run(const void* x, float* y, std::byte* scratch) const {
  if (skinny_ != nullptr) {
    simd::SkinnyMatMulTask task = task_;
    task.x = x;
    task.y = y;
    if (form_.add) task.residual = y;
    return RunSkinnyMatMul(task, skinny_);
  }
  x_.set_data_handle(const_cast<void*>(x));  // a matmul does not write its source
  y_.set_data_handle(y);
  scratch_.set_data_handle(scratch);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data()),
      "could not execute a matmul");
}

}  // namespace halftone::onednn
