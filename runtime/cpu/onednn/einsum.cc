// SPDX-License-Identifier: Apache-2.0
// einsum: a chain of matmuls, from left to right.
//
// Of two operands, an index is of the batch (in both, kept), of the rows (only in the left), of the columns (only in
// the right) or summed (in both, not kept). Transposes, diagonals and broadcasts are strides; an operand is copied only
// where its indices do not lie as a matrix. An index that only one operand has and that is not kept is summed first,
// by a matmul with ones.
#include "ir/einsum.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {
namespace {

constexpr size_t kMostDims = 12;  // of oneDNN
constexpr int64_t kMostOnes = int64_t{1} << 24;

using Indices = std::vector<int>;

bool Has(const Indices& indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// A view of some memory: its indices (each once, of sizes above 1) with their strides.
struct Operand {
  enum class Where { kInput, kScratch, kOutput, kOnes };
  Where where = Where::kInput;
  int need = 0;       // of an input
  size_t offset = 0;  // of scratch memory, in bytes
  Indices indices;
  Dims strides;

  int64_t stride(int index) const {
    return strides[std::find(indices.begin(), indices.end(), index) - indices.begin()];
  }
};

class Builder {
 public:
  Builder(Dims sizes, DataType type) : sizes_(std::move(sizes)), type_(type) {}

  // The sum of the products over all indices that are not the result's.
  absl::Status Chain(std::vector<Operand> operands, Operand result) {
    Operand left = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      Indices keep = result.indices;
      for (size_t k = i + 1; k < operands.size(); ++k) {
        keep.insert(keep.end(), operands[k].indices.begin(), operands[k].indices.end());
      }
      HALFTONE_RETURN_IF_ERROR(SumAlone(left, operands[i], keep));
      HALFTONE_RETURN_IF_ERROR(SumAlone(operands[i], left, keep));
      const bool last = i + 1 == operands.size();
      HALFTONE_ASSIGN_OR_RETURN(left, Multiply(left, operands[i], keep, last ? &result : nullptr));
    }
    if (operands.size() > 1) return absl::OkStatus();
    HALFTONE_RETURN_IF_ERROR(SumAlone(left, Operand{}, result.indices));
    return Copy(left, result);
  }

  Prepared Finish() {
    Prepared prepared;
    prepared.kernel = slowest_.name.empty() ? "copy" : slowest_;
    prepared.scratch_bytes = scratch_;
    prepared.outputs.push_back(Placement{type_});
    prepared.step = std::move(step_);
    return prepared;
  }

  int matmuls() const { return matmuls_; }

 private:
  int64_t Size(const Indices& indices) const {
    int64_t size = 1;
    for (const int index : indices) size *= sizes_[index];
    return size;
  }

  size_t Reserve(size_t bytes) {
    const size_t begin = scratch_;
    scratch_ += (bytes + 63) / 64 * 64;
    return begin;
  }

  // Scratch memory with these indices, row-major.
  Operand Dense(const Indices& indices) {
    Operand dense{.where = Operand::Where::kScratch, .indices = indices};
    Dims dims;
    for (const int index : indices) dims.push_back(sizes_[index]);
    dense.strides = PlainStrides(dims);
    dense.offset = Reserve(static_cast<size_t>(Size(indices)) * ElementSize(type_));
    return dense;
  }

  Desc Describe(Dims dims, Dims strides) const {
    if (dims.empty()) dims = strides = {1};
    return Desc(dims, *DnnlType(type_), strides, /*allow_empty=*/true);
  }

  Desc View(const Operand& operand, const Indices& order) const {
    Dims dims, strides;
    for (const int index : order) {
      dims.push_back(sizes_[index]);
      strides.push_back(operand.stride(index));
    }
    return Describe(std::move(dims), std::move(strides));
  }

  absl::Status Attach(int argument, const Desc& desc, const Operand& operand) {
    switch (operand.where) {
      case Operand::Where::kInput:
        step_->AddInput(argument, desc, operand.need);
        return absl::OkStatus();
      case Operand::Where::kScratch:
        step_->AddScratch(argument, desc, operand.offset);
        return absl::OkStatus();
      case Operand::Where::kOutput:
        step_->AddOutput(argument, desc);
        return absl::OkStatus();
      case Operand::Where::kOnes:
        break;
    }
    int64_t count = 1;
    for (const int64_t dim : desc.get_dims()) count *= dim;
    if (count > kMostOnes) return absl::UnimplementedError("a sum over too many elements");
    HALFTONE_ASSIGN_OR_RETURN(const Tensor ones,
                              Tensor::Of<float>({count}, std::vector<float>(count, 1.0f)).ConvertTo(type_));
    HALFTONE_ASSIGN_OR_RETURN(PrepackedMemory fixed, Pack(ones, desc, desc));
    step_->AddPrepacked(argument, std::move(fixed));
    return absl::OkStatus();
  }

  absl::Status Copy(const Operand& from, const Operand& to) {
    const Desc source = View(from, to.indices), target = View(to, to.indices);
    if (IsEmpty(source) || IsEmpty(target)) return absl::UnimplementedError("a view that oneDNN does not copy");
    HALFTONE_RETURN_IF_ERROR(Guard([&] {
      step_->AddCall(dnnl::reorder(dnnl::reorder::primitive_desc(CpuEngine(), source, CpuEngine(), target)));
    }));
    HALFTONE_RETURN_IF_ERROR(Attach(DNNL_ARG_FROM, source, from));
    return Attach(DNNL_ARG_TO, target, to);
  }

  // Sums `operand` over what neither `other` has nor anybody keeps.
  absl::Status SumAlone(Operand& operand, const Operand& other, const Indices& keep) {
    Operand ones{.where = Operand::Where::kOnes};
    Indices left;
    for (const int index : operand.indices) {
      const bool alone = !Has(keep, index) && !Has(other.indices, index);
      (alone ? ones.indices : left).push_back(index);
    }
    if (ones.indices.empty()) return absl::OkStatus();
    Dims dims;
    for (const int index : ones.indices) dims.push_back(sizes_[index]);
    ones.strides = PlainStrides(dims);
    HALFTONE_ASSIGN_OR_RETURN(operand, Multiply(operand, ones, left, nullptr));
    return absl::OkStatus();
  }

  // The stride of the last index of the group if all lie as one dimension; nullopt if they do not.
  std::optional<int64_t> Merged(const Operand& operand, const Indices& group) const {
    if (group.empty()) return 1;
    for (size_t i = 0; i + 1 < group.size(); ++i) {
      if (operand.stride(group[i]) != operand.stride(group[i + 1]) * sizes_[group[i + 1]]) return std::nullopt;
    }
    return operand.stride(group.back());
  }

  struct Matrix {
    int64_t row_stride, column_stride;
  };
  // The operand as matrices of rows x columns that oneDNN multiplies fast: one of the two lies densely.
  std::optional<Matrix> AsMatrix(const Operand& operand, const Indices& rows, const Indices& columns) const {
    const std::optional<int64_t> r = Merged(operand, rows), c = Merged(operand, columns);
    if (!r.has_value() || !c.has_value()) return std::nullopt;
    const int64_t num_rows = Size(rows), num_columns = Size(columns);
    if (num_rows == 1) return *c == 1 || num_columns == 1 ? std::optional(Matrix{num_columns, 1}) : std::nullopt;
    if (num_columns == 1) return *r == 1 ? std::optional(Matrix{1, 1}) : std::nullopt;
    if (*c == 1 && *r >= num_columns) return Matrix{*r, 1};
    if (*r == 1 && *c >= num_rows) return Matrix{1, *c};
    return std::nullopt;
  }

  // The operand, copied if need be, as matrices.
  absl::StatusOr<std::pair<Operand, Matrix>> MakeMatrix(const Operand& operand, const Indices& batch,
                                                        const Indices& rows, const Indices& columns) {
    if (operand.where == Operand::Where::kOnes) {  // in any order
      Operand ones = operand;
      ones.indices = rows;
      ones.indices.insert(ones.indices.end(), columns.begin(), columns.end());
      Dims dims;
      for (const int index : ones.indices) dims.push_back(sizes_[index]);
      ones.strides = PlainStrides(dims);
      return std::pair(ones, *AsMatrix(ones, rows, columns));
    }
    if (const std::optional<Matrix> matrix = AsMatrix(operand, rows, columns); matrix.has_value()) {
      return std::pair(operand, *matrix);
    }
    Indices order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    const Operand dense = Dense(order);
    HALFTONE_RETURN_IF_ERROR(Copy(operand, dense));
    return std::pair(dense, *AsMatrix(dense, rows, columns));
  }

  Desc MatrixDesc(const Operand& operand, const Indices& batch, int64_t rows, int64_t columns, Matrix matrix) const {
    Dims dims, strides;
    for (const int index : batch) {
      dims.push_back(sizes_[index]);
      strides.push_back(operand.stride(index));
    }
    dims.insert(dims.end(), {rows, columns});
    strides.insert(strides.end(), {matrix.row_stride, matrix.column_stride});
    return Describe(std::move(dims), std::move(strides));
  }

  // Into `result` if given, else into new memory with the kept indices.
  absl::StatusOr<Operand> Multiply(Operand a, Operand b, const Indices& keep, const Operand* result) {
    ++matmuls_;
    Indices batch, rows, columns, summed;
    const auto sort_out = [&](const Operand& from, int index) {
      const bool in_a = Has(a.indices, index), in_b = Has(b.indices, index);
      if (in_a && in_b) {
        (Has(keep, index) ? batch : summed).push_back(index);
      } else {
        (&from == &a ? rows : columns).push_back(index);
      }
    };
    // Kept indices in the result's order, summed ones in that of the left operand.
    Indices all = result != nullptr ? result->indices : Indices{};
    all.insert(all.end(), a.indices.begin(), a.indices.end());
    all.insert(all.end(), b.indices.begin(), b.indices.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::find(all.begin(), all.begin() + i, all[i]) != all.begin() + i) continue;
      sort_out(Has(a.indices, all[i]) ? a : b, all[i]);
    }
    std::stable_sort(summed.begin(), summed.end(), [&](int x, int y) { return a.stride(x) > a.stride(y); });
    if (result != nullptr && !columns.empty() && !rows.empty() && result->stride(columns.back()) != 1 &&
        result->stride(rows.back()) == 1) {  // the transposed product lies better
      std::swap(a, b);
      std::swap(rows, columns);
    }
    Indices made = batch;
    made.insert(made.end(), rows.begin(), rows.end());
    made.insert(made.end(), columns.begin(), columns.end());
    if (made.size() > kMostDims || batch.size() + 2 > kMostDims) {
      return absl::UnimplementedError("more dimensions than oneDNN has");
    }
    const bool elementwise = rows.empty() && columns.empty() && summed.empty();
    const bool in_place = result != nullptr && (elementwise || AsMatrix(*result, rows, columns).has_value());
    const Operand target = in_place ? *result : Dense(made);
    HALFTONE_RETURN_IF_ERROR(elementwise ? AddElementwise(a, b, target, batch)
                                         : AddMatMul(a, b, target, batch, rows, columns, summed));
    if (result == nullptr || in_place) return target;
    HALFTONE_RETURN_IF_ERROR(Copy(target, *result));
    return *result;
  }

