// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/support.h"

#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/isa.h"

namespace halftone::onednn {
namespace {

using Memory = dnnl::memory;

class DescLayout final : public PackedLayout {
 public:
  explicit DescLayout(Desc desc) : desc(std::move(desc)) {}
  const Desc desc;
};

// oneDNN's tensors have at least one dimension.
Dims AtLeastOne(std::span<const int64_t> dims) { return dims.empty() ? Dims{1} : Dims(dims.begin(), dims.end()); }

const dnnl::stream& CpuStream() {
  thread_local const dnnl::stream stream(CpuEngine());
  return stream;
}

// The number of elements that one step along dimension i jumps over inside a block of a packed layout.
int64_t BlockOf(const Desc& desc, int i) {
  int64_t block = 1;
  const Dims blocks = desc.get_inner_blks();
  const Dims indices = desc.get_inner_idxs();
  for (size_t k = 0; k < blocks.size(); ++k) {
    if (indices[k] == i) block *= blocks[k];
  }
  return block;
}

}  // namespace

const dnnl::engine& CpuEngine() {
  static const dnnl::engine* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

absl::Status StatusOf(const dnnl::error& error) {
  switch (error.status) {
    case dnnl_unimplemented:
      return absl::UnimplementedError(error.what());
    case dnnl_out_of_memory:
      return absl::ResourceExhaustedError(error.what());
    default:
      return absl::InternalError(Concat("oneDNN: ", error.what()));
  }
}

std::optional<Memory::data_type> DnnlType(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return Memory::data_type::f32;
    case DataType::kBFloat16:
      return Memory::data_type::bf16;
    case DataType::kFloat16:
      return Memory::data_type::f16;
    case DataType::kInt32:
      return Memory::data_type::s32;
    case DataType::kInt8:
      return Memory::data_type::s8;
    case DataType::kUInt8:
      return Memory::data_type::u8;
    default:
      return std::nullopt;
  }
}

Dims PlainStrides(std::span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

Desc PlainDesc(std::span<const int64_t> dims, DataType type) {
  const auto dnnl_type = DnnlType(type);
  const Dims sizes = AtLeastOne(dims);
  if (!dnnl_type.has_value()) return Desc();
  return Desc(sizes, *dnnl_type, PlainStrides(sizes), /*allow_empty=*/true);
}

Desc AnyDesc(std::span<const int64_t> dims, DataType type) {
  const auto dnnl_type = DnnlType(type);
  if (!dnnl_type.has_value()) return Desc();
  return Desc(AtLeastOne(dims), *dnnl_type, Memory::format_tag::any, /*allow_empty=*/true);
}

Desc DescOf(std::span<const int64_t> dims, const Placement& placement) {
  if (placement.plain()) return PlainDesc(dims, placement.type);
  return static_cast<const DescLayout&>(*placement.packed).desc;
}

Placement PlacementOf(const Desc& desc, DataType type) {
  if (IsPlain(desc)) return Placement{type};
  return Placement{type, std::make_shared<DescLayout>(desc)};
}

Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) {
  const auto dnnl_type = DnnlType(type);
  if (placement.plain() || !dnnl_type.has_value()) return Placement{type};
  const Desc desc = OfType(DescOf(dims, placement), type);
  return IsEmpty(desc) ? Placement{type} : PlacementOf(desc, type);
}

Desc OfType(const Desc& desc, DataType type) {
  const auto dnnl_type = DnnlType(type);
  if (!dnnl_type.has_value() || desc.get_inner_nblks() != 0 || desc.get_submemory_offset() != 0) return Desc();
  return Desc(desc.get_dims(), *dnnl_type, desc.get_strides(), /*allow_empty=*/true);
}

bool IsEmpty(const Desc& desc) { return !desc || desc.get_ndims() == 0; }

bool IsPlain(const Desc& desc) {
  if (desc.get_format_kind() != Memory::format_kind::blocked || desc.get_inner_nblks() != 0) return false;
  if (desc.get_submemory_offset() != 0) return false;
  const Dims dims = desc.get_dims();
  const Dims strides = desc.get_strides();
  if (desc.get_padded_dims() != dims) return false;
  const Dims plain = PlainStrides(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] > 1 && strides[i] != plain[i]) return false;
  }
  return true;
}

bool SameLayout(const Desc& a, const Desc& b) {
  return a == b || (a.get_data_type() == b.get_data_type() && LieAlike(a, b));
}

bool LieAlike(const Desc& a, const Desc& b) {
  if (a.get_dims() != b.get_dims()) return false;
  if (a.get_format_kind() != Memory::format_kind::blocked || b.get_format_kind() != Memory::format_kind::blocked)
    return false;
  if (a.get_padded_dims() != b.get_padded_dims() || a.get_submemory_offset() != b.get_submemory_offset()) return false;
  if (a.get_inner_blks() != b.get_inner_blks() || a.get_inner_idxs() != b.get_inner_idxs()) return false;
  const Dims padded = a.get_padded_dims();
  const Dims strides_a = a.get_strides();
  const Dims strides_b = b.get_strides();
  for (size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] / BlockOf(a, static_cast<int>(i)) > 1 && strides_a[i] != strides_b[i]) return false;
  }
  return true;
}

