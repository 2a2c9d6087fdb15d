#include "server/core/spec.h"

#include <sys/random.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/sha256.h"
#include "base/strings.h"

namespace halftone::server {
namespace {

constexpr size_t kMaxFileNameBytes = 1024;
constexpr size_t kMaxComponentBytes = 255;
constexpr int kMaxFiles = 10'000;
constexpr int kMaxModelFiles = 1000;
constexpr int kMaxRounds = 1000;
constexpr int64_t kMaxRoundSeconds = 600;
constexpr int kMaxThreads = 1024;
constexpr int kMaxBatch = 1 << 16;
constexpr int64_t kMaxTimeoutSeconds = 24 * 3600;
constexpr double kMedian = 50;
constexpr double kPercent = 100;
constexpr double kMaxTop1Drop = 0.5;
constexpr double kMostDecibels = 1000;
constexpr int kMaxRules = 10'000;
constexpr size_t kMaxPatternBytes = 1024;
constexpr int kMaxPasses = 1000;
constexpr int kMaxListedOps = 1000;
constexpr size_t kMaxPassBytes = 10'000;
constexpr int32_t kNanosInSecond = 1'000'000'000;
constexpr std::string_view kJobPrefix = "jobs/";
constexpr size_t kJobDigits = 32;

bool HasEnding(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending);
}

// Collects what is wrong; each Check names the fields below `path`.
class Checker {
 public:
  void Check(const std::string& path, const v1::OptimizeSpec& spec) {
    Check(path + ".model", spec.model());
    Check(path + ".policy", spec.policy());
    CheckCalibration(path, spec);
    Check(path + ".evaluation", spec.evaluation());
    Check(path + ".benchmark", spec.benchmark());
    CheckNames(path + ".outputs", spec.outputs());
  }

  void Check(const std::string& path, const v1::InspectSpec& spec) {
    Check(path + ".model", spec.model());
    Check(path + ".policy", spec.policy());
    if (!v1::Planner_IsValid(spec.precision_plan())) Add(path + ".precision_plan", "is no known planner");
    if (spec.text() && spec.json()) Add(path + ".text", "text and json exclude each other");
    CheckRange(path + ".batch", spec.batch(), kMaxBatch);
    CheckNames(path + ".outputs", spec.outputs());
  }

  void Check(const std::string& path, const v1::RunSpec& spec) {
    Check(path + ".model", spec.model());
    std::set<std::string> names;
    for (int i = 0; i < spec.inputs_size(); ++i) {
      const std::string at = absl::StrCat(path, ".inputs[", i, "]");
      const v1::NamedFile& input = spec.inputs(i);
      if (input.name().empty()) Add(at + ".name", "is empty: it should be the name of an input of the model");
      if (!names.insert(input.name()).second) Add(at + ".name", absl::StrCat("'", input.name(), "' is there twice"));
      Check(at + ".file", input.file(), ".npy");
    }
    Check(path + ".benchmark", spec.benchmark());
    CheckNames(path + ".outputs", spec.outputs());
  }

  void Check(const std::string& path, const v1::BenchSpec& spec) {
    Check(path + ".model", spec.model());
    Check(path + ".benchmark", spec.benchmark());
    Check(path + ".samples", spec.samples());
    CheckNames(path + ".outputs", spec.outputs());
    Check(path + ".policy", spec.policy());
    CheckCalibration(path, spec);
  }

  void Check(const std::string& path, const v1::ProfileSpec& spec) {
    Check(path + ".model", spec.model());
    Check(path + ".policy", spec.policy());
    Check(path + ".benchmark", spec.benchmark());
    Check(path + ".samples", spec.samples());
    CheckNames(path + ".outputs", spec.outputs());
    CheckCalibration(path, spec);
  }

  void CheckTimeout(const std::string& path, const google::protobuf::Duration& timeout) {
    CheckDuration(path, timeout, kMaxTimeoutSeconds);
    if (timeout.seconds() == 0 && timeout.nanos() == 0) Add(path, "is 0: leave it out for the default, or give more");
  }

  void Add(std::string field, std::string description) {
    violations_.push_back({std::move(field), std::move(description)});
  }

  std::vector<FieldViolation> Take() { return std::move(violations_); }

