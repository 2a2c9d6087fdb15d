// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention in two ways: simd::ScaledAttention, which holds the scores of some queries at a time;
// and, where that is slower, two matmuls of oneDNN with a SIMD softmax between them. Heads are strides: q, k and v are
// read in the layouts they have, and y is written in the layout that a transpose after it asks for.
#include "runtime/cpu/simd/scaled_attention.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/strides.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/gates.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int kQ = 0, kK = 1, kV = 2, kMask = 3;
constexpr int64_t kFewQueries = 12, kFewKeys = 64;  // with fewer, oneDNN is faster in f32
constexpr int64_t kGrainElements = 1 << 13;

// One of q, k, v and y: dimensions [.., rows, columns] and where they lie.
struct Operand {
  Dims dims, strides;
  Placement placement;

  int64_t row() const { return strides[strides.size() - 2]; }
  int64_t column() const { return strides.back(); }
  Desc desc(DataType type) const { return Desc(dims, *DnnlType(type), strides, /*allow_empty=*/true); }
};

struct Problem {
  DataType type = DataType::kFloat32;
  Operand q, k, v, y;  // k as [.., keys, depth]
  float scale = 1;
  Dims mask;  // as y's leading dimensions, then [queries, keys]; empty: none
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
};

// The input in the layout it has where that can be read, else plain.
Operand OperandOf(const NodeContext& context, int index, DataType type) {
  const Dims dims = context.InputDims(index);
  Operand operand{dims, PlainStrides(dims), Placement{type}};
  const std::optional<Dims> there = StridesAsItLies(context, index);
  if (!there.has_value() || context.InputType(index) != type) return operand;
  const int64_t row = (*there)[dims.size() - 2], column = there->back();
  if (column != 1 && !(index == kK && row == 1)) return operand;
  operand.strides = *there;
  operand.placement = context.InputPlacement(index);
  return operand;
}

absl::StatusOr<Problem> Describe(const NodeContext& context) {
  const std::optional<DataType> type = simd::ComputedType(context.InputType(kQ));
  if (!type.has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
  Problem p{.type = *type};
  const Dims out = context.OutputDims();
  p.q = OperandOf(context, kQ, *type);
  p.k = OperandOf(context, kK, *type);
  p.v = OperandOf(context, kV, *type);
  if (context.node().attributes.Bool("k_transposed", false)) {
    const size_t rank = p.k.dims.size();
    std::swap(p.k.dims[rank - 1], p.k.dims[rank - 2]);
    std::swap(p.k.strides[rank - 1], p.k.strides[rank - 2]);
  }
  p.y = {out, PlainStrides(out), Placement{*type}};
  if (const std::optional<Dims> wanted = StridesForTranspose(context, out); wanted.has_value()) {
    p.y.strides = *wanted;
    p.y.placement = PlacementOf(p.y.desc(*type), *type);
  }
  p.queries = out[out.size() - 2];
  p.width = out.back();
  p.depth = p.k.dims.back();
  p.keys = p.k.dims[p.k.dims.size() - 2];
  const auto empty = [](const Dims& dims) { return std::ranges::find(dims, 0) != dims.end(); };
  if (empty(out) || p.keys == 0 || p.depth == 0) return absl::UnimplementedError("nothing to compute");
  p.scale = context.node().attributes.has("scale") ? context.node().attributes.Float("scale", 1)
                                                   : static_cast<float>(1 / std::sqrt(static_cast<double>(p.depth)));
  if (context.HasInput(kMask)) {
    p.mask = context.InputDims(kMask);
    p.mask.insert(p.mask.begin(), out.size() - p.mask.size(), 1);
  }
  return p;
}

// Where the matrices of an operand begin, one for each of the result: leading dimensions of 1, and those that it does
// not have, are the same for all.
std::vector<int64_t> MatrixOffsets(const Dims& leading, const Dims& dims, const Dims& strides) {
  std::vector<int64_t> offsets = {0};
  const size_t missing = leading.size() + 2 - dims.size();
  for (size_t i = 0; i < leading.size(); ++i) {
    const int64_t stride = i < missing || dims[i - missing] == 1 ? 0 : strides[i - missing];
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(leading[i]));
    for (const int64_t offset : offsets) {
      for (int64_t k = 0; k < leading[i]; ++k) next.push_back(offset + k * stride);
    }
    offsets = std::move(next);
  }
  return offsets;
}

