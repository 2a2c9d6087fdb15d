// matmul and gemm of rows with large constant weights: host::DenseFunction, where it beats oneDNN. f32 and bf16, bf16
// with a result in f32, and f32 that may be rounded to bf16 ("math_mode").
//
// oneDNN's kernel waits for weights that come from memory; ours fetches them while it computes. Weights of 0.5 to 9 MB
// from memory, f32 and bf16, AVX-512 with 512-bit units: 1.2 to 1.3 times as fast at 16 and 32 rows, 1.1 at 64, 1.04
// to 1.08 at 128, even at 512. Weights that stay in the cache gain nothing: those are oneDNN's, as are more rows. The
// packed layout is oneDNN's own for f32 and bf16, so that both share one copy.
#include "runtime/host/dense.h"

#include <algorithm>

#include "base/status.h"
#include "runtime/host/parallel.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/problem.h"

namespace halftone::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr int kWeights = 1, kBias = 2, kResidual = 3;
constexpr int64_t kFewestRows = 16, kMostRows = 256;
constexpr size_t kFewestBytes = 512 << 10;  // of weights: half of a level 2 cache

class DenseStep final : public Step {
 public:
  DenseStep(const host::DenseTask& task, host::DenseFunction function, FixedMemory weights, std::vector<float> bias,
            int residual)
      : task_(task), function_(function), weights_(std::move(weights)), bias_(std::move(bias)), residual_(residual) {
    task_.weights = weights_.pages->data();
    if (!bias_.empty()) task_.bias = bias_.data();
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    task_.x = inputs[0];
    task_.residual = residual_ < 0 ? nullptr : inputs[residual_];
    task_.y = outputs[0];
  }
  absl::Status Run() override {
    const int64_t panels = (task_.columns + host::kPanelColumns - 1) / host::kPanelColumns;
    host::ParallelFor(panels, 1, [&](int64_t first, int64_t last) { function_(task_, first, last); });
    return absl::OkStatus();
  }
  StepFacts facts() const override {
    StepFacts facts;
    facts.fixed = {{weights_.pages->data(), weights_.pages->size()}, {bias_.data(), bias_.size() * sizeof(float)}};
    return facts;
  }

 private:
  host::DenseTask task_;
  const host::DenseFunction function_;
  const FixedMemory weights_;
  const std::vector<float> bias_;
  const int residual_;  // among the inputs; -1: none
};

class DenseKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    const DataType given_type = context.InputType(0), result = context.OutputType();
    const bool rounds = attributes.String("math_mode", "") == "bf16" && given_type == DataType::kFloat32 &&
                        host::DenseFunctionFor(DataType::kBFloat16, result) != nullptr;
    const DataType type = rounds ? DataType::kBFloat16 : given_type;
    const host::DenseFunction function = host::DenseFunctionFor(type, result);
    const Tensor* weights = context.Constant(kWeights);
    if (function == nullptr) return absl::UnimplementedError("no such instructions, or other types");
    if (weights == nullptr || weights->rank() != 2) return absl::UnimplementedError("weights are no constant matrix");
    if (weights->type() != type && !rounds) return absl::UnimplementedError("types differ");
    if (attributes.Bool("transpose_a", false)) return absl::UnimplementedError("columns for rows");
    HALFTONE_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(attributes));
    if (!host::HasDenseActivation(epilogue.activation)) return absl::UnimplementedError("no such activation");

    const bool transposed = attributes.Bool("transpose_b", false);
    const Dims x = context.InputDims(0), given = weights->dims();
    const Dims matrix = transposed ? Dims{given[1], given[0]} : given;
    if (x.empty() || x.back() != matrix[0]) return absl::UnimplementedError("no rows of the weights' depth");
    host::DenseTask task{.x_stride = matrix[0], .rows = 1, .depth = matrix[0], .columns = matrix[1]};
    for (size_t i = 0; i + 1 < x.size(); ++i) task.rows *= x[i];
    const size_t packed_bytes = static_cast<size_t>(weights->num_elements()) * ElementSize(type);
    if (task.rows < kFewestRows || task.rows > kMostRows || packed_bytes < kFewestBytes)
      return absl::UnimplementedError("few or many rows, or small weights");
    if (type == DataType::kBFloat16 && task.depth % 2 != 0) return absl::UnimplementedError("an odd depth");
    task.scale = epilogue.scale;
    task.activate = host::DenseActivation(epilogue.activation);
    task.activation_first = epilogue.activation_first;

    HALFTONE_ASSIGN_OR_RETURN(std::vector<float> bias, BiasOf(context, task.columns));
    const Dims strides = transposed ? Dims{1, given[1]} : PlainStrides(given);
    const Desc from(matrix, *DnnlType(weights->type()), strides, /*allow_empty=*/true);
    const Desc to(matrix, *DnnlType(type), type == DataType::kFloat32 ? Tag::BA16a64b : Tag::BA16a64b2a,
                  /*allow_empty=*/true);
    if (IsEmpty(from) || IsEmpty(to)) return absl::UnimplementedError("no such layout");
    const int64_t panels = to.get_padded_dims()[1] / host::kPanelColumns;
    task.panel_bytes = static_cast<int64_t>(to.get_size()) / panels;
    HALFTONE_ASSIGN_OR_RETURN(FixedMemory packed, Pack(*weights, from, to));

    Prepared prepared{.inputs = {{0, Placement{type}}}, .outputs = {Placement{result}}, .kernel = "dense loop"};
    prepared.weights_type = type;
    int residual = -1;
    if (context.node().op == OpKind::kMatMul && context.HasInput(kResidual)) {
      const Dims dims = context.InputDims(kResidual);
      const bool whole = dims == context.OutputDims();
      const bool one_row = !dims.empty() && dims.back() == task.columns &&
                           std::count(dims.begin(), dims.end() - 1, 1) + 1 == static_cast<int64_t>(dims.size());
      if (!whole && !one_row)
        return absl::UnimplementedError("a residual that is broadcast along columns or some rows");
      task.residual_stride = whole ? task.columns : 0;
      prepared.inputs.push_back({kResidual, Placement{result}});
      residual = 1;
      if (whole) prepared.may_overwrite = residual;
    }
    prepared.step = std::make_unique<DenseStep>(task, function, std::move(packed), std::move(bias), residual);
    return prepared;
  }

 private:
  // Empty: none. UNIMPLEMENTED where it is no constant vector that is added as it is.
  static absl::StatusOr<std::vector<float>> BiasOf(const NodeContext& context, int64_t columns) {
    const Attributes& attributes = context.node().attributes;
    if (context.node().op == OpKind::kGemm &&
        (attributes.Float("alpha", 1) != 1 || (context.HasInput(kBias) && attributes.Float("beta", 1) != 1)))
      return absl::UnimplementedError("a product with factors");
    if (!context.HasInput(kBias)) return std::vector<float>();
    const Tensor* bias = context.Constant(kBias);
    if (bias == nullptr || !IsFloat(bias->type()) || bias->num_elements() != columns || bias->dims().back() != columns)
      return absl::UnimplementedError("the bias is no constant vector");
    return bias->ToFloats();
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeDenseKernel() { return std::make_unique<DenseKernel>(); }

}  // namespace halftone::onednn