 private:
  void Check(const std::string& path, const v1::Model& model) {
    if (model.format() == v1::FORMAT_SAVED_MODEL) return CheckSavedModel(path, model);
    if (!model.signature().empty()) Add(path + ".signature", "is for the format saved-model");
    if (model.files_size() != 1) {
      Add(path + ".files", absl::StrCat("has ", model.files_size(), " files: one is expected"));
      return;
    }
    const v1::File& file = model.files(0);
    Check(path + ".files[0]", file, "");
    if (!model.root_file().empty() && model.root_file() != file.path()) {
      Add(path + ".root_file", absl::StrCat("'", model.root_file(), "' is none of the files"));
    }
    if (!v1::Format_IsValid(model.format())) Add(path + ".format", "is no known format: onnx, graphdef or saved-model");
    const bool guessable =
        HasEnding(file.path(), ".onnx") || HasEnding(file.path(), ".pb") || HasEnding(file.path(), ".pbtxt");
    if (model.format() == v1::FORMAT_UNSPECIFIED && !guessable) {
      Add(path + ".format", absl::StrCat("cannot be told from the name '", file.path(),
                                         "': set it, or end the name in .onnx, .pb or .pbtxt"));
    }
  }

  void CheckSavedModel(const std::string& path, const v1::Model& model) {
    if (model.files_size() < 1 || model.files_size() > kMaxModelFiles) {
      Add(path + ".files", absl::StrCat("has ", model.files_size(), " files: 1 to ", kMaxModelFiles, " are expected"));
      return;
    }
    const std::string root = model.root_file().empty() ? model.files(0).path() : model.root_file();
    if (!absl::EndsWith(root, "/saved_model.pb")) {
      Add(path + ".root_file", absl::StrCat("'", root, "' is no 'NAME/saved_model.pb'"));
      return;
    }
    const std::string folder = root.substr(0, root.rfind('/') + 1);
    std::set<std::string> names;
    for (int i = 0; i < model.files_size(); ++i) {
      const std::string at = absl::StrCat(path, ".files[", i, "]");
      const std::string& name = model.files(i).path();
      Check(at, model.files(i), "");
      if (!names.insert(name).second) Add(at + ".path", absl::StrCat("'", name, "' is there twice"));
      if (!absl::StartsWith(name, folder)) Add(at + ".path", absl::StrCat("'", name, "' is not below '", folder, "'"));
    }
    if (names.count(root) == 0) Add(path + ".root_file", absl::StrCat("'", root, "' is none of the files"));
  }

  void Check(const std::string& path, const v1::Policy& policy) {
    if (!v1::Planner_IsValid(policy.planner())) Add(path + ".planner", "is no known planner: lists or placement");
    for (int i = 0; i < policy.precisions_size(); ++i) {
      const v1::Precision precision = policy.precisions(i);
      if (!v1::Precision_IsValid(precision) || precision == v1::PRECISION_UNSPECIFIED) {
        Add(absl::StrCat(path, ".precisions[", i, "]"), "is no known precision: original, fp32, bf16, fp16 or int8");
      }
    }
    if (policy.has_int8()) Check(path + ".int8", policy.int8());
    if (!v1::Dialect_IsValid(policy.dialect())) {
      Add(path + ".dialect", "is no known dialect: portable, tensorflow, itex or onnxruntime");
    }
    if (policy.passes_size() > kMaxPasses) Add(path + ".passes", absl::StrCat("has over ", kMaxPasses, " passes"));
    for (int i = 0; i < std::min(policy.passes_size(), kMaxPasses); ++i) {
      const std::string at = absl::StrCat(path, ".passes[", i, "]");
      if (policy.passes(i).empty()) Add(at, "is empty: it should be a pass, as \"fold_batch_norms\"");
      if (policy.passes(i).size() > kMaxPassBytes) Add(at, absl::StrCat("is over ", kMaxPassBytes, " bytes"));
    }
    if (policy.nodes_size() > kMaxRules) Add(path + ".nodes", absl::StrCat("has over ", kMaxRules, " rules"));
    for (int i = 0; i < std::min(policy.nodes_size(), kMaxRules); ++i) {
      const v1::NodeRule& rule = policy.nodes(i);
      const std::string at = absl::StrCat(path, ".nodes[", i, "]");
      Check(at, rule);
    }
    if (policy.op_types_size() > kMaxListedOps) {
      Add(path + ".op_types", absl::StrCat("has over ", kMaxListedOps, " ops"));
    }
    for (const auto& [field, text] :
         {std::pair("lists_version", &policy.lists_version()), std::pair("lists_level", &policy.lists_level())}) {
      if (text->size() > kMaxPatternBytes) {
        Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
      }
    }
    if (!v1::Policy::TargetRuntime_IsValid(policy.target_runtime())) {
      Add(path + ".target_runtime", "is no known target runtime: any or onnxruntime");
    }
  }

