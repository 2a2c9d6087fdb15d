// SPDX-License-Identifier: Apache-2.0
#include "client/cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/status.h"

namespace halftone::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSavedModelFile[] = "saved_model.pb";
constexpr size_t kLongestName = 200;  // the contract allows 255; the job appends to it

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || absl::StrContains("._+@=-", absl::string_view(&c, 1)); }

absl::StatusOr<v1::File> Describe(const std::string& path, const std::string& name, Blobs* blobs) {
  HALFTONE_ASSIGN_OR_RETURN(client::LocalBlob blob, client::DescribeFile(path));
  v1::File file;
  file.set_path(name);
  *file.mutable_digest() = blob.digest;
  blobs->push_back(std::move(blob));
  return file;
}

absl::StatusOr<v1::Format> FindFormat(const std::string& path, const std::string& format) {
  if (format == "onnx") return v1::FORMAT_ONNX;
  if (format == "graphdef") return v1::FORMAT_GRAPHDEF;
  if (format == "savedmodel") return ModelFileError(absl::StrCat(path, ": is a file; a SavedModel is a folder"));
  if (absl::EndsWith(path, ".onnx")) return v1::FORMAT_ONNX;
  if (absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pbtxt")) return v1::FORMAT_GRAPHDEF;
  return ModelFileError(absl::StrCat(path,
                                     ": cannot tell the format of the model by its name: end it in .onnx, .pb or "
                                     ".pbtxt, or give --format onnx or --format graphdef"));
}

// The folder itself; or, as servers keep them, the one below it with the highest number. Empty: neither is a SavedModel.
fs::path FindSavedModel(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / kSavedModelFile, error)) return folder;
  fs::path found;
  int64_t newest = -1;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    int64_t version = 0;
    std::error_code ignored;
    if (!absl::SimpleAtoi(it->path().filename().string(), &version) || version <= newest) continue;
    if (!fs::exists(it->path() / kSavedModelFile, ignored)) continue;
    newest = version;
    found = it->path();
  }
  return found;
}

// saved_model.pb and what lies in variables, as files of a folder that is called as this one.
absl::StatusOr<v1::Model> ResolveSavedModel(const std::string& path, const std::string& signature, Blobs* blobs) {
  std::error_code error;
  const fs::path folder = FindSavedModel(path);
  if (folder.empty()) {
    return ModelFileError(absl::StrCat(path, ": is a folder without ", kSavedModelFile,
                                       "; a SavedModel or one model file is expected (.onnx, .pb or .pbtxt)"));
  }
  std::vector<std::string> names = {kSavedModelFile};
  for (fs::directory_iterator it(folder / "variables", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == "variables.index" || absl::StartsWith(name, "variables.data-")) names.push_back("variables/" + name);
  }
  std::sort(names.begin(), names.end());
  fs::path named = fs::weakly_canonical(path, error);
  int64_t version = 0;
  if (absl::SimpleAtoi(named.filename().string(), &version)) named = named.parent_path();
  const std::string called = SafeName(named.filename().string());
  v1::Model model;
  for (const std::string& name : names) {
    absl::StatusOr<v1::File> file = Describe((folder / name).string(), absl::StrCat(called, "/", name), blobs);
    if (!file.ok()) return client::WithReason(file.status(), kReasonModelFile);
    *model.add_files() = *std::move(file);
  }
  model.set_root_file(absl::StrCat(called, "/", kSavedModelFile));
  model.set_format(v1::FORMAT_SAVED_MODEL);
  model.set_signature(signature);
  return model;
}

// Appends the file itself, or those of the folder.
absl::Status FindSamples(const std::string& flag, const std::string& path, std::vector<std::string>* found) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    std::vector<std::string> inside;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".npz") inside.push_back(it->path().string());
    }
    std::sort(inside.begin(), inside.end());
    if (error) return UsageError(absl::StrCat(flag, " ", path, ": ", error.message()));
    if (inside.empty()) return UsageError(absl::StrCat(flag, " ", path, ": there is no .npz file in this folder"));
    found->insert(found->end(), inside.begin(), inside.end());
    return absl::OkStatus();
  }
  if (!fs::exists(path, error)) return UsageError(absl::StrCat(flag, " ", path, ": no such file or folder"));
  if (!absl::EndsWith(path, ".npz")) {
    return UsageError(absl::StrCat(flag, " ", path, ": an .npz file or a folder of them is expected"));
  }
  found->push_back(path);
  return absl::OkStatus();
}

}  // namespace

