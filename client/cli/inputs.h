// SPDX-License-Identifier: Apache-2.0
// From paths on the command line to what a job names: files with digests.
#ifndef HALFTONE_CLIENT_CLI_INPUTS_H_
#define HALFTONE_CLIENT_CLI_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

// Collects the files that have to be uploaded.
using Blobs = std::vector<client::LocalBlob>;

// A file, or the folder of a SavedModel or of its versions. `format` is "onnx", "graphdef", "savedmodel" or "" (by the
// file's ending); `signature` is for SavedModels. Errors have the reason MODEL_FILE, a signature for others is a usage
// error.
absl::StatusOr<v1::Model> ResolveModel(const std::string& path, const std::string& format, Blobs* blobs,
                                       const std::string& signature = "");

// .npz files and folders of them, those of a folder in the order of their names. Errors are usage errors.
absl::StatusOr<v1::Samples> ResolveSamples(const std::string& flag, const std::vector<std::string>& paths,
                                           Blobs* blobs);

// What --ranges names: a ranges.json or a log of TensorFlow's. Errors are usage errors.
absl::StatusOr<v1::File> ResolveRanges(const std::string& path, Blobs* blobs);

// "NAME=F.npy".
absl::StatusOr<v1::NamedFile> ResolveInput(const std::string& text, int index, Blobs* blobs);

// A name that the contract allows: other characters than [A-Za-z0-9._+@=-] become '_'.
std::string SafeName(absl::string_view name);

// Whether a name that a server sent stays below the folder it is joined to.
bool IsSafeRelativePath(absl::string_view path);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_INPUTS_H_
