// SPDX-License-Identifier: Apache-2.0
// The backends of this folder: rows of the table as plans read them, and what oneDNN knows of layouts.
#include "runtime/cpu/backend.h"

#include <omp.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "ir/reference/reference.h"
#include "runtime/cpu/kernel_table.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone {
namespace {

// The rows of each op, with kernels made once. They are never destroyed: plans may outlive main.
class RowsByOp {
 public:
  explicit RowsByOp(bool reference_only) {
    if (!reference_only) {
      for (const CpuKernel& kernel : CpuKernels()) Add(kernel, kernel.ops);
    }
    OpSet with_reference;
    for (int i = 0; i < kNumOps; ++i) {
      const auto op = static_cast<OpKind>(i);
      if (reference::HasReference(op)) with_reference = with_reference | OpSet{op};
    }
    Add(ReferenceRow(), with_reference);
  }
  std::span<const KernelRow> operator[](OpKind op) const { return rows_[static_cast<size_t>(op)]; }

 private:
  void Add(const CpuKernel& kernel, const OpSet& ops) {
    const KernelRow row{kernel.make().release(), &kernel.facts, MissingOnThisCpu(kernel.isa)};
    for (int i = 0; i < kNumOps; ++i) {
      if (ops.Has(static_cast<OpKind>(i))) rows_[i].push_back(row);
    }
  }

  std::array<std::vector<KernelRow>, kNumOps> rows_;
};

class TableBackend final : public Backend {
 public:
  explicit TableBackend(bool reference_only) : rows_(reference_only) {}

  std::span<const KernelRow> Kernels(OpKind op) const override { return rows_[op]; }

  absl::StatusOr<Prepared> Convert(std::span<const int64_t> dims, const Placement& from,
                                   const Placement& to) const override {
    return onednn::MakeConversion(dims, from, to);
  }

  bool Same(std::span<const int64_t> dims, const Placement& a, const Placement& b) const override {
    if (a.type != b.type) return false;
    if (a.plain() || b.plain()) return a.plain() && b.plain();
    return onednn::SameLayout(onednn::DescOf(dims, a), onednn::DescOf(dims, b));
  }

  size_t Bytes(std::span<const int64_t> dims, const Placement& placement) const override {
    if (!placement.plain()) return onednn::DescOf(dims, placement).get_size();
    size_t bytes = ElementSize(placement.type);
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    return bytes;
  }

  Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) const override {
    return onednn::WithType(dims, placement, type);
  }

  std::vector<std::optional<LayoutSeconds>> SecondsByLayout(std::span<const NodeContext* const> convs) const override {
    return onednn::ConvSecondsByLayout(convs);
  }

  double ReorderSeconds(size_t bytes) const override {
    constexpr double kBytesPerSecond = 5e9;  // read and written, by one thread that finds nothing in its caches
    return 2e-6 + static_cast<double>(bytes) / kBytesPerSecond;
  }

  size_t CacheBytes() const override {
    static const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? static_cast<size_t>(bytes) : size_t{32} << 20;
  }

  void UseThreads(int threads) const override {
    if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
  }

 private:
  const RowsByOp rows_;
};

}  // namespace

const Backend& CpuBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/false);
  return *backend;
}

const Backend& ReferenceBackend() {
  static const TableBackend* const backend = new TableBackend(/*reference_only=*/true);
  return *backend;
}

}  // namespace halftone
