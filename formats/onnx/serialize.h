// SPDX-License-Identifier: Apache-2.0
// The bytes of a ModelProto whose weights are not in it.
#ifndef HALFTONE_FORMATS_ONNX_SERIALIZE_H_
#define HALFTONE_FORMATS_ONNX_SERIALIZE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/onnx/node_writer.h"
#include "onnx/onnx_pb.h"

namespace halftone::onnx_format {

// As if the initializers were added to model.graph() and the model were serialized, but without a second copy of the
// weights. Leaves the model without its graph. Errors: RESOURCE_EXHAUSTED above protobuf's limit of 2 GiB.
absl::StatusOr<std::string> Serialize(onnx::ModelProto& model,
                                      const std::vector<NodeWriter::Initializer>& initializers);

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_SERIALIZE_H_
