// SPDX-License-Identifier: Apache-2.0
// Deterministic random numbers: the same node gives the same numbers in each run and on each machine.

#include <cmath>
#include <numbers>

#include "ir/reference/arrays_internal.h"
#include "ir/reference/functions_internal.h"

namespace halftone::reference {
namespace {

// A number from 0 to 2^64 - 1 for each (seed, index): xorshift and multiplication, twice.
uint64_t Mixed(uint64_t seed, uint64_t index) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + (index + 1) * 0xD1B54A32D192ED03u;
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
  }
  return x ^ (x >> 32);
}

// Uniform in [0, 1), with 53 bits.
double Unit(uint64_t seed, uint64_t index) { return static_cast<double>(Mixed(seed, index) >> 11) * 0x1p-53; }

// Nodes without a seed differ by their names.
uint64_t SeedOf(const Call& call) {
  if (call.attributes().has("seed")) return static_cast<uint64_t>(call.attributes().Int("seed", 0));
  uint64_t seed = 0;
  for (const char c : call.node.name) seed = Mixed(seed, static_cast<unsigned char>(c));
  return seed;
}

absl::StatusOr<Dims> DimsOf(const Call& call) {
  if (call.in(0).rank() != 1) return Error("shape is ", call.in(0).shape().ToString(), ", need a vector");
  Dims dims = call.in(0).ToInts();
  HALFTONE_RETURN_IF_ERROR(CheckDims(dims));
  return dims;
}

}  // namespace

Outputs RandomUniform(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Dims dims, DimsOf(call));
  const uint64_t seed = SeedOf(call);
  const double low = call.attributes().Float("low", 0), high = call.attributes().Float("high", 1);
  std::vector<double> y(Count(dims));
  for (size_t i = 0; i < y.size(); ++i) y[i] = low + (high - low) * Unit(seed, i);
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

// A normal number from two uniform ones (Box-Muller).
Outputs RandomNormal(const Call& call) {
  HALFTONE_ASSIGN_OR_RETURN(const Dims dims, DimsOf(call));
  const uint64_t seed = SeedOf(call);
  const double mean = call.attributes().Float("mean", 0), scale = call.attributes().Float("scale", 1);
  std::vector<double> y(Count(dims));
  for (size_t i = 0; i < y.size(); ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - Unit(seed, 2 * i)));
    y[i] = mean + scale * radius * std::cos(2 * std::numbers::pi * Unit(seed, 2 * i + 1));
  }
  return std::vector<Tensor>{FromDoubles(call.type(), dims, y)};
}

}  // namespace halftone::reference
