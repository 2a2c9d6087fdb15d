// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace halftone {
namespace {

TEST(Files, WriteThenReadAndReplace) {
  const TempDir dir = TempDir::Create().value();
  const std::string path = dir.path() + "/f";
  EXPECT_EQ(ReadFile(path).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, std::string("two\0three", 9)).ok());
  EXPECT_EQ(ReadFile(path).value(), std::string("two\0three", 9));
  EXPECT_EQ(RegularFileSize(path).value(), 9);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1) << "the temporary file is gone";
}

TEST(Files, ReadsFilesThatReportNoSize) { EXPECT_FALSE(ReadFile("/proc/self/status").value().empty()); }

TEST(Files, ErrorsNameThePath) {
  EXPECT_NE(ReadFile("/no/such").status().message().find("/no/such"), std::string::npos);
  EXPECT_FALSE(ReadFile("/tmp").ok());
  EXPECT_FALSE(WriteFileAtomically("/no/such/folder/f", "x").ok());
}

TEST(Files, RegularFileSizeRefusesLinks) {
  const TempDir dir = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomically(dir.path() + "/f", "x").ok());
  ASSERT_EQ(symlink((dir.path() + "/f").c_str(), (dir.path() + "/link").c_str()), 0);
  EXPECT_EQ(RegularFileSize(dir.path() + "/link").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TempDir, IsPrivateAndRemovedWhenDestroyed) {
  std::string path;
  {
    TempDir first = TempDir::Create().value();
    path = first.path();
    const TempDir dir = std::move(first);
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    ASSERT_TRUE(MakeDirectories(path + "/a/b").ok());
    ASSERT_TRUE(WriteFileAtomically(path + "/a/b/c", "x").ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(MappedFile, HoldsTheContent) {
  const TempDir dir = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomically(dir.path() + "/f", "bytes").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.path() + "/empty", "").ok());
  MappedFile file = MappedFile::Open(dir.path() + "/f").value();
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes(), "bytes");
  EXPECT_EQ(MappedFile::Open(dir.path() + "/empty").value().bytes(), "");
  EXPECT_FALSE(MappedFile::Open(dir.path()).ok());
}

}  // namespace
}  // namespace halftone
