// SPDX-License-Identifier: Apache-2.0
// Flags that several subcommands have.
#ifndef HALFTONE_CLIENT_CLI_FLAGS_H_
#define HALFTONE_CLIENT_CLI_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/cli/session.h"
#include "google/protobuf/map.h"
#include "halftone/v1/jobs.pb.h"

namespace halftone::cli {

// Groups of the help, in the order of `halftone optimize --help`.
inline constexpr char kModelGroup[] = "Model and output";
inline constexpr char kPrecisionGroup[] = "Precision";
inline constexpr char kInt8Group[] = "INT8 quantization (with --precision int8)";
inline constexpr char kEvaluationGroup[] = "Evaluation";
inline constexpr char kGateGroup[] = "Gates (exit code 4 when one fails, 9 when the machine is too noisy to decide)";
inline constexpr char kMeasuringGroup[] = "Measuring";
inline constexpr char kDisplayGroup[] = "What is printed";
inline constexpr char kServerGroup[] = "Server";
inline constexpr char kAdvancedGroup[] = "Advanced";

struct ModelFlags {
  std::string path;
  std::string format;
  std::string signature;
  std::vector<std::string> outputs;
};

struct BenchmarkFlags {
  int threads = 0;
  int batch = 0;
  std::vector<std::string> dims;  // "NAME=N"
  std::string preset;
  int rounds = 0;
  double round_seconds = 0;
  int instances = 0;
  bool cold_cache = false;
  std::vector<int> cores;
  std::string wait_policy;
  std::vector<std::string> noise_limits;  // "KEY=VALUE"
  uint64_t seed = 0;
  bool skip = false;
};

struct PolicyFlags {
  std::string file;
  std::vector<std::string> precisions;
  bool allow_emulation = false;
  std::string planner;
  std::string lists_version;
  std::vector<std::string> op_types;
  bool keep_first = false;
  bool keep_last = false;
  bool bf16_math_mode = false;
  std::string target_runtime;
  std::string dialect;
  std::vector<std::string> passes;
  bool verify_passes = false;
};

// Each puts its flags into their groups of the help; groups are printed in the order in which they come first.
void AddServerFlags(CLI::App& app, ServerFlags* flags);
void AddModelFlags(CLI::App& app, ModelFlags* flags);          // MODEL
void AddModelFormatFlags(CLI::App& app, ModelFlags* flags);    // --format, --signature, --output-name
void AddShapeFlags(CLI::App& app, BenchmarkFlags* flags);      // --batch, --dim
void AddThreadsFlag(CLI::App& app, BenchmarkFlags* flags);     // --threads
void AddBenchmarkFlags(CLI::App& app, BenchmarkFlags* flags);  // that and how it is measured
// --precision (described by `what`), --policy, --target-runtime, --keep-first, --keep-last, --allow-emulation
void AddPrecisionFlags(CLI::App& app, const std::string& what, PolicyFlags* flags);
void AddKeepFlags(CLI::App& app, PolicyFlags* flags);     // --keep-first, --keep-last
void AddPlanFlags(CLI::App& app, PolicyFlags* flags);     // --lists-version, --op-types
void AddPlannerFlags(CLI::App& app, PolicyFlags* flags);  // those, --planner and --bf16-math-mode
void AddPassFlags(CLI::App& app, PolicyFlags* flags);     // --pass, --verify-passes
void AddRewriteFlags(CLI::App& app, PolicyFlags* flags);  // those and --dialect
void AddTimeoutFlag(CLI::App& app, double* timeout);

// Errors are usage errors.
absl::StatusOr<v1::BenchmarkSpec> ToBenchmarkSpec(const BenchmarkFlags& flags);

// Whether a flag says anything of the policy.
bool SaysAnything(const PolicyFlags& flags);

// The policy file with the environment's list edits before its own; flags override both. Errors are usage errors.
absl::StatusOr<v1::Policy> ToPolicy(const PolicyFlags& flags);

// Sets the timeout when one was given.
void SetTimeout(double timeout, v1::JobSpec* spec);

// A word that a shell reads as one word again.
std::string ShellQuote(const std::string& word);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_FLAGS_H_
