// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Attention: one matmul for queries, keys and values of all heads, scores, softmax (a SIMD loop,
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

// Matmuls, then the softmax, then a matmul.
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

absl::StatusOr<Problem> Describe(const NodeContext& context, DataType type) {
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

// Makes the step of one node: the matmul for queries, keys and values, the copies for past and present, the scores, the
// values.
class AttentionBuilder {
 public:
  AttentionBuilder(const NodeContext& context, const Problem& problem)
      : context_(context),
        p_(problem),
        type_(*DnnlType(problem.type)),
        wants_present_(context.node().outputs.size() > 1 && context.OutputUsed(1)),
        copies_(wants_present_ || problem.past > 0),
        layout_(LayoutOf(problem, copies_ && !wants_present_)),
        scratch_(layout_.primitives) {}

  absl::StatusOr<Prepared> Build() {
    if (copies_ && p_.hidden != p_.value_hidden) return absl::UnimplementedError("present of two sizes");
    const int x = Need(kAttentionX, p_.type), mask = Need(kAttentionMask, DataType::kInt32);
    const int addend = Need(kAttentionAddend, DataType::kFloat32);
    step_ = std::make_unique<AttentionStep>(p_, layout_, mask, addend);
    HALFTONE_RETURN_IF_ERROR(AddProjection(x));
    if (copies_) HALFTONE_RETURN_IF_ERROR(AddPresent());
    HALFTONE_RETURN_IF_ERROR(AddScores());
    HALFTONE_RETURN_IF_ERROR(AddValues());
    prepared_.scratch_bytes = scratch_;
    prepared_.outputs.assign(context_.node().outputs.size(), Placement{p_.type});
    prepared_.step = std::move(step_);
    return std::move(prepared_);
  }

 private:
  absl::Status AddProjection(int x);
  absl::Status AttachWeights(const Dims& matrix, const Desc& desc);
  absl::Status AttachBias(const Desc& desc);
  absl::Status AddPresent();
  absl::Status AddScores();
  absl::Status AddValues();
  absl::StatusOr<dnnl::matmul::primitive_desc> AddMatMul(PrimitiveStep& step, const Desc& src, const Desc& weights,
                                                         const Desc& bias, const Desc& dst);

  // The number of a need for this input; -1: it is absent.
  int Need(int index, DataType wanted) {
    if (!context_.HasInput(index)) return -1;
    prepared_.inputs.push_back({index, Placement{wanted}});
    return static_cast<int>(prepared_.inputs.size()) - 1;
  }
  size_t BytesOf(int64_t elements) const { return static_cast<size_t>(elements) * ElementSize(p_.type); }
  // Queries or keys within qkv: [batch, heads, steps, head size].
  Desc HeadsInQkv() const {
    return Desc(Dims{p_.batch, p_.heads, p_.steps, p_.head()}, type_,
                Dims{p_.steps * p_.columns(), p_.head(), p_.columns(), 1}, /*allow_empty=*/true);
  }
  // Keys, or values, of present: the first rows of each head.
  Desc RowsOfPresent(int64_t rows) const {
    return Desc(Dims{p_.batch, p_.heads, rows, p_.head()}, type_,
                Dims{p_.heads * p_.total * p_.head(), p_.total * p_.head(), p_.head(), 1}, /*allow_empty=*/true);
  }
  int64_t HalfOfPresent() const { return p_.batch * p_.heads * p_.total * p_.head(); }  // keys, then values
  void AttachPresent(PrimitiveStep& to, int argument, const Desc& desc, int64_t at) const {
    if (wants_present_) {
      to.AddOutput(argument, desc, 1, BytesOf(at));
    } else {
      to.AddScratch(argument, desc, layout_.present + BytesOf(at));
    }
  }
  absl::Status AddCopy(const Desc& from, const Desc& to) {
    return Guard([&] {
      step_->before().AddCall(dnnl::reorder(dnnl::reorder::primitive_desc(CpuEngine(), from, CpuEngine(), to)));
    });
  }

  const NodeContext& context_;
  const Problem p_;
  const dnnl::memory::data_type type_;
  const bool wants_present_, copies_;
  const Layout layout_;
  size_t scratch_;
  Prepared prepared_;
  std::unique_ptr<AttentionStep> step_;
};

// One matmul of `step`; the arguments are attached by the caller.
absl::StatusOr<dnnl::matmul::primitive_desc> AttentionBuilder::AddMatMul(PrimitiveStep& step, const Desc& src,
                                                                         const Desc& weights, const Desc& bias,
                                                                         const Desc& dst) {
  const dnnl::matmul::primitive_desc primitive(CpuEngine(), src, weights, bias, dst, UserScratch(),
                                               /*allow_empty=*/true);
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
  if (prepared_.kernel.name.empty() || IsSlow(primitive)) prepared_.kernel = ImplementationOf(primitive);
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step.AddCall(dnnl::matmul(primitive)); }));
  step.AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), scratch_);
  scratch_ += (primitive.scratchpad_desc().get_size() + 63) / 64 * 64;
  return primitive;
}

