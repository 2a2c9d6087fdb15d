// SPDX-License-Identifier: Apache-2.0
// Runs random graphs of every op of the table (check.h says what is compared) and prints the first failing graph,
// minimized. Exit code 1 if a graph failed or an op occurred too rarely.
//
//   fuzz                    for 60 s; every op must occur at least 20 times
//   fuzz --seconds 3600     for an hour
//   fuzz --seed 4711        one graph, to reproduce a failure
//   fuzz --first 100000     graphs of other seeds
//   fuzz --all              goes on after a failure and prints one line for each

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "ir/text.h"
#include "tests/fuzz/run.h"

namespace halftone::fuzz {
namespace {

struct Options {
  double seconds = 60;
  int64_t seed = -1;
  int64_t first = 1;
  int64_t graphs = 0;
  int at_least = 20;
  bool all = false;
  bool print = false;
};

char crash_message[64] = "";

void OnCrash(int signal) {
  (void)!write(STDERR_FILENO, crash_message, sizeof(crash_message) - 1);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void Announce(uint64_t seed) {
  std::snprintf(crash_message, sizeof(crash_message), "\ncrashed: fuzz --seed %llu\n",
                static_cast<unsigned long long>(seed));
}

void Report(const Failure& failure, bool short_form) {
  const std::string text = short_form ? failure.text.substr(0, failure.text.find('\n')) + "\n" : failure.text;
  std::printf("FAIL fuzz --seed %llu: %s", static_cast<unsigned long long>(failure.seed), text.c_str());
  std::fflush(stdout);
}

int Replay(uint64_t seed, bool print) {
  const Coverage coverage = FindCoverage(Halftone());
  if (print) {
    const absl::StatusOr<Case> made = MakeCase(seed, coverage.ops);
    if (made.ok()) std::printf("%s", PrintGraph(made->graph, {.with_weights = true}).c_str());
    std::fflush(stdout);
  }
  Totals totals;
  const std::optional<Failure> failure = TrySeed(seed, coverage, Halftone(), totals);
  if (failure.has_value()) Report(*failure, false);
  for (const auto& [reason, count] : totals.cannot_run) std::printf("cannot run: %s\n", reason.c_str());
  return failure.has_value() ? 1 : 0;
}

// Prints how often each op occurred. False if an op occurred fewer than `at_least` times.
bool PrintCoverage(const Coverage& coverage, const Totals& totals, int at_least) {
  for (const auto& [reason, count] : totals.cannot_run)
    std::printf("%d graphs cannot run: %s\n", count, reason.c_str());
  for (const auto& [name, reason] : coverage.not_covered)
    std::printf("not covered: %s (%s)\n", name.c_str(), reason.c_str());
  bool enough = true;
  int rarest = -1;
  for (const OpKind op : coverage.ops) {
    const auto it = totals.nodes.find(op);
    const int count = it == totals.nodes.end() ? 0 : it->second;
    rarest = rarest < 0 ? count : std::min(rarest, count);
    if (count >= at_least) continue;
    enough = false;
    std::printf("too rare: %s, only %d times\n", std::string(OpName(op)).c_str(), count);
  }
  std::printf(
      "%d graphs (%d through ONNX, %d through GraphDef); %zu ops covered, each at least %d times; %zu not covered\n",
      totals.graphs, totals.onnx, totals.graphdef, coverage.ops.size(), rarest, coverage.not_covered.size());
  return enough;
}

int Run(const Options& options) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) ::signal(signal, OnCrash);
  if (options.seed >= 0) {
    Announce(static_cast<uint64_t>(options.seed));
    return Replay(static_cast<uint64_t>(options.seed), options.print);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const Coverage coverage = FindCoverage(Halftone());
  Totals totals;
  int failures = 0;
  for (int64_t i = 0; options.graphs > 0 ? i < options.graphs : spent() < options.seconds; ++i) {
    const uint64_t seed = static_cast<uint64_t>(options.first + i);
    Announce(seed);
    const std::optional<Failure> failure = TrySeed(seed, coverage, Halftone(), totals);
    if (!failure.has_value()) continue;
    ++failures;
    Report(*failure, options.all);
    if (!options.all) return 1;
  }
  const bool enough = PrintCoverage(coverage, totals, options.graphs > 0 ? 0 : options.at_least);
  return failures == 0 && enough ? 0 : 1;
}

}  // namespace
}  // namespace halftone::fuzz

int main(int argc, char** argv) {
  halftone::fuzz::Options options;
  CLI::App app("Fuzzes engine, optimizer and file formats with random graphs");
  app.add_option("--seconds", options.seconds, "duration");
  app.add_option("--graphs", options.graphs, "number of graphs, instead of a duration");
  app.add_option("--seed", options.seed, "runs only the graph of this seed");
  app.add_option("--first", options.first, "the first seed");
  app.add_option("--at-least", options.at_least, "fails if an op occurs fewer times (not with --graphs)");
  app.add_flag("--all", options.all, "goes on after a failure");
  app.add_flag("--print", options.print, "with --seed: prints the graph with its weights");
  CLI11_PARSE(app, argc, argv);
  return halftone::fuzz::Run(options);
}