  void Check(const std::string& path, const v1::NodeRule& rule) {
    if (rule.match().empty() && rule.op().empty() && rule.name().empty()) {
      Add(path + ".match", "is empty, as op and name are: one of them should say which nodes");
    }
    for (const auto& [field, text] :
         {std::pair("match", &rule.match()), std::pair("op", &rule.op()), std::pair("name", &rule.name())}) {
      if (text->size() > kMaxPatternBytes) {
        Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
      }
    }
    const bool bounded = rule.min_precision() != v1::PRECISION_UNSPECIFIED || rule.max_precision() != v1::PRECISION_UNSPECIFIED;
    for (const auto& [field, precision] : {std::pair("precision", rule.precision()), std::pair("min_precision", rule.min_precision()),
                                           std::pair("max_precision", rule.max_precision())}) {
      const bool needed = !bounded && field == std::string("precision");
      if (precision == v1::PRECISION_UNSPECIFIED && !needed) continue;
      if (precision != v1::PRECISION_FP32 && precision != v1::PRECISION_BF16 && precision != v1::PRECISION_FP16 && precision != v1::PRECISION_INT8) {
        Add(absl::StrCat(path, ".", field), "should be fp32, bf16, fp16 or int8");
      }
    }
  }

  // The worker knows the calibration methods.
  void Check(const std::string& path, const v1::Int8Policy& int8) {
    for (const auto& [field, text] :
         {std::pair("calibration_method", &int8.calibration_method()), std::pair("activations", &int8.activations())}) {
      if (text->size() > kMaxPatternBytes) {
        Add(absl::StrCat(path, ".", field), absl::StrCat("is over ", kMaxPatternBytes, " bytes"));
      }
    }
    if (int8.percentile() != 0 && int8.calibration_method() != "percentile") {
      Add(path + ".percentile", "needs calibration_method \"percentile\"");
    } else if (int8.percentile() != 0 && !(int8.percentile() > kMedian && int8.percentile() <= kPercent)) {
      Add(path + ".percentile", Concat("is ", int8.percentile(), ": above 50 and up to 100 is allowed"));
    }
    const v1::Precision fallback = int8.fallback_precision();
    if (fallback != v1::PRECISION_UNSPECIFIED && fallback != v1::PRECISION_FP32 && fallback != v1::PRECISION_BF16) {
      Add(path + ".fallback_precision", "should be fp32 or bf16");
    }
    if (!v1::QuantFormat_IsValid(int8.quant_format())) Add(path + ".quant_format", "is no known format: qdq or qoperator");
    if (!v1::Int8Mode_IsValid(int8.mode())) Add(path + ".mode", "is no known mode: static, dynamic or weight-only");
    if (int8.has_trim_ranges()) {
      CheckNumber(path + ".trim_ranges", int8.trim_ranges(), 0, kMedian, "percent, 0 to 50");
    }
    if (int8.has_accuracy_goal()) Check(path + ".accuracy_goal", int8.accuracy_goal());
    CheckNumber(path + ".budget_seconds", int8.budget_seconds(), 0, kMaxTimeoutSeconds, "seconds, 0 to 86400");
    if (int8.budget_seconds() > 0 && !int8.has_accuracy_goal() && !int8.sensitivity()) {
      Add(path + ".budget_seconds", "needs accuracy_goal or sensitivity");
    }
  }

  void Check(const std::string& path, const v1::AccuracyGoal& goal) {
    if (goal.has_top1_drop()) {
      CheckNumber(path + ".top1_drop", goal.top1_drop(), 0, kMaxTop1Drop, "a share, 0 to 0.5 (0.01: one percentage point),");
    }
    if (goal.has_sqnr()) CheckNumber(path + ".sqnr", goal.sqnr(), -kMostDecibels, kMostDecibels, "dB, -1000 to 1000");
    if (goal.has_cosine()) CheckNumber(path + ".cosine", goal.cosine(), -1, 1, "-1 to 1");
  }

