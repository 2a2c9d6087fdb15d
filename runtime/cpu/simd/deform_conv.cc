// SPDX-License-Identifier: Apache-2.0
// deform_conv of images, and col2im. The samples of one output row become a matrix of columns, as in any convolution by
// im2col; the sums run along the taps.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "ir/window.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"
#include "runtime/cpu/simd/simd.h"

namespace halftone::simd {
namespace {

using Dims = std::vector<int64_t>;

struct Problem {
  int64_t batch = 0, channels = 0, outputs = 0, groups = 1, offset_groups = 1;
  int64_t in_h = 0, in_w = 0, out_h = 0, out_w = 0, kernel_h = 0, kernel_w = 0;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_h = 0, pad_w = 0;
  bool has_bias = false, has_mask = false;
};

// The plane between its elements, 0 outside.
float Between(const float* plane, int64_t height, int64_t width, float y, float x) {
  const float top = std::floor(y), left = std::floor(x);
  if (!(top >= -1 && top < static_cast<float>(height) && left >= -1 && left < static_cast<float>(width))) return 0;
  const int64_t row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
  const float down = y - top, along = x - left;
  const auto at = [&](int64_t r, int64_t c) {
    return r >= 0 && r < height && c >= 0 && c < width ? plane[r * width + c] : 0.0f;
  };
  float sum = 0;
  if (down < 1 && along < 1) sum += (1 - down) * (1 - along) * at(row, column);
  if (along > 0) sum += (1 - down) * along * at(row, column + 1);
  if (down > 0) sum += down * (1 - along) * at(row + 1, column);
  if (down > 0 && along > 0) sum += down * along * at(row + 1, column + 1);
  return sum;
}

HALFTONE_SIMD float Dot(const float* a, const float* b, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

struct Arguments {
  const float *x, *weights, *offset, *bias, *mask;
  float* y;
};

// One position of the output, all channels. `column`: channels * taps numbers.
void Position(const Problem& p, const Arguments& a, int64_t n, int64_t oh, int64_t ow, float* column) {
  const int64_t taps = p.kernel_h * p.kernel_w, plane = p.out_h * p.out_w, here = oh * p.out_w + ow;
  const int64_t shared = p.channels / p.offset_groups;  // channels with the same offsets
  for (int64_t group = 0; group < p.offset_groups; ++group) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t moved = (n * p.offset_groups + group) * taps + tap;
      const float y = static_cast<float>(oh * p.stride_h - p.pad_h + tap / p.kernel_w * p.dilation_h) +
                      a.offset[2 * moved * plane + here];
      const float x = static_cast<float>(ow * p.stride_w - p.pad_w + tap % p.kernel_w * p.dilation_w) +
                      a.offset[(2 * moved + 1) * plane + here];
      const float mask = p.has_mask ? a.mask[moved * plane + here] : 1.0f;
      for (int64_t c = group * shared; c < (group + 1) * shared; ++c) {
        const float* image = a.x + (n * p.channels + c) * p.in_h * p.in_w;
        column[c * taps + tap] = mask * Between(image, p.in_h, p.in_w, y, x);
      }
    }
  }
  const int64_t inputs = p.channels / p.groups, made = p.outputs / p.groups;
  for (int64_t o = 0; o < p.outputs; ++o) {
    const float sum = Dot(a.weights + o * inputs * taps, column + o / made * inputs * taps, inputs * taps);
    a.y[(n * p.outputs + o) * plane + here] = sum + (p.has_bias ? a.bias[o] : 0.0f);
  }
}

class DeformConvKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const Attributes& attributes = context.node().attributes;
    if (!ComputedType(context.InputType(0)).has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
    const Dims x = context.InputDims(0), weights = context.InputDims(1), y = context.OutputDims();
    if (x.size() != 4 || weights.size() != 4 || y.size() != 4) return absl::UnimplementedError("for images");
    HALFTONE_ASSIGN_OR_RETURN(const Window window, ResolveWindow(attributes, std::span<const int64_t>(x).subspan(2),
                                                                 std::span<const int64_t>(weights).subspan(2)));
    Problem p{.batch = x[0],
              .channels = x[1],
              .outputs = weights[0],
              .groups = attributes.Int("group", 1),
              .offset_groups = attributes.Int("offset_group", 1),
              .in_h = x[2],
              .in_w = x[3],
              .out_h = y[2],
              .out_w = y[3],
              .kernel_h = weights[2],
              .kernel_w = weights[3],
              .stride_h = window.strides[0],
              .stride_w = window.strides[1],
              .dilation_h = window.dilations[0],
              .dilation_w = window.dilations[1],
              .pad_h = window.pads_begin[0],
              .pad_w = window.pads_begin[1],
              .has_bias = context.HasInput(3),
              .has_mask = context.HasInput(4)};
    const int64_t taps = p.kernel_h * p.kernel_w;
    const bool fits =
        p.groups >= 1 && p.offset_groups >= 1 && p.channels % p.groups == 0 && p.outputs % p.groups == 0 &&
        p.channels % p.offset_groups == 0 && weights[1] == p.channels / p.groups &&
        y == Dims{p.batch, p.outputs, p.out_h, p.out_w} &&
        context.InputDims(2) == Dims{p.batch, p.offset_groups * taps * 2, p.out_h, p.out_w} &&
        (!p.has_mask || context.InputDims(4) == Dims{p.batch, p.offset_groups * taps, p.out_h, p.out_w}) &&
        (!p.has_bias || context.InputDims(3) == Dims{p.outputs});
    if (!fits) return absl::UnimplementedError("its arguments do not fit");
    Prepared prepared{.outputs = {Placement{DataType::kFloat32}}, .kernel = "loop"};
    for (int i = 0; i < 5; ++i) {
      if (context.HasInput(i)) prepared.inputs.push_back({i, Placement{DataType::kFloat32}});
    }
    prepared.step = std::make_unique<LoopStep>([p, taps](const Memory& m) {
      size_t next = 3;
      Arguments a{m.in<float>(0), m.in<float>(1), m.in<float>(2), nullptr, nullptr, m.out<float>(0)};
      if (p.has_bias) a.bias = m.in<float>(next++);
      if (p.has_mask) a.mask = m.in<float>(next);
      ParallelFor(p.batch * p.out_h, 1, [&](int64_t first, int64_t last) {
        std::vector<float> column(p.channels * taps);
        for (int64_t row = first; row < last; ++row) {
          for (int64_t ow = 0; ow < p.out_w; ++ow) Position(p, a, row / p.out_h, row % p.out_h, ow, column.data());
        }
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

// --- col2im of images

struct Fold {
  int64_t planes = 0, height = 0, width = 0, rows = 0, columns = 0;  // of the image; of blocks
  int64_t block_h = 0, block_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_h = 0, pad_w = 0;
};

void FoldPlane(const Fold& f, const float* x, float* y) {
  std::fill_n(y, f.height * f.width, 0.0f);
  for (int64_t tap = 0; tap < f.block_h * f.block_w; ++tap) {
    const int64_t down = tap / f.block_w * f.dilation_h - f.pad_h, along = tap % f.block_w * f.dilation_w - f.pad_w;
    for (int64_t r = 0; r < f.rows; ++r, x += f.columns) {
      const int64_t row = r * f.stride_h + down;
      if (row < 0 || row >= f.height) continue;
      for (int64_t c = 0; c < f.columns; ++c) {
        const int64_t column = c * f.stride_w + along;
        if (column >= 0 && column < f.width) y[row * f.width + column] += x[c];
      }
    }
  }
}

class Col2ImKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    if (!ComputedType(context.InputType(0)).has_value()) return absl::UnimplementedError("for f32, bf16 and f16");
    const Dims x = context.InputDims(0), y = context.OutputDims();
    const std::optional<Dims> block = context.ConstantInts(2);
    if (!block.has_value() || block->size() != 2 || y.size() != 4 || x.size() != 3)
      return absl::UnimplementedError("for images and a constant block");
    HALFTONE_ASSIGN_OR_RETURN(const Window window,
                              ResolveWindow(context.node().attributes, std::span<const int64_t>(y).subspan(2), *block));
    const Fold f{.planes = y[0] * y[1],
                 .height = y[2],
                 .width = y[3],
                 .rows = window.output[0],
                 .columns = window.output[1],
                 .block_h = (*block)[0],
                 .block_w = (*block)[1],
                 .stride_h = window.strides[0],
                 .stride_w = window.strides[1],
                 .dilation_h = window.dilations[0],
                 .dilation_w = window.dilations[1],
                 .pad_h = window.pads_begin[0],
                 .pad_w = window.pads_begin[1]};
    const int64_t taps = f.block_h * f.block_w;
    if (x != Dims{y[0], y[1] * taps, f.rows * f.columns}) return absl::UnimplementedError("its arguments do not fit");
    Prepared prepared{
        .inputs = {{0, Placement{DataType::kFloat32}}}, .outputs = {Placement{DataType::kFloat32}}, .kernel = "loop"};
    prepared.step = std::make_unique<LoopStep>([f, taps](const Memory& m) {
      const int64_t from = taps * f.rows * f.columns, to = f.height * f.width;
      ParallelFor(f.planes, 16384 / std::max<int64_t>(from, 1) + 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) FoldPlane(f, m.in<float>(0) + i * from, m.out<float>(0) + i * to);
      });
      return absl::OkStatus();
    });
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeDeformConvKernel() { return std::make_unique<DeformConvKernel>(); }
std::unique_ptr<Kernel> MakeCol2ImKernel() { return std::make_unique<Col2ImKernel>(); }

}  // namespace halftone::simd
