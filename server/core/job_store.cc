// SPDX-License-Identifier: Apache-2.0
#include "server/core/job_store.h"

#include <google/protobuf/util/time_util.h>

#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/logging.h"
#include "base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/rpc/code.pb.h"
#include "server/core/errors.h"
#include "server/core/spec.h"

namespace halftone::server {
namespace {

using ::google::protobuf::util::TimeUtil;

constexpr int64_t kSchemaVersion = 1;
constexpr int64_t kMaxDeaths = 3;  // of the server while the job ran: then the job is to blame

constexpr char kSchema[] = R"sql(
  CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    request_id TEXT UNIQUE,
    spec BLOB NOT NULL,
    state INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    deaths INTEGER NOT NULL DEFAULT 0,
    create_us INTEGER NOT NULL,
    start_us INTEGER,
    end_us INTEGER,
    error BLOB,
    result BLOB
  );
  CREATE INDEX job_by_state ON job(state, id);
  CREATE TABLE event (
    job TEXT NOT NULL REFERENCES job(name),
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (job, seq)
  ) WITHOUT ROWID;
)sql";

constexpr char kColumns[] = "name, request_id, spec, state, attempt, create_us, start_us, end_us, error, result, id";

enum Column { kName, kRequestId, kSpec, kState, kAttempt, kCreate, kStart, kEnd, kError, kResult, kId };

int64_t NowMicros() { return absl::ToUnixMicros(absl::Now()); }

// Equal messages give equal bytes, so that specs can be compared as bytes.
std::string Canonical(const v1::JobSpec& spec) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream output(&stream);
  output.SetSerializationDeterministic(true);
  spec.SerializeToCodedStream(&output);
  output.Trim();
  return bytes;
}

absl::Status NoSuchJob(const std::string& name) {
  return MakeError(absl::StatusCode::kNotFound, "JOB_NOT_FOUND", absl::StrCat("there is no job '", name, "'"),
                   {{"job", name}});
}

absl::StatusOr<v1::Job> ReadJob(const Statement& row) {
  v1::Job job;
  job.set_name(row.Bytes(kName));
  job.set_request_id(row.Bytes(kRequestId));
  job.set_state(static_cast<v1::JobState>(row.Int(kState)));
  job.set_attempt(static_cast<int32_t>(row.Int(kAttempt)));
  *job.mutable_create_time() = TimeUtil::MicrosecondsToTimestamp(row.Int(kCreate));
  if (!row.IsNull(kStart)) *job.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(row.Int(kStart));
  if (!row.IsNull(kEnd)) *job.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(row.Int(kEnd));
  bool parsed = job.mutable_spec()->ParseFromString(row.Bytes(kSpec));
  if (!row.IsNull(kError)) parsed &= job.mutable_error()->ParseFromString(row.Bytes(kError));
  if (!row.IsNull(kResult)) parsed &= job.mutable_result()->ParseFromString(row.Bytes(kResult));
  if (!parsed) return absl::DataLossError(absl::StrCat("the row of ", job.name(), " is damaged"));
  return job;
}

// "1-STATE-ID": the version of the token, the filter it belongs to, the id before which to go on.
std::string MakeToken(v1::JobState state, int64_t id) { return absl::StrCat("1-", static_cast<int>(state), "-", id); }

absl::StatusOr<int64_t> ParseToken(const std::string& token, v1::JobState state) {
  if (token.empty()) return std::numeric_limits<int64_t>::max();
  const std::vector<std::string> parts = absl::StrSplit(token, '-');
  int64_t id = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &id) || token != MakeToken(state, id)) {
    return InvalidField("page_token", "is not the next_page_token of a response to this request");
  }
  return id;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobStore>> JobStore::Open(const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  std::unique_ptr<JobStore> store(new JobStore(std::move(database)));
  const absl::MutexLock lock(&store->mutex_);
  HALFTONE_RETURN_IF_ERROR(Annotate(store->Migrate(), path));
  HALFTONE_RETURN_IF_ERROR(Annotate(store->Recover(), path));
  return store;
}

absl::Status JobStore::Migrate() {
  int64_t version = 0;
  {
    HALFTONE_ASSIGN_OR_RETURN(Statement ask, database_.Prepare("PRAGMA user_version"));
    HALFTONE_RETURN_IF_ERROR(ask.Step().status());
    version = ask.Int(0);
  }
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the data folder has schema ", version,
                                                      ", this server knows only ", kSchemaVersion,
                                                      ": it was used by a newer halftoned"));
  }
  return database_.Transaction([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return database_.Execute(absl::StrCat(kSchema, "PRAGMA user_version=", kSchemaVersion));
  });
}