// Queries, keys and values of all heads.
absl::Status AttentionBuilder::AddProjection(int x) {
  PrimitiveStep& before = step_->before();
  const Dims matrix{p_.input, p_.columns()}, vector{1, p_.columns()};
  const Desc src = PlainDesc(Dims{p_.batch * p_.steps, p_.input}, p_.type);
  const Desc dst = PlainDesc(Dims{p_.batch * p_.steps, p_.columns()}, p_.type);
  const Desc bias = context_.HasInput(kAttentionBias) ? PlainDesc(vector, DataType::kFloat32) : Desc();
  const bool packs = context_.Constant(kAttentionWeights) != nullptr;
  const Desc weights = packs ? AnyDesc(matrix, p_.type) : PlainDesc(matrix, p_.type);
  HALFTONE_ASSIGN_OR_RETURN(const auto primitive, AddMatMul(before, src, weights, bias, dst));
  before.AddInput(DNNL_ARG_SRC, src, x);
  before.AddScratch(DNNL_ARG_DST, dst, layout_.qkv);
  HALFTONE_RETURN_IF_ERROR(AttachWeights(matrix, primitive.weights_desc()));
  return context_.HasInput(kAttentionBias) ? AttachBias(bias) : absl::OkStatus();
}

absl::Status AttentionBuilder::AttachWeights(const Dims& matrix, const Desc& desc) {
  const Tensor* weights = context_.Constant(kAttentionWeights);
  if (weights == nullptr) {
    step_->before().AddInput(DNNL_ARG_WEIGHTS, desc, Need(kAttentionWeights, p_.type));
    return absl::OkStatus();
  }
  if (!DnnlType(weights->type()).has_value())
    return absl::UnimplementedError("weights of a type that oneDNN does not have");
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(*weights, PlainDesc(matrix, weights->type()), desc));
  step_->before().AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
  return absl::OkStatus();
}

absl::Status AttentionBuilder::AttachBias(const Desc& desc) {
  const Tensor* bias = context_.Constant(kAttentionBias);
  if (bias == nullptr) {
    step_->before().AddInput(DNNL_ARG_BIAS, desc, Need(kAttentionBias, DataType::kFloat32));
    return absl::OkStatus();
  }
  HALFTONE_ASSIGN_OR_RETURN(const Tensor wide, bias->ConvertTo(DataType::kFloat32));
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(wide, desc, desc));
  step_->before().AddPrepacked(DNNL_ARG_BIAS, std::move(packed));
  return absl::OkStatus();
}

