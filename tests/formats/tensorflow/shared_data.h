// SPDX-License-Identifier: Apache-2.0
// Where the folder with real models is, which is no part of the repository.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_SHARED_DATA_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace halftone::testing {

// $HALFTONE_SHARED/data/NAME, or nullopt where it is not there.
inline std::optional<std::string> SharedData(const std::string& name) {
  const char* shared = std::getenv("HALFTONE_SHARED");
  if (shared == nullptr) return std::nullopt;
  std::string path = std::string(shared) + "/data/" + name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_SHARED_DATA_H_
