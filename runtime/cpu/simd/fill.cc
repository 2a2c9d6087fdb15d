// SPDX-License-Identifier: Apache-2.0
// Ops that make elements from a few numbers: fill, range, one_hot, trilu, matrix_band_part. Numbers that are computed
// are read at run time.
#include <algorithm>
#include <cstring>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;

template <size_t kBytes>
struct Element {
  std::byte bytes[kBytes];
};

// Calls work with a pointer to elements of that many bytes.
template <typename Work>
void WithBytes(size_t bytes, Work work) {
  if (bytes == 1) return work(static_cast<uint8_t*>(nullptr));
  if (bytes == 2) return work(static_cast<uint16_t*>(nullptr));
  if (bytes == 4) return work(static_cast<uint32_t*>(nullptr));
  if (bytes == 8) return work(static_cast<uint64_t*>(nullptr));
  work(static_cast<Element<16>*>(nullptr));
}

absl::StatusOr<Prepared> Fill(const NodeContext& context) {
  const size_t bytes = ElementSize(context.OutputType());
  const int64_t count = Product(context.OutputDims());
  const bool has_value = context.HasInput(1);
  Prepared prepared{.outputs = {Placement{context.OutputType()}}, .kernel = "loop"};
  if (has_value) prepared.inputs.push_back({1, Placement{context.OutputType()}});
  prepared.step = std::make_unique<LoopStep>([=](const Memory& memory) {
    WithBytes(bytes, [&]<typename T>(T*) {
      T value{};
      if (has_value) value = *memory.in<T>(0);
      ParallelFor(count, kGrainBytes / static_cast<int64_t>(bytes), [&](int64_t first, int64_t last) {
        std::fill(memory.out<T>(0) + first, memory.out<T>(0) + last, value);
      });
    });
    return absl::OkStatus();
  });
  return prepared;
}

template <typename T>
void CountUp(const Memory& memory, int64_t count) {
  const T start = *memory.in<T>(0), delta = *memory.in<T>(2);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      memory.out<T>(0)[i] = static_cast<T>(static_cast<double>(start) + static_cast<double>(i) * delta);
    } else {
      memory.out<T>(0)[i] =
          static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
    }
  }
}

// The plan knows the length; limit was needed to find it.
absl::StatusOr<Prepared> Range(const NodeContext& context) {
  const DataType type = context.OutputType();
  const int64_t count = Product(context.OutputDims());
  if (type != DataType::kFloat32 && type != DataType::kInt32 && type != DataType::kInt64) {
    return absl::UnimplementedError("not of this type");
  }
  if (!context.ConstantScalar(0).has_value() || !context.ConstantScalar(1).has_value() ||
      !context.ConstantScalar(2).has_value()) {
    return absl::UnimplementedError("its numbers are not constant");  // the reference checks the length
  }
  auto step = std::make_unique<LoopStep>([=](const Memory& memory) {
    if (type == DataType::kFloat32) CountUp<float>(memory, count);
    if (type == DataType::kInt32) CountUp<int32_t>(memory, count);
    if (type == DataType::kInt64) CountUp<int64_t>(memory, count);
    return absl::OkStatus();
  });
  return Prepared{.step = std::move(step),
                  .inputs = {{0, Placement{type}}, {1, Placement{type}}, {2, Placement{type}}},
                  .outputs = {Placement{type}},
                  .kernel = "loop"};
}