  // Spec: OptimizeSpec, BenchSpec, ProfileSpec.
  template <typename Spec>
  void CheckCalibration(const std::string& path, const Spec& spec) {
    Check(path + ".calibration", spec.calibration());
    if (!spec.has_ranges()) return;
    Check(path + ".ranges", spec.ranges(), "");
    if (spec.calibration().files_size() > 0) {
      Add(path + ".ranges", "takes the place of calibration: one of the two is expected");
    }
    const auto& wanted = spec.policy().precisions();
    if (std::find(wanted.begin(), wanted.end(), v1::PRECISION_INT8) == wanted.end()) {
      Add(path + ".ranges", "needs int8 among policy.precisions");
    }
    const v1::Int8Mode mode = spec.policy().int8().mode();
    if (mode == v1::INT8_MODE_DYNAMIC || mode == v1::INT8_MODE_WEIGHT_ONLY) {
      Add(path + ".ranges", "needs mode static of policy.int8: the other modes have no calibration");
    }
  }

  // NaN is never in a range.
  void CheckNumber(std::string field, double value, double low, double high, std::string_view allowed) {
    if (!(value >= low && value <= high)) Add(std::move(field), Concat("is ", value, ": ", allowed, " is allowed"));
  }

  void Check(const std::string& path, const v1::Samples& samples) {
    if (samples.files_size() > kMaxFiles) Add(path + ".files", absl::StrCat("has over ", kMaxFiles, " files"));
    std::set<std::string> names;
    for (int i = 0; i < std::min(samples.files_size(), kMaxFiles); ++i) {
      const std::string at = absl::StrCat(path, ".files[", i, "]");
      Check(at, samples.files(i), ".npz");
      if (!names.insert(samples.files(i).path()).second) {
        Add(at + ".path", absl::StrCat("'", samples.files(i).path(), "' is there twice"));
      }
    }
  }

  void Check(const std::string& path, const v1::BenchmarkSpec& spec) {
    CheckRange(path + ".rounds", spec.rounds(), kMaxRounds);
    CheckRange(path + ".threads", spec.threads(), kMaxThreads);
    CheckRange(path + ".batch", spec.batch(), kMaxBatch);
    CheckRange(path + ".instances", spec.instances(), kMaxThreads);
    if (!v1::BenchmarkPreset_IsValid(spec.preset()) || spec.preset() == v1::BENCHMARK_PRESET_CUSTOM) {
      Add(path + ".preset", "is no known preset: quick, standard or strict");
    }
    if (spec.cores_size() > kMaxThreads) Add(path + ".cores", absl::StrCat("has over ", kMaxThreads, " cores"));
    const int64_t needed = int64_t{std::max(spec.threads(), 1)} * std::max(spec.instances(), 1);
    if (!spec.cores().empty() && spec.cores_size() < needed) {
      Add(path + ".cores",
          absl::StrCat("has ", spec.cores_size(), " cores: one for each thread of each instance is ", needed));
    }
    for (int i = 0; i < std::min(spec.cores_size(), kMaxThreads); ++i) {
      if (std::count(spec.cores().begin(), spec.cores().end(), spec.cores(i)) > 1) {
        Add(absl::StrCat(path, ".cores[", i, "]"), absl::StrCat(spec.cores(i), " is there twice"));
        break;
      }
    }
    if (!spec.wait_policy().empty() && spec.wait_policy() != "active" && spec.wait_policy() != "passive") {
      Add(path + ".wait_policy", "should be \"active\" or \"passive\"");
    }
    if (spec.has_round_time()) CheckDuration(path + ".round_time", spec.round_time(), kMaxRoundSeconds);
  }

  void Check(const std::string& path, const v1::File& file, std::string_view ending) {
    const std::string name_problem = FileNameProblem(file.path());
    if (!name_problem.empty()) {
      Add(path + ".path", name_problem);
    } else if (!ending.empty() && !HasEnding(file.path(), ending)) {
      Add(path + ".path", Concat("'", file.path(), "' does not end in ", ending));
    }
    const std::string digest_problem = DigestProblem(file.digest());
    if (!digest_problem.empty()) Add(path + ".digest", digest_problem);
  }

  void CheckRange(std::string field, int value, int max) {
    if (value < 0 || value > max) Add(std::move(field), absl::StrCat("is ", value, ": 0 to ", max, " is allowed"));
  }

  void CheckDuration(const std::string& path, const google::protobuf::Duration& value, int64_t max_seconds) {
    const bool negative = value.seconds() < 0 || value.nanos() < 0;
    if (negative || value.nanos() >= kNanosInSecond || value.seconds() > max_seconds ||
        (value.seconds() == max_seconds && value.nanos() > 0)) {
      Add(path, absl::StrCat("should be from 0 to ", max_seconds, " seconds"));
    }
  }

