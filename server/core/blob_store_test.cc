// SPDX-License-Identifier: Apache-2.0
#include "server/core/blob_store.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "server/core/errors.h"
#include "server/core/testing.h"

namespace halftone::server {
namespace {

using ::absl::StatusCode;

class BlobStoreTest : public testing::Test {
 protected:
  BlobStoreTest() { Reopen(); }

  void Reopen(BlobStore::Options options = {}) {
    blobs_.reset();
    blobs_ = BlobStore::Open(dir_.path(), options).value();
  }

  int FilesIn(const std::string& folder) {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(dir_.path() + "/" + folder), {}));
  }

  TempDir dir_ = TempDir::Create().value();
  std::unique_ptr<BlobStore> blobs_;
};

const std::string kText = "the quick brown fox jumps over the lazy dog";

TEST_F(BlobStoreTest, StoresAndReadsRanges) {
  EXPECT_FALSE(blobs_->Contains(DigestOf(kText)));
  ASSERT_TRUE(StoreBlob(*blobs_, kText).ok());
  EXPECT_TRUE(blobs_->Contains(DigestOf(kText)));
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText)).value(), kText);
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 4, 5).value(), "quick");
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 40).value(), "dog");
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 40, 1000).value(), "dog");
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), static_cast<int64_t>(kText.size())).value(), "");
  EXPECT_EQ(FilesIn("uploads"), 0);
  Reopen();
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText)).value(), kText);
}

TEST_F(BlobStoreTest, EmptyBlobIsAlwaysThere) {
  EXPECT_TRUE(blobs_->Contains(DigestOf("")));
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf("")).value(), "");
}

TEST_F(BlobStoreTest, ReadErrors) {
  ASSERT_TRUE(StoreBlob(*blobs_, kText).ok());
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf("other")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 44).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), -1).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 0, -1).status().code(), StatusCode::kInvalidArgument);
  v1::Digest other_size = DigestOf(kText);
  other_size.set_size_bytes(5);
  EXPECT_EQ(ReadBlob(*blobs_, other_size).status().code(), StatusCode::kNotFound) << "the size is part of the name";
}

struct BadSequence {
  std::string name;
  std::string reason;
  bool discarded;
  std::function<absl::Status(BlobStore&)> write;
};

TEST_F(BlobStoreTest, BadSequences) {
  const auto begin = [](BlobStore& blobs, int64_t offset = 0) { return blobs.BeginWrite(DigestOf(kText), offset); };
  const auto first = [](const std::vector<absl::Status>& statuses) {
    for (const absl::Status& status : statuses) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  };
  const std::string wrong(kText.size(), 'x');
  const BadSequence sequences[] = {
      {"first offset past nothing", "WRONG_OFFSET", false, [&](BlobStore& b) { return begin(b, 1).status(); }},
      {"negative first offset", "WRONG_OFFSET", false, [&](BlobStore& b) { return begin(b, -1).status(); }},
      {"gap", "WRONG_OFFSET", false,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first({w->Write(0, "the"), w->Write(4, "quick")});
       }},
      {"step back", "WRONG_OFFSET", false,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first({w->Write(0, "the"), w->Write(0, "the")});
       }},
      {"finish too early", "TOO_FEW_BYTES", true,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first({w->Write(0, "the"), w->Finish()});
       }},
      {"finish with nothing", "TOO_FEW_BYTES", true, [&](BlobStore& b) { return begin(b)->Finish(); }},
      {"one byte too many", "DATA_PAST_SIZE", true, [&](BlobStore& b) { return begin(b)->Write(0, kText + "!"); }},
      {"too many in the second message", "DATA_PAST_SIZE", true,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first({w->Write(0, kText), w->Write(static_cast<int64_t>(kText.size()), "!")});
       }},
      {"other bytes", "DIGEST_MISMATCH", true,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first({w->Write(0, wrong), w->Finish()});
       }},
      {"write after a failure", "DIGEST_MISMATCH", true,
       [&](BlobStore& b) {
         auto w = begin(b);
         return first(
             {w->Write(0, wrong.substr(1)), w->Write(static_cast<int64_t>(wrong.size()) - 1, "x"), w->Finish()});
       }},
  };
  for (const BadSequence& sequence : sequences) {
    SCOPED_TRACE(sequence.name);
    RemoveAll(dir_.path() + "/uploads").IgnoreError();
    Reopen();
    const absl::Status status = sequence.write(*blobs_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(ReasonOf(status), sequence.reason);
    EXPECT_FALSE(blobs_->Contains(DigestOf(kText)));
    if (sequence.discarded) {
      EXPECT_EQ(FilesIn("uploads"), 0);
      EXPECT_TRUE(StoreBlob(*blobs_, kText).ok()) << "a second try starts afresh";
      std::filesystem::remove(blobs_->PathOf(DigestOf(kText)));
    }
  }
}

