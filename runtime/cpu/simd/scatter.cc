// SPDX-License-Identifier: Apache-2.0
// scatter_nd, scatter_elements and scatter_nd_new. Where x dies here the updates are written over it: a loop that fills
// an array row by row costs one row a round.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;
using Offsets = std::function<absl::Status(const std::byte* indices, DataType type, int64_t* offsets)>;

enum class Reduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };

std::optional<Reduction> ReductionOf(const Node& node) {
  if (node.op == OpKind::kScatterNdNew) return Reduction::kAdd;
  const std::string word = node.attributes.String("reduction", "none");
  if (word == "none") return Reduction::kNone;
  if (word == "add") return Reduction::kAdd;
  if (word == "mul") return Reduction::kMul;
  if (word == "max") return Reduction::kMax;
  return word == "min" ? std::optional(Reduction::kMin) : std::nullopt;
}

// Integers wrap around as the machine's do.
template <typename T, typename Combine>
T Wrapped(T a, T b, Combine combine) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(combine(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
  } else {
    return combine(a, b);
  }
}

// `count` blocks of updates into y at the offsets (in elements), one after the other.
struct Problem {
  Reduction reduction = Reduction::kNone;
  int64_t count = 0, block = 1;  // elements in a block
  size_t element_bytes = 0;
  size_t y_bytes = 0;

  void Write(const int64_t* offsets, const std::byte* updates, std::byte* y) const {
    const size_t bytes = static_cast<size_t>(block) * element_bytes;
    for (int64_t i = 0; i < count && bytes > 0; ++i) {
      std::memcpy(y + static_cast<size_t>(offsets[i]) * element_bytes, updates + static_cast<size_t>(i) * bytes, bytes);
    }
  }

  template <typename T>
  void Reduce(const int64_t* offsets, const T* updates, T* y) const {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < block; ++j) {
        T& target = y[offsets[i] + j];
        const T update = updates[i * block + j];
        switch (reduction) {
          case Reduction::kAdd:
            target = Wrapped(target, update, std::plus<>());
            break;
          case Reduction::kMul:
            target = Wrapped(target, update, std::multiplies<>());
            break;
          case Reduction::kMax:
            target = std::max(target, update);
            break;
          case Reduction::kMin:
            target = std::min(target, update);
            break;
          case Reduction::kNone:
            target = update;
            break;
        }
      }
    }
  }

  void Run(DataType type, const int64_t* offsets, const std::byte* updates, std::byte* y) const {
    const auto reduce = [&]<typename T>(T*) {
      Reduce(offsets, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(y));
    };
    if (reduction == Reduction::kNone) {
      Write(offsets, updates, y);
    } else if (type == DataType::kFloat32) {
      reduce(static_cast<float*>(nullptr));
    } else if (type == DataType::kFloat64) {
      reduce(static_cast<double*>(nullptr));
    } else if (type == DataType::kInt32) {
      reduce(static_cast<int32_t*>(nullptr));
    } else {
      reduce(static_cast<int64_t*>(nullptr));
    }
  }
};

// In which type it is computed; nullopt: not here.
std::optional<DataType> ComputedAs(DataType type, Reduction reduction) {
  if (reduction == Reduction::kNone) return ElementSize(type) > 0 ? std::optional(type) : std::nullopt;
  if (type == DataType::kBFloat16 || type == DataType::kFloat16) return DataType::kFloat32;
  const bool known =
      type == DataType::kFloat32 || type == DataType::kFloat64 || type == DataType::kInt32 || type == DataType::kInt64;
  return known ? std::optional(type) : std::nullopt;
}

struct Indexed {
  Offsets offsets;
  int64_t count = 0, block = 1;
};

