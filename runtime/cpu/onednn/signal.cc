// SPDX-License-Identifier: Apache-2.0
// dft along the last signal dimension and stft of constant sizes: products with the matrix of the transform, into which
// window and scale are multiplied. Longer transforms than a matrix is good for are left to others.
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // of the matrix
constexpr int64_t kGrainElements = 1 << 14;

struct Transform {
  int64_t length = 0;  // of the transform
  int64_t taken = 0;   // elements that there are; zeros follow
  int64_t bins = 0;
  int64_t parts = 1;  // of an element: 1 real, 2 complex
  bool inverse = false;
  std::vector<double> window;  // empty: ones

  // [taken * parts, bins * 2]
  Tensor Matrix() const {
    std::vector<double> cosine(length), sine(length);
    for (int64_t i = 0; i < length; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
      const double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
      cosine[i] = std::cos(angle) * scale;
      sine[i] = (inverse ? std::sin(angle) : -std::sin(angle)) * scale;
    }
    Tensor result(DataType::kFloat32, {taken * parts, bins * 2});
    float* row = result.mutable_data<float>().data();
    for (int64_t t = 0; t < taken; ++t) {
      const double factor = window.empty() ? 1.0 : window[t];
      for (int64_t part = 0; part < parts; ++part, row += bins * 2) {
        for (int64_t k = 0; k < bins; ++k) {
          const int64_t turn = t * k % length;
          row[2 * k] = static_cast<float>(factor * (part == 0 ? cosine[turn] : -sine[turn]));
          row[2 * k + 1] = static_cast<float>(factor * (part == 0 ? sine[turn] : cosine[turn]));
        }
      }
    }
    return result;
  }
};

// The matmul of rows of `src` with the transform's matrix, as the only call of a step.
struct MatMul {
  Desc src, dst;
  size_t scratch_bytes = 0;
  Implementation implementation;
};
absl::StatusOr<MatMul> AddMatMul(PrimitiveStep& step, const Transform& transform, int64_t rows, int64_t row_stride,
                                 size_t scratch_offset) {
  const int64_t k = transform.taken * transform.parts, n = transform.bins * 2;
  if (rows == 0 || k == 0 || k > kMostElements / n) {
    return absl::UnimplementedError("a transform of nothing, or too long for a matrix");
  }
  using Type = dnnl::memory::data_type;
  MatMul matmul{.src = Desc(Dims{rows, k}, Type::f32, Dims{row_stride, 1}, /*allow_empty=*/true),
                .dst = PlainDesc(Dims{rows, n}, DataType::kFloat32)};
  const dnnl::matmul::primitive_desc primitive(CpuEngine(), matmul.src, AnyDesc(Dims{k, n}, DataType::kFloat32),
                                               matmul.dst, UserScratch(), /*allow_empty=*/true);
  if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
  matmul.implementation = ImplementationOf(primitive);
  matmul.scratch_bytes = primitive.scratchpad_desc().get_size();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step.AddCall(dnnl::matmul(primitive)); }));
  step.AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), scratch_offset);
  HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory packed, Pack(transform.Matrix(), PlainDesc(Dims{k, n}, DataType::kFloat32),
                                                         primitive.weights_desc()));
  step.AddPrepacked(DNNL_ARG_WEIGHTS, std::move(packed));
  return matmul;
}

class DftKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Dims x = context.InputDims(0), y = context.OutputDims();
    const int64_t rank = static_cast<int64_t>(x.size());
    int64_t axis = -2;
    if (context.HasInput(2)) {
      const std::optional<double> given = context.ConstantScalar(2);
      if (!given.has_value()) return absl::UnimplementedError("an axis that is computed");
      axis = static_cast<int64_t>(*given);
    }
    Transform transform{.parts = x.back(), .inverse = context.node().attributes.Bool("inverse", false)};
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank - 1) return absl::UnimplementedError("an axis out of range");
    transform.length = x[axis];
    if (context.HasInput(1)) {
      const std::optional<double> given = context.ConstantScalar(1);
      if (!given.has_value()) return absl::UnimplementedError("a length that is computed");
      transform.length = static_cast<int64_t>(*given);
    }
    transform.taken = std::min(transform.length, x[axis]);
    transform.bins = y[axis];
    int64_t outer = 1;
    for (int64_t i = 0; i < axis; ++i) outer *= x[i];
    for (int64_t i = axis + 1; i + 1 < rank; ++i) {
      if (x[i] != 1) return absl::UnimplementedError("a transform across rows");
    }
    if (transform.length < 1 || transform.bins < 1) return absl::UnimplementedError("a transform of nothing");
    auto step = std::make_unique<PrimitiveStep>();
    HALFTONE_ASSIGN_OR_RETURN(const MatMul matmul, AddMatMul(*step, transform, outer, x[axis] * transform.parts, 0));
    step->AddInput(DNNL_ARG_SRC, matmul.src, 0);
    step->AddOutput(DNNL_ARG_DST, matmul.dst);
    Prepared prepared{.inputs = {{0, Placement{DataType::kFloat32}}}, .outputs = {Placement{DataType::kFloat32}}};
    prepared.kernel = matmul.implementation;
    prepared.scratch_bytes = matmul.scratch_bytes;
    prepared.step = std::move(step);
    return prepared;
  }
};