  absl::Status AddElementwise(Operand a, Operand b, const Operand& target, const Indices& order) {
    const Desc to = View(target, order);
    for (Operand* operand : {&a, &b}) {  // the three in one layout
      if (View(*operand, order) == to) continue;
      const Operand dense = Dense(order);
      HALFTONE_RETURN_IF_ERROR(Copy(*operand, dense));
      *operand = dense;
    }
    const Desc left = View(a, order), right = View(b, order);
    const dnnl::binary::primitive_desc primitive(CpuEngine(), dnnl::algorithm::binary_mul, left, right, to,
                                                 UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN does not multiply these elements");
    AddImplementation(ImplementationOf(primitive));
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::binary(primitive)); }));
    AddScratchpad(primitive.scratchpad_desc());
    HALFTONE_RETURN_IF_ERROR(Attach(DNNL_ARG_SRC_0, left, a));
    HALFTONE_RETURN_IF_ERROR(Attach(DNNL_ARG_SRC_1, right, b));
    return Attach(DNNL_ARG_DST, to, target);
  }

  absl::Status AddMatMul(const Operand& a, const Operand& b, const Operand& target, const Indices& batch,
                         const Indices& rows, const Indices& columns, const Indices& summed) {
    HALFTONE_ASSIGN_OR_RETURN(const auto left, MakeMatrix(a, batch, rows, summed));
    HALFTONE_ASSIGN_OR_RETURN(const auto right, MakeMatrix(b, batch, summed, columns));
    const int64_t m = Size(rows), k = Size(summed), n = Size(columns);
    const Desc src = MatrixDesc(left.first, batch, m, k, left.second);
    const Desc weights = MatrixDesc(right.first, batch, k, n, right.second);
    const Desc dst = MatrixDesc(target, batch, m, n, *AsMatrix(target, rows, columns));
    const dnnl::matmul::primitive_desc primitive(CpuEngine(), src, weights, dst, UserScratch(), /*allow_empty=*/true);
    if (!primitive) return absl::UnimplementedError("oneDNN has no such matmul");
    AddImplementation(ImplementationOf(primitive));
    HALFTONE_RETURN_IF_ERROR(Guard([&] { step_->AddCall(dnnl::matmul(primitive)); }));
    AddScratchpad(primitive.scratchpad_desc());
    HALFTONE_RETURN_IF_ERROR(Attach(DNNL_ARG_SRC, src, left.first));
    HALFTONE_RETURN_IF_ERROR(Attach(DNNL_ARG_WEIGHTS, weights, right.first));
    return Attach(DNNL_ARG_DST, dst, target);
  }

  void AddScratchpad(const Desc& desc) { step_->AddScratch(DNNL_ARG_SCRATCHPAD, desc, Reserve(desc.get_size())); }

  // The slowest implementation names the step.
  void AddImplementation(const Implementation& implementation) {
    if (slowest_.name.empty() || implementation.slow) slowest_ = implementation;
  }

  const Dims sizes_;
  const DataType type_;
  std::unique_ptr<PrimitiveStep> step_ = std::make_unique<PrimitiveStep>();
  size_t scratch_ = 0;
  int matmuls_ = 0;
  Implementation slowest_;
};