absl::Status JobStore::Recover() {
  return database_.Transaction([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    std::vector<std::pair<std::string, int64_t>> lost;  // name, deaths with this one
    {
      HALFTONE_ASSIGN_OR_RETURN(Statement rows, database_.Prepare("SELECT name, deaths + 1 FROM job WHERE state = ?"));
      rows.Bind(1, v1::JOB_STATE_RUNNING);
      while (true) {
        HALFTONE_ASSIGN_OR_RETURN(const bool more, rows.Step());
        if (!more) break;
        lost.emplace_back(rows.Bytes(0), rows.Int(1));
      }
    }
    for (const auto& [name, deaths] : lost) {
      const bool poison = deaths >= kMaxDeaths;
      const v1::JobState state = poison ? v1::JOB_STATE_FAILED : v1::JOB_STATE_QUEUED;
      HALFTONE_ASSIGN_OR_RETURN(
          Statement update,
          database_.Prepare("UPDATE job SET state = ?, deaths = ?, error = ?, end_us = ? WHERE name = ?"));
      update.Bind(1, state).Bind(2, deaths).BindText(5, name);
      if (poison) {
        v1::JobError error;
        error.set_code(google::rpc::INTERNAL);
        error.set_reason("POISON");
        error.set_message(absl::StrCat("the server died ", deaths, " times while this job ran: it is not tried again"));
        update.BindBlob(3, error.SerializeAsString()).Bind(4, NowMicros());
      }
      HALFTONE_RETURN_IF_ERROR(update.Run());
      HALFTONE_RETURN_IF_ERROR(AddStateEvent(name, state));
      LogWarning("job was running when the server died").With("job", name).With("state", StateName(state));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::optional<v1::Job>> JobStore::Find(const std::string& column, const std::string& value) {
  HALFTONE_ASSIGN_OR_RETURN(Statement row,
                            database_.Prepare(absl::StrCat("SELECT ", kColumns, " FROM job WHERE ", column, " = ?")));
  HALFTONE_ASSIGN_OR_RETURN(const bool found, row.BindText(1, value).Step());
  if (!found) return std::optional<v1::Job>();
  HALFTONE_ASSIGN_OR_RETURN(v1::Job job, ReadJob(row));
  return std::optional<v1::Job>(std::move(job));
}

absl::StatusOr<std::optional<v1::Job>> JobStore::FindRequest(const v1::JobSpec& spec, const std::string& request_id) {
  const absl::MutexLock lock(&mutex_);
  return FindRequestLocked(spec, request_id);
}

absl::StatusOr<std::optional<v1::Job>> JobStore::FindRequestLocked(const v1::JobSpec& spec,
                                                                   const std::string& request_id) {
  if (request_id.empty()) return std::optional<v1::Job>();
  HALFTONE_ASSIGN_OR_RETURN(std::optional<v1::Job> job, Find("request_id", request_id));
  if (job.has_value() && Canonical(job->spec()) != Canonical(spec)) {
    return MakeError(absl::StatusCode::kAlreadyExists, "REQUEST_ID_REUSED",
                     absl::StrCat("request_id '", request_id, "' was used for another spec: use a new one"),
                     {{"request_id", request_id}, {"job", job->name()}});
  }
  return job;
}

absl::StatusOr<v1::Job> JobStore::Create(const v1::JobSpec& spec, const std::string& request_id, bool* created) {
  const absl::MutexLock lock(&mutex_);
  HALFTONE_ASSIGN_OR_RETURN(std::optional<v1::Job> known, FindRequestLocked(spec, request_id));
  if (created != nullptr) *created = !known.has_value();
  if (known.has_value()) return *std::move(known);
  const std::string name = NewJobName();
  HALFTONE_RETURN_IF_ERROR(database_.Transaction([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS -> absl::Status {
    HALFTONE_ASSIGN_OR_RETURN(
        Statement insert,
        database_.Prepare("INSERT INTO job (name, request_id, spec, state, create_us) VALUES (?, ?, ?, ?, ?)"));
    insert.BindText(1, name).BindBlob(3, Canonical(spec)).Bind(4, v1::JOB_STATE_QUEUED).Bind(5, NowMicros());
    if (!request_id.empty()) insert.BindText(2, request_id);
    HALFTONE_RETURN_IF_ERROR(insert.Run());
    return AddStateEvent(name, v1::JOB_STATE_QUEUED);
  }));
  HALFTONE_ASSIGN_OR_RETURN(std::optional<v1::Job> job, Find("name", name));
  return *std::move(job);
}

absl::StatusOr<v1::Job> JobStore::Get(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  HALFTONE_ASSIGN_OR_RETURN(std::optional<v1::Job> job, Find("name", name));
  if (!job.has_value()) return NoSuchJob(name);
  return *std::move(job);
}

absl::StatusOr<JobStore::Page> JobStore::List(int page_size, const std::string& token, v1::JobState state) {
  HALFTONE_ASSIGN_OR_RETURN(const int64_t before, ParseToken(token, state));
  const std::string filter = state == v1::JOB_STATE_UNSPECIFIED ? "" : "AND state = ?3 ";
  const absl::MutexLock lock(&mutex_);
  HALFTONE_ASSIGN_OR_RETURN(Statement rows,
                            database_.Prepare(absl::StrCat("SELECT ", kColumns, " FROM job WHERE id < ?1 ", filter,
                                                           "ORDER BY id DESC LIMIT ?2")));
  rows.Bind(1, before).Bind(2, page_size + 1);  // one more, to know whether there is a next page
  if (!filter.empty()) rows.Bind(3, state);
  Page page;
  int64_t last = 0;
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return page;
    if (static_cast<int>(page.jobs.size()) == page_size) break;
    HALFTONE_ASSIGN_OR_RETURN(v1::Job job, ReadJob(rows));
    job.clear_spec();
    job.clear_result();
    page.jobs.push_back(std::move(job));
    last = rows.Int(kId);
  }
  page.next_token = MakeToken(state, last);
  return page;
}

absl::StatusOr<JobStore::Events> JobStore::ReadEvents(const std::string& name, int64_t after_seq, int limit) {
  const absl::MutexLock lock(&mutex_);
  Events events;
  {
    HALFTONE_ASSIGN_OR_RETURN(Statement row, database_.Prepare("SELECT state FROM job WHERE name = ?"));
    HALFTONE_ASSIGN_OR_RETURN(const bool found, row.BindText(1, name).Step());
    if (!found) return NoSuchJob(name);
    events.complete = IsFinal(static_cast<v1::JobState>(row.Int(0)));
  }
  HALFTONE_ASSIGN_OR_RETURN(Statement rows,
                            database_.Prepare("SELECT body FROM event WHERE job = ? AND seq > ? ORDER BY seq LIMIT ?"));
  rows.BindText(1, name).Bind(2, after_seq).Bind(3, limit);
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    v1::JobEvent event;
    if (!event.ParseFromString(rows.Bytes(0)))
      return absl::DataLossError(absl::StrCat("an event of ", name, " is damaged"));
    events.events.push_back(std::move(event));
  }
  if (static_cast<int>(events.events.size()) == limit) events.complete = false;  // there may be more
  return events;
}

absl::Status JobStore::AddEvent(const std::string& name, v1::JobEvent event) {
  HALFTONE_ASSIGN_OR_RETURN(Statement last, database_.Prepare("SELECT coalesce(max(seq), 0) FROM event WHERE job = ?"));
  HALFTONE_RETURN_IF_ERROR(last.BindText(1, name).Step().status());
  event.set_seq(last.Int(0) + 1);
  if (!event.has_time()) *event.mutable_time() = TimeUtil::MicrosecondsToTimestamp(NowMicros());
  HALFTONE_ASSIGN_OR_RETURN(Statement insert, database_.Prepare("INSERT INTO event (job, seq, body) VALUES (?, ?, ?)"));
  return insert.BindText(1, name).Bind(2, event.seq()).BindBlob(3, event.SerializeAsString()).Run();
}

absl::Status JobStore::AddStateEvent(const std::string& name, v1::JobState state) {
  v1::JobEvent event;
  event.set_state(state);
  return AddEvent(name, std::move(event));
}

absl::StatusOr<std::map<v1::JobState, int64_t>> JobStore::CountByState() {
  std::map<v1::JobState, int64_t> counts;
  for (const v1::JobState state : {v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED,
                                   v1::JOB_STATE_FAILED, v1::JOB_STATE_CANCELLED})
    counts[state] = 0;
  const absl::MutexLock lock(&mutex_);
  HALFTONE_ASSIGN_OR_RETURN(Statement rows, database_.Prepare("SELECT state, count(*) FROM job GROUP BY state"));
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return counts;
    counts[static_cast<v1::JobState>(rows.Int(0))] = rows.Int(1);
  }
}

}  // namespace halftone::server
