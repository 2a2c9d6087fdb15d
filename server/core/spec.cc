// SPDX-License-Identifier: Apache-2.0
#include "server/core/spec.h"

#include <sys/random.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/log/check.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "server/core/policy_checks.h"

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
constexpr size_t kMaxDimNameBytes = 1024;
constexpr int kMaxDims = 100;
constexpr int64_t kMaxDim = int64_t{1} << 31;
constexpr int32_t kNanosInSecond = 1'000'000'000;
constexpr std::string_view kJobPrefix = "jobs/";
constexpr size_t kJobDigits = 32;

bool HasEnding(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending);
}

// Each Check names the fields below `path`.
class Checker : public Violations {
 public:
  void Check(const std::string& path, const v1::OptimizeSpec& spec) {
    Check(path + ".model", spec.model());
    CheckPolicy(path + ".policy", spec.policy(), *this);
    CheckCalibration(path, spec);
    Check(path + ".evaluation", spec.evaluation());
    Check(path + ".benchmark", spec.benchmark());
    CheckNames(path + ".outputs", spec.outputs());
  }

  void Check(const std::string& path, const v1::InspectSpec& spec) {
    Check(path + ".model", spec.model());
    CheckPolicy(path + ".policy", spec.policy(), *this);
    if (!v1::Planner_IsValid(spec.precision_plan())) Add(path + ".precision_plan", "is no known planner");
    if (spec.text() && spec.json()) Add(path + ".text", "text and json exclude each other");
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
    CheckPolicy(path + ".policy", spec.policy(), *this);
    CheckCalibration(path, spec);
  }

  void Check(const std::string& path, const v1::ProfileSpec& spec) {
    Check(path + ".model", spec.model());
    CheckPolicy(path + ".policy", spec.policy(), *this);
    Check(path + ".benchmark", spec.benchmark());
    Check(path + ".samples", spec.samples());
    CheckNames(path + ".outputs", spec.outputs());
    CheckCalibration(path, spec);
  }

  void CheckTimeout(const std::string& path, const google::protobuf::Duration& timeout) {
    CheckDuration(path, timeout, kMaxTimeoutSeconds);
    if (timeout.seconds() == 0 && timeout.nanos() == 0) Add(path, "is 0: leave it out for the default, or give more");
  }

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

  void CheckDims(const std::string& path, const google::protobuf::Map<std::string, int64_t>& dims) {
    if (dims.size() > kMaxDims) Add(path, absl::StrCat("has over ", kMaxDims, " dimensions"));
    for (const auto& [name, size] : dims) {
      const std::string at = absl::StrCat(path, "['", name.substr(0, kMaxComponentBytes), "']");
      if (name.empty() || name.size() > kMaxDimNameBytes) Add(at, "should be the name of a dimension");
      if (size < 1 || size > kMaxDim) Add(at, absl::StrCat("is ", size, ": 1 to ", kMaxDim, " is allowed"));
    }
  }

  void CheckNoiseLimits(const std::string& path, const v1::NoiseLimits& limits) {
    constexpr double kHighest = 1e12;
    CheckNumber(path + ".context_switches", limits.context_switches(), 0, kHighest, "0 or more");
    CheckNumber(path + ".steal", limits.steal(), 0, 1, "a share, 0 to 1,");
    CheckNumber(path + ".load", limits.load(), 0, kHighest, "0 or more");
    CheckNumber(path + ".frequency", limits.frequency(), 0, kHighest, "0 or more");
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
    CheckDims(path + ".dims", spec.dims());
    CheckNoiseLimits(path + ".noise_limits", spec.noise_limits());
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

std::string StateName(v1::JobState state) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::JobState_Name(state), "JOB_STATE_"));
}

}  // namespace halftone::server
