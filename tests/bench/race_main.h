// The command line of the programs that race plans: text on stdin, a line of JSON on stdout.
#ifndef HALFTONE_TESTS_BENCH_RACE_MAIN_H_
#define HALFTONE_TESTS_BENCH_RACE_MAIN_H_

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace halftone {

// `race` makes the line from the text, --threads and --seconds. The exit code: 1 where it fails, with its error on
// stderr.
inline int RaceMain(int argc, char** argv, const char* program, const char* help,
                    absl::StatusOr<std::string> (*race)(const std::string& text, int threads, double seconds)) {
  double seconds = 1;
  int threads = 1;
  CLI::App app(help);
  app.add_option("--seconds", seconds);
  app.add_option("--threads", threads);
  CLI11_PARSE(app, argc, argv);
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const absl::StatusOr<std::string> line = race(text, threads, seconds);
  if (!line.ok()) {
    std::fprintf(stderr, "%s: %s\n", program, std::string(line.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", line->c_str());
  return 0;
}

}  // namespace halftone

#endif  // HALFTONE_TESTS_BENCH_RACE_MAIN_H_