// Copies the frames one after the other, then multiplies.
class StftStep final : public Step {
 public:
  StftStep(int64_t batch, int64_t length, int64_t frames, int64_t frame, int64_t step, int64_t parts)
      : batch_(batch), length_(length), frames_(frames), frame_(frame), step_(step), parts_(parts) {}

  PrimitiveStep& matmul() { return matmul_; }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    matmul_.Bind(inputs, outputs, scratch);
    signal_ = reinterpret_cast<const float*>(inputs[0]);
    rows_ = reinterpret_cast<float*>(scratch);
  }

  absl::Status Run() override {
    const int64_t row = frame_ * parts_;
    simd::ParallelFor(batch_ * frames_, std::max<int64_t>(1, kGrainElements / row), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* from = signal_ + (i / frames_ * length_ + i % frames_ * step_) * parts_;
        std::memcpy(rows_ + i * row, from, row * sizeof(float));
      }
    });
    return matmul_.Run();
  }

  StepFacts facts() const override { return matmul_.facts(); }

 private:
  const int64_t batch_, length_, frames_, frame_, step_, parts_;
  PrimitiveStep matmul_;
  const float* signal_ = nullptr;
  float* rows_ = nullptr;
};

class StftKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<double> given = context.ConstantScalar(1);
    const Tensor* window = context.HasInput(2) ? context.Constant(2) : nullptr;
    if (!given.has_value() || (context.HasInput(2) && window == nullptr)) {
      return absl::UnimplementedError("a frame step or window that is computed");
    }
    if (context.HasInput(3) && !context.ConstantScalar(3).has_value()) {
      return absl::UnimplementedError("a frame length that is computed");
    }
    const Dims signal = context.InputDims(0), y = context.OutputDims();
    const int64_t batch = signal[0], frames = y[1], frame_step = static_cast<int64_t>(*given);
    Transform transform{.bins = y[2], .parts = signal.size() == 3 ? signal[2] : 1};
    transform.length = context.HasInput(3) ? static_cast<int64_t>(*context.ConstantScalar(3)) : window->num_elements();
    transform.taken = transform.length;
    if (window != nullptr) transform.window = window->ToDoubles();
    const bool fits = transform.length >= 1 && frame_step >= 1 &&
                      (frames - 1) * frame_step + transform.length <= signal[1] &&
                      (window == nullptr || window->num_elements() == transform.length);
    if (!fits) return absl::UnimplementedError("frames that do not fit the signal");
    auto step = std::make_unique<StftStep>(batch, signal[1], frames, transform.length, frame_step, transform.parts);
    const int64_t row = transform.length * transform.parts;
    const size_t rows_bytes = (static_cast<size_t>(batch * frames * row) * sizeof(float) + 63) / 64 * 64;
    HALFTONE_ASSIGN_OR_RETURN(const MatMul matmul,
                              AddMatMul(step->matmul(), transform, batch * frames, row, rows_bytes));
    step->matmul().AddScratch(DNNL_ARG_SRC, matmul.src, 0);
    step->matmul().AddOutput(DNNL_ARG_DST, matmul.dst);
    Prepared prepared{.inputs = {{0, Placement{DataType::kFloat32}}}, .outputs = {Placement{DataType::kFloat32}}};
    prepared.kernel = matmul.implementation;
    prepared.scratch_bytes = rows_bytes + matmul.scratch_bytes;
    prepared.step = std::move(step);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeDftKernel() { return std::make_unique<DftKernel>(); }
std::unique_ptr<Kernel> MakeStftKernel() { return std::make_unique<StftKernel>(); }

}  // namespace halftone::onednn