  template <typename Names>
  void CheckNames(const std::string& path, const Names& names) {
    for (int i = 0; i < names.size(); ++i) {
      if (names.Get(i).empty()) Add(absl::StrCat(path, "[", i, "]"), "is empty");
    }
  }

  std::vector<FieldViolation> violations_;
};

}  // namespace

std::vector<FieldViolation> CheckSpec(const v1::JobSpec& spec) {
  Checker checker;
  switch (spec.work_case()) {
    case v1::JobSpec::kOptimize:
      checker.Check("spec.optimize", spec.optimize());
      break;
    case v1::JobSpec::kInspect:
      checker.Check("spec.inspect", spec.inspect());
      break;
    case v1::JobSpec::kRun:
      checker.Check("spec.run", spec.run());
      break;
    case v1::JobSpec::kBench:
      checker.Check("spec.bench", spec.bench());
      break;
    case v1::JobSpec::kProfile:
      checker.Check("spec.profile", spec.profile());
      break;
    case v1::JobSpec::WORK_NOT_SET:
      checker.Add("spec", "is empty: one of optimize, inspect, run, bench and profile should be set");
      break;
  }
  if (spec.has_timeout()) checker.CheckTimeout("spec.timeout", spec.timeout());
  return checker.Take();
}

std::string DigestProblem(const v1::Digest& digest) {
  if (!IsSha256Hex(digest.sha256())) return "sha256 should be 64 lower-case hexadecimal digits";
  if (digest.size_bytes() < 0) return "size_bytes is negative";
  return "";
}

std::string FileNameProblem(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.size() > kMaxFileNameBytes) return absl::StrCat("is over ", kMaxFileNameBytes, " bytes");
  for (const absl::string_view part : absl::StrSplit(AbslView(path), '/')) {
    if (part.empty() || part == "." || part == "..") {
      return "should be a relative name without empty, '.' and '..' components";
    }
    if (part.size() > kMaxComponentBytes) return absl::StrCat("has a component over ", kMaxComponentBytes, " bytes");
    const bool plain = std::all_of(part.begin(), part.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
             std::string_view("._+@=-").find(c) != std::string_view::npos;
    });
    if (!plain) return "may hold only letters, digits, '/' and . _ + @ = -";
  }
  return "";
}

std::vector<v1::File> FilesOf(const v1::JobSpec& spec) {
  std::vector<v1::File> files;
  const auto add = [&files](const auto& more) { files.insert(files.end(), more.begin(), more.end()); };
  add(spec.optimize().model().files());
  add(spec.optimize().calibration().files());
  add(spec.optimize().evaluation().files());
  if (spec.optimize().has_ranges()) files.push_back(spec.optimize().ranges());
  add(spec.inspect().model().files());
  add(spec.run().model().files());
  for (const v1::NamedFile& input : spec.run().inputs()) files.push_back(input.file());
  add(spec.bench().model().files());
  add(spec.bench().samples().files());
  add(spec.bench().calibration().files());
  if (spec.bench().has_ranges()) files.push_back(spec.bench().ranges());
  add(spec.profile().model().files());
  add(spec.profile().samples().files());
  add(spec.profile().calibration().files());
  if (spec.profile().has_ranges()) files.push_back(spec.profile().ranges());
  return files;
}

std::string_view KindOf(const v1::JobSpec& spec) {
  switch (spec.work_case()) {
    case v1::JobSpec::kOptimize:
      return "optimize";
    case v1::JobSpec::kInspect:
      return "inspect";
    case v1::JobSpec::kRun:
      return "run";
    case v1::JobSpec::kBench:
      return "bench";
    case v1::JobSpec::kProfile:
      return "profile";
    case v1::JobSpec::WORK_NOT_SET:
      break;
  }
  return "none";
}

bool IsJobName(std::string_view name) {
  if (!name.starts_with(kJobPrefix)) return false;
  name.remove_prefix(kJobPrefix.size());
  return name.size() == kJobDigits &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string NewJobName() {
  char bytes[kJobDigits / 2];
  CHECK_EQ(getrandom(bytes, sizeof(bytes), 0), static_cast<ssize_t>(sizeof(bytes)));
  return Concat(kJobPrefix, absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes))));
}

bool IsFinal(v1::JobState state) {
  return state == v1::JOB_STATE_SUCCEEDED || state == v1::JOB_STATE_FAILED || state == v1::JOB_STATE_CANCELLED;
}

}  // namespace halftone::server