std::vector<simd::AttentionItem> ItemsOf(const Problem& p) {
  const Dims leading(p.y.dims.begin(), p.y.dims.end() - 2);
  const auto offsets = [&](const Operand& operand) { return MatrixOffsets(leading, operand.dims, operand.strides); };
  const std::vector<int64_t> q = offsets(p.q), k = offsets(p.k), v = offsets(p.v), y = offsets(p.y);
  const std::vector<int64_t> mask = p.mask.empty() ? q : MatrixOffsets(leading, p.mask, PlainStrides(p.mask));
  std::vector<simd::AttentionItem> items;
  for (size_t i = 0; i < y.size(); ++i) items.push_back({q[i], k[i], v[i], mask[i], y[i]});
  return items;
}

// The strides of a mask's rows and columns; 0 where it is broadcast.
int64_t MaskRow(const Problem& p) { return p.mask.empty() || p.mask[p.mask.size() - 2] == 1 ? 0 : p.mask.back(); }
int64_t MaskColumn(const Problem& p) { return p.mask.empty() || p.mask.back() == 1 ? 0 : 1; }

Prepared StartOf(const Problem& p, DataType mask_type) {
  Prepared prepared{.inputs = {{kQ, p.q.placement}, {kK, p.k.placement}, {kV, p.v.placement}},
                    .outputs = {p.y.placement}};
  if (!p.mask.empty()) prepared.inputs.push_back({kMask, Placement{mask_type}});
  return prepared;
}

class BlockedKernel final : public Kernel {
 public:
  // Else only where it is the fastest.
  explicit BlockedKernel(bool always) : always_(always) {}

  absl::Status SupportsInputs(const Graph& graph, std::span<const ValueId> inputs) const override {
    return CheckFloatInputs(graph, inputs);
  }
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(const Problem p, Describe(context));
    const int lanes = simd::BlockMatMulFor(p.type).lanes;
    if (!always_ && lanes == 16 && p.type == DataType::kFloat32 && p.queries < kFewQueries && p.keys < kFewKeys)
      return absl::UnimplementedError("few queries and keys: packing does not pay");
    const simd::AttentionShape shape{.type = p.type,
                                     .queries = p.queries,
                                     .keys = p.keys,
                                     .depth = p.depth,
                                     .width = p.width,
                                     .scale = p.scale,
                                     .q_row = p.q.row(),
                                     .k_row = p.k.row(),
                                     .k_column = p.k.column(),
                                     .v_row = p.v.row(),
                                     .y_row = p.y.row(),
                                     .has_mask = !p.mask.empty(),
                                     .mask_row = MaskRow(p),
                                     .mask_column = MaskColumn(p)};
    const auto attention = std::make_shared<const simd::ScaledAttention>(shape, ItemsOf(p));
    Prepared prepared = StartOf(p, p.type);
    prepared.scratch_bytes = attention->ScratchBytes(context.threads());
    prepared.kernel = "attention blocks";
    const bool masked = !p.mask.empty();
    prepared.step = std::make_unique<simd::LoopStep>([attention, masked](const simd::Memory& m) {
      attention->Run(m.inputs[0], m.inputs[1], m.inputs[2], masked ? m.inputs[3] : nullptr, m.outputs[0], m.scratch);
      return absl::OkStatus();
    });
    return prepared;
  }

 private:
  const bool always_;
};

// A product, the softmax, a product.
class WholeStep final : public Step {
 public:
  WholeStep(const Problem& p, size_t scores, size_t scores16)
      : p_(p), items_(ItemsOf(p)), scores_at_(scores), scores16_at_(scores16) {}

  PrimitiveStep& before() { return before_; }
  PrimitiveStep& after() { return after_; }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    before_.Bind(inputs, outputs, scratch);
    after_.Bind(inputs, outputs, scratch);
    mask_ = p_.mask.empty() ? nullptr : reinterpret_cast<const float*>(inputs[kMask]);
    scores_ = reinterpret_cast<float*>(scratch + scores_at_);
    scores16_ = reinterpret_cast<uint16_t*>(scratch + scores16_at_);
  }
  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(before_.Run());
    const int64_t rows = static_cast<int64_t>(items_.size()) * p_.queries;
    simd::ParallelFor(rows, std::max<int64_t>(1, kGrainElements / p_.keys), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        float* scores = scores_ + row * p_.keys;
        const float* mask =
            mask_ == nullptr ? nullptr : mask_ + items_[row / p_.queries].mask + row % p_.queries * MaskRow(p_);
        functions_.softmax(scores, p_.keys, p_.scale, mask, nullptr);
        if (p_.type == DataType::kBFloat16) functions_.to_bf16(scores, scores16_ + row * p_.keys, p_.keys);
      }
    });
    return after_.Run();
  }
  StepFacts facts() const override {
    StepFacts facts = before_.facts();
    facts.Add(after_.facts());
    return facts;
  }

 private:
  const Problem p_;
  const std::vector<simd::AttentionItem> items_;
  const size_t scores_at_, scores16_at_;
  const simd::GateFunctions& functions_ = simd::GateFunctionsForThisCpu();
  PrimitiveStep before_, after_;
  const float* mask_ = nullptr;
  float* scores_ = nullptr;
  uint16_t* scores16_ = nullptr;
};

