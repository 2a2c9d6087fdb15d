// SPDX-License-Identifier: Apache-2.0
// pad in all modes but constant: each dimension of y reads x by a list of places, rows are copied in one piece.
#include <cstring>
#include <optional>

#include "base/status.h"
#include "ir/pad_index.h"
#include "runtime/cpu/simd/indices.h"
#include "runtime/cpu/simd/kernels.h"
#include "runtime/cpu/simd/loop_step.h"
#include "runtime/cpu/simd/parallel.h"

namespace halftone::simd {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;

struct Problem {
  std::vector<int64_t> out;                  // y's dimensions but the last
  std::vector<std::vector<int64_t>> places;  // of each of them: offsets in x, in elements
  std::vector<int64_t> columns;              // of the last dimension
  int64_t whole_begin = 0, whole_size = 0;   // the part of it that is x itself
  size_t bytes = 0;

  template <size_t kBytes>
  void Row(const std::byte* x, std::byte* y) const {
    const int64_t count = static_cast<int64_t>(columns.size());
    const auto copy = [&](int64_t i) { std::memcpy(y + i * kBytes, x + columns[i] * kBytes, kBytes); };
    for (int64_t i = 0; i < whole_begin; ++i) copy(i);
    if (whole_size > 0) {
      std::memcpy(y + whole_begin * kBytes, x + columns[whole_begin] * kBytes,
                  static_cast<size_t>(whole_size) * kBytes);
    }
    for (int64_t i = whole_begin + whole_size; i < count; ++i) copy(i);
  }

  void Rows(int64_t first, int64_t last, const std::byte* x, std::byte* y) const {
    const size_t row_bytes = columns.size() * bytes;
    for (int64_t row = first; row < last; ++row) {
      int64_t rest = row, offset = 0;
      for (size_t d = out.size(); d-- > 0;) {
        offset += places[d][rest % out[d]];
        rest /= out[d];
      }
      const std::byte* from = x + static_cast<size_t>(offset) * bytes;
      std::byte* to = y + static_cast<size_t>(row) * row_bytes;
      if (bytes == 1) Row<1>(from, to);
      if (bytes == 2) Row<2>(from, to);
      if (bytes == 4) Row<4>(from, to);
      if (bytes == 8) Row<8>(from, to);
      if (bytes == 16) Row<16>(from, to);
    }
  }
};

class PadKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const std::string mode = context.node().attributes.String("mode", "constant");
    const std::vector<int64_t> in = context.InputDims(0), out = context.OutputDims();
    const std::optional<std::vector<int64_t>> pads = context.ConstantInts(1);
    if (mode == "constant" || !pads.has_value() || in.empty()) return absl::UnimplementedError("computed pads");
    const size_t rank = in.size();
    std::vector<int64_t> axes;
    if (context.HasInput(3)) {
      const std::optional<std::vector<int64_t>> given = context.ConstantInts(3);
      if (!given.has_value()) return absl::UnimplementedError("the axes are not constant");
      axes = *given;
    } else {
      for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    }
    if (pads->size() != 2 * axes.size()) return absl::UnimplementedError("pads of another length");
    const bool pairs = context.InputDims(1).size() == 2;
    std::vector<int64_t> begins(rank, 0), ends(rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i];
      begins[axis] = (*pads)[pairs ? 2 * i : i];
      ends[axis] = (*pads)[pairs ? 2 * i + 1 : i + axes.size()];
    }
    Problem problem;
    problem.bytes = ElementSize(context.InputType(0));
    int64_t stride = 1;
    std::vector<std::vector<int64_t>> places(rank);
    for (size_t d = rank; d-- > 0;) {
      const int64_t cut = std::max<int64_t>(-begins[d], 0), left = in[d] - cut - std::max<int64_t>(-ends[d], 0);
      if (left <= 0) return absl::UnimplementedError("nothing to read");
      for (int64_t i = 0; i < out[d]; ++i) {
        places[d].push_back((PadIndex(mode, i - std::max<int64_t>(begins[d], 0), left) + cut) * stride);
      }
      stride *= in[d];
      if (d + 1 == rank) {
        problem.whole_begin = std::min(std::max<int64_t>(begins[d], 0), out[d]);
        problem.whole_size = std::min(left, out[d] - problem.whole_begin);
      }
    }
    problem.columns = std::move(places.back());
    places.pop_back();
    problem.places = std::move(places);
    problem.out.assign(out.begin(), out.end() - 1);
    const int64_t rows = Product(problem.out);
    const int64_t row_bytes = static_cast<int64_t>(problem.columns.size() * problem.bytes);
    if (row_bytes == 0) return absl::UnimplementedError("an empty result");
    auto step = std::make_unique<LoopStep>([problem, rows, row_bytes](const Memory& memory) {
      ParallelFor(rows, std::max<int64_t>(1, kGrainBytes / row_bytes),
                  [&](int64_t first, int64_t last) { problem.Rows(first, last, memory.inputs[0], memory.outputs[0]); });
      return absl::OkStatus();
    });
    const Placement plain{context.InputType(0)};
    return Prepared{.step = std::move(step), .inputs = {{0, plain}}, .outputs = {plain}, .kernel = "loop"};
  }
};

}  // namespace

std::unique_ptr<Kernel> MakePadKernel() { return std::make_unique<PadKernel>(); }

}  // namespace halftone::simd
