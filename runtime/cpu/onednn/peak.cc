// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/peak.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/cpu/onednn/support.h"

namespace halftone {
namespace {

using onednn::AnyDesc;
using onednn::CpuEngine;
using onednn::Desc;
using onednn::Dims;
using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.12;  // of one candidate

// Int8 is summed in integers, other types in f32.
DataType ResultType(DataType type) { return type == DataType::kInt8 ? DataType::kInt32 : type; }
// oneDNN is fastest with unsigned bytes on the left, which is what activations are.
DataType SourceType(DataType type) { return type == DataType::kInt8 ? DataType::kUInt8 : type; }

// GFLOP/s of the fastest of many runs, each long enough to be timed.
double Best(const dnnl::primitive& primitive, const std::vector<std::pair<int, Desc>>& arguments, double flop) {
  const dnnl::stream stream(CpuEngine());
  std::vector<Pages> pages;
  std::unordered_map<int, dnnl::memory> memory;
  for (const auto& [argument, desc] : arguments) {
    absl::StatusOr<Pages> bytes = Pages::Allocate(std::max<size_t>(desc.get_size(), 64));
    if (!bytes.ok()) return 0;
    memory[argument] = dnnl::memory(desc, CpuEngine(), bytes->data());
    pages.push_back(*std::move(bytes));
  }
  constexpr int kInner = 4;
  double best = 0;
  primitive.execute(stream, memory);
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point start = begin, end; std::chrono::duration<double>(start - begin).count() < kSeconds;
       start = end) {
    for (int i = 0; i < kInner; ++i) primitive.execute(stream, memory);
    end = Clock::now();
    best = std::max(best, kInner * flop * 1e-9 / std::chrono::duration<double>(end - start).count());
  }
  return best;
}

double BestMatMul(DataType type, int threads) {
  const int64_t m = 256 * threads, k = 512, n = 256;
  using Primitive = dnnl::matmul::primitive_desc;
  const Primitive primitive(CpuEngine(), onednn::PlainDesc(Dims{m, k}, SourceType(type)), AnyDesc(Dims{k, n}, type),
                            onednn::PlainDesc(Dims{m, n}, ResultType(type)), dnnl::primitive_attr(),
                            /*allow_empty=*/true);
  if (!primitive || onednn::IsSlow(primitive)) return 0;
  return Best(dnnl::matmul(primitive),
              {{DNNL_ARG_SRC, primitive.src_desc()},
               {DNNL_ARG_WEIGHTS, primitive.weights_desc()},
               {DNNL_ARG_DST, primitive.dst_desc()}},
              2.0 * m * k * n);
}

double BestConv(DataType type, int threads) {
  const int64_t batch = threads, c = 128, o = 128, hw = 28;
  using Primitive = dnnl::convolution_forward::primitive_desc;
  const Primitive primitive(CpuEngine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                            AnyDesc(Dims{batch, c, hw, hw}, SourceType(type)), AnyDesc(Dims{o, c, 3, 3}, type),
                            AnyDesc(Dims{batch, o, hw, hw}, ResultType(type)), Dims{1, 1}, Dims{1, 1}, Dims{1, 1},
                            dnnl::primitive_attr(), /*allow_empty=*/true);
  if (!primitive || onednn::IsSlow(primitive)) return 0;
  return Best(dnnl::convolution_forward(primitive),
              {{DNNL_ARG_SRC, primitive.src_desc()},
               {DNNL_ARG_WEIGHTS, primitive.weights_desc()},
               {DNNL_ARG_DST, primitive.dst_desc()}},
              2.0 * batch * o * hw * hw * c * 9);
}

}  // namespace

double PeakGflops(DataType type, int threads) {
  static std::mutex* const mutex = new std::mutex;
  static auto* const known = new std::map<std::pair<DataType, int>, double>;
  if (type == DataType::kUInt8) type = DataType::kInt8;
  const std::lock_guard<std::mutex> lock(*mutex);
  const auto [it, is_new] = known->try_emplace({type, threads}, 0.0);
  if (!is_new || !onednn::DnnlType(type).has_value()) return it->second;
  omp_set_num_threads(threads);
  onednn::Guard([&] { it->second = std::max(BestMatMul(type, threads), BestConv(type, threads)); }).IgnoreError();
  return it->second;
}

}  // namespace halftone