Desc DenseLike(const Desc& desc, std::span<const int64_t> dims) {
  const Dims strides = desc.get_strides();
  const Dims old_dims = desc.get_dims();
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Dimensions of size 1 have any stride: they stay where their neighbours are.
  const auto stride_of = [&](size_t i) { return old_dims[i] == 1 ? int64_t{-1} : strides[i]; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return stride_of(a) > stride_of(b); });
  Dims result(dims.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    result[order[i]] = stride;
    stride *= std::max<int64_t>(dims[order[i]], 1);
  }
  return Desc(Dims(dims.begin(), dims.end()), desc.get_data_type(), result, /*allow_empty=*/true);
}

Desc Reordered(const Desc& desc, std::span<const int> order) {
  std::vector<int> places(order.size());  // oneDNN asks where each dimension goes
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int>(i);
  return desc.permute_axes(places, /*allow_empty=*/true);
}

Dims Reordered(std::span<const int64_t> dims, std::span<const int> order) {
  Dims result;
  for (const int i : order) result.push_back(dims[i]);
  return result;
}

std::vector<int> ChannelsFirstOrder(int rank, bool channels_last) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (channels_last && rank > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

std::vector<int> ValueOrder(int rank, bool channels_last) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (channels_last && rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Placement ChannelsLast(std::span<const int64_t> dims, bool channels_last, DataType type) {
  const size_t channel = channels_last ? dims.size() - 1 : 1;
  Dims strides(dims.size());
  strides[channel] = 1;
  int64_t step = dims[channel];
  for (size_t i = dims.size(); i-- > 0;) {
    if (i == channel) continue;
    strides[i] = step;
    step *= dims[i];
  }
  return PlacementOf(Desc(Dims(dims.begin(), dims.end()), *DnnlType(type), strides), type);
}

std::string ImplementationName(const dnnl::primitive_desc_base& desc) { return desc.impl_info_str(); }

bool IsFloat(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kBFloat16 || type == DataType::kFloat16;
}

Implementation ImplementationOf(const dnnl::primitive_desc_base& desc) {
  const std::string name = ImplementationName(desc);
  return {name, IsSlow(desc), VectorBitsOf(name)};
}

bool IsSlow(const dnnl::primitive_desc_base& desc) { return ImplementationName(desc).starts_with("ref"); }

bool IsGemm(const Implementation& implementation) { return implementation.name.starts_with("gemm:"); }

bool UsesTiles(const Implementation& implementation) { return implementation.name.find("amx") != std::string::npos; }

bool UsesAvx2(const Implementation& implementation) { return implementation.name.ends_with(":avx2"); }

bool IsBrgemmMatMul(const Implementation& implementation) { return implementation.name.starts_with("brg_matmul:"); }

bool RunsConvolution(const Implementation& implementation) { return implementation.name.starts_with("conv:any"); }

bool HasSlowPart(const Implementation& implementation) {
  return implementation.slow || implementation.name.find("+ref") != std::string::npos;
}

void PrimitiveStep::AddCall(dnnl::primitive primitive) { calls_.push_back(Call{std::move(primitive), {}}); }

void PrimitiveStep::SetArgument(int argument, const dnnl::memory& memory) {
  std::vector<dnnl_exec_arg_t>& arguments = calls_.back().arguments;
  for (dnnl_exec_arg_t& known : arguments) {
    if (known.arg != argument) continue;
    known.memory = memory.get();
    return;
  }
  arguments.push_back({argument, memory.get()});
}

void PrimitiveStep::Add(int argument, const Desc& desc, From from, int index, size_t byte_offset) {
  slots_.push_back(Slot{Memory(desc, CpuEngine(), nullptr), from, index, byte_offset});
  SetArgument(argument, slots_.back().memory);
}

void PrimitiveStep::AddInput(int argument, const Desc& desc, int need, size_t byte_offset) {
  Add(argument, desc, From::kInput, need, byte_offset);
}

void PrimitiveStep::AddOutput(int argument, const Desc& desc, int output, size_t byte_offset) {
  Add(argument, desc, From::kOutput, output, byte_offset);
}

void PrimitiveStep::AddScratch(int argument, const Desc& desc, size_t byte_offset) {
  Add(argument, desc, From::kScratch, 0, byte_offset);
}

void PrimitiveStep::AddPrepacked(int argument, PrepackedMemory fixed) {
  SetArgument(argument, fixed.memory);
  fixed_.push_back(std::move(fixed));
}

void PrimitiveStep::Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) {
  for (Slot& slot : slots_) {
    std::byte* base = slot.from == From::kInput    ? inputs[slot.index]
                      : slot.from == From::kOutput ? outputs[slot.index]
                                                   : scratch;
    slot.memory.set_data_handle(base + slot.byte_offset);
  }
}

absl::Status PrimitiveStep::Run() {
  for (const Call& call : calls_) {
    const dnnl_status_t status = dnnl_primitive_execute(call.primitive.get(), CpuStream().get(),
                                                        static_cast<int>(call.arguments.size()), call.arguments.data());
    if (status != dnnl_success) return StatusOf(dnnl::error(status, "could not execute a primitive"));
  }
  return absl::OkStatus();
}

StepFacts PrimitiveStep::facts() const {
  StepFacts facts;
  for (const Call& call : calls_) facts.reorders += call.primitive.get_kind() == dnnl::primitive::kind::reorder ? 1 : 0;
  for (const PrepackedMemory& fixed : fixed_) facts.constants.emplace_back(fixed.pages->data(), fixed.pages->size());
  return facts;
}

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace halftone::onednn
