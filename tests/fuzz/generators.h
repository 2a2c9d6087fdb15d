// SPDX-License-Identifier: Apache-2.0
// Generators: one function per op, which adds a node of the op with valid inputs and attributes to a graph.
#ifndef HALFTONE_TESTS_FUZZ_GENERATORS_H_
#define HALFTONE_TESTS_FUZZ_GENERATORS_H_

#include <span>
#include <utility>

#include "tests/fuzz/maker.h"

namespace halftone::fuzz {

struct Generator {
  OpKind op;
  void (*make)(Maker& maker, OpKind op);
};

// The generator of `op`, or nullptr. The tables are in make_*.cc, one per op family.
const Generator* FindGenerator(OpKind op);

std::span<const Generator> ElementwiseGenerators();
std::span<const Generator> NetworkGenerators();
std::span<const Generator> TensorGenerators();
std::span<const Generator> IndexGenerators();
std::span<const Generator> SequenceGenerators();
std::span<const Generator> FusedGenerators();

// --- Of make_fused.cc, for other families: Activate sets a fused activation in 30 of 100 cases, AddContraction adds a
// conv or matmul, sometimes with a fused residual or scale.
void Activate(Maker& maker, Attributes& attributes);
void AddContraction(Maker& maker, OpKind op, std::vector<ValueId> inputs, Attributes attributes);

// {"axis", 1}, {"mode", "linear"}, ... as Attributes.
inline Attributes With(std::initializer_list<std::pair<const char*, AttributeValue>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) attributes.Set(name, value);
  return attributes;
}
inline AttributeValue Text(const char* text) { return std::string(text); }
inline AttributeValue Number(int64_t number) { return number; }
inline AttributeValue Real(double number) { return static_cast<float>(number); }
inline AttributeValue List(std::vector<int64_t> list) { return list; }

}  // namespace halftone::fuzz

#endif  // HALFTONE_TESTS_FUZZ_GENERATORS_H_
