// SPDX-License-Identifier: Apache-2.0
// softmax(scale * q k^T + mask) v without memory for all scores: for each block of queries the scores of all keys,
// which stay in the cache, their softmax in place, their product with the values. Keys and values are packed once for
// all queries of a head, from wherever they lie.
#ifndef HALFTONE_RUNTIME_CPU_SIMD_SCALED_ATTENTION_H_
#define HALFTONE_RUNTIME_CPU_SIMD_SCALED_ATTENTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/types.h"
#include "runtime/cpu/simd/attention_panels.h"
#include "runtime/cpu/simd/block_matmul.h"

namespace halftone::simd {

// Numbers of elements; strides in elements. Columns of q, v and y lie next to each other; of k, columns or rows do.
struct AttentionShape {
  DataType type = DataType::kFloat32;  // of everything: f32 or bf16
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
  float scale = 1;
  int64_t q_row = 0, k_row = 0, k_column = 1, v_row = 0, y_row = 0;
  bool has_mask = false;
  int64_t mask_row = 0, mask_column = 0;  // 0: broadcast; a column has no other stride than 1
};

// Where one matrix of the result and what it is made of begin, in elements.
struct AttentionItem {
  int64_t q = 0, k = 0, v = 0, mask = 0, y = 0;
};

// Not thread-safe.
class ScaledAttention {
 public:
  // Items with the same keys should follow each other.
  ScaledAttention(const AttentionShape& shape, std::vector<AttentionItem> items);

  size_t ScratchBytes(int threads) const { return scratch_bytes_ * static_cast<size_t>(threads); }
  // Scratch memory is 64-byte aligned and enough for as many threads as there are.
  void Run(const std::byte* q, const std::byte* k, const std::byte* v, const std::byte* mask, std::byte* y,
           std::byte* scratch) const;

 private:
  struct Panels;
  struct Thread;
  Panels PanelsFor(const MatrixView& matrix, std::byte* memory) const;
  Thread ThreadAt(std::byte* scratch) const;

  struct Operands {
    const std::byte *q, *k, *v, *mask;
    std::byte* y;
  };
  // `count` rows of an item's queries, from the row `first` on.
  struct Block {
    const AttentionItem& item;
    int64_t first, count;
  };
  void PackItem(const Operands& operands, const AttentionItem& item, Thread& t) const;
  void Scores(const Operands& operands, const Block& block, const Thread& t) const;
  void Softmax(const Operands& operands, const Block& block, const Thread& t) const;
  void Values(const Operands& operands, const Block& block, const Thread& t) const;

  const AttentionShape shape_;
  const std::vector<AttentionItem> items_;
  const BlockMatMul matmul_;
  int64_t rows_ = 0;                         // of a block
  int64_t depth_steps_ = 0, key_steps_ = 0;  // of the two products
  int64_t score_stride_ = 0;
  size_t scratch_bytes_ = 0;  // of a thread
};

}  // namespace halftone::simd

#endif  // HALFTONE_RUNTIME_CPU_SIMD_SCALED_ATTENTION_H_
