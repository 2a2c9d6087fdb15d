// SPDX-License-Identifier: Apache-2.0
#include "client/cli/inputs.h"

#include <filesystem>

#include "base/files.h"
#include "client/cli/exit_codes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::cli {
namespace {

using ::testing::HasSubstr;

class InputsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes = "bytes") {
    const std::string path = dir_->path() + "/" + name;
    EXPECT_TRUE(MakeDirectories(std::filesystem::path(path).parent_path().string()).ok());
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    return path;
  }

  void ExpectError(const absl::Status& status, int code, const char* message) {
    EXPECT_EQ(ExitCodeFor(status), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  absl::StatusOr<TempDir> dir_ = TempDir::Create();
  Blobs blobs_;
};

TEST_F(InputsTest, ModelByItsEnding) {
  EXPECT_EQ(ResolveModel(Write("a.onnx"), "", &blobs_)->format(), v1::FORMAT_ONNX);
  EXPECT_EQ(ResolveModel(Write("a.pb"), "", &blobs_)->format(), v1::FORMAT_GRAPHDEF);
  EXPECT_EQ(ResolveModel(Write("a.pbtxt"), "", &blobs_)->format(), v1::FORMAT_GRAPHDEF);
  EXPECT_EQ(ResolveModel(Write("a.bin"), "onnx", &blobs_)->format(), v1::FORMAT_ONNX);
  EXPECT_EQ(ResolveModel(Write("b.onnx"), "graphdef", &blobs_)->format(), v1::FORMAT_GRAPHDEF);
  EXPECT_EQ(blobs_.size(), 5u);
}

TEST_F(InputsTest, ModelsThatAreNone) {
  ExpectError(ResolveModel(dir_->path() + "/none.onnx", "", &blobs_).status(), 3, "none.onnx: no such file");
  ExpectError(ResolveModel(dir_->path(), "", &blobs_).status(), 3, "is a folder");
  ExpectError(ResolveModel(Write("a.txt"), "", &blobs_).status(), 3, "cannot tell the format");
  ExpectError(ResolveModel(Write("empty.onnx", ""), "", &blobs_).status(), 3, "the file is empty");
  EXPECT_TRUE(blobs_.size() <= 1);
}

TEST_F(InputsTest, SavedModels) {
  Write("net v1/saved_model.pb");
  Write("net v1/fingerprint.pb");
  Write("net v1/variables/variables.index");
  Write("net v1/variables/variables.data-00000-of-00001");
  const std::string folder = dir_->path() + "/net v1";
  for (const std::string& path : {folder, folder + "/", folder + "/saved_model.pb"}) {
    const absl::StatusOr<v1::Model> model = ResolveModel(path, "", &blobs_, "other");
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->format(), v1::FORMAT_SAVED_MODEL);
    EXPECT_EQ(model->root_file(), "net_v1/saved_model.pb");
    EXPECT_EQ(model->signature(), "other");
    ASSERT_EQ(model->files_size(), 3);
    EXPECT_EQ(model->files(1).path(), "net_v1/variables/variables.data-00000-of-00001");
  }
  Write("served/7/saved_model.pb", "seven");
  Write("served/12/saved_model.pb", "twelve");
  const absl::StatusOr<v1::Model> newest = ResolveModel(dir_->path() + "/served", "savedmodel", &blobs_);
  ASSERT_TRUE(newest.ok()) << newest.status();
  EXPECT_EQ(newest->root_file(), "served/saved_model.pb");
  EXPECT_EQ(newest->files(0).digest().size_bytes(), 6);
  EXPECT_EQ(ResolveModel(dir_->path() + "/served/7", "", &blobs_)->root_file(), "served/saved_model.pb");
  ExpectError(ResolveModel(folder, "onnx", &blobs_).status(), 3, "--format onnx wants a file");
  ExpectError(ResolveModel(Write("a.onnx"), "", &blobs_, "other").status(), 2, "is no SavedModel");
  ExpectError(ResolveModel(Write("a.onnx"), "savedmodel", &blobs_).status(), 3, "a SavedModel is a folder");
}