class EinsumKernel final : public Kernel {
 public:
  absl::StatusOr<Prepared> Prepare(const NodeContext& context) const override {
    const DataType type = context.InputType(0);
    if (type == DataType::kBFloat16) {
      absl::StatusOr<Prepared> prepared = Build(context, type);
      if (prepared.ok() && !prepared->kernel.slow) return prepared;
    }
    return Build(context, DataType::kFloat32);
  }

 private:
  static absl::StatusOr<Prepared> Build(const NodeContext& context, DataType type) {
    std::vector<int> ranks;
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) {
      shapes.push_back(Shape::Of(context.InputDims(i)));
      ranks.push_back(shapes.back().rank());
    }
    HALFTONE_ASSIGN_OR_RETURN(const EinsumPlan plan,
                              ParseEinsum(context.node().attributes.String("equation", ""), ranks));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dim> known, EinsumSizes(plan, shapes));
    Dims sizes;
    for (const Dim& size : known) sizes.push_back(size.value);
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return absl::UnimplementedError("nothing to compute");

    std::vector<Operand> operands;
    std::vector<InputNeed> needs;
    for (int i = 0; i < context.num_inputs(); ++i) {
      const Dims dims = context.InputDims(i), strides = PlainStrides(dims);
      Operand& operand = operands.emplace_back(Operand{.need = i});
      needs.push_back({i, Placement{type}});
      for (size_t d = 0; d < dims.size(); ++d) {
        const int index = plan.inputs[i][d];
        if (dims[d] == 1) continue;
        const auto at = std::find(operand.indices.begin(), operand.indices.end(), index);
        if (at == operand.indices.end()) {
          operand.indices.push_back(index);
          operand.strides.push_back(strides[d]);
        } else {
          operand.strides[at - operand.indices.begin()] += strides[d];  // a diagonal
        }
      }
    }
    Operand result{.where = Operand::Where::kOutput};
    const Dims out_strides = PlainStrides(context.OutputDims());
    for (size_t d = 0; d < plan.output.size(); ++d) {
      if (sizes[plan.output[d]] == 1) continue;
      result.indices.push_back(plan.output[d]);
      result.strides.push_back(out_strides[d]);
    }
    for (const Operand& operand : operands) {
      if (operand.indices.size() > kMostDims) return absl::UnimplementedError("more dimensions than oneDNN has");
    }
    Builder builder(std::move(sizes), type);
    HALFTONE_RETURN_IF_ERROR(builder.Chain(std::move(operands), std::move(result)));
    if (type == DataType::kBFloat16 && builder.matmuls() > 1) {
      return absl::UnimplementedError("what lies between two matmuls stays f32");
    }
    Prepared prepared = builder.Finish();
    prepared.inputs = std::move(needs);
    return prepared;
  }
};

}  // namespace

std::unique_ptr<Kernel> MakeEinsumKernel() { return std::make_unique<EinsumKernel>(); }

}  // namespace halftone::onednn
