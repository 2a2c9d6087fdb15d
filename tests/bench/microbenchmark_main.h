// SPDX-License-Identifier: Apache-2.0
// The command line of the microbenchmarks: graph text on stdin, one line of JSON on stdout.
#ifndef HALFTONE_TESTS_BENCH_MICROBENCHMARK_MAIN_H_
#define HALFTONE_TESTS_BENCH_MICROBENCHMARK_MAIN_H_

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace halftone {

// `benchmark` makes the line from the text, --threads and --seconds. Where it fails, the error goes to stderr and the
// exit code is 1.
inline int MicrobenchmarkMain(int argc, char** argv, const char* program, const char* help,
                              absl::StatusOr<std::string> (*benchmark)(const std::string& text, int threads,
                                                                       double seconds)) {
  double seconds = 1;
  int threads = 1;
  CLI::App app(help);
  app.add_option("--seconds", seconds);
  app.add_option("--threads", threads);
  CLI11_PARSE(app, argc, argv);
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const absl::StatusOr<std::string> line = benchmark(text, threads, seconds);
  if (!line.ok()) {
    std::fprintf(stderr, "%s: %s\n", program, std::string(line.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", line->c_str());
  return 0;
}

}  // namespace halftone

#endif  // HALFTONE_TESTS_BENCH_MICROBENCHMARK_MAIN_H_
