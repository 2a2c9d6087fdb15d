// SPDX-License-Identifier: Apache-2.0
// A `halftoned` of one's own: on a Unix socket in a private folder that goes away with it.
#ifndef HALFTONE_CLIENT_CLI_PRIVATE_SERVER_H_
#define HALFTONE_CLIENT_CLI_PRIVATE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/child.h"
#include "base/files.h"
#include "client/cancellation.h"

namespace halftone::cli {

// Stopped by the destructor, and killed by the kernel when the thread that started it ends. Not thread-safe.
class PrivateServer {
 public:
  // `program` and `worker` may be empty. Waits until the server listens. Errors have the reason SERVER_START.
  static absl::StatusOr<std::unique_ptr<PrivateServer>> Start(const std::string& program, const std::string& worker,
                                                              client::Cancellation& cancellation);
  ~PrivateServer();

  std::string address() const;
  // The last lines of its stderr.
  std::string Log() const { return child_->StderrTail(); }

 private:
  PrivateServer(TempDir dir, std::unique_ptr<Child> child) : dir_(std::move(dir)), child_(std::move(child)) {}

  TempDir dir_;
  std::unique_ptr<Child> child_;
};

// Where `name` is: `given` if that is not empty, else in the folder of this program, else on PATH. NOT_FOUND.
absl::StatusOr<std::string> FindProgram(const std::string& given, const std::string& name,
                                        const std::string& own_folder, const std::string& search_path);

// Where private servers keep ranges of int8 for each other: in the folder of $HALFTONE_CACHE, else of $XDG_CACHE_HOME,
// else of $HOME; "" where none of these says one, and then they keep none.
std::string RangesFolder(const std::string& own, const std::string& xdg, const std::string& home);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_PRIVATE_SERVER_H_
