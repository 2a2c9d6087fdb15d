// SPDX-License-Identifier: Apache-2.0
// Shape rules of signals, windows and random numbers.

#include "base/status.h"
#include "ir/shape_rules_internal.h"

namespace halftone::shape_rules {
namespace {

// The only element of input i; nullopt where it is absent or not known.
std::optional<int64_t> Scalar(const Context& c, int i) {
  if (!c.has(i)) return std::nullopt;
  const std::optional<std::vector<int64_t>> ints = c.ints(i);
  return ints.has_value() && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
}

absl::Status CheckPositive(std::string_view name, const std::optional<int64_t>& number) {
  if (!number.has_value() || (*number >= 1 && *number < kMaxDim)) return absl::OkStatus();
  return Error(name, " is ", *number, ", need at least 1");
}

Dim Half(const Dim& length) { return length.known() ? Dim::Of(length.value / 2 + 1) : Dim::Unknown(); }

}  // namespace

Shapes Dft(const Context& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return std::vector<Shape>{};
  if (x.rank() < 2) return Error("x is ", x.ToString(), ", need a signal dimension and one of 1 or 2 numbers");
  if (x.dim(-1).known() && x.dim(-1).value != 1 && x.dim(-1).value != 2) {
    return Error("the last dimension of x ", x.ToString(), " must be 1 (real) or 2 (complex)");
  }
  Shape y = x;
  y.mutable_dim(-1) = Dim::Of(2);
  const std::optional<int64_t> length = Scalar(c, 1);
  HALFTONE_RETURN_IF_ERROR(CheckPositive("length", length));
  std::optional<int64_t> written = c.has(2) ? Scalar(c, 2) : std::optional<int64_t>(-2);
  if (!written.has_value()) {
    for (int i = 0; i + 1 < y.rank(); ++i) y.mutable_dim(i) = Dim::Unknown();
    return std::vector<Shape>{std::move(y)};
  }
  HALFTONE_ASSIGN_OR_RETURN(const int axis, Axis(*written, x.rank()));
  if (axis == x.rank() - 1) return Error("axis ", *written, " is the dimension of real and imaginary parts");
  Dim transformed = !c.has(1) ? x.dim(axis) : length.has_value() ? Dim::Of(*length) : Dim::Unknown();
  y.mutable_dim(axis) = c.attributes().Bool("onesided", false) ? Half(transformed) : transformed;
  return std::vector<Shape>{std::move(y)};
}

Shapes Stft(const Context& c) {
  const Shape& signal = c.shape(0);
  if (!signal.has_rank()) return std::vector<Shape>{Shape::UnknownOfRank(4)};
  const bool two = signal.rank() == 2;  // [batch, length], real
  if (!two && (signal.rank() != 3 || (signal.dim(2).known() && signal.dim(2).value != 1 && signal.dim(2).value != 2))) {
    return Error("the signal is ", signal.ToString(), ", need [batch, length, 1 or 2]");
  }
  const std::optional<int64_t> step = Scalar(c, 1);
  HALFTONE_RETURN_IF_ERROR(CheckPositive("frame_step", step));
  std::optional<int64_t> frame = Scalar(c, 3);
  HALFTONE_RETURN_IF_ERROR(CheckPositive("frame_length", frame));
  if (c.has(2) && c.shape(2).has_rank()) {
    const Shape& window = c.shape(2);
    const bool fits =
        window.rank() == 1 && (!frame.has_value() || !window.dim(0).known() || window.dim(0).value == *frame);
    if (!fits) return Error("the window is ", window.ToString(), ", need a vector of frame_length numbers");
    if (!frame.has_value() && window.dim(0).known()) frame = window.dim(0).value;
  }
  if (!c.has(2) && !c.has(3)) return Error("neither window nor frame_length says how long a frame is");
  Dim frames;
  if (signal.dim(1).known() && step.has_value() && frame.has_value()) {
    if (*frame < 1 || *frame > signal.dim(1).value) {
      return Error("a frame of ", *frame, " does not fit the signal ", signal.ToString());
    }
    frames = Dim::Of((signal.dim(1).value - *frame) / *step + 1);
  }
  Dim bins = frame.has_value() ? Dim::Of(*frame) : Dim::Unknown();
  if (c.attributes().Bool("onesided", true)) bins = Half(bins);
  return std::vector<Shape>{Shape({signal.dim(0), frames, bins, Dim::Of(2)})};
}

Shapes WindowShape(const Context& c) {
  const std::optional<int64_t> size = Scalar(c, 0);
  if (!size.has_value()) return std::vector<Shape>{Shape::UnknownOfRank(1)};
  if (*size < 0 || *size >= kMaxDim) return Error("size is ", *size, ", need at least 0");
  return std::vector<Shape>{Shape::Of({*size})};
}

Shapes MelWeightMatrix(const Context& c) {
  const std::optional<int64_t> bins = Scalar(c, 0), length = Scalar(c, 1);
  Shape y = Shape::UnknownOfRank(2);
  for (const auto& [name, number] : {std::pair("num_bins", bins), std::pair("dft_length", length)}) {
    if (number.has_value() && (*number < 0 || *number >= kMaxDim))
      return Error(name, " is ", *number, ", need at least 0");
  }
  if (length.has_value()) y.mutable_dim(0) = Dim::Of(*length / 2 + 1);
  if (bins.has_value()) y.mutable_dim(1) = Dim::Of(*bins);
  return std::vector<Shape>{std::move(y)};
}

Shapes Random(const Context& c) {
  const KnownTensor* shape = c.known(0);
  const Shape& given = c.shape(0);
  if (given.has_rank() && given.rank() != 1) return Error("shape is ", given.ToString(), ", need a vector");
  if (shape == nullptr) {
    if (given.has_rank() && given.dim(0).known() && given.dim(0).value < 256) {
      return std::vector<Shape>{Shape::UnknownOfRank(static_cast<int>(given.dim(0).value))};
    }
    return std::vector<Shape>{};
  }
  std::vector<Dim> dims;
  for (const KnownElement& element : shape->elements) {
    if (element.known && (element.integer < 0 || element.integer >= kMaxDim)) {
      return Error("shape has the dimension ", element.integer);
    }
    const bool named = !element.symbol.empty() && !element.symbol.starts_with("?");
    dims.push_back(element.known ? Dim::Of(element.integer) : named ? Dim::Symbol(element.symbol) : Dim::Unknown());
  }
  return std::vector<Shape>{Shape(std::move(dims))};
}

}  // namespace halftone::shape_rules
