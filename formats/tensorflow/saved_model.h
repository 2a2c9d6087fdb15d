// SPDX-License-Identifier: Apache-2.0
// The files of a SavedModel -> one GraphDef.
#ifndef HALFTONE_FORMATS_TENSORFLOW_SAVED_MODEL_H_
#define HALFTONE_FORMATS_TENSORFLOW_SAVED_MODEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace halftone {

inline constexpr std::string_view kSavedModelFile = "saved_model.pb";

// A file of the folder by its path below it: "saved_model.pb", "variables/variables.index".
struct SavedModelFile {
  std::string name;
  std::string path;  // on this machine
};

// One signature with its variables as constants, as the bytes of a GraphDef (freeze.h says how). `signature` empty:
// "serving_default", or the only one. Other files than these two and variables/variables.data-* are not read.
//
// Errors name the file, node, variable or signature: NOT_FOUND, INVALID_ARGUMENT, UNIMPLEMENTED.
absl::StatusOr<std::string> FreezeSavedModel(const std::vector<SavedModelFile>& files, const std::string& signature);

}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_SAVED_MODEL_H_
