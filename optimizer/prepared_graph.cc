// SPDX-License-Identifier: Apache-2.0
#include "optimizer/prepared_graph.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string_view>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/text.h"

namespace halftone {
namespace {

constexpr uint64_t kAlignment = 64;  // of Buffer
constexpr std::string_view kHead = "# prepared from ";

// Appends weights to a file; those that several constants share are there once.
class WeightsWriter {
 public:
  explicit WeightsWriter(std::ofstream& file) : file_(file) {}

  uint64_t Store(const Tensor& tensor) {
    const auto [known, is_new] = offsets_.try_emplace({tensor.raw(), tensor.byte_size()}, 0);
    if (!is_new) return known->second;
    static constexpr char kZeros[kAlignment] = {};
    const uint64_t gap = (kAlignment - size_ % kAlignment) % kAlignment;
    file_.write(kZeros, static_cast<std::streamsize>(gap));
    file_.write(reinterpret_cast<const char*>(tensor.raw()), static_cast<std::streamsize>(tensor.byte_size()));
    known->second = size_ + gap;
    size_ += gap + tensor.byte_size();
    return known->second;
  }
  uint64_t size() const { return size_; }

 private:
  std::ofstream& file_;
  std::map<std::pair<const std::byte*, size_t>, uint64_t> offsets_;
  uint64_t size_ = 0;
};

std::string HeadOf(const std::string& model_sha256) { return Concat(kHead, model_sha256, "\n"); }

}  // namespace

absl::Status WritePreparedGraph(const Graph& graph, const std::string& model_sha256, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  WeightsWriter weights(file);
  const std::string text =
      PrintGraph(graph, {.store_weights = [&weights](const Tensor& tensor) { return weights.Store(tensor); }});
  const uint64_t begin = weights.size();
  file << HeadOf(model_sha256) << text;
  file.write(reinterpret_cast<const char*>(&begin), sizeof(begin));
  file.close();
  if (!file) return ErrnoToStatus(errno, Concat("cannot write ", path));
  return absl::OkStatus();
}

absl::StatusOr<Graph> ReadPreparedGraph(const std::string& path, const std::string& model_sha256) {
  HALFTONE_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  const auto file = std::make_shared<const MappedFile>(std::move(mapped));
  const std::string_view bytes = file->bytes();
  uint64_t begin = 0;
  const bool has_end = bytes.size() >= sizeof(begin);
  if (has_end) std::memcpy(&begin, bytes.data() + bytes.size() - sizeof(begin), sizeof(begin));
  if (!has_end || begin > bytes.size() - sizeof(begin)) {
    return absl::InvalidArgumentError(Concat("'", path, "' is no prepared graph"));
  }
  const std::string_view text = bytes.substr(begin, bytes.size() - sizeof(begin) - begin);
  if (!text.starts_with(HeadOf(model_sha256))) {
    return absl::FailedPreconditionError(
        Concat("'", path, "' was not prepared from the model file with the digest ", model_sha256));
  }
  const std::shared_ptr<const Buffer> weights = Buffer::View(bytes.data(), begin, file);
  absl::StatusOr<Graph> graph = ParseGraph(text, weights);
  if (!graph.ok()) return Annotate(graph.status(), Concat("'", path, "'"));
  return graph;
}

}  // namespace halftone
