// SPDX-License-Identifier: Apache-2.0
#include "client/cli/flags.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "client/cli/exit_codes.h"
#include "client/cli/job.h"
#include "client/cli/key_values.h"
#include "client/policy.h"
#include "client/policy_env.h"
#include "client/status.h"
#include "client/suggest.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr double kMaxTimeoutSeconds = 86'400;

const CLI::Validator kAtLeastOne = CLI::Range(1, 1'000'000);

// The enum value with the name TEXT of "--FLAG TEXT".
absl::StatusOr<int> EnumFlag(const char* flag, const std::string& text,
                             const google::protobuf::EnumDescriptor& descriptor) {
  const auto* value = report::FindEnumValue(descriptor, text);
  if (value != nullptr) return value->number();
  return UsageError(
      absl::StrCat("--", flag, " ", text, ": no such ", flag, client::DidYouMean(text, report::EnumNames(descriptor))));
}

// "--dim NAME=N" of each of `texts`. Errors are usage errors.
absl::Status SetDims(const std::vector<std::string>& texts, google::protobuf::Map<std::string, int64_t>* dims) {
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    int64_t size = 0;
    if (equals == std::string::npos || equals == 0 || !absl::SimpleAtoi(text.substr(equals + 1), &size) || size < 1) {
      return UsageError(absl::StrCat("--dim ", text, ": NAME=N is expected, for example seq_len=128"));
    }
    if (!dims->insert({text.substr(0, equals), size}).second) {
      return UsageError(absl::StrCat("--dim ", text, ": ", text.substr(0, equals), " is given twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddServerFlags(CLI::App& app, ServerFlags* flags) {
  app.option_defaults()->group(kServerGroup);
  app.add_option("--server", flags->server,
                 "HOST:PORT or unix:PATH of a running halftoned (default: a private server, stopped at the end)")
      ->envname("HALFTONE_SERVER")
      ->type_name("ADDR");
  app.add_option("--halftoned", flags->halftoned,
                 "program of the private server (default: beside this program, else on PATH)")
      ->envname("HALFTONE_HALFTONED")
      ->type_name("PATH");
  app.add_option("--worker", flags->worker, "program with which the private server runs jobs")
      ->envname("HALFTONE_WORKER")
      ->type_name("PATH");
}

void AddModelFlags(CLI::App& app, ModelFlags* flags) {
  app.option_defaults()->group(kModelGroup);
  app.add_option("MODEL", flags->path,
                 "the model: .onnx, .pb or .pbtxt of a TensorFlow GraphDef, or the folder of a SavedModel")
      ->required()
      ->type_name("");
}

void AddModelFormatFlags(CLI::App& app, ModelFlags* flags) {
  app.option_defaults()->group(kModelGroup);
  app.add_option("--format", flags->format, "format of the file (default: by its ending)")
      ->check(CLI::IsMember({"onnx", "graphdef", "savedmodel"}));
  app.add_option("--signature", flags->signature,
                 "signature of a SavedModel to compute (default: serving_default, or the only one)")
      ->type_name("NAME");
  app.add_option("--output-name", flags->outputs,
                 "output of a GraphDef to compute (default: every node without consumers); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME");
}

void AddShapeFlags(CLI::App& app, BenchmarkFlags* flags) {
  app.option_defaults()->group(kModelGroup);
  app.add_option("--batch", flags->batch, "size of a dynamic batch dimension (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_option("--dim", flags->dims, "size of the dynamic dimension NAME, e.g. seq_len=128; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME=N");
}

void AddThreadsFlag(CLI::App& app, BenchmarkFlags* flags) {
  app.option_defaults()->group(kMeasuringGroup);
  app.add_option("--threads", flags->threads, "threads of one inference (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
}

void AddBenchmarkFlags(CLI::App& app, BenchmarkFlags* flags) {
  AddThreadsFlag(app, flags);
  app.add_option(
         "--preset", flags->preset,
         "how long to measure. quick (default): 5 rounds of 1 s, medians only; standard: 10 rounds, up to P99; strict: "
         "10 rounds of a minute, up to P99.9")
      ->check(CLI::IsMember({"quick", "standard", "strict"}));
  app.add_option("--rounds", flags->rounds,
                 "repetitions of each variant, interleaved with the others, each in a fresh process (default: by the "
                 "preset)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_option("--round-seconds", flags->round_seconds, "timed inference in one round (default: by the preset)")
      ->check(CLI::Range(0.001, 600.0))
      ->type_name("S");
  app.add_option("--instances", flags->instances,
                 "processes side by side, each with its own cores: measures their throughput (default: 1)")
      ->check(kAtLeastOne)
      ->type_name("N");
  app.add_option("--cores", flags->cores, "CPU affinity: cores, instance by instance (default: chosen)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N,N");
  app.add_flag("--cold-cache", flags->cold_cache, "flush the CPU caches before each inference");
  app.add_option("--wait-policy", flags->wait_policy, "OMP_WAIT_POLICY (default: active with more than one thread)")
      ->check(CLI::IsMember({"active", "passive"}));
  app.add_option("--noise-limit", flags->noise_limits,
                 "a round beyond it is noisy: context-switches (default: 10 per second and thread), steal (0.01), load "
                 "(1 task per core), frequency (0.05); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  app.add_option("--seed", flags->seed, "seed of round order, confidence intervals and random inputs (default: 1)")
      ->type_name("N");
}

void AddKeepFlags(CLI::App& app, PolicyFlags* flags) {
  app.option_defaults()->group(kPrecisionGroup);
  app.add_flag("--keep-first", flags->keep_first, "keep layers without a preceding layer in fp32");
  app.add_flag("--keep-last", flags->keep_last, "keep layers without a following layer in fp32");
}

void AddPrecisionFlags(CLI::App& app, const std::string& what, PolicyFlags* flags) {
  app.option_defaults()->group(kPrecisionGroup);
  app.add_option("--precision", flags->precisions, what)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("fp32,bf16,fp16,int8");
  app.add_option("--policy", flags->file, "YAML or JSON file with all precision settings; flags override it")
      ->type_name("FILE");
  app.add_option("--target-runtime", flags->target_runtime,
                 "runtime that will load the files: any (default), or onnxruntime: nodes without a kernel there stay "
                 "fp32")
      ->type_name("RUNTIME");
  AddKeepFlags(app, flags);
  app.add_flag("--allow-emulation", flags->allow_emulation,
               "convert to bf16 or fp16 also on a CPU without instructions for it (slow)");
}

void AddPlanFlags(CLI::App& app, PolicyFlags* flags) {
  app.option_defaults()->group(kAdvancedGroup);
  app.add_option(
         "--lists-version", flags->lists_version,
         "version of the op lists: tensorflow (default), tensorflow-2.4, itex; with placement: paddle (default), "
         "paddle-2.x")
      ->type_name("NAME");
  app.add_option("--op-types", flags->op_types,
                 "with --planner placement: the only op types to convert, by Paddle's names")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("OP,OP");
}

void AddPlannerFlags(CLI::App& app, PolicyFlags* flags) {
  app.option_defaults()->group(kAdvancedGroup);
  app.add_option(
         "--planner", flags->planner,
         "how nodes are chosen: lists (default), the allow and deny lists of TensorFlow's auto mixed precision; "
         "placement, as Paddle does")
      ->type_name("PLANNER");
  AddPlanFlags(app, flags);
  app.add_flag("--bf16-math-mode", flags->bf16_math_mode, "fp32 MatMul and convolution may compute in bf16");
}

void AddPassFlags(CLI::App& app, PolicyFlags* flags) {
  app.option_defaults()->group(kAdvancedGroup);
  app.add_option("--pass", flags->passes,
                 "graph transform to run before fusion, e.g. 'round_weights(num_steps=64)'; may be repeated, in order")
      ->allow_extra_args(false)
      ->type_name("PASS");
  app.add_flag("--verify-passes", flags->verify_passes,
               "check every pass: the job fails if the outputs before and after it differ (slow)");
}

void AddRewriteFlags(CLI::App& app, PolicyFlags* flags) {
  app.option_defaults()->group(kAdvancedGroup);
  app.add_option("--dialect", flags->dialect,
                 "ops of the written files: portable (default), standard ops only; onnxruntime (contrib ops), or for a "
                 "GraphDef tensorflow or itex: fused ops of that framework")
      ->type_name("DIALECT");
  AddPassFlags(app, flags);
}

void AddTimeoutFlag(CLI::App& app, double* timeout) {
  app.option_defaults()->group(kServerGroup);
  app.add_option("--timeout", *timeout, "seconds that the job may run, not counting the queue (default: the server's)")
      ->check(CLI::Range(0.001, kMaxTimeoutSeconds))
      ->type_name("S");
}

absl::StatusOr<v1::BenchmarkSpec> ToBenchmarkSpec(const BenchmarkFlags& flags) {
  v1::BenchmarkSpec spec;
  spec.set_rounds(flags.rounds);
  if (flags.round_seconds > 0) *spec.mutable_round_time() = ToDuration(flags.round_seconds);
  spec.set_threads(flags.threads);
  spec.set_batch(flags.batch);
  HALFTONE_RETURN_IF_ERROR(SetDims(flags.dims, spec.mutable_dims()));
  spec.set_skip(flags.skip);
  spec.set_seed(flags.seed);
  if (const auto* preset = report::FindEnumValue(*v1::BenchmarkPreset_descriptor(), flags.preset); preset != nullptr) {
    spec.set_preset(static_cast<v1::BenchmarkPreset>(preset->number()));
  }
  spec.set_instances(flags.instances);
  spec.set_cold_cache(flags.cold_cache);
  spec.mutable_cores()->Assign(flags.cores.begin(), flags.cores.end());
  spec.set_wait_policy(flags.wait_policy);
  for (const std::string& text : flags.noise_limits) {
    HALFTONE_RETURN_IF_ERROR(SetKeyValue("noise-limit", text, spec.mutable_noise_limits()));
  }
  return spec;
}

bool SaysAnything(const PolicyFlags& flags) {
  return !flags.file.empty() || !flags.precisions.empty() || flags.allow_emulation || !flags.planner.empty() ||
         !flags.lists_version.empty() || !flags.op_types.empty() || flags.keep_first || flags.keep_last ||
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
  if (!flags.lists_version.empty()) policy.set_lists_version(flags.lists_version);
  client::MergeEnvironment([](const std::string& name) { return std::getenv(name.c_str()); }, &policy);
  if (!flags.precisions.empty()) policy.clear_precisions();
  for (const std::string& name : flags.precisions) {
    const std::optional<v1::Precision> precision = report::ParsePrecision(name);
    if (!precision || *precision == v1::PRECISION_ORIGINAL) {
      return UsageError(absl::StrCat(
          "--precision ", name, ": no such precision",
          client::DidYouMean(name,
                             {report::PrecisionName(v1::PRECISION_FP32), report::PrecisionName(v1::PRECISION_BF16),
                              report::PrecisionName(v1::PRECISION_FP16), report::PrecisionName(v1::PRECISION_INT8)})));
    }
    const auto& wanted = policy.precisions();
    if (std::find(wanted.begin(), wanted.end(), *precision) == wanted.end()) policy.add_precisions(*precision);
  }
  if (flags.allow_emulation) policy.set_allow_emulation(true);
  if (!flags.op_types.empty()) policy.mutable_op_types()->Assign(flags.op_types.begin(), flags.op_types.end());
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
