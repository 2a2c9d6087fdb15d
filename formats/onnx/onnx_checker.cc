// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_checker.h"

#include <exception>

#include "onnx/checker.h"
#include "onnx/onnx_pb.h"

namespace halftone {

std::string CheckOnnxFile(std::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "not a ModelProto";
  try {
    onnx::checker::check_model(model, /*full_check=*/true);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace halftone
