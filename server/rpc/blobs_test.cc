// SPDX-License-Identifier: Apache-2.0
// The Blobs service over a real connection: each guarantee and each error that its proto documents.

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "server/rpc/testing.h"

namespace halftone::server {
namespace {

class BlobsTest : public ServerTest {
 protected:
  grpc::Status Read(const v1::Digest& digest, int64_t offset, int64_t limit, std::string* bytes = nullptr) {
    grpc::ClientContext context;
    v1::ReadRequest request;
    *request.mutable_digest() = digest;
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    auto reader = blobs_->Read(&context, request);
    for (v1::ReadResponse piece; reader->Read(&piece);) {
      EXPECT_LE(piece.data().size(), static_cast<size_t>(kMaxDataBytes));
      if (bytes != nullptr) *bytes += piece.data();
    }
    return reader->Finish();
  }

  v1::QueryWriteResponse Query(const std::string& bytes) {
    grpc::ClientContext context;
    v1::QueryWriteRequest request;
    *request.mutable_digest() = DigestOf(bytes);
    v1::QueryWriteResponse response;
    EXPECT_TRUE(blobs_->QueryWrite(&context, request, &response).ok());
    return response;
  }
};

TEST_F(BlobsTest, LargeBlobInPieces) {
  std::string bytes(3'000'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7919 >> 8);
  std::vector<v1::WriteRequest> messages;
  for (size_t i = 0; i < bytes.size(); i += kMaxDataBytes) {
    const bool last = i + kMaxDataBytes >= bytes.size();
    messages.push_back(Message(DigestOf(bytes), static_cast<int64_t>(i), bytes.substr(i, kMaxDataBytes), last));
    if (i > 0) messages.back().clear_digest();
  }
  v1::WriteResponse response;
  const grpc::Status status = Write(messages, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.committed_size(), 3'000'000);
  EXPECT_TRUE(Query(bytes).complete());
  std::string read;
  EXPECT_TRUE(Read(DigestOf(bytes), 0, 0, &read).ok());
  EXPECT_EQ(read, bytes);
  read.clear();
  EXPECT_TRUE(Read(DigestOf(bytes), 1'500'000, 10, &read).ok());
  EXPECT_EQ(read, bytes.substr(1'500'000, 10));
}

TEST_F(BlobsTest, ResumesOverARestartOfTheServer) {
  v1::WriteResponse response;
  ASSERT_TRUE(Write({Message(DigestOf("0123456789"), 0, "0123", false)}, &response).ok());
  EXPECT_EQ(response.committed_size(), 4);
  Start();
  EXPECT_EQ(Query("0123456789").committed_size(), 4);
  EXPECT_FALSE(Query("0123456789").complete());
  ASSERT_TRUE(Write({Message(DigestOf("0123456789"), 4, "456789", true)}, &response).ok());
  EXPECT_EQ(response.committed_size(), 10);
}

TEST_F(BlobsTest, WriteOfAStoredBlobReturnsAtOnce) {
  ASSERT_TRUE(Upload("bytes").ok());
  v1::WriteResponse response;
  EXPECT_TRUE(Write({Message(DigestOf("bytes"), 0, "", false)}, &response).ok());
  EXPECT_EQ(response.committed_size(), 5);
}

TEST_F(BlobsTest, WriteErrors) {
  const v1::Digest digest = DigestOf("0123456789");
  v1::Digest malformed = digest;
  malformed.set_sha256("abc");
  ExpectError(Write({}), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Write({Message(malformed, 0, "", false)}), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Write({Message(digest, 0, std::string(kMaxDataBytes + 1, 'x'), false)}), grpc::INVALID_ARGUMENT,
              "INVALID_FIELD");
  ExpectError(Write({Message(digest, 3, "345", false)}), grpc::INVALID_ARGUMENT, "WRONG_OFFSET");
  ExpectError(Write({Message(digest, 0, "0123456789x", false)}), grpc::INVALID_ARGUMENT, "DATA_PAST_SIZE");
  ExpectError(Write({Message(digest, 0, "012", true)}), grpc::INVALID_ARGUMENT, "TOO_FEW_BYTES");
  ExpectError(Write({Message(digest, 0, "xxxxxxxxxx", true)}), grpc::INVALID_ARGUMENT, "DIGEST_MISMATCH");
  ExpectError(Write({Message(digest, 0, "0", false), Message(DigestOf("other"), 1, "1", false)}),
              grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  Start(/*max_blob_bytes=*/5);
  ExpectError(Upload("0123456789"), grpc::RESOURCE_EXHAUSTED, "BLOB_TOO_LARGE");
}

TEST_F(BlobsTest, BrokenWriteStaysAndCanBeResumed) {
  {
    grpc::ClientContext context;
    v1::WriteResponse response;
    auto writer = blobs_->Write(&context, &response);
    ASSERT_TRUE(writer->Write(Message(DigestOf("0123456789"), 0, "01234", false)));
    while (!std::ifstream(dir_.path() + "/data/uploads/" + DigestOf("0123456789").sha256() + "-10.part").good()) {
    }
    context.TryCancel();
    EXPECT_EQ(writer->Finish().error_code(), grpc::CANCELLED);
  }
  for (int i = 0; i < 500 && Query("0123456789").committed_size() < 5; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_EQ(Query("0123456789").committed_size(), 5);
}

TEST_F(BlobsTest, WriteWithADeadline) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  v1::WriteResponse response;
  auto writer = blobs_->Write(&context, &response);
  writer->Write(Message(DigestOf("0123456789"), 0, "01234", false));
  EXPECT_EQ(writer->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
}

TEST_F(BlobsTest, FindMissingBlobs) {
  ASSERT_TRUE(Upload("here").ok());
  v1::FindMissingBlobsRequest request;
  for (const char* bytes : {"b", "here", "a", "", "b"}) *request.add_digests() = DigestOf(bytes);
  v1::FindMissingBlobsResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(blobs_->FindMissingBlobs(&context, request, &response).ok());
  ASSERT_EQ(response.missing_size(), 2);
  EXPECT_EQ(response.missing(0).sha256(), DigestOf("b").sha256());
  EXPECT_EQ(response.missing(1).sha256(), DigestOf("a").sha256());
}

TEST_F(BlobsTest, FindMissingBlobsErrors) {
  v1::FindMissingBlobsRequest request;
  v1::FindMissingBlobsResponse response;
  request.add_digests()->set_sha256("x");
  request.add_digests()->set_size_bytes(-1);
  grpc::ClientContext first;
  const grpc::Status status = blobs_->FindMissingBlobs(&first, request, &response);
  ExpectError(status, grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status).field_violations_size(), 2) << "both are named";
  request.clear_digests();
  for (int i = 0; i <= kMaxDigests; ++i) *request.add_digests() = DigestOf("");
  grpc::ClientContext second;
  ExpectError(blobs_->FindMissingBlobs(&second, request, &response), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(BlobsTest, QueryWriteErrors) {
  grpc::ClientContext context;
  v1::QueryWriteResponse response;
  ExpectError(blobs_->QueryWrite(&context, v1::QueryWriteRequest(), &response), grpc::INVALID_ARGUMENT,
              "INVALID_FIELD");
}

TEST_F(BlobsTest, ReadErrors) {
  ASSERT_TRUE(Upload("bytes").ok());
  ExpectError(Read(v1::Digest(), 0, 0), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Read(DigestOf("bytes"), 0, -1), grpc::INVALID_ARGUMENT, "INVALID_FIELD");
  ExpectError(Read(DigestOf("other"), 0, 0), grpc::NOT_FOUND, "BLOB_NOT_FOUND");
  ExpectError(Read(DigestOf("bytes"), 6, 0), grpc::OUT_OF_RANGE, "READ_PAST_END");
  ExpectError(Read(DigestOf("bytes"), -1, 0), grpc::OUT_OF_RANGE, "READ_PAST_END");
  const std::string path =
      dir_.path() + "/data/blobs/" + DigestOf("bytes").sha256().substr(0, 2) + "/" + DigestOf("bytes").sha256() + "-5";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  std::ofstream(path) << "bites";
  ExpectError(Read(DigestOf("bytes"), 0, 0), grpc::DATA_LOSS, "BLOB_CORRUPT");
}

}  // namespace
}  // namespace halftone::server
