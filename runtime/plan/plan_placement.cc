// SPDX-License-Identifier: Apache-2.0
// Where values lie: blocks, which of them may be written over, conversions between layouts and types.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/plan/plan_builder_internal.h"

namespace halftone {

void PlanBuilder::PlaceInputs() {
  for (const NodeId node : graph_.inputs()) {
    const ValueId value = graph_.output(node);
    const Placement plain{graph_.type(value)};
    const int block = AddBlock(Block{.kind = Block::Kind::kInput,
                                     .bytes = backend_.Bytes(At(value).dims, plain),
                                     .input = static_cast<int>(plan_.inputs.size())});
    PutOn(value, plain, block);
    plan_.inputs.push_back(block);
  }
}

absl::Status PlanBuilder::PlaceOutputs() {
  for (const GraphOutput& output : graph_.outputs()) {
    HALFTONE_ASSIGN_OR_RETURN(const int block,
                              Obtain(output.value, Placement{graph_.type(output.value)}, output.name, /*owned=*/false));
    plan_.outputs.push_back(block);
    plan_.output_dims.push_back(At(output.value).dims);
  }
  return absl::OkStatus();
}

int PlanBuilder::AddBlock(Block block) {
  plan_.blocks.push_back(std::move(block));
  uses_left_.push_back(0);
  return static_cast<int>(plan_.blocks.size()) - 1;
}

int PlanBuilder::AddScratch(size_t bytes) {
  if (bytes == 0) return -1;
  return AddBlock(Block{.kind = Block::Kind::kScratch, .bytes = bytes});
}

void PlanBuilder::PutOn(ValueId value, Placement placement, int block) {
  At(value).variants.push_back({std::move(placement), block});
  uses_left_[block] += At(value).uses_left;
  if (!plan_.blocks[block].value.valid()) plan_.blocks[block].value = value;
}

void PlanBuilder::TakeFrom(ValueId value, int block) {
  uses_left_[block] -=
      At(value).uses_left *
      static_cast<int>(std::erase_if(At(value).variants, [&](const Variant& v) { return v.block == block; }));
}

void PlanBuilder::CountUse(ValueId value) {
  --At(value).uses_left;
  for (const Variant& variant : At(value).variants) --uses_left_[variant.block];
}

bool PlanBuilder::DiesWithOneUse(int block) const {
  const Block& b = plan_.blocks[block];
  const bool donated = b.kind == Block::Kind::kInput && static_cast<size_t>(b.input) < request_.donated.size() &&
                       request_.donated[b.input];
  return (b.kind == Block::Kind::kArena || donated) && uses_left_[block] == 1;
}

Placement PlanBuilder::PlacementOf(ValueId value) const {
  const Located& located = At(value);
  const DataType type = graph_.type(value);
  for (const Variant& variant : located.variants) {
    if (variant.placement.type == type) return variant.placement;
  }
  if (located.variants.empty()) return Placement{type};
  return backend_.WithType(located.dims, located.variants[0].placement, type);
}

// See NodeContext.
DataType PlanBuilder::ExactType(ValueId value) const {
  const Located& located = At(value);
  const DataType type = graph_.type(value);
  if (type != DataType::kFloat32) return type;
  if (located.constant.has_value()) {
    const std::span<const float> numbers = located.constant->data<float>();
    const bool narrow = std::ranges::all_of(numbers, [](float number) {
      return (std::bit_cast<uint32_t>(number) & 0xffffu) == 0;  // the bits that bf16 has not
    });
    return narrow ? DataType::kBFloat16 : type;
  }
  const bool cast = !located.variants.empty() && located.variants[0].placement.type == DataType::kBFloat16;
  return cast && !located.unrounded ? DataType::kBFloat16 : type;
}

// The variant to convert from. Where the first one is unrounded, the value's own type comes first.
absl::StatusOr<Variant> PlanBuilder::SourceFor(ValueId value, DataType wanted, const std::string& asker) {
  Located& located = At(value);
  const DataType type = graph_.type(value);
  for (const Variant& variant : located.variants) {
    if (variant.placement.type == type) return variant;
  }
  if (!located.unrounded || wanted == type) return located.variants[0];
  const Variant source = located.variants[0];
  const Placement rounded = backend_.WithType(located.dims, source.placement, type);
  HALFTONE_ASSIGN_OR_RETURN(const int block, Convert(value, source, rounded, asker, /*owned=*/false));
  PutOn(value, rounded, block);
  return located.variants.back();
}

// `owned`: the result will be written over, so it is made anew in each run even if it is a constant.
absl::StatusOr<int> PlanBuilder::Convert(ValueId value, const Variant& from, const Placement& to,
                                         const std::string& asker, bool owned) {
  const std::vector<int64_t>& dims = At(value).dims;
  absl::StatusOr<Prepared> prepared = backend_.Convert(dims, from.placement, to);
  if (!prepared.ok()) return Annotate(prepared.status(), Concat("node '", asker, "'"));
  const size_t bytes = backend_.Bytes(dims, to);
  if (!owned && plan_.blocks[from.block].kind == Block::Kind::kConstant) {
    const std::shared_ptr<Buffer> result = Buffer::Allocate(bytes);
    const std::shared_ptr<Buffer> scratch = Buffer::Allocate(prepared->scratch_bytes);
    std::byte* input = const_cast<std::byte*>(plan_.blocks[from.block].constant->data());  // Bind: not written
    std::byte* output = result->mutable_data();
    prepared->step->Bind({&input, 1}, {&output, 1}, scratch->mutable_data());
    HALFTONE_RETURN_IF_ERROR(prepared->step->Run());
    return AddBlock(Block{.kind = Block::Kind::kConstant, .bytes = bytes, .constant = result});
  }
  const int block = AddBlock(Block{.bytes = bytes});
  StepInfo info{.node = graph_.producer(value),
                .label = asker,
                .op = "reorder",
                .kind = StepKind::kConversion,
                .kernel = prepared->kernel};
  info.src_type = from.placement.type;
  info.dst_type = to.type;
  plan_.steps.push_back(PlannedStep{.info = std::move(info),
                                    .step = std::move(prepared->step),
                                    .inputs = {from.block},
                                    .outputs = {block},
                                    .scratch = AddScratch(prepared->scratch_bytes)});
  return block;
}

// A block that holds the value in the wanted way. `owned`: the caller will write over it.
absl::StatusOr<int> PlanBuilder::Obtain(ValueId value, const Placement& wanted, const std::string& asker, bool owned) {
  Located& located = At(value);
  if (located.variants.empty()) {  // a constant that is read for the first time
    const Tensor& tensor = *located.constant;
    const int block =
        AddBlock(Block{.kind = Block::Kind::kConstant, .bytes = tensor.byte_size(), .constant = tensor.buffer()});
    PutOn(value, Placement{tensor.type()}, block);
  }
  for (size_t i = 0; i < located.variants.size(); ++i) {
    const Variant& variant = located.variants[i];
    if (!backend_.Same(located.dims, variant.placement, wanted)) continue;
    if (located.unrounded && i == 0 && wanted.type != graph_.type(value)) continue;
    if (!owned || DiesWithOneUse(variant.block)) return variant.block;
  }
  HALFTONE_ASSIGN_OR_RETURN(const Variant source, SourceFor(value, wanted.type, asker));
  if (!owned && !located.unrounded && backend_.Same(located.dims, source.placement, wanted)) return source.block;
  HALFTONE_ASSIGN_OR_RETURN(const int block, Convert(value, source, wanted, asker, owned));
  if (!owned) PutOn(value, wanted, block);
  return block;
}

}  // namespace halftone