class WholeKernel final : public Kernel {
 public:
  absl::Status SupportsInputs(const Graph& graph, std::span<const ValueId> inputs) const override {
    return CheckFloatInputs(graph, inputs);
  }
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    HALFTONE_ASSIGN_OR_RETURN(Problem p, Describe(context));
    const Dims leading(p.y.dims.begin(), p.y.dims.end() - 2);
    for (const Operand* operand : {&p.q, &p.k, &p.v}) {
      if (Dims(operand->dims.begin(), operand->dims.end() - 2) != leading)
        return absl::UnimplementedError("leading dimensions that differ");
    }
    if (!p.mask.empty() && p.mask.back() == 1 && p.keys > 1)
      return absl::UnimplementedError("a mask with one number per row");
    const Dims score_dims = WithMatrix(leading, p.queries, p.keys);
    const bool bf16 = p.type == DataType::kBFloat16;
    const size_t score_bytes = Round(PlainDesc(score_dims, DataType::kFloat32).get_size());
    size_t scratch = score_bytes + (bf16 ? Round(PlainDesc(score_dims, p.type).get_size()) : 0);
    auto step = std::make_unique<WholeStep>(p, 0, score_bytes);
    Prepared prepared = StartOf(p, DataType::kFloat32);

    Operand keys = p.k;
    std::swap(keys.dims[leading.size()], keys.dims[leading.size() + 1]);
    std::swap(keys.strides[leading.size()], keys.strides[leading.size() + 1]);
    const Desc scores = PlainDesc(score_dims, DataType::kFloat32), weights = PlainDesc(score_dims, p.type);
    HALFTONE_RETURN_IF_ERROR(AddMatMul(step->before(), p.q.desc(p.type), keys.desc(p.type), scores, prepared, scratch));
    step->before().AddInput(DNNL_ARG_SRC, p.q.desc(p.type), kQ);
    step->before().AddInput(DNNL_ARG_WEIGHTS, keys.desc(p.type), kK);
    step->before().AddScratch(DNNL_ARG_DST, scores, 0);
    HALFTONE_RETURN_IF_ERROR(AddMatMul(step->after(), weights, p.v.desc(p.type), p.y.desc(p.type), prepared, scratch));
    step->after().AddScratch(DNNL_ARG_SRC, weights, bf16 ? score_bytes : 0);
    step->after().AddInput(DNNL_ARG_WEIGHTS, p.v.desc(p.type), kV);
    step->after().AddOutput(DNNL_ARG_DST, p.y.desc(p.type));
    prepared.scratch_bytes = scratch;
    prepared.step = std::move(step);
    return prepared;
  }

 private:
  static size_t Round(size_t bytes) { return (bytes + 63) / 64 * 64; }
  static Dims WithMatrix(Dims leading, int64_t rows, int64_t columns) {
    leading.push_back(rows);
    leading.push_back(columns);
    return leading;
  }

  // The caller attaches the arguments.
  static absl::Status AddMatMul(PrimitiveStep& step, const Desc& src, const Desc& weights, const Desc& dst,
                                Prepared& prepared, size_t& scratch) {
    const dnnl::matmul::primitive_desc primitive(CpuEngine(), src, weights, dst, UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
    if (prepared.kernel.name.empty() || IsSlow(primitive)) prepared.kernel = ImplementationOf(primitive);
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step.AddCall(dnnl::matmul(primitive)); }));
    step.AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), scratch);
    scratch += Round(primitive.scratchpad_desc().get_size());
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeBlockedAttentionKernel() { return std::make_unique<BlockedKernel>(/*always=*/false); }
std::unique_ptr<Kernel> MakeAnyAttentionKernel() { return std::make_unique<BlockedKernel>(/*always=*/true); }
std::unique_ptr<Kernel> MakeWholeAttentionKernel() { return std::make_unique<WholeKernel>(); }

}  // namespace halftone::onednn