// Keys and values of the past, then those of now.
absl::Status AttentionBuilder::AddPresent() {
  PrimitiveStep& before = step_->before();
  const int past = p_.past > 0 ? Need(kAttentionPast, p_.type) : -1;
  const Desc now = HeadsInQkv();
  for (int part = 0; part < 2; ++part) {
    HALFTONE_RETURN_IF_ERROR(AddCopy(now, RowsOfPresent(p_.steps)));
    before.AddScratch(DNNL_ARG_FROM, now, layout_.qkv + BytesOf(p_.hidden * (part + 1)));
    AttachPresent(before, DNNL_ARG_TO, RowsOfPresent(p_.steps), part * HalfOfPresent() + p_.past * p_.head());
    if (p_.past == 0) continue;
    const Desc earlier = PlainDesc(Dims{p_.batch, p_.heads, p_.past, p_.head()}, p_.type);
    HALFTONE_RETURN_IF_ERROR(AddCopy(earlier, RowsOfPresent(p_.past)));
    before.AddInput(DNNL_ARG_FROM, earlier, past, static_cast<size_t>(part) * earlier.get_size());
    AttachPresent(before, DNNL_ARG_TO, RowsOfPresent(p_.past), part * HalfOfPresent());
  }
  return absl::OkStatus();
}

// Queries by keys.
absl::Status AttentionBuilder::AddScores() {
  PrimitiveStep& before = step_->before();
  const Desc queries = HeadsInQkv();
  const Dims key_dims{p_.batch, p_.heads, p_.head(), p_.total};
  const Dims key_strides = copies_ ? Dims{p_.heads * p_.total * p_.head(), p_.total * p_.head(), 1, p_.head()}
                                   : Dims{p_.steps * p_.columns(), p_.head(), 1, p_.columns()};
  const Desc keys(key_dims, type_, key_strides, /*allow_empty=*/true);
  const Desc scores = PlainDesc(Dims{p_.batch, p_.heads, p_.steps, p_.total}, DataType::kFloat32);
  HALFTONE_RETURN_IF_ERROR(AddMatMul(before, queries, keys, Desc(), scores).status());
  before.AddScratch(DNNL_ARG_SRC, queries, layout_.qkv);
  if (copies_) {
    AttachPresent(before, DNNL_ARG_WEIGHTS, keys, 0);
  } else {
    before.AddScratch(DNNL_ARG_WEIGHTS, keys, layout_.qkv + BytesOf(p_.hidden));
  }
  before.AddScratch(DNNL_ARG_DST, scores, layout_.scores);
  return absl::OkStatus();
}

// The scores' softmax by values.
absl::Status AttentionBuilder::AddValues() {
  PrimitiveStep& after = step_->after();
  const Desc weights = PlainDesc(Dims{p_.batch, p_.heads, p_.steps, p_.total}, p_.type);
  const Dims dims{p_.batch, p_.heads, p_.total, p_.value_head()};
  const Dims strides = copies_ ? PlainStrides(dims) : Dims{p_.steps * p_.columns(), p_.value_head(), p_.columns(), 1};
  const Desc values(dims, type_, strides, /*allow_empty=*/true);
  const Desc y(Dims{p_.batch, p_.heads, p_.steps, p_.value_head()}, type_,
               Dims{p_.steps * p_.value_hidden, p_.value_head(), p_.value_hidden, 1}, /*allow_empty=*/true);
  HALFTONE_RETURN_IF_ERROR(AddMatMul(after, weights, values, Desc(), y).status());
  after.AddScratch(DNNL_ARG_SRC, weights, p_.type == DataType::kBFloat16 ? layout_.scores16 : layout_.scores);
  if (copies_) {
    AttachPresent(after, DNNL_ARG_WEIGHTS, values, HalfOfPresent());
  } else {
    after.AddScratch(DNNL_ARG_WEIGHTS, values, layout_.qkv + BytesOf(2 * p_.hidden));
  }
  after.AddOutput(DNNL_ARG_DST, y);
  return absl::OkStatus();
}

class AttentionKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (context.InputType(0) == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = PrepareIn(context, DataType::kBFloat16);
      if (prepared.ok() && !prepared->kernel.slow) return prepared;
    }
    return PrepareIn(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Prepared> PrepareIn(const NodeContext& context, DataType type) {
    HALFTONE_ASSIGN_OR_RETURN(const Problem problem, Describe(context, type));
    return AttentionBuilder(context, problem).Build();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeAttentionKernel() { return std::make_unique<AttentionKernel>(); }

}  // namespace halftone::onednn
