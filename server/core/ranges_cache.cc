// SPDX-License-Identifier: Apache-2.0
#include "server/core/ranges_cache.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/logging.h"
#include "base/sha256.h"
#include "base/status.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeySize = 64;

// Model and samples of the kinds of jobs that calibrate; nullopt of the others.
struct CalibratedInputs {
  const v1::Model& model;
  const v1::Samples& samples;
};
std::optional<CalibratedInputs> InputsOf(const v1::JobSpec& spec) {
  switch (spec.work_case()) {
    case v1::JobSpec::kOptimize:
      return CalibratedInputs{spec.optimize().model(), spec.optimize().calibration()};
    case v1::JobSpec::kBench:
      return CalibratedInputs{spec.bench().model(), spec.bench().calibration()};
    case v1::JobSpec::kProfile:
      return CalibratedInputs{spec.profile().model(), spec.profile().calibration()};
    case v1::JobSpec::kInspect:
    case v1::JobSpec::kRun:
    case v1::JobSpec::WORK_NOT_SET:
      break;
  }
  return std::nullopt;
}

std::string TextOf(const v1::Digest& digest) { return absl::StrCat(digest.sha256(), " ", digest.size_bytes(), "\n"); }

// Of the first line.
std::optional<v1::Digest> ParseDigest(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text.substr(0, text.find('\n')), ' ');
  int64_t size = 0;
  if (words.size() != 2 || !absl::SimpleAtoi(words[1], &size)) return std::nullopt;
  v1::Digest digest;
  digest.set_sha256(words[0]);
  digest.set_size_bytes(size);
  return DigestProblem(digest).empty() ? std::optional<v1::Digest>(std::move(digest)) : std::nullopt;
}

struct File {
  std::string path;
  fs::file_time_type written;
  uintmax_t size = 0;
};

// Those that are entries, or will be.
void AddFiles(const std::string& folder, std::vector<File>& files) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!IsSha256Hex(it->path().filename().string().substr(0, kKeySize))) continue;
    std::error_code gone;  // another process removes files too
    if (!it->is_regular_file(gone) || gone) continue;
    File file = {it->path().string(), it->last_write_time(gone), it->file_size(gone)};
    if (!gone) files.push_back(std::move(file));
  }
}

void SortNewestFirst(std::vector<File>& files) {
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.written != b.written ? a.written > b.written : a.path < b.path;
  });
}

void Remove(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace

std::vector<RangesCache::Entry> RangesCache::Find(const v1::JobSpec& spec, std::vector<std::string>& warnings) {
  std::vector<Entry> entries;
  const std::string folder = FolderOf(spec);
  if (folder.empty()) return entries;
  std::vector<File> files;
  AddFiles(folder, files);
  SortNewestFirst(files);
  for (const File& file : files) {
    const std::string key = fs::path(file.path).filename().string();
    if (!IsSha256Hex(key)) continue;  // being written by another process
    if (entries.size() == kMostEntries) {
      Remove(file.path);
      continue;
    }
    const absl::StatusOr<std::string> text = ReadFile(file.path);
    if (absl::IsNotFound(text.status())) continue;
    const std::optional<v1::Digest> digest = text.ok() ? ParseDigest(*text) : std::nullopt;
    const absl::Status whole = digest.has_value() ? Restore(*text, *digest) : absl::DataLossError("not a digest");
    if (whole.ok()) {
      entries.push_back({key, *digest});
      continue;
    }
    Remove(file.path);
    if (absl::IsNotFound(whole)) continue;  // the blob was removed
    LogError("an entry of the ranges cache is broken").With("key", key).With("error", whole.message());
    warnings.push_back("int8: ranges of an earlier job are broken in the server's cache: they are not used");
  }
  return entries;
}

absl::Status RangesCache::Keep(const v1::JobSpec& spec, const std::string& key, const v1::Digest& digest) {
  if (!IsSha256Hex(key)) return absl::InvalidArgumentError("the key of ranges is not 64 hexadecimal digits");
  const std::string folder = FolderOf(spec);
  if (folder.empty()) return absl::InvalidArgumentError("ranges with a key, but no samples");
  std::string text = TextOf(digest);
  if (options_.shared) {
    if (digest.size_bytes() > options_.most_bytes)
      return absl::ResourceExhaustedError("the ranges are too large to keep");
    HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(blobs_.PathOf(digest)));
    text += bytes;
  }
  HALFTONE_RETURN_IF_ERROR(MakeDirectories(folder));
  HALFTONE_RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(folder, "/", key), text));
  if (options_.shared) RemoveOldest();
  return absl::OkStatus();
}

absl::Status RangesCache::Restore(std::string_view text, const v1::Digest& digest) {
  if (!options_.shared || blobs_.Contains(digest)) return blobs_.Verify(digest);
  HALFTONE_ASSIGN_OR_RETURN(BlobWriter writer, blobs_.BeginWrite(digest, 0));
  HALFTONE_RETURN_IF_ERROR(writer.Write(0, text.substr(std::min(text.find('\n'), text.size() - 1) + 1)));
  return writer.Finish();
}

void RangesCache::RemoveOldest() const {
  std::vector<File> files;
  std::error_code error;
  for (fs::directory_iterator it(options_.dir, error), end; !error && it != end; it.increment(error)) {
    if (IsSha256Hex(it->path().filename().string())) AddFiles(it->path().string(), files);
  }
  SortNewestFirst(files);
  auto left = static_cast<uintmax_t>(options_.most_bytes);
  for (const File& file : files) {
    if (file.size <= left) {
      left -= file.size;
    } else {
      Remove(file.path);
      Remove(fs::path(file.path).parent_path());  // which works where it is empty
    }
  }
}

std::string RangesCache::FolderOf(const v1::JobSpec& spec) const {
  const std::optional<CalibratedInputs> inputs = InputsOf(spec);
  if (!inputs.has_value() || inputs->samples.files().empty()) return "";
  std::string text;
  for (const v1::File& file : inputs->model.files()) absl::StrAppend(&text, "model ", TextOf(file.digest()));
  for (const v1::File& file : inputs->samples.files()) absl::StrAppend(&text, "samples ", TextOf(file.digest()));
  return absl::StrCat(options_.dir, "/", Sha256Hex(text));
}

}  // namespace halftone::server
