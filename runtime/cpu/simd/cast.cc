// SPDX-License-Identifier: Apache-2.0
// Casts that oneDNN does not have: to and from integers, bools and f64. As the reference: floats to integers towards
// zero and saturating, NaN to 0; integers to smaller ones keep the low bits; what is not 0 is true.
#include <limits>

#include "ir/round_to_odd.h"
#include "runtime/cpu/simd/elementwise.h"
#include "runtime/cpu/simd/kernels.h"

namespace halftone::simd {
namespace {

struct Bool {
  using Stored = uint8_t;
  using Computed = uint8_t;
};

template <typename From>
HALFTONE_INLINE auto Read(typename From::Stored stored) {
  if constexpr (std::is_same_v<From, Bool>)
    return stored;
  else
    return From::Get(stored);
}

// One element; narrow floats from anything wider are rounded once.
template <typename To, typename From>
HALFTONE_INLINE typename To::Stored Convert(From value) {
  using Stored = typename To::Stored;
  if constexpr (std::is_same_v<To, Bool>) {
    return value != 0 ? 1 : 0;
  } else if constexpr (std::is_same_v<To, Bf16>) {
    if constexpr (sizeof(From) >= 4 && !std::is_same_v<From, float>)
      return ToBf16(RoundToOdd(static_cast<double>(value)));
    else
      return ToBf16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, F16>) {
    if constexpr (sizeof(From) >= 4 && !std::is_same_v<From, float>)
      return F16::Put(RoundToOdd(static_cast<double>(value)));
    else
      return F16::Put(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<Stored>) {
    constexpr From kLow = static_cast<From>(std::numeric_limits<Stored>::lowest());
    constexpr From kHigh = static_cast<From>(std::numeric_limits<Stored>::max());
    if (value != value) return 0;
    if (value <= kLow) return std::numeric_limits<Stored>::lowest();
    if (value >= kHigh) return std::numeric_limits<Stored>::max();
    return static_cast<Stored>(value);
  } else if constexpr (std::is_same_v<Stored, float>) {
    return static_cast<float>(static_cast<double>(value));
  } else {
    return static_cast<Stored>(value);
  }
}

template <typename From, typename To>
void CastRow(const Operands& o, std::byte* y, int64_t count) {
  const auto* from = reinterpret_cast<const typename From::Stored*>(o.from[0]);
  auto* out = reinterpret_cast<typename To::Stored*>(y);
  const int64_t step = o.step[0];
  for (int64_t i = 0; i < count; ++i) out[i] = Convert<To>(Read<From>(from[i * step]));
}

template <typename Visit>
bool VisitAll(DataType type, const Visit& visit) {
  if (VisitFloats(type, visit) || VisitIntegers(type, visit)) return true;
  if (type != DataType::kBool) return false;
  visit.template operator()<Bool>();
  return true;
}

Row RowOf(DataType from, DataType to) {
  Row row = nullptr;
  VisitAll(from, [&]<typename From>() { VisitAll(to, [&]<typename To>() { row = &CastRow<From, To>; }); });
  return row;
}

class CastKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType from = context.InputType(0), to = context.OutputType();
    const Row row = RowOf(from, to);
    if (row == nullptr) return absl::UnimplementedError("no loop for these types");
    Prepared prepared{.inputs = {{0, Placement{from}}}, .outputs = {Placement{to}}, .kernel = "loop"};
    prepared.step =
        MakeElementwiseStep(row, context.OutputDims(), ElementSize(to), {{context.InputDims(0), ElementSize(from)}});
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeCastKernel() { return std::make_unique<CastKernel>(); }

}  // namespace halftone::simd
