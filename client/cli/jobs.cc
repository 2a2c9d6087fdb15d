// SPDX-License-Identifier: Apache-2.0
// halftone jobs {list,watch,show,cancel}: the jobs of a server.

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/exit_codes.h"
#include "client/cli/flags.h"
#include "client/cli/job.h"
#include "client/cli/outcome.h"
#include "client/cli/profile.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "google/protobuf/util/time_util.h"
#include "report/json.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

using google::protobuf::util::TimeUtil;

struct Flags {
  ServerFlags server;
  std::string name;
  std::string state;
  std::string out;
  int limit = 50;
  OutcomeFlags outcome;
};

absl::StatusOr<std::unique_ptr<Session>> Open(const Flags& flags, Interrupts& interrupts) {
  if (flags.server.server.empty()) return UsageError("jobs belong to a server: give --server or set HALFTONE_SERVER");
  return Session::Open(flags.server, interrupts);
}

std::string TimeText(bool is_set, const google::protobuf::Timestamp& time) {
  if (!is_set) return "-";
  google::protobuf::Timestamp whole = time;
  whole.set_nanos(0);
  return TimeUtil::ToString(whole);
}

std::string Line(const v1::Job& job) {
  return absl::StrFormat("%-37s  %-9s  %7d  %-20s  %-20s  %s\n", report::Printable(job.name()),
                         report::JobStateName(job.state()), job.attempt(),
                         TimeText(job.has_create_time(), job.create_time()),
                         TimeText(job.has_end_time(), job.end_time()), report::Printable(job.error().reason()));
}

absl::Status List(const Flags& flags, Interrupts& interrupts) {
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  if (const auto* value = report::FindEnumValue(*v1::JobState_descriptor(), flags.state); value != nullptr) {
    state = static_cast<v1::JobState>(value->number());
  }
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Open(flags, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<v1::Job> jobs, session->client().ListJobs(state, flags.limit));
  if (flags.outcome.json) {
    v1::ListJobsResponse response;
    for (const v1::Job& job : jobs) *response.add_jobs() = job;
    return PrintResult(report::MessageToJson(response));
  }
  std::string text =
      absl::StrFormat("%-37s  %-9s  %7s  %-20s  %-20s  %s\n", "name", "state", "attempt", "created", "ended", "error");
  for (const v1::Job& job : jobs) absl::StrAppend(&text, Line(job));
  return PrintResult(text);
}

absl::Status Show(const Flags& flags, Interrupts& interrupts) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Open(flags, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Job job, session->client().GetJob(flags.name));
  return PrintResult(report::MessageToJson(job));
}

absl::Status Cancel(const Flags& flags, Interrupts& interrupts) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Open(flags, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Job job, session->client().CancelJob(flags.name));
  return PrintResult(absl::StrCat(job.name(), " is ", report::JobStateName(job.state()), "\n"));
}

// The name that the user gave the model; its folder is not known any more.
std::string ModelName(const v1::Job& job) {
  const v1::Model& model = job.spec().has_optimize() ? job.spec().optimize().model() : job.spec().bench().model();
  return model.files_size() > 0 ? model.files(0).path() : job.result().report().model();
}

absl::Status Watch(const Flags& flags, Interrupts& interrupts) {
  const bool quiet = flags.outcome.quiet;
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Open(flags, interrupts));
  const std::string resume_flags = flags.out.empty() ? "" : absl::StrCat(" --out ", ShellQuote(flags.out));
  HALFTONE_ASSIGN_OR_RETURN(
      const FinishedJob finished,
      FollowJob(*session, flags.name, {.quiet = quiet, .resume_flags = resume_flags, .out = flags.out}));
  client::Client& client = session->client();
  const v1::Job& job = finished.job;
  if (job.spec().has_inspect()) {
    PrintWarnings(finished.warnings);
    HALFTONE_ASSIGN_OR_RETURN(const std::string text,
                              FetchFile(client, job, job.spec().inspect().json() ? "inspect.json" : "inspect.txt"));
    return PrintResult(text);
  }
  if (job.spec().has_profile()) return PrintProfile(client, finished, flags.outcome.json, /*top=*/0);
  if (job.spec().has_run()) {
    PrintWarnings(finished.warnings);
    if (flags.out.empty()) return PrintResult(absl::StrCat(job.name(), " is done; --out DIR fetches its outputs\n"));
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<std::string> paths, WriteFiles(client, job, flags.out, quiet));
    std::string text;
    for (const std::string& path : paths) absl::StrAppend(&text, path, "\n");
    return PrintResult(text);
  }
  absl::StatusOr<v1::Report> report =
      flags.out.empty() ? FetchReport(client, job) : WriteReportAndFiles(client, job, flags.out, ModelName(job), quiet);
  HALFTONE_RETURN_IF_ERROR(report.status());
  return ShowOutcome(*report, finished.warnings, flags.outcome);
}

using Function = absl::Status (*)(const Flags&, Interrupts&);

CLI::App& AddOne(CLI::App& jobs, const std::string& name, const std::string& help, const std::string& example,
                 Function function, const std::shared_ptr<Flags>& flags, Action* action) {
  CLI::App& command = *jobs.add_subcommand(name, help);
  command.footer("Example:\n  " + example);
  command.add_option("--server", flags->server.server, "HOST:PORT or unix:PATH of the server")
      ->envname("HALFTONE_SERVER")
      ->type_name("ADDR");
  command.callback([flags, function, action] {
    *action = [flags, function](Interrupts& interrupts) { return function(*flags, interrupts); };
  });
  return command;
}

void AddName(CLI::App& command, const std::shared_ptr<Flags>& flags) {
  command.add_option("NAME", flags->name, "name of the job: jobs/...")->required()->type_name("");
}

}  // namespace

void AddJobs(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& jobs = *app.add_subcommand("jobs", "list, watch, show or cancel the jobs of a server");
  jobs.require_subcommand(1);
  jobs.footer("Example:\n  halftone jobs list --server localhost:50051 --state running");

  CLI::App& list = AddOne(jobs, "list", "the newest jobs", "halftone jobs list --state failed", List, flags, action);
  list.add_option("--state", flags->state, "only these")
      ->check(CLI::IsMember(report::EnumNames(*v1::JobState_descriptor())));
  list.add_option("--limit", flags->limit, "at most so many (default: 50)")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  list.add_flag("--json", flags->outcome.json, "as JSON");

  CLI::App& watch =
      AddOne(jobs, "watch", "follow a job to its end and print its result; never cancels it",
             "halftone jobs watch jobs/0123456789abcdef0123456789abcdef --out build", Watch, flags, action);
  AddName(watch, flags);
  watch.add_option("--out", flags->out, "folder for the job's files (default: not fetched)")->type_name("DIR");
  AddDisplayFlags(watch, &flags->outcome);

  AddName(AddOne(jobs, "show", "a job as JSON", "halftone jobs show jobs/0123456789abcdef0123456789abcdef", Show, flags,
                 action),
          flags);
  AddName(AddOne(jobs, "cancel", "cancel a job", "halftone jobs cancel jobs/0123456789abcdef0123456789abcdef", Cancel,
                 flags, action),
          flags);
}

}  // namespace halftone::cli
