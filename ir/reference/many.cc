// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of three or more tensors, with numpy broadcasting.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/reference/elementwise_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

using enum OpKind;

absl::StatusOr<Dims> BroadcastAll(const Call& call) {
  Dims dims = call.in(0).dims();
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(dims, BroadcastDims(dims, call.in(i).dims()));
  }
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  return dims;
}

double RealOf(OpKind op, double a, double b) {
  if (op == kMaxN) return std::isnan(a) || a > b ? a : b;
  if (op == kMinN) return std::isnan(a) || a < b ? a : b;
  return a + b;  // kAddN, kMeanN
}

int64_t IntegerOf(OpKind op, int64_t a, int64_t b, bool is_unsigned) {
  const uint64_t left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
  const bool less = is_unsigned ? left < right : a < b;
  if (op == kMaxN) return less ? b : a;
  if (op == kMinN) return less ? a : b;
  return static_cast<int64_t>(left + right);
}

}  // namespace

Outputs Variadic(const Call& call) {
  const OpKind op = call.node.op;
  HALFTONE_ASSIGN_OR_RETURN(const Dims dims, BroadcastAll(call));
  const bool is_unsigned = call.in(0).type() == DataType::kUInt64;
  if (IsInteger(call.in(0).type()) && op != kMeanN) {
    std::vector<int64_t> y = BroadcastElements<int64_t>(call.in(0), dims);
    for (size_t i = 1; i < call.inputs.size(); ++i) {
      const std::vector<int64_t> next = BroadcastElements<int64_t>(call.in(i), dims);
      for (size_t j = 0; j < y.size(); ++j) y[j] = IntegerOf(op, y[j], next[j], is_unsigned);
    }
    return std::vector<Tensor>{FromInts(call.type(), dims, y)};
  }
  std::vector<double> y = BroadcastElements<double>(call.in(0), dims);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const std::vector<double> next = BroadcastElements<double>(call.in(i), dims);
    for (size_t j = 0; j < y.size(); ++j) y[j] = RealOf(op, y[j], next[j]);
  }
  if (op == kMeanN) {
    for (double& element : y) element /= static_cast<double>(call.inputs.size());
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

Outputs Where(const Call& call) {
  const Tensor& condition = call.in(0);
  if (condition.type() != DataType::kBool) return Error("condition is ", DataTypeName(condition.type()), ", need bool");
  if (call.in(1).type() != call.in(2).type()) {
    return Error("a is ", DataTypeName(call.in(1).type()), ", b ", DataTypeName(call.in(2).type()));
  }
  if (call.attributes().Bool("rows", false) && condition.rank() == 1 && call.in(1).rank() > 1) {
    Dims column(call.in(1).rank(), 1);
    column[0] = condition.dims()[0];
    std::vector<Tensor> operands = call.inputs;
    operands[0] = condition.WithDims(std::move(column));
    return Where(Call{call.graph, call.node, operands, call.types});
  }
  HALFTONE_ASSIGN_OR_RETURN(const Dims dims, BroadcastAll(call));
  const auto offsets = [&](size_t i) { return Offsets(dims, BroadcastStrides(call.in(i).dims(), dims)); };
  const std::vector<int64_t> c_at = offsets(0), a_at = offsets(1), b_at = offsets(2);
  const std::span<const uint8_t> chosen = condition.data<uint8_t>();
  const size_t size = ElementSize(call.in(1).type());
  Tensor y(call.in(1).type(), dims);
  std::byte* out = y.mutable_raw();
  for (size_t i = 0; i < c_at.size(); ++i, out += size) {
    const std::byte* from = chosen[c_at[i]] != 0 ? call.in(1).raw() + a_at[i] * static_cast<int64_t>(size)
                                                 : call.in(2).raw() + b_at[i] * static_cast<int64_t>(size);
    std::memcpy(out, from, size);
  }
  return std::vector<Tensor>{std::move(y)};
}

}  // namespace halftone::reference
