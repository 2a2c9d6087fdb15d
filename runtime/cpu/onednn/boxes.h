// SPDX-License-Identifier: Apache-2.0
// What kernels share that copy boxes of elements from strided layout to strided layout.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_BOXES_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_BOXES_H_

#include <span>
#include <vector>

#include "runtime/cpu/onednn/support.h"
#include "runtime/plan/kernel.h"
#include "runtime/plan/strided_copy.h"

namespace halftone::onednn {

// A placement as strides, if it can be said so.
struct Strided {
  Placement placement;
  Dims strides;
};
// The input in the layout it has, or plain where its layout has blocks.
Strided StridedInput(const Dims& dims, const Placement& there);
// A dense layout for another shape with the dimensions in the same order.
Strided OutputLike(const Dims& in, const Strided& input, const Dims& out);

int64_t Dot(const Dims& a, const Dims& b);

// Fills output 0 with one element if wanted, then copies boxes. Big boxes are shared out among the threads.
class BoxStep final : public Step {
 public:
  // One end of a box: which input or output, the first element in it, strides in elements.
  struct End {
    int index = 0;
    int64_t offset = 0;
    Dims strides;
  };

  void Fill(std::vector<std::byte> element, size_t bytes);
  void Add(const Dims& dims, End from, End to, size_t element_bytes);

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override;
  absl::Status Run() override;

 private:
  struct Box {
    StridedCopy copy;
    int input, output;
    int64_t from, to;  // bytes
  };

  std::vector<Box> boxes_;
  int64_t bytes_ = 0;  // of all boxes
  std::vector<std::byte> fill_;
  size_t fill_bytes_ = 0;
  std::vector<std::byte*> inputs_, outputs_;
};

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_BOXES_H_
