// SPDX-License-Identifier: Apache-2.0
#include "server/core/sqlite.h"

#include <sqlite3.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace halftone::server {
namespace {

absl::Status SqlError(sqlite3* database, int code) {
  const std::string message = absl::StrCat("job store: ", sqlite3_errmsg(database));
  if (code == SQLITE_FULL) return absl::ResourceExhaustedError(message);
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return absl::DataLossError(message);
  return absl::InternalError(message);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Statement& Statement::Bind(int parameter, int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), parameter, value);
  if (code != SQLITE_OK) bind_error_ = SqlError(database_, code);
  return *this;
}

Statement& Statement::BindText(int parameter, std::string_view value) {
  const int code =
      sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) bind_error_ = SqlError(database_, code);
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();  // a null pointer would bind NULL
  const int code = sqlite3_bind_blob64(statement_.get(), parameter, data, value.size(), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) bind_error_ = SqlError(database_, code);
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  HALFTONE_RETURN_IF_ERROR(bind_error_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqlError(database_, code);
}

absl::Status Statement::Run() { return Step().status(); }

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

bool Statement::IsNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

absl::StatusOr<Database> Database::Open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return Annotate(SqlError(raw, code), path);
  HALFTONE_RETURN_IF_ERROR(database.Execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000;"));
  return database;
}

absl::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : SqlError(database_.get(), code);
}

absl::StatusOr<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return SqlError(database_.get(), code);
  return Statement(database_.get(), statement);
}

absl::Status Database::Transaction(absl::FunctionRef<absl::Status()> work) {
  HALFTONE_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  absl::Status done = work();
  if (done.ok()) done = Execute("COMMIT");
  if (!done.ok()) Execute("ROLLBACK").IgnoreError();  // it may have been rolled back by the error itself
  return done;
}

int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

}  // namespace halftone::server
