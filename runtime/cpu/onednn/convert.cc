// SPDX-License-Identifier: Apache-2.0
// Conversions between placements, and cast: dnnl::reorder, but for what only rounds.
#include <cstring>
#include <optional>
#include <utility>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/rounding.h"
#include "runtime/cpu/onednn/support.h"
#include "runtime/cpu/simd/channel_copy.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::onednn {
namespace {

// A plain copy of bytes, for types that oneDNN does not know.
class CopyBytes final : public Step {
 public:
  explicit CopyBytes(size_t bytes) : bytes_(bytes) {}
  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_ = inputs[0];
    to_ = outputs[0];
  }
  absl::Status Run() override {
    if (bytes_ > 0) std::memcpy(to_, from_, bytes_);
    return absl::OkStatus();
  }

 private:
  const size_t bytes_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

// An image of 2 to 4 channels, from channels first to channels last, of f32 in f32 or bf16, or of int8: what the first
// convolution of most nets asks for, several times as fast as oneDNN's general reorder.
class Interleave final : public Step {
 public:
  // nullptr if it is something else.
  static std::unique_ptr<Interleave> ForCopy(std::span<const int64_t> dims, const Placement& from,
                                             const Placement& to) {
    const bool bytes = from.type == to.type && ElementSize(from.type) == 1;
    const bool types =
        bytes || (from.type == DataType::kFloat32 && (to.type == DataType::kFloat32 || to.type == DataType::kBFloat16));
    const size_t rank = dims.size();
    if (!types || rank < 3 || dims[1] < 2 || dims[1] > 4 || !from.plain() || to.plain()) return nullptr;
    const Desc target = DescOf(dims, to);
    if (target.get_inner_nblks() != 0 || target.get_submemory_offset() != 0) return nullptr;
    const std::vector<int> order = ValueOrder(static_cast<int>(rank), /*channels_last=*/true);
    if (!IsPlain(Reordered(target, order))) return nullptr;
    int64_t pixels = 1;
    for (size_t i = 2; i < rank; ++i) pixels *= dims[i];
    return std::unique_ptr<Interleave>(new Interleave(dims[0], dims[1], pixels, to.type));
  }

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_ = inputs[0];
    to_ = outputs[0];
  }

  absl::Status Run() override {
    const int64_t size = channels_ * pixels_;
    simd::ParallelFor(images_, 1, [&](int64_t first, int64_t last) {
      for (int64_t image = first; image < last; ++image) {
        std::byte* to = to_ + image * size * static_cast<int64_t>(ElementSize(type_));
        if (ElementSize(type_) == 1) {
          simd::InterleaveBytePlanes(from_ + image * size, channels_, pixels_, to);
        } else {
          const auto* numbers = reinterpret_cast<const float*>(from_);
          simd::InterleavePlanes(numbers + image * size, channels_, pixels_, type_, to);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  Interleave(int64_t images, int64_t channels, int64_t pixels, DataType type)
      : images_(images), channels_(channels), pixels_(pixels), type_(type) {}

  const int64_t images_, channels_, pixels_;
  const DataType type_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

// Plain f64 to plain f32 or back: oneDNN has no f64 on CPUs.
class ConvertDoubles final : public Step {
 public:
  static bool Fits(const Placement& from, const Placement& to) {
    const auto pair = [&](DataType a, DataType b) { return from.type == a && to.type == b; };
    return from.plain() && to.plain() &&
           (pair(DataType::kFloat64, DataType::kFloat32) || pair(DataType::kFloat32, DataType::kFloat64));
  }
  ConvertDoubles(int64_t count, bool narrow) : count_(count), narrow_(narrow) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override {
    from_ = inputs[0];
    to_ = outputs[0];
  }
  absl::Status Run() override {
    if (narrow_) {
      Convert(reinterpret_cast<const double*>(from_), reinterpret_cast<float*>(to_));
    } else {
      Convert(reinterpret_cast<const float*>(from_), reinterpret_cast<double*>(to_));
    }
    return absl::OkStatus();
  }

 private:
  template <typename From, typename To>
  void Convert(const From* from, To* to) const {
    for (int64_t i = 0; i < count_; ++i) to[i] = static_cast<To>(from[i]);
  }

  const int64_t count_;
  const bool narrow_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

class CastKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType from = context.InputType(0);
    const DataType to = context.OutputType();
    if (!IsFloat(from) || !IsFloat(to)) return absl::UnimplementedError("oneDNN casts between floats only");
    const Dims dims = context.InputDims(0);
    const Placement source = context.InputPlacement(0);
    if (from == to) return MakeConversion(dims, source, source);
    return MakeConversion(dims, source, WithType(dims, source, to));
  }
};

}  // namespace

absl::StatusOr<Prepared> MakeConversion(std::span<const int64_t> dims, const Placement& from, const Placement& to) {
  Prepared prepared{.inputs = {{0, from}}, .outputs = {to}};
  if (from.plain() && to.plain() && from.type == to.type) {
    prepared.kernel = "copy";
    const Dims sizes(dims.begin(), dims.end());
    size_t bytes = ElementSize(from.type);
    for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
    prepared.step = std::make_unique<CopyBytes>(bytes);
    return prepared;
  }
  if (ConvertDoubles::Fits(from, to)) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    prepared.kernel = "loop";
    prepared.step = std::make_unique<ConvertDoubles>(count, to.type == DataType::kFloat32);
    return prepared;
  }
  const Desc source = DescOf(dims, from);
  const Desc target = DescOf(dims, to);
  if (IsEmpty(source) || IsEmpty(target)) return absl::UnimplementedError("oneDNN does not know this type");
  if (std::unique_ptr<Interleave> step = Interleave::ForCopy(dims, from, to); step != nullptr) {
    prepared.kernel = "interleave";
    prepared.step = std::move(step);
    return prepared;
  }
  if (std::optional<Prepared> rounding = MakeRounding(dims, from, to); rounding.has_value())
    return *std::move(rounding);
  const dnnl::reorder::primitive_desc primitive(CpuEngine(), source, CpuEngine(), target, UserScratch(),
                                                /*allow_empty=*/true);
  if (!primitive) return absl::UnimplementedError("oneDNN has no such reorder");
  prepared.kernel = ImplementationOf(primitive);
  prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
  auto step = std::make_unique<PrimitiveStep>();
  HALFTONE_RETURN_IF_ERROR(Guard([&] { step->AddCall(dnnl::reorder(primitive)); }));
  step->AddInput(DNNL_ARG_FROM, source, 0);
  step->AddOutput(DNNL_ARG_TO, target);
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
  prepared.step = std::move(step);
  return prepared;
}

std::unique_ptr<Kernel> MakeCastKernel() { return std::make_unique<CastKernel>(); }

}  // namespace halftone::onednn
