// SPDX-License-Identifier: Apache-2.0
// Runs ONNX's backend tests through import, engine, reference functions, optimizer and export.
//
//   conformance                           # all tests; one line each: "PASS name" or "FAIL name: way: reason"
//   conformance 'node/test_conv*' relu    # globs of names; folder and "test_" may be left out
//   conformance --ops                     # appends the operator types of each model: "  [Conv Relu]"
//   conformance --here node/test_abs      # without child processes, for a debugger
//
// $HALFTONE_ONNX_TESTDATA names the folder of the tests; the default is that of Debian's libonnx-testdata. Exit code 1
// if a test fails, 2 if there are no tests.

#include <fnmatch.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/strings.h"
#include "tests/conformance/backend_tests.h"
#include "tests/conformance/isolate.h"
#include "tests/conformance/ways.h"

namespace halftone {
namespace {

constexpr const char* kDefaultRoot = "/usr/share/libonnx-testdata/data";
constexpr size_t kLongestReason = 600;

struct Options {
  std::string root;
  std::vector<std::string> globs;
  IsolateOptions isolate;
  int threads = 1;
  bool ops = false;
  bool here = false;
};

bool Wanted(const BackendTest& test, const std::vector<std::string>& globs) {
  const std::string base = test.name.substr(test.name.find('/') + 1);
  const std::string bare = base.starts_with("test_") ? base.substr(5) : base;
  for (const std::string& glob : globs) {
    for (const std::string& name : {test.name, base, bare}) {
      if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return globs.empty();
}

std::string OneLine(std::string text) {
  if (text.size() > kLongestReason) text = text.substr(0, kLongestReason) + " ...";
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string OpsOf(const BackendTest& test) {
  std::string text;
  for (const std::string& op : FactsOf(test.model).ops) text += (text.empty() ? "" : " ") + op;
  return Concat("  [", text, "]");
}

int Run(const Options& options) {
  const absl::StatusOr<std::vector<BackendTest>> found = FindTests(options.root);
  if (!found.ok()) {
    std::fprintf(stderr, "conformance: %s\n", std::string(found.status().message()).c_str());
    return 2;
  }
  std::vector<BackendTest> tests;
  for (const BackendTest& test : *found) {
    if (Wanted(test, options.globs)) tests.push_back(test);
  }
  if (tests.empty()) {
    std::fprintf(stderr, "conformance: no test matches\n");
    return 2;
  }
  int passed = 0;
  const auto check = [&](int i) { return CheckTest(tests[static_cast<size_t>(i)], options.threads); };
  const auto report = [&](int i, const std::string& problem) {
    const BackendTest& test = tests[static_cast<size_t>(i)];
    const std::string ops = options.ops ? OpsOf(test) : "";
    if (problem.empty()) {
      ++passed;
      std::printf("PASS %s%s\n", test.name.c_str(), ops.c_str());
    } else {
      std::printf("FAIL %s: %s%s\n", test.name.c_str(), OneLine(problem).c_str(), ops.c_str());
    }
    std::fflush(stdout);
  };
  const int count = static_cast<int>(tests.size());
  if (options.here) {
    for (int i = 0; i < count; ++i) report(i, check(i));
  } else {
    Isolate(count, options.isolate, check, report);
  }
  std::printf("%d of %d pass\n", passed, count);
  return passed == count ? 0 : 1;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  halftone::Options options;
  const char* root = std::getenv("HALFTONE_ONNX_TESTDATA");
  options.root = root != nullptr ? root : halftone::kDefaultRoot;
  CLI::App app("Runs ONNX's backend tests");
  app.add_option("tests", options.globs, "globs of names");
  app.add_option("--data", options.root, "the folder with node/, simple/, light/, ...");
  app.add_option("--jobs", options.isolate.jobs, "number of parallel tests")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.isolate.seconds, "time limit per test")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "threads of the engine")->check(CLI::PositiveNumber);
  app.add_flag("--ops", options.ops, "appends the operator types");
  app.add_flag("--here", options.here, "runs without child processes");
  CLI11_PARSE(app, argc, argv);
  return halftone::Run(options);
}
