// SPDX-License-Identifier: Apache-2.0
#include "formats/npz/npz.h"

#include <zip.h>

#include "base/files.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

// An archive whose entries are these bytes, arrays or not.
std::string WriteZip(const TempDir& dir, const std::string& name, const std::string& bytes, bool deflate = false) {
  const std::string path = dir.path() + "/a.npz";
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  const zip_int64_t index = zip_file_add(archive, name.c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

std::vector<float> Ramp(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 0.5f;
  return values;
}

TEST(Npz, ReadsRowsForwardAndBack) {
  const TempDir dir = *TempDir::Create();
  const Tensor x = Tensor::Of<float>({5, 2, 3}, Ramp(30));
  for (const bool deflate : {false, true}) {
    const std::string path = dir.path() + "/a.npz";
    ASSERT_TRUE(WriteNpz(path, {{"x", x}, {"labels", Tensor::Ints(std::vector<int64_t>{7, 8})}}, deflate).ok());
    const std::unique_ptr<NpzReader> reader = *NpzReader::Open(path, "a.npz");
    const int array = reader->Find("x");
    ASSERT_GE(array, 0);
    EXPECT_EQ(reader->Find("y"), -1);
    const std::vector<float> ramp = Ramp(30);
    EXPECT_EQ(reader->ReadRows(array, 1, 2)->ToFloats(), std::vector<float>(ramp.begin() + 6, ramp.begin() + 18));
    EXPECT_EQ(reader->ReadRows(array, 3, 2)->ToFloats()[0], 9.0f);
    EXPECT_EQ(reader->ReadRows(array, 0, 1)->ToFloats()[5], 2.5f);  // back again
    EXPECT_TRUE(reader->ReadAll(array)->SameBytes(x));
    EXPECT_EQ(reader->ReadAll(reader->Find("labels"))->ToInts(), (std::vector<int64_t>{7, 8}));
  }
}

TEST(Npy, FortranAndBigEndianBecomePlain) {
  const std::string head = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(head.size());
  bytes += '\0';
  bytes += head;
  for (const int value : {1, 4, 2, 5, 3, 6}) bytes += std::string{'\0', static_cast<char>(value)};
  const absl::StatusOr<Tensor> tensor = ParseNpy(bytes, "x");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->ToInts(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npz, RowsOfAnArrayInFortranOrder) {
  const TempDir dir = *TempDir::Create();
  const std::string head = "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3), }";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(head.size());
  bytes += '\0';
  bytes += head;
  bytes += std::string("\0\1\7\0\0\1", 6);  // columns (0 1) (7 0) (0 1); 7 is true
  const std::unique_ptr<NpzReader> reader = *NpzReader::Open(WriteZip(dir, "x.npy", bytes, true), "a.npz");
  EXPECT_EQ(reader->ReadRows(0, 1, 1)->ToInts(), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(reader->ReadRows(0, 0, 1)->ToInts(), (std::vector<int64_t>{0, 1, 0}));
}

TEST(Npy, WritesWhatItReads) {
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16, DataType::kInt8,
                              DataType::kUInt64, DataType::kBool}) {
    const Tensor tensor = *Tensor::Of<float>({2, 1, 3}, Ramp(6)).ConvertTo(type);
    EXPECT_TRUE(ParseNpy(*WriteNpy(tensor), "x")->SameBytes(tensor)) << DataTypeName(type);
  }
  EXPECT_EQ(ParseNpy(*WriteNpy(Tensor::Scalar(3)), "x")->rank(), 0);
  EXPECT_EQ(WriteNpy(Tensor::Scalar(3))->size() % 64, 4u);  // data begins at a multiple of 64
}

TEST(Npz, ErrorsNameFileAndArray) {
  const TempDir dir = *TempDir::Create();
  const std::string whole = *WriteNpy(Tensor::Of<float>({4}, Ramp(4)));
  const auto error = [&](const std::string& bytes) {
    return std::string(NpzReader::Open(WriteZip(dir, "x.npy", bytes), "a.npz").status().message());
  };
  EXPECT_THAT(error(whole.substr(0, whole.size() - 1)), HasSubstr("'a.npz': array 'x' is shorter than its shape [4]"));
  EXPECT_THAT(error("hello world, this is text"), HasSubstr("'a.npz:x': not a .npy array"));
  std::string other = whole;
  other.replace(other.find("<f4"), 3, "<c8");
  EXPECT_THAT(error(other), HasSubstr("dtype '<c8' is not supported"));
  // A directory that claims more than a deflated entry of this size can hold.
  const std::string path = WriteZip(dir, "x.npy", *WriteNpy(Tensor(DataType::kUInt8, {200000})), true);
  std::string zip = *ReadFile(path);
  const size_t central = zip.find(std::string("PK\x01\x02", 4));
  ASSERT_NE(central, std::string::npos);
  for (const int i : {24, 25, 26}) zip[central + i] = static_cast<char>(0xff);  // the size without compression
  ASSERT_TRUE(WriteFileAtomically(path, zip).ok());
  EXPECT_THAT(std::string(NpzReader::Open(path, "a.npz").status().message()), HasSubstr("more than the file can hold"));
  ASSERT_TRUE(WriteFileAtomically(dir.path() + "/b.npz", "no archive").ok());
  EXPECT_THAT(std::string(NpzReader::Open(dir.path() + "/b.npz", "b.npz").status().message()),
              HasSubstr("'b.npz': not a .npz archive"));
}

}  // namespace
}  // namespace halftone
