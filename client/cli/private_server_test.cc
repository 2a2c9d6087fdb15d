// SPDX-License-Identifier: Apache-2.0
#include "client/cli/private_server.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "client/cli/exit_codes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace halftone::cli {
namespace {

using ::testing::HasSubstr;

class PrivateServerTest : public ::testing::Test {
 protected:
  std::string Script(const std::string& name, const std::string& body) {
    const std::string path = dir_->path() + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, "#!/bin/sh\n" + body + "\n").ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  absl::StatusOr<TempDir> dir_ = TempDir::Create();
  client::Cancellation cancellation_;
};

TEST_F(PrivateServerTest, FindProgramLooksWhereItSays) {
  const std::string program = Script("halftoned", "true");
  EXPECT_EQ(*FindProgram(program, "halftoned", "/none", ""), program);
  EXPECT_EQ(*FindProgram("", "halftoned", dir_->path(), ""), program);
  EXPECT_EQ(*FindProgram("", "halftoned", "/none", "/also/none:" + dir_->path()), program);
  EXPECT_FALSE(FindProgram("/none/halftoned", "halftoned", dir_->path(), "").ok());  // what was given must be there
  EXPECT_THAT(std::string(FindProgram("", "halftoned", "/none", "/also/none").status().message()),
              HasSubstr("cannot find the program halftoned"));
}

TEST_F(PrivateServerTest, AServerThatEndsAtOnceSaysWhy) {
  const auto server = PrivateServer::Start(Script("dies", "echo bad luck >&2; exit 3"), "", cancellation_);
  EXPECT_EQ(ExitCodeFor(server.status()), 6);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("exit code 3"));
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("bad luck"));
}

TEST_F(PrivateServerTest, InterruptedWhileItStarts) {
  std::thread stopper([&] { cancellation_.Cancel(); });
  const auto server = PrivateServer::Start(Script("sleeps", "sleep 100"), "", cancellation_);
  stopper.join();
  EXPECT_EQ(ExitCodeFor(server.status()), 130);
}

TEST_F(PrivateServerTest, RangesLieInTheUsersCache) {
  EXPECT_EQ(RangesFolder("/own", "/xdg", "/home/me"), "/own/ranges");
  EXPECT_EQ(RangesFolder("", "/xdg", "/home/me"), "/xdg/halftone/ranges");
  EXPECT_EQ(RangesFolder("relative", "relative", "/home/me"), "/home/me/.cache/halftone/ranges");
  EXPECT_EQ(RangesFolder("", "", ""), "");
}

TEST_F(PrivateServerTest, GetsItsFlagsAndALeftoverFolderIsRemoved) {
  const std::string args = dir_->path() + "/args";
  setenv("HALFTONE_CACHE", "/some/cache", /*replace=*/1);
  const auto server =
      PrivateServer::Start(Script("tells", "echo \"$@\" >" + args + "; exit 1"), "/some/worker", cancellation_);
  EXPECT_FALSE(server.ok());
  const std::string text = *ReadFile(args);
  EXPECT_THAT(text, HasSubstr("/some/worker"));
  EXPECT_THAT(text, HasSubstr("--ranges-cache=/some/cache/ranges"));
  const size_t begin = text.find("unix:") + 5;
  const std::string socket = text.substr(begin, text.find_first_of(" \n", begin) - begin);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(socket).parent_path())) << socket;
}

}  // namespace
}  // namespace halftone::cli
