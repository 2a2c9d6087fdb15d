// SPDX-License-Identifier: Apache-2.0
// grid_sample: each point's elements and weights are worked out once and serve all channels.
#include <algorithm>
#include <array>

#include "base/status.h"
#include "ir/grid_taps.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

struct Problem {
  GridOptions options;
  int spatial = 0;
  std::array<int64_t, 3> size{}, stride{};  // of the image
  int64_t batch = 0, channels = 0, plane = 0, points = 0;
};

constexpr int kMostSources = 4 * 4 * 4;

// What one point reads.
struct Sources {
  int count = 0;
  std::array<int64_t, kMostSources> offsets;
  std::array<float, kMostSources> weights;
};

void Find(const Problem& p, const float* point, Sources& sources) {
  sources.count = 1;
  sources.offsets[0] = 0;
  std::array<double, kMostSources> weights;
  weights[0] = 1;
  for (int d = 0; d < p.spatial; ++d) {
    const GridTaps taps = TapsOfCoordinate(p.options, p.size[d], point[p.spatial - 1 - d], /*f64=*/false);
    const int before = sources.count;
    for (int t = taps.count; t-- > 0;) {  // the first tap last: it takes the places that the others read
      for (int s = 0; s < before; ++s) {
        sources.offsets[t * before + s] = sources.offsets[s] + taps.from[t] * p.stride[d];
        weights[t * before + s] = weights[s] * taps.weights[t];
      }
    }
    sources.count = before * taps.count;
  }
  for (int s = 0; s < sources.count; ++s) sources.weights[s] = static_cast<float>(weights[s]);
}

template <typename T>
void Sample(const Problem& p, const T* x, const float* grid, T* y, int64_t first, int64_t last) {
  Sources sources;
  for (int64_t i = first; i < last; ++i) {  // of batch * points
    Find(p, grid + i * p.spatial, sources);
    const int64_t n = i / p.points;
    const T* in = x + n * p.channels * p.plane;
    T* out = y + n * p.channels * p.points + i % p.points;
    for (int64_t c = 0; c < p.channels; ++c) {
      float sum = 0;
      for (int s = 0; s < sources.count; ++s) sum += sources.weights[s] * Load(in + c * p.plane + sources.offsets[s]);
      Store(out + c * p.points, sum);
    }
  }
}

class GridSampleKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    if (!type.has_value() || context.OutputType() != context.InputType(0) ||
        !ComputedType(context.InputType(1)).has_value()) {
      return absl::UnimplementedError("for f32, bf16 and f16");
    }
    const std::vector<int64_t> x = context.InputDims(0), grid = context.InputDims(1), y = context.OutputDims();
    Problem p{.spatial = static_cast<int>(x.size()) - 2};
    if (p.spatial < 1 || p.spatial > 3 || grid.size() != x.size() || grid.back() != p.spatial || grid[0] != x[0])
      return absl::InvalidArgumentError("x and grid do not fit");
    HALFTONE_ASSIGN_OR_RETURN(p.options, ReadGridOptions(context.node().attributes));
    p.batch = x[0];
    p.channels = x[1];
    p.plane = p.points = 1;
    for (int d = p.spatial; d-- > 0;) {
      p.size[d] = x[2 + d];
      p.stride[d] = p.plane;
      p.plane *= x[2 + d];
      p.points *= y[2 + d];
    }
    if (p.plane == 0 || p.batch * p.channels * p.points == 0) return absl::UnimplementedError("nothing to sample");
    Prepared prepared{.inputs = {{0, Placement{*type}}, {1, Placement{DataType::kFloat32}}},
                      .outputs = {Placement{*type}},
                      .kernel = "loop"};
    const bool bf16 = *type == DataType::kBFloat16;
    prepared.step = std::make_unique<LoopStep>([p, bf16](const Memory& m) {
      ParallelFor(p.batch * p.points, 2048 / p.channels + 16, [&](int64_t first, int64_t last) {
        if (bf16) {
          Sample(p, m.in<uint16_t>(0), m.in<float>(1), m.out<uint16_t>(0), first, last);
        } else {
          Sample(p, m.in<float>(0), m.in<float>(1), m.out<float>(0), first, last);
        }
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeGridSampleKernel() { return std::make_unique<GridSampleKernel>(); }

}  // namespace halftone::simd
