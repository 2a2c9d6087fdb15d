// SPDX-License-Identifier: Apache-2.0
// Which ranges a job is offered, and what becomes of entries that are broken, gone or too many.

#include "server/core/ranges_cache.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
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
    cache_ = std::make_unique<RangesCache>(RangesCache::Options{.dir = dir_.path() + "/ranges"}, *blobs_);
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
using Files = std::map<std::string, std::string>;

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
  EXPECT_EQ(cache_->Keep(Job(), "../../../jobs.sqlite", DigestOf("ranges")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cache_->Keep(Job("model", ""), kKey, DigestOf("ranges")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/ranges"));
}

TEST_F(RangesCacheTest, AnEntryEndsWithItsBlob) {
  ASSERT_TRUE(cache_->Keep(Job(), kKey, DigestOf("ranges")).ok());
  std::filesystem::remove(blobs_->PathOf(DigestOf("ranges")));
  EXPECT_EQ(Keys(Job()), Strings{});
  EXPECT_EQ(warnings_, Strings{}) << "the blob was removed to free space: no reason to warn";
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

// A store of its own, as a private server has, and a folder that is there before and after it.
class SharedRangesCacheTest : public RangesCacheTest {
 protected:
  struct OneServer {
    TempDir dir = TempDir::Create().value();
    std::unique_ptr<BlobStore> blobs = BlobStore::Open(dir.path(), {}).value();
    RangesCache cache;

    OneServer(const std::string& folder, int64_t most_bytes)
        : cache({.dir = folder, .shared = true, .most_bytes = most_bytes}, *blobs) {}
  };
  std::string Folder() const { return dir_.path() + "/ranges"; }
  std::unique_ptr<OneServer> Start(int64_t most_bytes = RangesCache::kMostBytes) const {
    return std::make_unique<OneServer>(Folder(), most_bytes);
  }
  absl::Status Keep(const v1::JobSpec& spec, const std::string& key, const std::string& ranges,
                    int64_t most_bytes = RangesCache::kMostBytes) {
    const std::unique_ptr<OneServer> server = Start(most_bytes);
    if (absl::Status stored = StoreBlob(*server->blobs, ranges); !stored.ok()) return stored;
    return server->cache.Keep(spec, key, DigestOf(ranges));
  }
  // What a server that has just been started finds, by key.
  Files Found(const v1::JobSpec& spec) {
    const std::unique_ptr<OneServer> server = Start();
    Files found;
    for (const RangesCache::Entry& entry : server->cache.Find(spec, warnings_)) {
      found[entry.key] = ReadBlob(*server->blobs, entry.digest).value();
    }
    return found;
  }
};

TEST_F(SharedRangesCacheTest, OutlivesTheServer) {
  EXPECT_EQ(Found(Job()), Files{});
  ASSERT_TRUE(Keep(Job(), kKey, "ranges").ok());
  ASSERT_TRUE(Keep(Job(), kOther, "").ok()) << "whatever a worker wrote";
  EXPECT_EQ(Found(Job()), (Files{{kKey, "ranges"}, {kOther, ""}}));
  EXPECT_EQ(Found(Job("another model")), Files{});
  EXPECT_EQ(warnings_, Strings{});
}

TEST_F(SharedRangesCacheTest, BytesThatLostTheirDigestAreToldOfAndRemoved) {
  ASSERT_TRUE(Keep(Job(), kKey, "ranges").ok());
  const std::string whole = *ReadFile(EntryPath());
  const std::string line = whole.substr(0, whole.size() - std::string("ranges").size());
  for (const std::string& text :
       {line + "RANGES", line + "range", line + "ranges!", line, line.substr(0, line.size() - 1),
        std::string("not a digest\nranges"), std::string()}) {
    ASSERT_TRUE(Keep(Job(), kKey, "ranges").ok());
    ASSERT_TRUE(WriteFileAtomically(EntryPath(), text).ok());
    warnings_.clear();
    EXPECT_EQ(Found(Job()), Files{}) << text;
    EXPECT_EQ(warnings_.size(), 1u) << text;
    EXPECT_EQ(EntryPath(), "") << text;
  }
}

TEST_F(SharedRangesCacheTest, TheOldestMakeRoom) {
  const std::string ranges(1000, 'r');
  std::filesystem::file_time_type time = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* model : {"first", "second", "third"}) {
    ASSERT_TRUE(Keep(Job(model), kKey, ranges).ok());
    for (const auto& file : std::filesystem::recursive_directory_iterator(Folder())) {
      if (file.is_regular_file() && file.last_write_time() > time + std::chrono::hours(1)) {
        std::filesystem::last_write_time(file.path(), time += std::chrono::seconds(1));
      }
    }
  }
  ASSERT_TRUE(WriteFileAtomically(Folder() + "/notes", std::string(9000, 'n')).ok());
  ASSERT_TRUE(Keep(Job("fourth"), kKey, ranges, /*most_bytes=*/3500).ok());
  EXPECT_EQ(Found(Job("first")), Files{});
  for (const char* model : {"second", "third", "fourth"}) EXPECT_EQ(Found(Job(model)).size(), 1u) << model;
  EXPECT_TRUE(std::filesystem::exists(Folder() + "/notes")) << "not ours";
  EXPECT_EQ(Keep(Job("fifth"), kKey, std::string(4000, 'r'), /*most_bytes=*/3500).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Found(Job("second")).size(), 1u);
}

// A file that another process is writing has not its name yet.
TEST_F(SharedRangesCacheTest, UnfinishedFilesAreLeftAlone) {
  ASSERT_TRUE(Keep(Job(), kKey, "ranges").ok());
  const std::string unfinished = EntryPath() + ".tmp.17.0";
  std::ofstream(unfinished) << "half";
  EXPECT_EQ(Found(Job()).size(), 1u);
  EXPECT_EQ(warnings_, Strings{});
  EXPECT_TRUE(std::filesystem::exists(unfinished));
}

TEST_F(SharedRangesCacheTest, ManyServersAtOnce) {
  constexpr int kServers = 4, kTurns = 25;
  const std::string ranges[] = {std::string(40000, 'a'), std::string(40000, 'b')};
  std::atomic<int> failed = 0, torn = 0;
  std::vector<std::thread> threads;
  for (int s = 0; s < kServers; ++s) {
    threads.emplace_back([&, s] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::unique_ptr<OneServer> server = Start();
        std::vector<std::string> warnings;
        for (const RangesCache::Entry& entry : server->cache.Find(Job(), warnings)) {
          const std::string found = ReadBlob(*server->blobs, entry.digest, 0, 0, 1 << 20).value();
          if (found != ranges[0] && found != ranges[1]) ++torn;
        }
        torn += static_cast<int>(warnings.size());
        if (!StoreBlob(*server->blobs, ranges[s % 2]).ok()) ++failed;
        if (!server->cache.Keep(Job(), kKey, DigestOf(ranges[s % 2])).ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Found(Job()).size(), 1u);
}

}  // namespace
}  // namespace halftone::server
