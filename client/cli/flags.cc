#include "client/cli/flags.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job.h"
#include "client/policy.h"
#include "client/policy_env.h"
#include "client/status.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr double kMaxTimeoutSeconds = 86'400;

const CLI::Validator kAtLeastOne = CLI::Range(1, 1'000'000);

// The number of the value that "--FLAG TEXT" names.
absl::StatusOr<int> EnumFlag(const char* flag, const std::string& text,
                             const google::protobuf::EnumDescriptor& descriptor) {
  const auto* value = report::FindEnumValue(descriptor, text);
  if (value != nullptr) return value->number();
  return UsageError(
      absl::StrCat("--", flag, " ", text, ": no such ", flag, client::DidYouMean(text, report::EnumNames(descriptor))));
}

}  // namespace

void AddServerFlags(CLI::App& app, ServerFlags* flags) {
  app.add_option("--server", flags->server,
                 "HOST:PORT or unix:PATH of a running halftoned; without it a private one does the work and is stopped "
                 "at the end")
      ->envname("HALFTONE_SERVER")
      ->type_name("ADDR");
  app.add_option("--halftoned", flags->halftoned,
                 "the program of the private server (default: beside this program, else on PATH)")
      ->envname("HALFTONE_HALFTONED")
      ->type_name("PATH");
  app.add_option("--worker", flags->worker, "the program that the private server runs jobs with")
      ->envname("HALFTONE_WORKER")
      ->type_name("PATH");
}

void AddModelFlags(CLI::App& app, ModelFlags* flags) {
  app.add_option("MODEL", flags->path,
                 "the model: .onnx, .pb or .pbtxt of a TensorFlow GraphDef, or the folder of a SavedModel")
      ->required()
      ->type_name("");
  AddModelFormatFlags(app, flags);
}

void AddModelFormatFlags(CLI::App& app, ModelFlags* flags) {
  app.add_option("--format", flags->format, "what the file is (default: by its ending)")
      ->check(CLI::IsMember({"onnx", "graphdef", "savedmodel"}));
  app.add_option("--signature", flags->signature,
                 "what of a SavedModel is computed (default: serving_default, or the only one)")
      ->type_name("NAME");
  app.add_option("--output-name", flags->outputs,
                 "a wanted output of a GraphDef (default: every node that nobody reads); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME");
}

