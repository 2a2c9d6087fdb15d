// Which ranges a job is offered, and what becomes of entries that are broken, gone or too many.

#include "server/core/ranges_cache.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "server/core/testing.h"

namespace halftone::server {
namespace {

const std::string kKey(64, 'a');
const std::string kOther(64, 'b');

class RangesCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    blobs_ = BlobStore::Open(dir_.path(), {}).value();
    ASSERT_TRUE(StoreBlob(*blobs_, "ranges").ok());
    cache_ = std::make_unique<RangesCache>(dir_.path() + "/ranges", *blobs_);
  }
  static v1::JobSpec Job(std::string_view model = "model", std::string_view samples = "samples") {
    v1::JobSpec spec;
    *spec.mutable_optimize()->mutable_model() = InspectJob("m.onnx", model).inspect().model();
    if (!samples.empty()) *spec.mutable_optimize()->mutable_calibration()->add_files() = FileOf("s.npz", samples);
    return spec;
  }
  static v1::File FileOf(const std::string& name, std::string_view bytes) {
    return InspectJob(name, bytes).inspect().model().files(0);
  }
  std::vector<std::string> Keys(const v1::JobSpec& spec) {
    std::vector<std::string> keys;
    for (const RangesCache::Entry& entry : cache_->Find(spec, warnings_)) keys.push_back(entry.key);
    return keys;
  }
  std::string EntryPath() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir_.path() + "/ranges")) {
      if (file.is_regular_file()) return file.path().string();
    }
    return "";
  }

  const TempDir dir_ = TempDir::Create().value();
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<RangesCache> cache_;
  std::vector<std::string> warnings_;
};

using Strings = std::vector<std::string>;

TEST_F(RangesCacheTest, OfTheSameModelAndSamplesOnly) {
  EXPECT_EQ(Keys(Job()), Strings{}) << "there is no folder yet";
  ASSERT_TRUE(cache_->Keep(Job(), kKey, DigestOf("ranges")).ok());
  EXPECT_EQ(Keys(Job()), Strings{kKey});
  EXPECT_EQ(cache_->Find(Job(), warnings_)[0].digest.sha256(), DigestOf("ranges").sha256());
  EXPECT_EQ(Keys(Job("another model")), Strings{});
  EXPECT_EQ(Keys(Job("model", "other samples")), Strings{});
  EXPECT_EQ(Keys(Job("model", "")), Strings{});
  EXPECT_EQ(Keys(InspectJob("m.onnx", "model")), Strings{});
  v1::JobSpec bench;
  *bench.mutable_bench()->mutable_model() = Job().optimize().model();
  *bench.mutable_bench()->mutable_calibration() = Job().optimize().calibration();
  EXPECT_EQ(Keys(bench), Strings{kKey}) << "whoever calibrates";
  v1::JobSpec profile;
  *profile.mutable_profile()->mutable_model() = Job().optimize().model();
  *profile.mutable_profile()->mutable_calibration() = Job().optimize().calibration();
  EXPECT_EQ(Keys(profile), Strings{kKey});
  EXPECT_EQ(warnings_, Strings{});
}

TEST_F(RangesCacheTest, AWorkersWordIsChecked) {
  EXPECT_EQ(cache_->Keep(Job(), "../../../jobs.sqlite", DigestOf("ranges")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cache_->Keep(Job("model", ""), kKey, DigestOf("ranges")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/ranges"));
}

TEST_F(RangesCacheTest, AnEntryEndsWithItsBlob) {
  ASSERT_TRUE(cache_->Keep(Job(), kKey, DigestOf("ranges")).ok());
  std::filesystem::remove(blobs_->PathOf(DigestOf("ranges")));
  EXPECT_EQ(Keys(Job()), Strings{});
  EXPECT_EQ(warnings_, Strings{}) << "somebody made room";
  EXPECT_EQ(EntryPath(), "");
}

TEST_F(RangesCacheTest, BrokenOnesAreToldOfAndRemoved) {
  ASSERT_TRUE(cache_->Keep(Job(), kKey, DigestOf("ranges")).ok());
  const std::string blob = blobs_->PathOf(DigestOf("ranges"));
  std::filesystem::remove(blob);
  ASSERT_TRUE(WriteFileAtomically(blob, "RANGES").ok());
  EXPECT_EQ(Keys(Job()), Strings{});
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("broken"), std::string::npos);

  ASSERT_TRUE(StoreBlob(*blobs_, "ranges").ok());
  ASSERT_TRUE(cache_->Keep(Job(), kKey, DigestOf("ranges")).ok());
  for (const char* text : {"", "abc 6\n", "\n", "not a digest at all"}) {
    ASSERT_TRUE(cache_->Keep(Job(), kOther, DigestOf("ranges")).ok());
    const std::string folder = std::filesystem::path(EntryPath()).parent_path().string();
    ASSERT_TRUE(WriteFileAtomically(absl::StrCat(folder, "/", kOther), text).ok());
    warnings_.clear();
    EXPECT_EQ(Keys(Job()), Strings{kKey}) << text;
    EXPECT_EQ(warnings_.size(), 1u) << text;
  }
}

TEST_F(RangesCacheTest, TheNewestStay) {
  std::string key(64, '0');
  std::filesystem::file_time_type time = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (size_t i = 0; i < RangesCache::kMostEntries + 3; ++i) {
    key[62] = static_cast<char>('0' + i / 10);
    key[63] = static_cast<char>('0' + i % 10);
    ASSERT_TRUE(cache_->Keep(Job(), key, DigestOf("ranges")).ok());
    const std::string folder = std::filesystem::path(EntryPath()).parent_path().string();
    std::filesystem::last_write_time(absl::StrCat(folder, "/", key), time += std::chrono::seconds(1));
  }
  const Strings keys = Keys(Job());
  ASSERT_EQ(keys.size(), RangesCache::kMostEntries);
  EXPECT_EQ(keys[0], key);
  EXPECT_EQ(Keys(Job()), keys) << "the others are gone";
}

}  // namespace
}  // namespace halftone::server
