// SPDX-License-Identifier: Apache-2.0
// A worker for tests: speaks worker.proto and does what the model's file name says.
//
//   ok.onnx       progress, a warning, a log, then the model's bytes as "out.onnx"
//   slow.onnx     as ok, after half a second             error.onnx     an error that names a local path
//   crash.onnx    dies of SIGSEGV after text on stderr   exit.onnx      exits with 3, no response
//   hang.onnx     sleeps for ever                        stubborn.onnx  the same, deaf to SIGTERM, with a deaf child
//   garbage.onnx  writes no protocol                     trailing.onnx  continues after its response
//   outside.onnx  names a file outside its folder        link.onnx      an output that is a link
//   twice.onnx    one output name twice                  flood.onnx     very much progress
//   left.onnx     an error that leaves a file            stray.onnx     the same of a file outside its folder
//   ranges.onnx   as ok, and takes ranges of an earlier job or makes them

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/frames.h"
#include "google/rpc/code.pb.h"
#include "server/worker/worker.pb.h"

namespace halftone::server {
namespace {

void Send(const worker::WorkerMessage& message) {
  if (!WriteFrame(STDOUT_FILENO, message.SerializeAsString()).ok()) exit(9);
}

void SendProgress(const std::string& stage, int done, int total) {
  worker::WorkerMessage message;
  message.mutable_progress()->set_stage(stage);
  message.mutable_progress()->set_done(done);
  message.mutable_progress()->set_total(total);
  Send(message);
}

[[noreturn]] void Hang() {
  while (true) pause();
}

void WriteText(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

worker::WorkerMessage Result(const worker::WorkerRequest& request) {
  const std::string out = request.work_dir() + "/out.onnx";
  WriteText(out, ReadText(request.inputs(0).local_path()) + " optimized");
  worker::WorkerMessage message;
  worker::OutputFile& file = *message.mutable_result()->add_files();
  file.set_path("out.onnx");
  file.set_local_path(out);
  message.mutable_result()->mutable_report()->set_model(request.inputs(0).path());
  (*message.mutable_stage_seconds())["import"] = 0.25;
  return message;
}

void UseRanges(const worker::WorkerRequest& request, worker::WorkerResult& result) {
  if (request.spec().no_ranges_cache()) return;
  worker::RangesUse& use = *result.mutable_ranges();
  use.set_key(std::string(64, 'a'));
  for (const worker::KnownRanges& known : request.known_ranges()) {
    if (known.key() == use.key() && ReadText(known.local_path()) == "ranges") use.set_from_cache(true);
  }
  if (use.from_cache()) return;
  use.set_local_path(request.work_dir() + "/net.ranges.json");
  WriteText(use.local_path(), "ranges");
}

void Misbehave(const std::string& how, const worker::WorkerRequest& request) {
  if (how == "crash.onnx") {
    fprintf(stderr, "first line\nreading %s\nlast words\n", request.inputs(0).local_path().c_str());
    signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler of its own, which exits
    raise(SIGSEGV);
  }
  if (how == "exit.onnx") exit(3);
  if (how == "hang.onnx") Hang();
  if (how == "stubborn.onnx") {
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0) Hang();
    worker::WorkerMessage message;
    message.set_log("hanging");
    Send(message);
    Hang();
  }
  if (how == "garbage.onnx") {
    fputs("Hello, I am a library that prints to stdout.\n", stdout);
    fflush(stdout);
    Hang();
  }
}

void DoJob(const worker::WorkerRequest& request) {
  const std::string how = request.inputs(0).path();
  SendProgress("import", 1, 2);
  Misbehave(how, request);
  if (how == "slow.onnx") usleep(500'000);
  if (how == "flood.onnx") {
    for (int i = 0; i < 20'000; ++i) SendProgress("measure", i, 20'000);
  }
  worker::WorkerMessage message;
  message.set_warning("read " + request.inputs(0).local_path());
  Send(message);
  message.set_log("done");
  Send(message);
  if (how == "error.onnx") {
    message.mutable_error()->set_code(google::rpc::INVALID_ARGUMENT);
    message.mutable_error()->set_reason("MODEL_INVALID");
    message.mutable_error()->set_message(request.inputs(0).local_path() + ": node '/layer1/conv' has no weights");
    return Send(message);
  }
  if (how == "left.onnx" || how == "stray.onnx") {
    const std::string path = request.work_dir() + (how == "left.onnx" ? "/failure.graph" : "/../../jobs.sqlite");
    if (how == "left.onnx") WriteText(path, "graph () {}");
    message.mutable_error()->set_code(google::rpc::INTERNAL);
    message.mutable_error()->set_message("pass 'fuse-x' changed an output");
    message.mutable_error()->add_files()->set_path("not a blob");
    worker::OutputFile& left = *message.add_error_files();
    left.set_path("failure.graph");
    left.set_local_path(path);
    return Send(message);
  }
  message = Result(request);
  worker::OutputFile& file = *message.mutable_result()->mutable_files(0);
  if (how == "ranges.onnx") UseRanges(request, *message.mutable_result());
  if (how == "outside.onnx") file.set_local_path(request.work_dir() + "/../../jobs.sqlite");
  if (how == "link.onnx") {
    unlink(file.local_path().c_str());
    if (symlink("/etc/hostname", file.local_path().c_str()) != 0) exit(8);
  }
  if (how == "twice.onnx") *message.mutable_result()->add_files() = worker::OutputFile(file);
  Send(message);
  if (how == "trailing.onnx") SendProgress("after", 1, 1);
}

int Main() {
  const absl::StatusOr<std::optional<std::string>> frame = ReadFrame(STDIN_FILENO);
  worker::WorkerRequest request;
  if (!frame.ok() || !frame->has_value() || !request.ParseFromString(**frame)) return 7;
  if (request.describe()) {
    worker::WorkerMessage message;
    message.mutable_description()->add_ops("conv");
    message.mutable_description()->mutable_environment()->set_cpu("fake");
    Send(message);
  } else {
    DoJob(request);
  }
  return 0;
}

}  // namespace
}  // namespace halftone::server

int main() { return halftone::server::Main(); }