void AddRunFlags(CLI::App& app, BenchmarkFlags* flags) {
  app.add_option("--threads", flags->threads, "threads of one inference (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_option("--batch", flags->batch, "value of a free batch dimension (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
}

void AddBenchmarkFlags(CLI::App& app, BenchmarkFlags* flags) {
  AddRunFlags(app, flags);
  app.add_option(
         "--profile", flags->profile,
         "quick: 5 rounds of 1 s, medians only (default); standard: 10 rounds, up to P99; strict: 10 rounds of a "
         "minute, up to P99.9")
      ->check(CLI::IsMember({"quick", "standard", "strict"}));
  app.add_option("--rounds", flags->rounds, "processes that measure each variant, in turns (default: by the profile)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_option("--round-seconds", flags->round_seconds, "timed inference in one round (default: by the profile)")
      ->check(CLI::Range(0.001, 600.0))
      ->type_name("S");
  app.add_option(
         "--instances", flags->instances,
         "processes side by side, each with cores of its own: measures inferences a second together (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_flag("--cold-weights", flags->cold_weights, "empty the caches before each inference");
  app.add_option("--cores", flags->cores, "cores to pin to, instance by instance (default: chosen)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N,N");
  app.add_option("--wait-policy", flags->wait_policy, "OMP_WAIT_POLICY (default: active with more than one thread)")
      ->check(CLI::IsMember({"active", "passive"}));
  app.add_option("--seed", flags->seed, "of the order of rounds, the intervals and random inputs (default: 1)")
      ->type_name("N");
}

void AddPassFlags(CLI::App& app, PolicyFlags* flags) {
  app.add_option("--pass", flags->passes,
                 "a pass over the model before it is fused, e.g. 'round_weights(num_steps=64)'; may be repeated, runs "
                 "in this order")
      ->allow_extra_args(false)
      ->type_name("PASS");
  app.add_flag("--verify-passes", flags->verify_passes,
               "run every pass before and after on seeded inputs; one that moves an answer fails the job (slow)");
}

void AddRewriteFlags(CLI::App& app, PolicyFlags* flags) {
  app.add_option("--dialect", flags->dialect,
                 "how the files say fused nodes: portable (default) by standard ops; onnxruntime, or of a GraphDef "
                 "tensorflow or itex, by that framework's own")
      ->type_name("DIALECT");
  AddPassFlags(app, flags);
}

void AddPlanFlags(CLI::App& app, PolicyFlags* flags) {
  app.add_option("--lists", flags->lists_variant,
                 "edition of the planner's lists: tensorflow, tensorflow-2.4, itex; paddle, paddle-2.x (default: the "
                 "newest of its own)")
      ->type_name("NAME");
  app.add_option("--op-list", flags->op_list, "placement: the only ops to lower, by Paddle's names")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("OP,OP");
  app.add_flag("--keep-first", flags->keep_first, "layers with no other one in front of them stay fp32");
  app.add_flag("--keep-last", flags->keep_last, "layers with no other one behind them stay fp32");
}

void AddPlannerFlags(CLI::App& app, PolicyFlags* flags) {
  app.add_option("--planner", flags->planner,
                 "how nodes are chosen: lists (default), as TensorFlow does; placement, as Paddle does")
      ->type_name("PLANNER");
  AddPlanFlags(app, flags);
  app.add_flag("--bf16-math-mode", flags->bf16_math_mode,
               "products that stay fp32 may round what they read to bfloat16");
  app.add_option("--target-runtime", flags->target_runtime,
                 "who will load the files: any (default), or onnxruntime, whose CPU provider lacks kernels")
      ->type_name("RUNTIME");
}

void AddTimeoutFlag(CLI::App& app, double* timeout) {
  app.add_option("--timeout", *timeout, "seconds that the job may run, not counting its wait (default: the server's)")
      ->check(CLI::Range(0.001, kMaxTimeoutSeconds))
      ->type_name("S");
}

v1::BenchmarkSpec ToBenchmarkSpec(const BenchmarkFlags& flags) {
  v1::BenchmarkSpec spec;
  spec.set_rounds(flags.rounds);
  if (flags.round_seconds > 0) *spec.mutable_round_time() = ToDuration(flags.round_seconds);
  spec.set_threads(flags.threads);
  spec.set_batch(flags.batch);
  spec.set_skip(flags.skip);
  spec.set_seed(flags.seed);
  if (!flags.profile.empty()) {
    const auto* profile = report::FindEnumValue(*v1::BenchmarkProfile_descriptor(), flags.profile);
    if (profile != nullptr) spec.set_profile(static_cast<v1::BenchmarkProfile>(profile->number()));
  }
  spec.set_instances(flags.instances);
  spec.set_cold_weights(flags.cold_weights);
  spec.mutable_cores()->Assign(flags.cores.begin(), flags.cores.end());
  spec.set_wait_policy(flags.wait_policy);
  return spec;
}

bool SaysAnything(const PolicyFlags& flags) {
  return !flags.file.empty() || !flags.precisions.empty() || flags.force || !flags.planner.empty() ||
         !flags.lists_variant.empty() || !flags.op_list.empty() || flags.keep_first || flags.keep_last ||
         flags.bf16_math_mode || !flags.target_runtime.empty() || !flags.dialect.empty() || !flags.passes.empty() ||
         flags.verify_passes;
}

absl::StatusOr<v1::Policy> ToPolicy(const PolicyFlags& flags) {
  v1::Policy policy;
  if (!flags.file.empty()) {
    absl::StatusOr<v1::Policy> loaded = client::LoadPolicy(flags.file);
    if (!loaded.ok()) return client::WithReason(loaded.status(), kReasonPolicy);
    policy = *std::move(loaded);
  }
  if (!flags.planner.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int planner, EnumFlag("planner", flags.planner, *v1::Planner_descriptor()));
    policy.set_planner(static_cast<v1::Planner>(planner));
  }
  if (!flags.lists_variant.empty()) policy.set_lists_variant(flags.lists_variant);
  client::MergeEnvironment([](const std::string& name) { return std::getenv(name.c_str()); }, &policy);
  if (!flags.precisions.empty()) policy.clear_precisions();
  for (const std::string& name : flags.precisions) {
    const std::optional<v1::Precision> precision = report::ParsePrecision(name);
    if (!precision || *precision == v1::ORIGINAL) {
      return UsageError(
          absl::StrCat("--precision ", name, ": no such precision",
                       client::DidYouMean(name, {report::PrecisionName(v1::FP32), report::PrecisionName(v1::BF16),
                                                 report::PrecisionName(v1::FP16), report::PrecisionName(v1::INT8)})));
    }
    const auto& wanted = policy.precisions();
    if (std::find(wanted.begin(), wanted.end(), *precision) == wanted.end()) policy.add_precisions(*precision);
  }
  if (flags.force) policy.set_force(true);
  if (!flags.op_list.empty()) policy.mutable_op_list()->Assign(flags.op_list.begin(), flags.op_list.end());
  if (flags.keep_first) policy.set_keep_first(true);
  if (flags.keep_last) policy.set_keep_last(true);
  if (flags.bf16_math_mode) policy.set_bf16_math_mode(true);
  if (!flags.target_runtime.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int target_runtime, EnumFlag("target-runtime", flags.target_runtime,
                                                                 *v1::Policy::TargetRuntime_descriptor()));
    policy.set_target_runtime(static_cast<v1::Policy::TargetRuntime>(target_runtime));
  }
  if (!flags.dialect.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(const int dialect, EnumFlag("dialect", flags.dialect, *v1::Dialect_descriptor()));
    policy.set_dialect(static_cast<v1::Dialect>(dialect));
  }
  if (!flags.passes.empty()) policy.mutable_passes()->Assign(flags.passes.begin(), flags.passes.end());
  if (flags.verify_passes) policy.set_verify_passes(true);
  return policy;
}

void SetTimeout(double timeout, v1::JobSpec* spec) {
  if (timeout > 0) *spec->mutable_timeout() = ToDuration(timeout);
}

std::string ShellQuote(const std::string& word) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("_-./:=+@,", absl::string_view(&c, 1));
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace halftone::cli
