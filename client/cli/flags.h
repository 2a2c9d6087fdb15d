// Flags that several subcommands have.
#ifndef HALFTONE_CLIENT_CLI_FLAGS_H_
#define HALFTONE_CLIENT_CLI_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/cli/session.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

struct ModelFlags {
  std::string path;
  std::string format;
  std::string signature;
  std::vector<std::string> outputs;
};

struct BenchmarkFlags {
  int threads = 0;
  int batch = 0;
  std::string profile;
  int rounds = 0;
  double round_seconds = 0;
  int instances = 0;
  bool cold_weights = false;
  std::vector<int> cores;
  std::string wait_policy;
  uint64_t seed = 0;
  bool skip = false;
};

struct PolicyFlags {
  std::string file;
  std::vector<std::string> precisions;
  bool force = false;
  std::string planner;
  std::string lists_variant;
  std::vector<std::string> op_list;
  bool keep_first = false;
  bool keep_last = false;
  bool bf16_math_mode = false;
  std::string target_runtime;
  std::string dialect;
  std::vector<std::string> passes;
  bool verify_passes = false;
};

void AddServerFlags(CLI::App& app, ServerFlags* flags);
void AddModelFlags(CLI::App& app, ModelFlags* flags);          // MODEL, and:
void AddModelFormatFlags(CLI::App& app, ModelFlags* flags);    // --format, --output-name
void AddRunFlags(CLI::App& app, BenchmarkFlags* flags);        // --threads, --batch
void AddBenchmarkFlags(CLI::App& app, BenchmarkFlags* flags);  // those and how it is measured
void AddPassFlags(CLI::App& app, PolicyFlags* flags);          // --pass, --verify-passes
void AddRewriteFlags(CLI::App& app, PolicyFlags* flags);       // those and --dialect
void AddPlanFlags(CLI::App& app, PolicyFlags* flags);          // --lists, --op-list, --keep-first, --keep-last
void AddPlannerFlags(CLI::App& app, PolicyFlags* flags);  // those, --planner, --bf16-math-mode and --target-runtime
void AddTimeoutFlag(CLI::App& app, double* timeout);

v1::BenchmarkSpec ToBenchmarkSpec(const BenchmarkFlags& flags);

// Whether a flag says anything of the policy.
bool SaysAnything(const PolicyFlags& flags);

// The policy file, the environment's list edits before its own, and the flags over both. Errors are usage errors.
absl::StatusOr<v1::Policy> ToPolicy(const PolicyFlags& flags);

// Sets the timeout when one was given.
void SetTimeout(double timeout, v1::JobSpec* spec);

// A word that a shell reads as one word again.
std::string ShellQuote(const std::string& word);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_FLAGS_H_
