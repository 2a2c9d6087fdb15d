// SPDX-License-Identifier: Apache-2.0
// TensorProto and TensorShapeProto <-> Tensor and Shape.
#ifndef HALFTONE_FORMATS_TENSORFLOW_TENSOR_PROTO_H_
#define HALFTONE_FORMATS_TENSORFLOW_TENSOR_PROTO_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/tensor.pb.h"
#include "ir/shape.h"
#include "ir/tensor.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

inline constexpr int kMaxRank = 12;  // oneDNN's

// What one file may make us allocate beyond its own bytes: values that are repeated to fill a shape.
inline constexpr int64_t kRepeatBudget = int64_t{256} << 20;

// A size below -1, a known size in a shape of unknown rank, or too many dimensions are INVALID_ARGUMENT. Names of
// dimensions are lost.
absl::StatusOr<Shape> DecodeShape(const tf::TensorShapeProto& proto);
tf::TensorShapeProto EncodeShape(const Shape& shape);

// Whether DecodeTensor can represent this tensor at all (type, and strings not in tensor_content). A tensor that cannot
// be represented is kept in an opaque node.
bool IsRepresentable(const tf::TensorProto& proto);

// Checks type, shape and the number of bytes or values, without allocating anything. INVALID_ARGUMENT says what is
// wrong.
absl::Status CheckTensor(const tf::TensorProto& proto);

// The tensor. `repeat_budget`: bytes that repeated values may still take; what is used is taken off.
// REQUIRES: IsRepresentable
absl::StatusOr<Tensor> DecodeTensor(const tf::TensorProto& proto, int64_t& repeat_budget);

// The form in which `proto` holds its elements: "" is the form that EncodeTensor takes by itself (tensor_content above
// one element, one value else), "content", or "values N" (N values, the last one repeated).
std::string EncodingOf(const tf::TensorProto& proto);

// Whether `proto` has nothing but what EncodeTensor(DecodeTensor(proto), EncodingOf(proto)) says again.
bool IsPlain(const tf::TensorProto& proto, const Tensor& decoded);

// `encoding` is a hint: values that would not give the same tensor again are written in full.
tf::TensorProto EncodeTensor(const Tensor& tensor, std::string_view encoding = "");

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_TENSOR_PROTO_H_
