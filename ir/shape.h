// SPDX-License-Identifier: Apache-2.0
// Dimensions and shapes: known, symbolic or unknown.
#ifndef HALFTONE_IR_SHAPE_H_
#define HALFTONE_IR_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone {

// A number >= 0, or unknown; an unknown one may have a symbol ("N"), and equal symbols are equal numbers.
struct Dim {
  int64_t value = -1;  // >= 0 if known
  std::string symbol;  // only where unknown; may be empty
  bool known() const { return value >= 0; }
  bool operator==(const Dim&) const = default;

  static Dim Of(int64_t value) { return Dim{value, {}}; }
  static Dim Symbol(std::string symbol) { return Dim{-1, std::move(symbol)}; }
  static Dim Unknown() { return Dim{}; }
};

// A list of dimensions, or a shape of unknown rank. Thread-compatible value type.
class Shape {
 public:
  Shape() = default;  // unknown rank
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Shape Of(std::span<const int64_t> dims);  // a negative number becomes an unknown dimension
  static Shape Of(std::initializer_list<int64_t> dims) { return Of(std::span<const int64_t>(dims.begin(), dims.size())); }
  static Shape Scalar() { return Shape(std::vector<Dim>{}); }
  static Shape UnknownOfRank(int rank) { return Shape(std::vector<Dim>(rank)); }

  bool has_rank() const { return dims_.has_value(); }
  int rank() const { return static_cast<int>(dims_->size()); }                   // REQUIRES: has_rank()
  const std::vector<Dim>& dims() const { return *dims_; }                        // REQUIRES: has_rank()
  const Dim& dim(int i) const { return (*dims_)[i < 0 ? i + rank() : i]; }       // REQUIRES: in range; -1 is the last
  Dim& mutable_dim(int i) { return (*dims_)[i < 0 ? i + rank() : i]; }
  bool fully_known() const;
  // The numbers; unknown dimensions are -1. REQUIRES: has_rank()
  std::vector<int64_t> values() const;
  // Product of the dimensions; nullopt if any is unknown or the product overflows int64.
  std::optional<int64_t> num_elements() const;
  bool operator==(const Shape&) const = default;

  std::string ToString() const;  // "[2,N,?]", "[]", "[*]" for unknown rank

 private:
  std::optional<std::vector<Dim>> dims_;
};

// numpy broadcasting of known or unknown dimensions; nullopt if they cannot match.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// Product with overflow check; nullopt on overflow or a negative factor.
std::optional<int64_t> CheckedProduct(std::span<const int64_t> dims);

}  // namespace halftone

#endif  // HALFTONE_IR_SHAPE_H_
