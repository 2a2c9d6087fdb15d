// SPDX-License-Identifier: Apache-2.0
// A thin cover over SQLite: statements that own themselves and errors as Status. Not thread-safe: the owner locks.

#ifndef HALFTONE_SERVER_CORE_SQLITE_H_
#define HALFTONE_SERVER_CORE_SQLITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace halftone::server {

class Database;

// One prepared statement. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement& Bind(int parameter, int64_t value);
  Statement& BindText(int parameter, std::string_view value);
  Statement& BindBlob(int parameter, std::string_view value);

  // Goes to the next row: true when there is one.
  absl::StatusOr<bool> Step();
  // For a statement that gives no rows.
  absl::Status Run();

  int64_t Int(int column) const;
  std::string Bytes(int column) const;  // text or blob; "" for null
  bool IsNull(int column) const;

 private:
  friend class Database;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  absl::Status bind_error_;
};

class Database {
 public:
  // Opens or makes the file: write-ahead log, every commit synced, foreign keys on.
  static absl::StatusOr<Database> Open(const std::string& path);

  // One or more statements that give no rows.
  absl::Status Execute(const std::string& sql);
  absl::StatusOr<Statement> Prepare(const std::string& sql);

  // Calls `work` within one transaction; anything but OK rolls it back.
  absl::Status Transaction(absl::FunctionRef<absl::Status()> work);

  int64_t changes() const;  // rows of the last statement

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit Database(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_SQLITE_H_
