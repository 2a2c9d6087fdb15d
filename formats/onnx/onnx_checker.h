// SPDX-License-Identifier: Apache-2.0
// ONNX's own checker, for tests.
#ifndef HALFTONE_FORMATS_ONNX_ONNX_CHECKER_H_
#define HALFTONE_FORMATS_ONNX_ONNX_CHECKER_H_

#include <string>
#include <string_view>

namespace halftone {

// What ONNX's checker, with inference of all types and shapes, objects to in the file; "" if nothing.
std::string CheckOnnxFile(std::string_view bytes);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_ONNX_ONNX_CHECKER_H_