// Negative indices count from the end unless wrap_negative is false. Those out of range give a line of `off`.
absl::StatusOr<Prepared> OneHot(const NodeContext& context) {
  const DataType index_type = context.InputType(0), type = context.OutputType();
  if (!IsIndexType(index_type)) return absl::UnimplementedError("indices of another type");
  if (!context.ConstantScalar(1).has_value() || Product(context.InputDims(2)) != 2) {
    return absl::UnimplementedError("the depth is not constant");
  }
  const std::vector<int64_t> out = context.OutputDims();
  const int64_t rank = static_cast<int64_t>(out.size());
  const int64_t written = context.node().attributes.Int("axis", -1), axis = written < 0 ? written + rank : written;
  const int64_t depth = out[axis], inner = Product(std::span<const int64_t>(out).subspan(axis + 1));
  const int64_t indices = Product(context.InputDims(0)), count = Product(out);
  const bool wraps = context.node().attributes.Bool("wrap_negative", true);
  const size_t bytes = ElementSize(type);
  auto step = std::make_unique<LoopStep>([=](const Memory& memory) {
    WithBytes(bytes, [&]<typename T>(T*) {
      const T off = memory.in<T>(1)[0], on = memory.in<T>(1)[1];
      T* const y = memory.out<T>(0);
      std::fill(y, y + count, off);
      for (int64_t i = 0; i < indices; ++i) {
        int64_t index = IndexAt(memory.inputs[0], index_type, i);
        if (wraps && index < 0) index += depth;
        if (index >= 0 && index < depth) y[(i / inner * depth + index) * inner + i % inner] = on;
      }
    });
    return absl::OkStatus();
  });
  return Prepared{.step = std::move(step),
                  .inputs = {{0, Placement{index_type}}, {2, Placement{type}}},
                  .outputs = {Placement{type}},
                  .kernel = "loop"};
}

// Of each row of each matrix the columns [row + low, row + high] stay.
absl::StatusOr<Prepared> Band(const NodeContext& context) {
  constexpr int64_t kAll = int64_t{1} << 40;
  const DataType type = context.OutputType();
  const std::vector<int64_t> dims = context.InputDims(0);
  if (dims.size() < 2) return absl::UnimplementedError("no matrices");
  int64_t low = -kAll, high = kAll;
  if (context.node().op == OpKind::kTrilu) {
    const std::optional<double> k = context.HasInput(1) ? context.ConstantScalar(1) : std::optional<double>(0);
    if (!k.has_value()) return absl::UnimplementedError("k is not constant");
    const int64_t diagonal = static_cast<int64_t>(std::clamp(*k, -1e9, 1e9));
    (context.node().attributes.Bool("upper", true) ? low : high) = diagonal;
  } else {
    const std::optional<double> lower = context.ConstantScalar(1), upper = context.ConstantScalar(2);
    if (!lower.has_value() || !upper.has_value()) return absl::UnimplementedError("the band is not constant");
    if (*lower >= 0) low = -static_cast<int64_t>(std::min(*lower, 1e9));
    if (*upper >= 0) high = static_cast<int64_t>(std::min(*upper, 1e9));
  }
  const int64_t rows = dims[dims.size() - 2], columns = dims.back(), count = Product(dims);
  const int64_t lines = columns == 0 ? 0 : count / columns, bytes = static_cast<int64_t>(ElementSize(type));
  auto step = std::make_unique<LoopStep>([=](const Memory& memory) {
    ParallelFor(lines, std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, columns * bytes)),
                [&](int64_t first, int64_t last) {
                  for (int64_t line = first; line < last; ++line) {
                    const int64_t row = line % rows;
                    const int64_t from = std::clamp<int64_t>(row + low, 0, columns);
                    const int64_t to = std::clamp<int64_t>(row + high + 1, from, columns);
                    std::byte* const y = memory.outputs[0] + line * columns * bytes;
                    const std::byte* const x = memory.inputs[0] + line * columns * bytes;
                    std::memset(y, 0, static_cast<size_t>(from * bytes));
                    if (x != y)
                      std::memcpy(y + from * bytes, x + from * bytes, static_cast<size_t>((to - from) * bytes));
                    std::memset(y + to * bytes, 0, static_cast<size_t>((columns - to) * bytes));
                  }
                });
    return absl::OkStatus();
  });
  return Prepared{.step = std::move(step),
                  .inputs = {{0, Placement{type}}},
                  .outputs = {Placement{type}},
                  .may_overwrite = 0,
                  .kernel = "loop"};
}

class FillKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (ElementSize(context.OutputType()) == 0) return absl::UnimplementedError("elements without a size");
    const OpKind op = context.node().op;
    if (op == OpKind::kFill) return Fill(context);
    if (op == OpKind::kRange) return Range(context);
    return op == OpKind::kOneHot ? OneHot(context) : Band(context);
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeFillKernel() { return std::make_unique<FillKernel>(); }

}  // namespace halftone::simd
