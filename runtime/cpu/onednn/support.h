// SPDX-License-Identifier: Apache-2.0
// Our types, layouts and errors in oneDNN's terms, and a Step that executes primitives. Private to
// runtime/cpu/onednn.
//
// A value's memory descriptor is always in the value's own order of dimensions (NHWC data has N, H, W, C). Kernels that
// want oneDNN's order permute the descriptor, which costs nothing: the data does not move.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_SUPPORT_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/tensor.h"
#include "runtime/plan/kernel.h"
#include "runtime/plan/memory.h"

namespace halftone::onednn {

using Dims = std::vector<int64_t>;
using Desc = dnnl::memory::desc;

const dnnl::engine& CpuEngine();

// Runs `body`, which may throw what oneDNN throws, and returns that as a status: UNIMPLEMENTED stays what it is,
// memory that cannot be had is RESOURCE_EXHAUSTED, all else is INTERNAL.
template <typename Body>
absl::Status Guard(Body&& body);
absl::Status StatusOf(const dnnl::error& error);

// nullopt: oneDNN has no such type.
std::optional<dnnl::memory::data_type> DnnlType(DataType type);

Dims PlainStrides(std::span<const int64_t> dims);
// Dense and row-major. A scalar gets one dimension. The empty descriptor if oneDNN has no such type.
Desc PlainDesc(std::span<const int64_t> dims, DataType type);
Desc AnyDesc(std::span<const int64_t> dims, DataType type);
// As `placement` says.
Desc DescOf(std::span<const int64_t> dims, const Placement& placement);
// The reverse; plain where the elements lie in row-major order.
Placement PlacementOf(const Desc& desc, DataType type);
// The same layout for another element type; plain where that cannot be said (layouts with inner blocks).
Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type);
// The same layout for elements of another type; the empty descriptor where that cannot be said (inner blocks).
Desc OfType(const Desc& desc, DataType type);
bool IsEmpty(const Desc& desc);
bool IsPlain(const Desc& desc);
// Whether the elements have the same places: strides of dimensions of size 1 do not matter.
bool SameLayout(const Desc& a, const Desc& b);
// The same, of elements of any two types.
bool LieAlike(const Desc& a, const Desc& b);
// Dense, with dimensions in memory in the same order as in `desc` (which has no inner blocks).
Desc DenseLike(const Desc& desc, std::span<const int64_t> dims);
// The descriptor with dimension order[i] in place i; e.g. NHWC seen as NCHW: {0, 3, 1, 2}.
Desc Reordered(const Desc& desc, std::span<const int> order);
Dims Reordered(std::span<const int64_t> dims, std::span<const int> order);
// The order that shows a tensor of this rank with channels last as one with channels first, and its inverse.
std::vector<int> ChannelsFirstOrder(int rank, bool channels_last);
std::vector<int> ValueOrder(int rank, bool channels_last);
// Dense, the channels of an image next to each other in memory; `channels_last`: so they are in its dimensions, too.
Placement ChannelsLast(std::span<const int64_t> dims, bool channels_last, DataType type);

bool IsFloat(DataType type);  // f32, bf16, f16

// What oneDNN has chosen for a primitive, by the name of the implementation: only these functions take it apart.
std::string ImplementationName(const dnnl::primitive_desc_base& desc);  // "jit:avx512_core"
Implementation ImplementationOf(const dnnl::primitive_desc_base& desc);
bool IsSlow(const dnnl::primitive_desc_base& desc);    // one of oneDNN's reference loops
bool IsGemm(const Implementation& implementation);     // gemm:jit, which packs the weights in each run
bool UsesTiles(const Implementation& implementation);  // of AMX
bool UsesAvx2(const Implementation& implementation);   // and no wider vectors
bool IsBrgemmMatMul(const Implementation& implementation);
bool RunsConvolution(const Implementation& implementation);  // a deconvolution does, backward
bool HasSlowPart(const Implementation& implementation);      // one primitive that runs others: "conv:any+ref:any"

// Memory that never changes, with its descriptor.
struct PrepackedMemory {
  std::shared_ptr<const Pages> pages;
  dnnl::memory memory;
};
// The tensor, whose bytes lie as `from` says, in the layout and type `to`. Packed once in a process: as long
// as a step holds the result, the same buffer gives the same memory. Thread-safe.
absl::StatusOr<PrepackedMemory> Pack(const Tensor& tensor, const Desc& from, const Desc& to);

// Executes primitives in order. The memory of each argument is given while it is built. A run allocates nothing.
class PrimitiveStep final : public Step {
 public:
  // Starts a new call; the Add functions speak of the latest.
  void AddCall(dnnl::primitive primitive);
  void AddInput(int argument, const Desc& desc, int need, size_t byte_offset = 0);
  void AddOutput(int argument, const Desc& desc, int output = 0, size_t byte_offset = 0);
  void AddScratch(int argument, const Desc& desc, size_t byte_offset);
  void AddPrepacked(int argument, PrepackedMemory fixed);

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override;
  absl::Status Run() override;
  StepFacts facts() const override;

 private:
  enum class From { kInput, kOutput, kScratch };
  struct Slot {
    dnnl::memory memory;
    From from;
    int index;
    size_t byte_offset;
  };
  struct Call {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;  // memory that slots_ and fixed_ own
  };
  void Add(int argument, const Desc& desc, From from, int index, size_t byte_offset);
  void SetArgument(int argument, const dnnl::memory& memory);

  std::vector<Call> calls_;
  std::vector<Slot> slots_;
  std::vector<PrepackedMemory> fixed_;
};

// The description with the implementation that it has now. Copies of a description are one object: next_impl() moves
// all of them on, and nothing leads back.
template <typename PrimitiveDesc>
PrimitiveDesc Frozen(const PrimitiveDesc& desc) {
  dnnl_primitive_desc_t clone = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&clone, desc.get()), "could not copy a primitive's description");
  return PrimitiveDesc(clone);
}

// Attributes with the scratch memory given by us.
dnnl::primitive_attr UserScratch();

template <typename Body>
absl::Status Guard(Body&& body) {
  try {
    body();
    return absl::OkStatus();
  } catch (const dnnl::error& error) {
    return StatusOf(error);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  }
}

// The result of a step that could work in place is of another type: then it cannot.
inline void SetResult(Placement result, Prepared& prepared) {
  prepared.outputs[0] = std::move(result);
  prepared.may_overwrite = -1;
}

// One primitive (dnnl::softmax_forward, ...) that maps its source to a destination of the same description, also in
// place. Where the primitive's destination is another: SetResult.
template <typename Primitive>
absl::StatusOr<Prepared> PrepareInPlace(const typename Primitive::primitive_desc& primitive, const Desc& desc,
                                        const Placement& placement) {
  Prepared prepared{
      .inputs = {{0, placement}}, .outputs = {placement}, .may_overwrite = 0, .kernel = ImplementationOf(primitive)};
  prepared.scratch_bytes = primitive.scratchpad_desc().get_size();
  auto step = std::make_unique<PrimitiveStep>();
  if (absl::Status made = Guard([&] { step->AddCall(Primitive(primitive)); }); !made.ok()) return made;
  step->AddInput(DNNL_ARG_SRC, desc, 0);
  step->AddOutput(DNNL_ARG_DST, primitive.dst_desc());
  step->AddScratch(DNNL_ARG_SCRATCHPAD, primitive.scratchpad_desc(), 0);
  prepared.step = std::move(step);
  return prepared;
}

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_SUPPORT_H_