absl::StatusOr<Indexed> IndexedBlocks(const NodeContext& context, const Dims& y, const Dims& indices) {
  if (context.node().op != OpKind::kScatterElements) {
    const Tuples tuples(y, indices, 1);
    return Indexed{[tuples](const std::byte* memory, DataType type, int64_t* offsets) {
                     return tuples.Offsets(memory, type, offsets);
                   },
                   tuples.count, Product(std::span<const int64_t>(y).subspan(tuples.length))};
  }
  const int64_t written = context.node().attributes.Int("axis", 0);
  if (y.empty() || y.size() != indices.size()) return absl::UnimplementedError("scalars");
  const int axis = static_cast<int>(written < 0 ? written + static_cast<int64_t>(y.size()) : written);
  for (size_t i = 0; i < y.size(); ++i) {
    if (static_cast<int>(i) != axis && indices[i] > y[i]) return absl::UnimplementedError("indices longer than x");
  }
  const ElementIndices elements(y, indices, axis);
  return Indexed{[elements](const std::byte* memory, DataType type, int64_t* offsets) {
                   return elements.Offsets(memory, type, offsets);
                 },
                 elements.count, 1};
}

// Of constant indices, once; null where they are computed, or wrong, which is said when they are used.
std::shared_ptr<const std::vector<int64_t>> KnownOffsets(const NodeContext& context, int input,
                                                         const Indexed& indexed) {
  const Tensor* indices = context.Constant(input);
  if (indices == nullptr) return nullptr;
  std::vector<int64_t> offsets(static_cast<size_t>(indexed.count));
  if (!indexed.offsets(indices->raw(), indices->type(), offsets.data()).ok()) return nullptr;
  return std::make_shared<const std::vector<int64_t>>(std::move(offsets));
}

class ScatterKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const bool is_new = context.node().op == OpKind::kScatterNdNew;
    const int index_input = is_new ? 0 : 1, update_input = is_new ? 1 : 2;
    const DataType index_type = context.InputType(index_input);
    if (!IsIndexType(index_type)) return absl::UnimplementedError("indices of another type");
    const std::optional<Reduction> reduction = ReductionOf(context.node());
    if (!reduction.has_value()) return absl::UnimplementedError("another reduction");
    const std::optional<DataType> type = ComputedAs(context.OutputType(), *reduction);
    if (!type.has_value()) return absl::UnimplementedError("no reduction of this type");
    const Dims y = context.OutputDims();
    HALFTONE_ASSIGN_OR_RETURN(const Indexed indexed, IndexedBlocks(context, y, context.InputDims(index_input)));
    if (Product(context.InputDims(update_input)) != indexed.count * indexed.block) {
      return absl::UnimplementedError("updates of another size");
    }
    Problem problem{*reduction, indexed.count, indexed.block, ElementSize(*type)};
    problem.y_bytes = static_cast<size_t>(Product(y)) * problem.element_bytes;
    Prepared prepared{.outputs = {Placement{*type}}, .kernel = "loop"};
    if (!is_new) {
      prepared.inputs.push_back({0, Placement{*type}});
      prepared.may_overwrite = 0;
    }
    const std::shared_ptr<const std::vector<int64_t>> known = KnownOffsets(context, index_input, indexed);
    if (known == nullptr) {
      prepared.inputs.push_back({index_input, Placement{index_type}});
      prepared.scratch_bytes = static_cast<size_t>(std::max<int64_t>(indexed.count, 1)) * sizeof(int64_t);
    }
    prepared.inputs.push_back({update_input, Placement{*type}});
    const size_t updates_at = prepared.inputs.size() - 1;
    const Offsets find = indexed.offsets;
    const DataType computed = *type;
    prepared.step = std::make_unique<LoopStep>([=](const Memory& memory) -> absl::Status {
      const int64_t* offsets = reinterpret_cast<int64_t*>(memory.scratch);
      std::byte* const out = memory.outputs[0];
      if (known != nullptr) {
        offsets = known->data();
      } else {
        HALFTONE_RETURN_IF_ERROR(
            find(memory.inputs[index_input], index_type, reinterpret_cast<int64_t*>(memory.scratch)));
      }
      if (is_new) {
        std::memset(out, 0, problem.y_bytes);
      } else if (out != memory.inputs[0] && problem.y_bytes > 0) {
        std::memcpy(out, memory.inputs[0], problem.y_bytes);
      }
      problem.Run(computed, offsets, memory.inputs[updates_at], out);
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeScatterKernel() { return std::make_unique<ScatterKernel>(); }

}  // namespace halftone::simd