TEST_F(InputsTest, NamesOfFilesFitTheContract) {
  const absl::StatusOr<v1::Model> model = ResolveModel(Write("my model (1).onnx"), "", &blobs_);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->files(0).path(), "my_model__1_.onnx");
  EXPECT_EQ(model->root_file(), "my_model__1_.onnx");
  EXPECT_EQ(SafeName("a-b_c.d+e@f=g.onnx"), "a-b_c.d+e@f=g.onnx");
  EXPECT_EQ(SafeName(".."), "_..");
  EXPECT_EQ(SafeName("n\xc3\xa4me"), "n__me");
  EXPECT_EQ(SafeName(std::string(300, 'a') + ".onnx").size(), 200u);
  EXPECT_THAT(SafeName(std::string(300, 'a') + ".onnx"), ::testing::EndsWith("a.onnx"));
}

TEST_F(InputsTest, SamplesOfAFolderAreSorted) {
  Write("s/b.npz");
  Write("s/a.npz");
  Write("s/README");
  const absl::StatusOr<v1::Samples> samples = ResolveSamples("--eval", {dir_->path() + "/s"}, &blobs_);
  ASSERT_TRUE(samples.ok()) << samples.status();
  ASSERT_EQ(samples->files_size(), 2);
  EXPECT_EQ(samples->files(0).path(), "a.npz");
  EXPECT_EQ(samples->files(1).path(), "b.npz");
}

TEST_F(InputsTest, SamplesWhoseSafeNamesAreEqualStayApart) {
  Write("s/a b.npz");
  Write("s/a!b.npz");
  const absl::StatusOr<v1::Samples> samples = ResolveSamples("--eval", {dir_->path() + "/s"}, &blobs_);
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_NE(samples->files(0).path(), samples->files(1).path());
}

TEST_F(InputsTest, SamplesThatAreNone) {
  ASSERT_TRUE(MakeDirectories(dir_->path() + "/empty").ok());
  ExpectError(ResolveSamples("--eval", {dir_->path() + "/empty"}, &blobs_).status(), 2, "no .npz file");
  ExpectError(ResolveSamples("--eval", {dir_->path() + "/none"}, &blobs_).status(), 2, "--eval");
  ExpectError(ResolveSamples("--eval", {Write("x.npy")}, &blobs_).status(), 2, "an .npz file or a folder");
}

TEST_F(InputsTest, SamplesOfFilesAndFolders) {
  const std::string first = Write("z.npz");
  Write("s/b.npz");
  Write("s/a.npz");
  Write("t/a.npz");
  const absl::StatusOr<v1::Samples> samples =
      ResolveSamples("--calibration", {first, dir_->path() + "/s", dir_->path() + "/t"}, &blobs_);
  ASSERT_TRUE(samples.ok()) << samples.status();
  std::vector<std::string> names;
  for (const v1::File& file : samples->files()) names.push_back(file.path());
  EXPECT_EQ(names, (std::vector<std::string>{"z.npz", "a.npz", "b.npz", "_a.npz"}));
}

TEST_F(InputsTest, Ranges) {
  const absl::StatusOr<v1::File> ranges = ResolveRanges(Write("net ranges.json"), &blobs_);
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  EXPECT_EQ(ranges->path(), "net_ranges.json");
  EXPECT_EQ(blobs_.size(), 1u);
  ExpectError(ResolveRanges(dir_->path() + "/none", &blobs_).status(), 2, "no such file");
  ExpectError(ResolveRanges(dir_->path(), &blobs_).status(), 2, "is a folder");
}

TEST_F(InputsTest, InputOfARun) {
  const std::string file = Write("a=b/x.npy");
  const absl::StatusOr<v1::NamedFile> input = ResolveInput("in=put:0=" + file, 0, &blobs_);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->name(), "in=put:0");
  EXPECT_EQ(input->file().path(), "inputs/0.npy");
  ExpectError(ResolveInput("x", 0, &blobs_).status(), 2, "NAME=FILE.npy is expected");
  ExpectError(ResolveInput("=x.npy", 0, &blobs_).status(), 2, "NAME=FILE.npy is expected");
  ExpectError(ResolveInput("x=/none.npy", 0, &blobs_).status(), 2, "--input x=/none.npy");
  ExpectError(ResolveInput("x=" + Write("y.txt"), 0, &blobs_).status(), 2, "an .npy file is expected");
}

TEST(IsSafeRelativePath, StaysBelowItsFolder) {
  for (const char* path : {"a", "a/b.onnx", "a..b", "net.bf16.onnx"}) EXPECT_TRUE(IsSafeRelativePath(path)) << path;
  for (const char* path : {"", "/a", "a/", "..", "a/../b", "./a", "a//b", "a\nb", "a b"}) {
    EXPECT_FALSE(IsSafeRelativePath(path)) << path;
  }
}

}  // namespace
}  // namespace halftone::cli
