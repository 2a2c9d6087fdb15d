// Conversions between placements, and cast: dnnl::reorder.
#include <cstring>

#include "base/status.h"
#include "runtime/onednn/kernels.h"
#include "runtime/onednn/support.h"

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
  const Desc source = DescOf(dims, from);
  const Desc target = DescOf(dims, to);
  if (IsEmpty(source) || IsEmpty(target)) return absl::UnimplementedError("oneDNN does not know this type");
  const dnnl::reorder::primitive_desc primitive(CpuEngine(), source, CpuEngine(), target, UserScratch(),
                                                /*allow_empty=*/true);
  if (!primitive) return absl::UnimplementedError("oneDNN has no such reorder");
  prepared.kernel = ImplementationName(primitive);
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