std::string SafeName(absl::string_view name) {
  std::string safe(name.substr(0, kLongestName));
  if (name.size() > kLongestName) {  // keep the ending: it says what the file is
    const size_t dot = name.rfind('.');
    const absl::string_view ending = dot == absl::string_view::npos ? "" : name.substr(dot);
    if (ending.size() < kLongestName) safe.replace(kLongestName - ending.size(), ending.size(), std::string(ending));
  }
  for (char& c : safe) {
    if (!IsNameCharacter(c)) c = '_';
  }
  if (safe.empty() || safe == "." || safe == "..") safe = absl::StrCat("_", safe);
  return safe;
}

bool IsSafeRelativePath(absl::string_view path) {
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
    if (!std::all_of(part.begin(), part.end(), IsNameCharacter)) return false;
  }
  return true;
}

absl::StatusOr<v1::Model> ResolveModel(const std::string& path, const std::string& format, Blobs* blobs,
                                       const std::string& signature) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (format.empty() || format == "savedmodel") return ResolveSavedModel(path, signature, blobs);
    return ModelFileError(absl::StrCat(path, ": is a folder; --format ", format, " wants a file"));
  }
  if (!fs::exists(path, error)) return ModelFileError(absl::StrCat(path, ": no such file"));
  if (fs::path(path).filename() == kSavedModelFile && (format.empty() || format == "savedmodel")) {
    const fs::path folder = fs::path(path).parent_path();
    return ResolveSavedModel(folder.empty() ? "." : folder.string(), signature, blobs);
  }
  if (!signature.empty()) return UsageError(absl::StrCat("--signature: ", path, " is no SavedModel"));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Format found, FindFormat(path, format));
  absl::StatusOr<v1::File> file = Describe(path, SafeName(fs::path(path).filename().string()), blobs);
  if (!file.ok()) return client::WithReason(file.status(), kReasonModelFile);
  if (file->digest().size_bytes() == 0) return ModelFileError(absl::StrCat(path, ": the file is empty"));
  v1::Model model;
  model.set_root_file(file->path());
  model.set_format(found);
  *model.add_files() = *std::move(file);
  return model;
}

absl::StatusOr<v1::Samples> ResolveSamples(const std::string& flag, const std::vector<std::string>& paths,
                                           Blobs* blobs) {
  std::vector<std::string> found;
  for (const std::string& path : paths) HALFTONE_RETURN_IF_ERROR(FindSamples(flag, path, &found));
  v1::Samples samples;
  std::set<std::string> names;
  for (const std::string& one : found) {
    std::string name = SafeName(fs::path(one).filename().string());
    while (!names.insert(name).second) name = absl::StrCat("_", name);  // of two folders, or made the same by SafeName
    absl::StatusOr<v1::File> file = Describe(one, name, blobs);
    if (!file.ok()) return client::WithReason(file.status(), kReasonUsage);
    *samples.add_files() = *std::move(file);
  }
  return samples;
}

absl::StatusOr<v1::File> ResolveRanges(const std::string& path, Blobs* blobs) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return UsageError(absl::StrCat("--ranges ", path, ": is a folder; a ranges.json or a log is expected"));
  }
  if (!fs::exists(path, error)) return UsageError(absl::StrCat("--ranges ", path, ": no such file"));
  absl::StatusOr<v1::File> file = Describe(path, SafeName(fs::path(path).filename().string()), blobs);
  if (!file.ok()) return client::WithReason(file.status(), kReasonUsage);
  if (file->digest().size_bytes() == 0) return UsageError(absl::StrCat("--ranges ", path, ": the file is empty"));
  return file;
}

absl::StatusOr<v1::NamedFile> ResolveInput(const std::string& text, int index, Blobs* blobs) {
  const size_t first = text.find('=');
  if (first == std::string::npos || first == 0) {
    return UsageError(absl::StrCat("--input ", text, ": NAME=FILE.npy is expected"));
  }
  size_t equals = first;  // names and paths may hold '=': the first place that leaves a file decides
  std::error_code error;
  while (equals != std::string::npos && !fs::exists(text.substr(equals + 1), error))
    equals = text.find('=', equals + 1);
  if (equals == std::string::npos) equals = first;
  const std::string path = text.substr(equals + 1);
  if (!absl::EndsWith(path, ".npy")) return UsageError(absl::StrCat("--input ", text, ": an .npy file is expected"));
  absl::StatusOr<v1::File> file = Describe(path, absl::StrCat("inputs/", index, ".npy"), blobs);
  if (!file.ok()) return client::WithReason(Annotate(file.status(), "--input " + text), kReasonUsage);
  v1::NamedFile named;
  named.set_name(text.substr(0, equals));
  *named.mutable_file() = *std::move(file);
  return named;
}

}  // namespace halftone::cli
