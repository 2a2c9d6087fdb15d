// SPDX-License-Identifier: Apache-2.0
#include "optimizer/output_log.h"

#include <array>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "formats/npz/npy.h"

namespace halftone {
namespace {

void WritePiece(std::ofstream& file, std::string_view bytes) {
  const uint64_t size = bytes.size();
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// False at the end of the file; a piece that is cut off fails the stream.
bool ReadPiece(std::ifstream& file, std::string& bytes) {
  uint64_t size = 0;
  if (!file.read(reinterpret_cast<char*>(&size), sizeof size)) return false;
  bytes.resize(size);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  return static_cast<bool>(file);
}

}  // namespace

absl::StatusOr<OutputLogWriter> OutputLogWriter::Create(const std::string& path,
                                                        const std::vector<std::string>& output_names) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return absl::InternalError("cannot write the log of outputs");
  const uint64_t count = output_names.size();
  file.write(reinterpret_cast<const char*>(&count), sizeof count);
  for (const std::string& name : output_names) WritePiece(file, name);
  return OutputLogWriter(std::move(file));
}

absl::Status OutputLogWriter::Append(const OutputRecord& record) {
  const std::array<int64_t, 3> head = {record.batch, record.rows, static_cast<int64_t>(record.labels.size())};
  file_.write(reinterpret_cast<const char*>(head.data()), sizeof head);
  file_.write(reinterpret_cast<const char*>(record.labels.data()),
              static_cast<std::streamsize>(record.labels.size() * sizeof(int64_t)));
  for (const Tensor& output : record.outputs) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string npy, WriteNpy(output));
    WritePiece(file_, npy);
  }
  return file_ ? absl::OkStatus()
               : absl::ResourceExhaustedError("the log of outputs could not be written: is the disk full?");
}

absl::Status OutputLogWriter::Close() {
  file_.close();
  return file_ ? absl::OkStatus()
               : absl::ResourceExhaustedError("the log of outputs could not be written: is the disk full?");
}

absl::StatusOr<OutputLogReader> OutputLogReader::Open(const std::string& path) {
  OutputLogReader reader(std::ifstream(path, std::ios::binary));
  uint64_t count = 0;
  if (!reader.file_.read(reinterpret_cast<char*>(&count), sizeof count))
    return absl::InternalError("no log of outputs");
  reader.names_.resize(count);
  for (std::string& name : reader.names_) {
    if (!ReadPiece(reader.file_, name)) return absl::InternalError("the log of outputs is cut off");
  }
  return reader;
}

absl::StatusOr<bool> OutputLogReader::Next(OutputRecord& record) {
  std::array<int64_t, 3> head;
  if (!file_.read(reinterpret_cast<char*>(head.data()), sizeof head)) return false;
  record.batch = head[0];
  record.rows = head[1];
  record.labels.resize(head[2]);
  file_.read(reinterpret_cast<char*>(record.labels.data()), static_cast<std::streamsize>(head[2] * sizeof(int64_t)));
  record.outputs.clear();
  std::string npy;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!ReadPiece(file_, npy)) return absl::InternalError("the log of outputs is cut off");
    HALFTONE_ASSIGN_OR_RETURN(Tensor output, ParseNpy(npy, names_[i]));
    record.outputs.push_back(std::move(output));
  }
  return true;
}

}  // namespace halftone
