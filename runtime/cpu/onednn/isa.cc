// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/onednn/isa.h"

#include "oneapi/dnnl/dnnl.hpp"

namespace halftone {
namespace {

struct Row {
  dnnl::cpu_isa isa;
  Isa facts;
};
// Every value that oneDNN 3.7 has.
constexpr Row kIsas[] = {
    {dnnl::cpu_isa::sse41, {"sse41", 128, false, false}},
    {dnnl::cpu_isa::avx, {"avx", 256, false, false}},
    {dnnl::cpu_isa::avx2, {"avx2", 256, false, false}},
    {dnnl::cpu_isa::avx2_vnni, {"avx2_vnni", 256, true, false}},
    {dnnl::cpu_isa::avx2_vnni_2, {"avx2_vnni_2", 256, true, false}},  // converts bf16, but multiplies in f32
    {dnnl::cpu_isa::avx512_core, {"avx512_core", 512, false, false}},
    {dnnl::cpu_isa::avx512_core_vnni, {"avx512_core_vnni", 512, true, false}},
    {dnnl::cpu_isa::avx512_core_bf16, {"avx512_core_bf16", 512, true, true}},
    {dnnl::cpu_isa::avx10_1_512, {"avx10_1_512", 512, true, true, true}},
    {dnnl::cpu_isa::avx10_1_512_amx, {"avx10_1_512_amx", 512, true, true, true, true}},
    {dnnl::cpu_isa::avx10_1_512_amx_fp16, {"avx10_1_512_amx_fp16", 512, true, true, true, true}},
};

}  // namespace

int VectorBitsOf(std::string_view implementation) {
  struct Part {
    std::string_view name;
    int bits;
  };
  constexpr Part kParts[] = {{"avx512", 512}, {"avx10", 512}, {"amx", 512}, {"avx", 256}, {"sse41", 128}};
  for (const Part& part : kParts) {
    if (implementation.find(part.name) != std::string_view::npos) return part.bits;
  }
  return 0;
}

const Isa& CurrentIsa() {
  static constexpr Isa kOther;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  for (const Row& row : kIsas) {
    if (row.isa == isa) return row.facts;
  }
  return kOther;
}

}  // namespace halftone
