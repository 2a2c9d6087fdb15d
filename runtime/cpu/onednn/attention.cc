// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Attention: one product for queries, keys and values of all heads, scores, softmax (a SIMD loop,
// with scale and masks in it), values. Heads are strides; only with past or present are keys and values copied.
#include "ir/attention.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/gates.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kGrainElements = 1 << 13;

struct Problem {
  int64_t batch = 0, steps = 0, past = 0, total = 0, heads = 0, input = 0, hidden = 0, value_hidden = 0;
  DataType type = DataType::kFloat32;
  float scale = 1, filter = 0;
  bool unidirectional = false;
  int mask_rank = 0;  // 0: no mask
  int64_t mask_elements = 0;
  Dims addend;  // empty: none

  int64_t head() const { return hidden / heads; }
  int64_t value_head() const { return value_hidden / heads; }
  int64_t columns() const { return 2 * hidden + value_hidden; }
  bool masked() const { return mask_rank > 0 || unidirectional; }
};

// Where the parts of the scratch memory begin, in bytes.
struct Layout {
  size_t qkv = 0, scores = 0, scores16 = 0, mask = 0, present = 0, primitives = 0;
};

Layout LayoutOf(const Problem& p, bool present_in_scratch) {
  Layout layout;
  size_t at = 0;
  const auto part = [&at](int64_t elements, size_t bytes) {
    const size_t begin = at;
    at += (static_cast<size_t>(elements) * bytes + 63) / 64 * 64;
    return begin;
  };
  const int64_t scores = p.batch * p.heads * p.steps * p.total;
  layout.qkv = part(p.batch * p.steps * p.columns(), ElementSize(p.type));
  layout.scores = part(scores, sizeof(float));
  layout.scores16 = part(p.type == DataType::kBFloat16 ? scores : 0, sizeof(uint16_t));
  layout.mask = part(p.masked() ? p.batch * p.steps * p.total : 0, sizeof(float));
  layout.present = part(present_in_scratch ? 2 * p.batch * p.total * p.hidden : 0, ElementSize(p.type));
  layout.primitives = at;
  return layout;
}

// Products, then the softmax, then a product.
class AttentionStep final : public Step {
 public:
  AttentionStep(const Problem& problem, const Layout& layout, int mask, int addend)
      : p_(problem), layout_(layout), mask_need_(mask), addend_need_(addend) {}

  PrimitiveStep& before() { return before_; }
  PrimitiveStep& after() { return after_; }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    before_.Bind(inputs, outputs, scratch);
    after_.Bind(inputs, outputs, scratch);
    mask_input_ = mask_need_ < 0 ? nullptr : reinterpret_cast<const int32_t*>(inputs[mask_need_]);
    addend_ = addend_need_ < 0 ? nullptr : reinterpret_cast<const float*>(inputs[addend_need_]);
    scores_ = reinterpret_cast<float*>(scratch + layout_.scores);
    scores16_ = reinterpret_cast<uint16_t*>(scratch + layout_.scores16);
    mask_ = reinterpret_cast<float*>(scratch + layout_.mask);
  }

  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(before_.Run());
    if (p_.masked()) FillMask();
    const int64_t rows = p_.batch * p_.heads * p_.steps;
    simd::ParallelFor(rows, std::max<int64_t>(1, kGrainElements / p_.total), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) SoftmaxRow(row);
    });
    return after_.Run();
  }

  StepFacts facts() const override {
    StepFacts facts = before_.facts();
    facts.Add(after_.facts());
    return facts;
  }

 private:
  void SoftmaxRow(int64_t row) const {
    const int64_t q = row % p_.steps, head = row / p_.steps % p_.heads, b = row / p_.steps / p_.heads;
    const float* mask = p_.masked() ? mask_ + (b * p_.steps + q) * p_.total : nullptr;
    const float* addend = addend_;
    if (addend != nullptr) {
      const int64_t at_b = p_.addend[0] == 1 ? 0 : b, at_head = p_.addend[1] == 1 ? 0 : head;
      addend += ((at_b * p_.addend[1] + at_head) * p_.steps + q) * p_.total;
    }
    float* scores = scores_ + row * p_.total;
    functions_.softmax(scores, p_.total, p_.scale, mask, addend);
    if (p_.type == DataType::kBFloat16) functions_.to_bf16(scores, scores16_ + row * p_.total, p_.total);
  }

  void FillMask() {
    for (int64_t b = 0; b < p_.batch; ++b) {
      for (int64_t q = 0; q < p_.steps; ++q) {
        float* row = mask_ + (b * p_.steps + q) * p_.total;
        for (int64_t k = 0; k < p_.total; ++k) {
          row[k] = IsHidden(b, q, k) ? p_.filter : 0.0f;
          if (p_.unidirectional && k > p_.past + q) row[k] += p_.filter;
        }
      }
    }
  }
  bool IsHidden(int64_t b, int64_t q, int64_t k) const {
    switch (p_.mask_rank) {
      case 1:  // where the keys end, then where they start
        return k >= mask_input_[b] || (p_.mask_elements == 2 * p_.batch && k < mask_input_[p_.batch + b]);
      case 2:
        return mask_input_[b * p_.total + k] <= 0;
      case 3:
        return mask_input_[(b * p_.steps + q) * p_.total + k] <= 0;
      default:
        return false;
    }
  }

  const Problem p_;
  const Layout layout_;
  const int mask_need_, addend_need_;
  PrimitiveStep before_, after_;
  const simd::GateFunctions& functions_ = simd::GateFunctionsForThisCpu();
  const int32_t* mask_input_ = nullptr;
  const float* addend_ = nullptr;
  float* scores_ = nullptr;
  uint16_t* scores16_ = nullptr;
  float* mask_ = nullptr;
};

class AttentionKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.InputType(0) == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = Build(context, DataType::kBFloat16);
      if (prepared.ok() && !prepared->kernel.slow) return prepared;
    }
    return Build(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Problem> Describe(const NodeContext& context, DataType type) {
    const Attributes& attributes = context.node().attributes;
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) {
      shapes.push_back(context.HasInput(i) ? Shape::Of(context.InputDims(i)) : Shape());
    }
    HALFTONE_ASSIGN_OR_RETURN(const AttentionSizes sizes, SizesOfAttention(attributes, shapes));
    Problem p{.batch = sizes.batch.value,
              .steps = sizes.steps.value,
              .past = sizes.past.value,
              .total = sizes.total.value,
              .heads = sizes.heads,
              .input = context.InputDims(kAttentionX)[2],
              .hidden = sizes.hidden.value,
              .value_hidden = sizes.value_hidden.value,
              .type = type};
    if (p.batch == 0 || p.steps == 0 || p.input == 0) return absl::UnimplementedError("nothing to compute");
    p.scale = attributes.Float("scale", 0);
    if (p.scale == 0) p.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.head())));
    p.filter = attributes.Float("mask_filter_value", -10000.0f);
    p.unidirectional = attributes.Bool("unidirectional", false);
    if (context.HasInput(kAttentionMask)) {
      if (context.InputType(kAttentionMask) != DataType::kInt32)
        return absl::UnimplementedError("a mask that is not s32");
      const Dims mask = context.InputDims(kAttentionMask);
      p.mask_rank = static_cast<int>(mask.size());
      p.mask_elements = mask[0];
    }
    if (context.HasInput(kAttentionAddend)) p.addend = context.InputDims(kAttentionAddend);
    return p;
  }

  // One matmul of `step`; the arguments are attached by the caller.
  static absl::StatusOr<dnnl::matmul::primitive_desc> AddMatMul(PrimitiveStep& step, const Desc& src,
                                                                const Desc& weights, const Desc& bias, const Desc& dst,
                                                                size_t& scratch, Implementation& slowest) {
    const dnnl::matmul::primitive_desc primitive(CpuEngine(), src, weights, bias, dst, UserScratch(),
                                                 /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
    if (slowest.name.empty() || IsSlow(primitive)) slowest = ImplementationOf(primitive);
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step.AddCall(dnnl::matmul(primitive)); }));
    step.AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), scratch);
    scratch += (primitive.scratchpad_desc().get_size() + 63) / 64 * 64;
    return primitive;
  }

  static absl::StatusOr<Prepared> Build(const NodeContext& context, DataType type) {
    HALFTONE_ASSIGN_OR_RETURN(const Problem p, Describe(context, type));
    const bool wants_present = context.node().outputs.size() > 1 && context.OutputUsed(1);
    const bool copies = wants_present || p.past > 0;
    if (copies && p.hidden != p.value_hidden) return absl::UnimplementedError("present of two sizes");
    const Layout layout = LayoutOf(p, copies && !wants_present);
    size_t scratch = layout.primitives;
    const int64_t element = static_cast<int64_t>(ElementSize(type));

    Prepared prepared;
    const auto need = [&](int index, DataType wanted) {
      if (!context.HasInput(index)) return -1;
      prepared.inputs.push_back({index, Placement{wanted}});
      return static_cast<int>(prepared.inputs.size()) - 1;
    };
    const int x = need(kAttentionX, type), mask = need(kAttentionMask, DataType::kInt32);
    const int addend = need(kAttentionAddend, DataType::kFloat32);
    auto step = std::make_unique<AttentionStep>(p, layout, mask, addend);
    PrimitiveStep& before = step->before();

    {  // queries, keys and values
      const Tensor *weights = context.Constant(kAttentionWeights),
                   *bias = context.HasInput(kAttentionBias) ? context.Constant(kAttentionBias) : nullptr;
      const Dims matrix{p.input, p.columns()}, vector{1, p.columns()};
      const Desc src = PlainDesc(Dims{p.batch * p.steps, p.input}, type);
      const Desc dst = PlainDesc(Dims{p.batch * p.steps, p.columns()}, type);
      const Desc bias_desc = context.HasInput(kAttentionBias) ? PlainDesc(vector, DataType::kFloat32) : Desc();
      HALFTONE_ASSIGN_OR_RETURN(
          const auto primitive,
          AddMatMul(before, src, weights != nullptr ? AnyDesc(matrix, type) : PlainDesc(matrix, type), bias_desc, dst,
                    scratch, prepared.kernel));
      before.AddInput(DNNL_ARG_SRC, src, x);
      before.AddScratch(DNNL_ARG_DST, dst, layout.qkv);
      if (weights != nullptr && DnnlType(weights->type()).has_value()) {
        HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed,
                                  Pack(*weights, PlainDesc(matrix, weights->type()), primitive.weights_desc()));
        before.AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
      } else if (weights != nullptr) {
        return absl::UnimplementedError("weights of a type that oneDNN does not have");
      } else {
        before.AddInput(DNNL_ARG_WEIGHTS, primitive.weights_desc(), need(kAttentionWeights, type));
      }
      if (bias != nullptr) {
        HALFTONE_ASSIGN_OR_RETURN(const Tensor wide, bias->ConvertTo(DataType::kFloat32));
        HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(wide, bias_desc, bias_desc));
        before.AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
      } else if (context.HasInput(kAttentionBias)) {
        before.AddInput(DNNL_ARG_BIAS, bias_desc, need(kAttentionBias, DataType::kFloat32));
      }
    }
    // Within qkv: [batch, heads, steps, head size].
    const auto heads_in_qkv = [&](int64_t head) {
      return Desc(Dims{p.batch, p.heads, p.steps, head}, *DnnlType(type),
                  Dims{p.steps * p.columns(), head, p.columns(), 1}, /*allow_empty=*/true);
    };
    const int past = p.past > 0 ? need(kAttentionPast, type) : -1;
    const auto attach_present = [&](PrimitiveStep& to, int argument, const Desc& desc, int64_t at) {
      if (wants_present) {
        to.AddOutput(argument, desc, 1, static_cast<size_t>(at * element));
      } else {
        to.AddScratch(argument, desc, layout.present + static_cast<size_t>(at * element));
      }
    };
    const int64_t half = p.batch * p.heads * p.total * p.head();  // keys, then values
    for (int part = 0; copies && part < 2; ++part) {
      const auto rows_of_present = [&](int64_t rows) {
        return Desc(Dims{p.batch, p.heads, rows, p.head()}, *DnnlType(type),
                    Dims{p.heads * p.total * p.head(), p.total * p.head(), p.head(), 1}, /*allow_empty=*/true);
      };
      const auto copy = [&](const Desc& from, const Desc& to) {
        return Guard(
            [&] { before.AddCall(dnnl::reorder(dnnl::reorder::primitive_desc(CpuEngine(), from, CpuEngine(), to))); });
      };
      const Desc now = heads_in_qkv(p.head());
      HALFTONE_RETURN_IF_ERROR(copy(now, rows_of_present(p.steps)));
      before.AddScratch(DNNL_ARG_FROM, now, layout.qkv + static_cast<size_t>(p.hidden * (part + 1) * element));
      attach_present(before, DNNL_ARG_TO, rows_of_present(p.steps), part * half + p.past * p.head());
      if (p.past == 0) continue;
      const Desc earlier = PlainDesc(Dims{p.batch, p.heads, p.past, p.head()}, type);
      HALFTONE_RETURN_IF_ERROR(copy(earlier, rows_of_present(p.past)));
      before.AddInput(DNNL_ARG_FROM, earlier, past, static_cast<size_t>(part) * earlier.get_size());
      attach_present(before, DNNL_ARG_TO, rows_of_present(p.past), part * half);
    }
    {  // scores
      const Desc queries = heads_in_qkv(p.head());
      const Dims key_dims{p.batch, p.heads, p.head(), p.total};
      const Dims key_strides = copies ? Dims{p.heads * p.total * p.head(), p.total * p.head(), 1, p.head()}
                                      : Dims{p.steps * p.columns(), p.head(), 1, p.columns()};
      const Desc keys(key_dims, *DnnlType(type), key_strides, /*allow_empty=*/true);
      const Desc scores = PlainDesc(Dims{p.batch, p.heads, p.steps, p.total}, DataType::kFloat32);
      HALFTONE_RETURN_IF_ERROR(AddMatMul(before, queries, keys, Desc(), scores, scratch, prepared.kernel).status());
      before.AddScratch(DNNL_ARG_SRC, queries, layout.qkv);
      if (copies) {
        attach_present(before, DNNL_ARG_WEIGHTS, keys, 0);
      } else {
        before.AddScratch(DNNL_ARG_WEIGHTS, keys, layout.qkv + static_cast<size_t>(p.hidden * element));
      }
      before.AddScratch(DNNL_ARG_DST, scores, layout.scores);
    }
    {  // values
      PrimitiveStep& after = step->after();
      const Desc weights = PlainDesc(Dims{p.batch, p.heads, p.steps, p.total}, type);
      const Dims dims{p.batch, p.heads, p.total, p.value_head()};
      const Dims strides = copies ? PlainStrides(dims) : Dims{p.steps * p.columns(), p.value_head(), p.columns(), 1};
      const Desc values(dims, *DnnlType(type), strides, /*allow_empty=*/true);
      const Desc y(Dims{p.batch, p.heads, p.steps, p.value_head()}, *DnnlType(type),
                   Dims{p.steps * p.value_hidden, p.value_head(), p.value_hidden, 1}, /*allow_empty=*/true);
      HALFTONE_RETURN_IF_ERROR(AddMatMul(after, weights, values, Desc(), y, scratch, prepared.kernel).status());
      after.AddScratch(DNNL_ARG_SRC, weights, type == DataType::kBFloat16 ? layout.scores16 : layout.scores);
      if (copies) {
        attach_present(after, DNNL_ARG_WEIGHTS, values, half);
      } else {
        after.AddScratch(DNNL_ARG_WEIGHTS, values, layout.qkv + static_cast<size_t>(2 * p.hidden * element));
      }
      after.AddOutput(DNNL_ARG_DST, y);
    }
    prepared.scratch_bytes = scratch;
    prepared.outputs.assign(context.node().outputs.size(), Placement{type});
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeAttentionKernel() { return std::make_unique<AttentionKernel>(); }

}  // namespace halftone::onednn
