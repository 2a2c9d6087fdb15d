// SPDX-License-Identifier: Apache-2.0
// Normalization by the statistics of a channel over the whole batch: batch_norm in training mode, mean_variance_norm.
//
// x is [outer, channels, inner]. Each channel is summed in f64 from f32 blocks; variances take a second pass.
#include <algorithm>
#include <cmath>

#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kBlock = 4096;

struct View {
  int64_t outer = 1, channels = 1, inner = 1;
  double count() const { return static_cast<double>(outer * inner); }
};

// Adds x or (x - mean)^2 of the channels [first, last) to `sums`.
template <typename T>
HALFTONE_INLINE void Sum(const View& v, const T* x, const float* means, double* sums, int64_t first, int64_t last) {
  for (int64_t o = 0; o < v.outer; ++o) {
    if (v.inner == 1) {  // channels last: they are the vector
      const T* row = x + o * v.channels;
      for (int64_t c = first; c < last; ++c) {
        const float value = Load(row + c) - (means == nullptr ? 0 : means[c]);
        sums[c] += static_cast<double>(means == nullptr ? value : value * value);
      }
      continue;
    }
    for (int64_t c = first; c < last; ++c) {
      const T* plane = x + (o * v.channels + c) * v.inner;
      for (int64_t begin = 0; begin < v.inner; begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, v.inner);
        float sum = 0;
        if (means == nullptr) {
#pragma omp simd reduction(+ : sum)
          for (int64_t i = begin; i < end; ++i) sum += Load(plane + i);
        } else {
          const float mean = means[c];
#pragma omp simd reduction(+ : sum)
          for (int64_t i = begin; i < end; ++i) sum += (Load(plane + i) - mean) * (Load(plane + i) - mean);
        }
        sums[c] += static_cast<double>(sum);
      }
    }
  }
}
HALFTONE_SIMD void SumF32(const View& v, const float* x, const float* means, double* sums, int64_t first,
                          int64_t last) {
  Sum(v, x, means, sums, first, last);
}
HALFTONE_SIMD void SumBf16(const View& v, const uint16_t* x, const float* means, double* sums, int64_t first,
                           int64_t last) {
  Sum(v, x, means, sums, first, last);
}

// y = (x - mean) * factor + offset for the rows [first, last) of outer.
template <typename T>
HALFTONE_INLINE void Apply(const View& v, const T* x, T* y, const float* means, const float* factors,
                           const float* offsets, int64_t first, int64_t last) {
  for (int64_t o = first; o < last; ++o) {
    if (v.inner == 1) {
      const int64_t at = o * v.channels;
#pragma omp simd
      for (int64_t c = 0; c < v.channels; ++c)
        Store(y + at + c, (Load(x + at + c) - means[c]) * factors[c] + offsets[c]);
      continue;
    }
    for (int64_t c = 0; c < v.channels; ++c) {
      const int64_t at = (o * v.channels + c) * v.inner;
      const float mean = means[c], factor = factors[c], offset = offsets[c];
#pragma omp simd
      for (int64_t i = 0; i < v.inner; ++i) Store(y + at + i, (Load(x + at + i) - mean) * factor + offset);
    }
  }
}
HALFTONE_SIMD void ApplyF32(const View& v, const float* x, float* y, const float* means, const float* factors,
                            const float* offsets, int64_t first, int64_t last) {
  Apply(v, x, y, means, factors, offsets, first, last);
}
HALFTONE_SIMD void ApplyBf16(const View& v, const uint16_t* x, uint16_t* y, const float* means, const float* factors,
                             const float* offsets, int64_t first, int64_t last) {
  Apply(v, x, y, means, factors, offsets, first, last);
}

struct Statistics {
  std::vector<float> means;
  std::vector<double> variances;  // divided by the count
};

Statistics StatisticsOf(const View& v, bool bf16, const Memory& m) {
  Statistics s{std::vector<float>(v.channels), std::vector<double>(v.channels)};
  const auto sum = [&](const float* means) {
    std::vector<double> sums(v.channels, 0.0);
    const int64_t grain = 16384 / std::max<int64_t>(1, v.outer * v.inner) + 1;
    ParallelFor(v.channels, grain, [&](int64_t first, int64_t last) {
      if (bf16) {
        SumBf16(v, m.in<uint16_t>(0), means, sums.data(), first, last);
      } else {
        SumF32(v, m.in<float>(0), means, sums.data(), first, last);
      }
    });
    for (double& value : sums) value /= v.count();
    return sums;
  };
  const std::vector<double> means = sum(nullptr);
  for (int64_t c = 0; c < v.channels; ++c) s.means[c] = static_cast<float>(means[c]);
  s.variances = sum(s.means.data());
  return s;
}

void Normalize(const View& v, bool bf16, const Memory& m, const Statistics& s, const std::vector<float>& factors,
               const float* offsets) {
  ParallelFor(v.outer, 16384 / (v.channels * v.inner) + 1, [&](int64_t first, int64_t last) {
    if (bf16) {
      ApplyBf16(v, m.in<uint16_t>(0), m.out<uint16_t>(0), s.means.data(), factors.data(), offsets, first, last);
    } else {
      ApplyF32(v, m.in<float>(0), m.out<float>(0), s.means.data(), factors.data(), offsets, first, last);
    }
  });
}

