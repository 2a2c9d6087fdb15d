// SPDX-License-Identifier: Apache-2.0
// Upload and download against a server that cuts the streams.

#include <filesystem>
#include <string>

#include "client/fake_server.h"
#include "gmock/gmock.h"

namespace halftone::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Bytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& c : bytes) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

class TransferTest : public WithFakeServer {
 protected:
  LocalBlob MakeFile(const std::string& name, const std::string& bytes) {
    const std::string path = dir_->path() + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    absl::StatusOr<LocalBlob> blob = DescribeFile(path);
    EXPECT_TRUE(blob.ok()) << blob.status();
    return *blob;
  }

  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(TransferTest, DescribeFile) {
  const LocalBlob blob = MakeFile("a", "abc");
  EXPECT_EQ(blob.digest.size_bytes(), 3);
  EXPECT_EQ(blob.digest.sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(DescribeFile(dir_->path() + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(DescribeFile(dir_->path()).status().message()), HasSubstr("not a regular file"));
}

TEST_F(TransferTest, UploadInMessagesBelowOneMebibyte) {
  const std::string bytes = Bytes(3'500'000);
  const LocalBlob blob = MakeFile("a", bytes);
  int64_t last = 0;
  ASSERT_TRUE(client_
                  ->Upload({&blob, 1},
                           [&](int64_t done, int64_t total) {
                             EXPECT_GE(done, last);
                             EXPECT_EQ(total, 3'500'000);
                             last = done;
                           })
                  .ok());
  EXPECT_EQ(last, 3'500'000);
  EXPECT_EQ(blobs_.stored[blob.digest.sha256()], bytes);
  EXPECT_LT(blobs_.largest_message, size_t{1} << 20);
}

TEST_F(TransferTest, WhatIsStoredIsNotSentAgainAndEqualFilesOnce) {
  const LocalBlob blobs[] = {MakeFile("a", "same"), MakeFile("b", "same"), MakeFile("c", "other")};
  ASSERT_TRUE(client_->Upload(blobs, {}).ok());
  EXPECT_EQ(blobs_.write_offsets.size(), 2u);
  ASSERT_TRUE(client_->Upload(blobs, {}).ok());
  EXPECT_EQ(blobs_.write_offsets.size(), 2u);
}

TEST_F(TransferTest, EmptyFile) {
  const LocalBlob blob = MakeFile("a", "");
  ASSERT_TRUE(client_->Upload({&blob, 1}, {}).ok());
  EXPECT_EQ(blobs_.stored.count(blob.digest.sha256()), 1u);
  absl::StatusOr<PendingFile> file = client_->Download(blob.digest, dir_->path() + "/out/x", {});
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(CommitAll({&*file, 1}).ok());
  EXPECT_EQ(*ReadFile(dir_->path() + "/out/x"), "");
}

TEST_F(TransferTest, UploadGoesOnWhereTheServerSays) {
  const std::string bytes = Bytes(3'000'000);
  const LocalBlob blob = MakeFile("a", bytes);
  blobs_.write_cuts = {1'000'000, 500'001, 7};
  ASSERT_TRUE(client_->Upload({&blob, 1}, {}).ok());
  EXPECT_THAT(blobs_.write_offsets, ElementsAre(0, 1'000'000, 1'500'001, 1'500'008));
  EXPECT_EQ(blobs_.stored[blob.digest.sha256()], bytes);
}

TEST_F(TransferTest, ALaterProgramResumesAnUpload) {
  const std::string bytes = Bytes(2'000'000);
  const LocalBlob blob = MakeFile("a", bytes);
  blobs_.partial[blob.digest.sha256()] = bytes.substr(0, 1'234'567);
  ASSERT_TRUE(client_->Upload({&blob, 1}, {}).ok());
  EXPECT_THAT(blobs_.write_offsets, ElementsAre(1'234'567));
}

TEST_F(TransferTest, UploadGivesUpWithoutProgress) {
  const LocalBlob blob = MakeFile("a", "abc");
  blobs_.write_cuts = std::deque<int64_t>(100'000, 0);
  const absl::Status status = client_->Upload({&blob, 1}, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST_F(TransferTest, AFileThatChangedIsAnError) {
  const LocalBlob blob = MakeFile("a", "abc");
  ASSERT_TRUE(WriteFileAtomically(blob.path, "abd").ok());
  EXPECT_EQ(client_->Upload({&blob, 1}, {}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(WriteFileAtomically(blob.path, "a").ok());
  EXPECT_THAT(std::string(client_->Upload({&blob, 1}, {}).message()), HasSubstr("became shorter"));
}

TEST_F(TransferTest, DownloadGoesOnAfterCutsAndChecksTheDigest) {
  const std::string bytes = Bytes(1'000'000);
  const LocalBlob blob = MakeFile("a", bytes);
  blobs_.stored[blob.digest.sha256()] = bytes;
  blobs_.read_cuts = {300'000, 100'000};
  absl::StatusOr<PendingFile> file = client_->Download(blob.digest, dir_->path() + "/out/sub/b", {});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(blobs_.read_offsets, ElementsAre(0, 300'000, 400'000));
  EXPECT_FALSE(std::filesystem::exists(dir_->path() + "/out/sub/b"));
  ASSERT_TRUE(CommitAll({&*file, 1}).ok());
  EXPECT_EQ(*ReadFile(dir_->path() + "/out/sub/b"), bytes);
  EXPECT_THAT(Files(dir_->path() + "/out/sub"), ElementsAre("b"));
}

TEST_F(TransferTest, WrongBytesLeaveNoFile) {
  const LocalBlob blob = MakeFile("a", "abc");
  blobs_.stored[blob.digest.sha256()] = "abc";
  blobs_.flip_a_bit = true;
  EXPECT_EQ(client_->Download(blob.digest, dir_->path() + "/out/b", {}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Files(dir_->path() + "/out"), IsEmpty());
}

TEST_F(TransferTest, MissingBlobLeavesNoFile) {
  const LocalBlob blob = MakeFile("a", "abc");
  EXPECT_EQ(client_->Download(blob.digest, dir_->path() + "/out/b", {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Files(dir_->path() + "/out"), IsEmpty());
}

TEST_F(TransferTest, ReadBlobHasALimit) {
  const LocalBlob blob = MakeFile("a", "abc");
  blobs_.stored[blob.digest.sha256()] = "abc";
  EXPECT_EQ(*client_->ReadBlob(blob.digest, 3), "abc");
  EXPECT_EQ(client_->ReadBlob(blob.digest, 2).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(TransferTest, CancelledUploadEnds) {
  const LocalBlob blob = MakeFile("a", "abc");
  cancellation_.Cancel();
  EXPECT_EQ(client_->Upload({&blob, 1}, {}).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace halftone::client
