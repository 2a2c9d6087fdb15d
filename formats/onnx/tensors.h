// SPDX-License-Identifier: Apache-2.0
// Tensors and attributes of ONNX <-> ir. Protos given here have passed the validator.
#ifndef HALFTONE_FORMATS_ONNX_TENSORS_H_
#define HALFTONE_FORMATS_ONNX_TENSORS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/tensor.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// Takes the bytes out of the proto: big raw data is not copied, the tensor owns the string that protobuf allocated.
// REQUIRES: the element type is one that the ir knows.
Tensor TakeTensor(onnx::TensorProto& proto);

// Everything but raw_data for types with a fixed size; the bytes of strings too.
onnx::TensorProto TensorHead(const Tensor& tensor, const std::string& name);
onnx::TensorProto ToProto(const Tensor& tensor, const std::string& name);

// The value, or RawBytes of the whole AttributeProto where AttributeValue has no such kind.
AttributeValue TakeAttribute(onnx::AttributeProto& proto);
// Errors: INVALID_ARGUMENT if RawBytes are no AttributeProto or ONNX has no such kind of attribute.
absl::StatusOr<onnx::AttributeProto> ToProto(std::string_view name, const AttributeValue& value);

// The kind of a proto's attribute; writers of IR version 1 left it out, then the field that is set says it.
onnx::AttributeProto::AttributeType KindOf(const onnx::AttributeProto& proto);

// Parses any message, up to protobuf's limit on size and a nesting that the validator's limits fit into.
bool ParseMessage(std::string_view bytes, google::protobuf::Message& message);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_TENSORS_H_