// The axis that is not reduced, if it is the only one.
std::optional<int> OnlyKept(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  if (std::count(reduced.begin(), reduced.end(), false) != 1) return std::nullopt;
  return static_cast<int>(std::find(reduced.begin(), reduced.end(), false) - reduced.begin());
}

class ChannelNormKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Node& node = context.node();
    const std::optional<DataType> type = ComputedType(context.InputType(0));
    if (!type.has_value() || context.OutputType() != context.InputType(0))
      return absl::UnimplementedError("for f32, bf16 and f16");
    const bool batch_norm = node.op == OpKind::kBatchNorm;
    if (batch_norm && !node.attributes.Bool("is_training", false))
      return absl::UnimplementedError("the statistics are given");
    if (node.attributes.has("activation")) return absl::UnimplementedError("an activation");
    const Dims dims = context.InputDims(0);
    const int rank = static_cast<int>(dims.size());
    const std::optional<int> axis = batch_norm ? std::optional(rank < 2 ? 0 : ChannelAxis(node.attributes, rank))
                                               : OnlyKept(node.attributes.Ints("axes", {0, 2, 3}), rank);
    if (!axis.has_value() || rank == 0) return absl::UnimplementedError("more than one dimension is kept");
    View v{.channels = dims[*axis]};
    for (int i = 0; i < rank; ++i) {
      if (i < *axis) v.outer *= dims[i];
      if (i > *axis) v.inner *= dims[i];
    }
    if (v.outer * v.channels * v.inner == 0) return absl::UnimplementedError("nothing to normalize");
    Prepared prepared{.inputs = {{0, Placement{*type}}}, .kernel = "loop"};
    prepared.outputs.assign(node.outputs.size(), Placement{DataType::kFloat32});
    prepared.outputs[0] = Placement{*type};
    const bool bf16 = *type == DataType::kBFloat16;
    prepared.step =
        std::make_unique<LoopStep>(batch_norm ? BatchNorm(context, v, bf16, prepared) : MeanVariance(v, bf16));
    if (prepared.inputs.empty()) return absl::UnimplementedError("parameters are not one a channel");
    return prepared;
  }

 private:
  static LoopStep::Body MeanVariance(const View& v, bool bf16) {
    return [v, bf16](const Memory& m) {
      const Statistics s = StatisticsOf(v, bf16, m);
      std::vector<float> factors;
      for (const double variance : s.variances) factors.push_back(static_cast<float>(1 / (std::sqrt(variance) + 1e-9)));
      Normalize(v, bf16, m, s, factors, std::vector<float>(v.channels, 0.0f).data());
      return absl::OkStatus();
    };
  }

  // Further outputs. The first two are the running statistics, moved towards those of the batch, or with
  // statistics="batch" the mean and the unbiased variance of the batch; the last two are those of the batch, biased.
  // Leaves prepared.inputs empty where the kernel does not take the node.
  static LoopStep::Body BatchNorm(const NodeContext& context, const View& v, bool bf16, Prepared& prepared) {
    const bool of_batch = context.node().attributes.String("statistics", "running") == "batch";
    const std::vector<int64_t> channels{v.channels};
    const size_t outputs = context.node().outputs.size();
    const bool moved = !of_batch && outputs > 1;
    for (int i = 1; i <= (moved ? 4 : 2); ++i) {
      if (context.InputDims(i) != channels) {
        prepared.inputs.clear();
        return nullptr;
      }
      prepared.inputs.push_back({i, Placement{DataType::kFloat32}});
    }
    const double epsilon = context.node().attributes.Float("epsilon", 1e-5f);
    const float keep = context.node().attributes.Float("momentum", 0.9f);
    return [=](const Memory& m) {
      const Statistics s = StatisticsOf(v, bf16, m);
      std::vector<float> factors(v.channels);
      for (int64_t c = 0; c < v.channels; ++c)
        factors[c] = static_cast<float>(static_cast<double>(m.in<float>(1)[c]) / std::sqrt(s.variances[c] + epsilon));
      Normalize(v, bf16, m, s, factors, m.in<float>(2));
      const double bessel = v.count() / std::max(v.count() - 1, 1.0);
      for (size_t i = 1; i < std::min<size_t>(m.outputs.size(), 5); ++i) {
        if (m.outputs[i] == nullptr) continue;
        for (int64_t c = 0; c < v.channels; ++c) {
          const double batch = i % 2 == 1 ? static_cast<double>(s.means[c]) : s.variances[c];
          double value = batch;
          if (of_batch && i == 2) value *= bessel;
          if (!of_batch && i <= 2) value = static_cast<double>(m.in<float>(i + 2)[c] * keep) + batch * (1 - keep);
          m.out<float>(i)[c] = static_cast<float>(value);
        }
      }
      return absl::OkStatus();
    };
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeChannelNormKernel() { return std::make_unique<ChannelNormKernel>(); }

}  // namespace halftone::simd