TEST_F(BlobStoreTest, ResumesAlsoAfterReopening) {
  {
    BlobWriter writer = blobs_->BeginWrite(DigestOf(kText), 0).value();
    ASSERT_TRUE(writer.Write(0, kText.substr(0, 10)).ok());
    EXPECT_EQ(writer.Commit().value(), 10);
    ASSERT_TRUE(writer.Write(10, kText.substr(10, 5)).ok());
    EXPECT_EQ(blobs_->QueryWrite(DigestOf(kText))->committed_size, 10) << "only what is durable counts";
  }
  EXPECT_EQ(blobs_->QueryWrite(DigestOf(kText))->committed_size, 15);
  Reopen();
  const BlobStore::WriteState state = blobs_->QueryWrite(DigestOf(kText)).value();
  EXPECT_EQ(state.committed_size, 15);
  EXPECT_FALSE(state.complete);
  EXPECT_EQ(blobs_->BeginWrite(DigestOf(kText), 0).status().code(), StatusCode::kInvalidArgument);
  {
    BlobWriter writer = blobs_->BeginWrite(DigestOf(kText), 15).value();
    ASSERT_TRUE(writer.Write(15, kText.substr(15)).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  EXPECT_TRUE(blobs_->QueryWrite(DigestOf(kText))->complete);
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText)).value(), kText);
}

TEST_F(BlobStoreTest, QueryOfNothingIsZero) {
  EXPECT_EQ(blobs_->QueryWrite(DigestOf("nothing"))->committed_size, 0);
  EXPECT_FALSE(blobs_->QueryWrite(DigestOf("nothing"))->complete);
}

TEST_F(BlobStoreTest, WriteOfAStoredBlobIsCompleteAtOnce) {
  ASSERT_TRUE(StoreBlob(*blobs_, kText).ok());
  EXPECT_TRUE(blobs_->BeginWrite(DigestOf(kText), 0)->complete());
}

TEST_F(BlobStoreTest, SizeLimit) {
  Reopen({.max_blob_bytes = 10});
  EXPECT_EQ(blobs_->BeginWrite(DigestOf(kText), 0).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(StoreBlob(*blobs_, "0123456789").ok());
}

TEST_F(BlobStoreTest, ManyWriteOneBlob) {
  const std::string large(3 << 20, 'a');
  std::vector<std::thread> writers;
  std::vector<absl::Status> results(20);
  for (size_t t = 0; t < results.size(); ++t) {
    writers.emplace_back([&, t] {
      absl::StatusOr<BlobWriter> writer = blobs_->BeginWrite(DigestOf(large), 0);
      results[t] = writer.status();
      for (size_t i = 0; i < large.size() && results[t].ok(); i += 1 << 16) {
        results[t] = writer->Write(static_cast<int64_t>(i), std::string_view(large).substr(i, 1 << 16));
      }
      if (results[t].ok()) results[t] = writer->Finish();
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const absl::Status& result : results) EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(ReadBlob(*blobs_, DigestOf(large), 0, 0, 1 << 20).value(), large);
  EXPECT_EQ(FilesIn("uploads"), 0);
}

TEST_F(BlobStoreTest, LostBytesAreDataLossThenNotFoundThenHealed) {
  for (const char* damage : {"flipped", "cut", "longer"}) {
    SCOPED_TRACE(damage);
    ASSERT_TRUE(StoreBlob(*blobs_, kText).ok());
    const std::string path = blobs_->PathOf(DigestOf(kText));
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    std::string bytes = kText;
    if (damage == std::string("flipped")) bytes[20] ^= 1;
    if (damage == std::string("cut")) bytes.pop_back();
    if (damage == std::string("longer")) bytes += "!";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText), 0, 3).status().code(), StatusCode::kDataLoss) << "a range, too";
    EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText)).status().code(), StatusCode::kNotFound);
    EXPECT_TRUE(StoreBlob(*blobs_, kText).ok());
    EXPECT_EQ(ReadBlob(*blobs_, DigestOf(kText)).value(), kText);
  }
}

TEST_F(BlobStoreTest, StoredFilesAreReadOnly) {
  ASSERT_TRUE(StoreBlob(*blobs_, kText).ok());
  struct stat info;
  ASSERT_EQ(stat(blobs_->PathOf(DigestOf(kText)).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0400u);
}

}  // namespace
}  // namespace halftone::server
