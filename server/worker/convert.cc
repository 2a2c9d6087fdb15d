// SPDX-License-Identifier: Apache-2.0
#include "server/worker/convert.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "report/names.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/machine_facts.h"
#include "server/worker/convert_benchmark.h"
#include "server/worker/convert_int8.h"

extern char** environ;

namespace halftone::worker {
namespace {

constexpr char kOptionsPayload[] = "halftone/options";  // marks what OptionsError made

std::string KernelName() {
  utsname name;
  return uname(&name) == 0 ? Concat(name.sysname, " ", name.release) : "";
}

// NAME=VALUE of the environment variables that change speed or outputs.
std::vector<std::string> TellingVariables() {
  constexpr std::string_view kPrefixes[] = {"OMP_",
                                            "GOMP_",
                                            "ONEDNN_",
                                            "DNNL_",
                                            "HALFTONE_DEBUG",
                                            "HALFTONE_TEST_",
                                            "TF_AUTO_MIXED_PRECISION_",
                                            "ITEX_AUTO_MIXED_PRECISION_"};
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                    [&](std::string_view prefix) { return text.starts_with(prefix); })) {
      result.emplace_back(text);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

void ToProto(const OutputFidelity& result, v1::Fidelity* proto) {
  proto->set_output(result.output);
  proto->set_sqnr_db(result.fidelity.sqnr_db);
  proto->set_cosine(result.fidelity.cosine);
  proto->set_max_abs_error(result.fidelity.max_error);
  if (const auto agreement = result.fidelity.top1_agreement(); agreement.has_value()) {
    proto->set_top1_agreement(*agreement);
  }
  proto->set_rows(result.fidelity.rows);
}

void ToProto(const NodeResult& result, v1::NodeReport* proto) {
  proto->set_name(result.step.name);
  proto->set_op(result.step.op);
  proto->set_precision(worker::ToProto(result.precision));
  proto->set_reason(result.reason.text);
  proto->set_rule(result.reason.rule);
  proto->set_kernel(result.step.kernel.name);
  proto->set_src_type(result.step.src_type);
  proto->set_weights_type(result.step.weights_type);
  proto->set_dst_type(result.step.dst_type);
  proto->set_median_us(result.step.median_us);
}

void ToProto(const NodeDecision& decision, v1::NodeDecision* proto) {
  proto->set_node(decision.node);
  proto->set_op(decision.op);
  proto->set_precision(worker::ToProto(decision.precision));
  proto->set_rule(decision.reason.rule);
  proto->set_reason(decision.reason.text);
  if (decision.sqnr_alone_db.has_value()) proto->set_sqnr_alone_db(*decision.sqnr_alone_db);
  if (!decision.result.has_value()) return;
  proto->set_result_min(decision.result->min);
  proto->set_result_max(decision.result->max);
}

void ToProto(const RewriteSummary& summary, v1::Variant* proto) {
  for (const RewriteResult& rewrite : summary.applied) {
    v1::Rewrite* row = proto->add_rewrites();
    row->set_pass(rewrite.pass);
    row->set_node(rewrite.node);
    row->set_reason(rewrite.reason);
  }
  proto->set_nodes_before(summary.nodes_before);
  proto->set_nodes_after(summary.nodes_after);
  proto->set_nodes_written(summary.nodes_written);
  for (const FusionCount& fusion : summary.fusions) {
    v1::Fusion* row = proto->add_fusions();
    row->set_pass(fusion.pass);
    row->set_count(fusion.count);
    row->set_equation(fusion.equation);
  }
  for (const RewriteResult& refused : summary.refused) {
    v1::Unfused* row = proto->add_unfused();
    row->set_pass(refused.pass);
    row->set_node(refused.node);
    row->set_reason(refused.reason);
  }
  proto->set_passes_verified(summary.passes_verified);
}

void ToProto(const VariantResult& result, v1::Variant* proto) {
  proto->set_precision(worker::ToProto(result.kind));
  proto->mutable_artifact()->set_path(result.file_name);
  proto->mutable_artifact()->set_sha256(result.sha256);
  proto->mutable_artifact()->set_size_bytes(result.size_bytes);
  if (result.benchmark.has_value()) *proto->mutable_benchmark() = worker::ToProto(*result.benchmark, result.batch);
  for (const OutputFidelity& fidelity : result.fidelity) ToProto(fidelity, proto->add_fidelity());
  for (const std::string& refusal : result.refused_by) proto->add_refused_by(refusal);
  proto->set_top1_accuracy(result.top1_accuracy.value_or(0));
  proto->set_labelled_samples(result.labelled_samples);
  for (const NodeResult& node : result.nodes) ToProto(node, proto->add_nodes());
  ToProto(result.rewrites, proto);
  for (const NodeDecision& decision : result.decisions) ToProto(decision, proto->add_decisions());
  proto->set_casts_planned(result.casts.planned);
  proto->set_casts_in_file(result.casts.in_file);
  proto->set_casts_run(result.casts.run);
  proto->set_not_measured(result.not_measured);
  proto->set_summary(result.summary);
  proto->set_emulated(result.emulated);
  for (const std::string& op : result.opaque_ops) proto->add_opaque_ops(op);
  proto->set_int8_share(result.int8_share);
  if (result.goal.has_value()) *proto->mutable_goal() = worker::ToProto(*result.goal);
  for (const SaturationCheck& node : result.saturation) *proto->add_saturation() = worker::ToProto(node);
  proto->set_reference_share(result.reference_share);
  for (const std::string& node : result.reference_nodes) proto->add_reference_nodes(node);
}

const v1::File* RootFile(const v1::Model& model) {
  for (const v1::File& file : model.files()) {
    if (model.root_file().empty() || file.path() == model.root_file()) return &file;
  }
  return nullptr;
}

}  // namespace

Inputs::Inputs(const WorkerRequest& request) {
  for (const InputFile& input : request.inputs()) paths_[input.sha256()] = input.local_path();
  work_dir_ = request.work_dir();
}

absl::StatusOr<std::string> Inputs::LocalPath(const v1::File& file) const {
  const auto it = paths_.find(file.digest().sha256());
  if (it == paths_.end()) return absl::InternalError(Concat("file '", file.path(), "' did not reach the worker"));
  return it->second;
}

absl::StatusOr<std::vector<SampleFile>> Inputs::LocalPaths(const v1::Samples& samples) const {
  std::vector<SampleFile> files;
  for (const v1::File& file : samples.files()) {
    HALFTONE_ASSIGN_OR_RETURN(std::string path, LocalPath(file));
    files.push_back({std::move(path), file.path()});
  }
  return files;
}

absl::StatusOr<ModelSource> Inputs::Model(const v1::Model& model,
                                          const google::protobuf::RepeatedPtrField<std::string>& outputs) const {
  const v1::File* root = RootFile(model);
  if (root == nullptr) return absl::InvalidArgumentError("model.root_file names none of model.files");
  ModelSource source;
  source.outputs.assign(outputs.begin(), outputs.end());
  if (model.format() == v1::FORMAT_SAVED_MODEL) {
    HALFTONE_RETURN_IF_ERROR(Freeze(model, *root, source));
    return source;
  }
  HALFTONE_ASSIGN_OR_RETURN(source.path, LocalPath(*root));
  source.name = root->path();
  for (const ModelFormat format : kModelFormats) {
    const auto* value = report::FindEnumValue(*v1::Format_descriptor(), AbslView(ModelFormatName(format)));
    if (value != nullptr && value->number() == model.format()) source.format = format;
  }
  if (source.format.has_value()) source.format = FormatOfFile(*source.format, source.name);
  return source;
}

absl::Status Inputs::Freeze(const v1::Model& model, const v1::File& root, ModelSource& source) const {
  const std::string folder = root.path().substr(0, root.path().rfind('/'));
  std::vector<SavedModelFile> files;
  for (const v1::File& file : model.files()) {
    HALFTONE_ASSIGN_OR_RETURN(std::string path, LocalPath(file));
    files.push_back({file.path().substr(folder.size() + 1), std::move(path)});
  }
  const absl::StatusOr<std::string> frozen = FreezeSavedModel(files, model.signature());
  if (!frozen.ok()) return Annotate(frozen.status(), Concat("'", folder, "'"));
  source.name = Concat(folder.substr(folder.rfind('/') + 1), ModelExtension(ModelFormat::kGraphDef));
  source.path = Concat(work_dir_, "/", source.name);
  source.format = ModelFormat::kGraphDef;
  return WriteFileAtomically(source.path, *frozen);
}

v1::Precision ToProto(VariantKind kind) {
  switch (kind) {
    case VariantKind::kOriginal:
      return v1::PRECISION_ORIGINAL;
    case VariantKind::kFp32:
      return v1::PRECISION_FP32;
    case VariantKind::kBf16:
      return v1::PRECISION_BF16;
    case VariantKind::kFp16:
      return v1::PRECISION_FP16;
    case VariantKind::kInt8:
      return v1::PRECISION_INT8;
  }
  return v1::PRECISION_UNSPECIFIED;
}

v1::Dialect ToProto(Dialect dialect) {
  const auto* value = report::FindEnumValue(*v1::Dialect_descriptor(), AbslView(DialectName(dialect)));
  return value == nullptr ? v1::DIALECT_UNSPECIFIED : static_cast<v1::Dialect>(value->number());
}

v1::Environment DescribeEnvironment(int threads) {
  const EnvironmentInfo info = DescribeCpu();
  v1::Environment environment;
  environment.set_cpu(info.cpu_model);
  environment.set_isa(info.isa);
  environment.set_native_bf16(info.native_bf16);
  environment.set_native_int8(info.native_int8);
  environment.set_onednn_version(info.onednn_version);
  environment.set_threads(threads);
  environment.set_cores(info.cores);
  environment.set_halftone_version(std::string(kVersion));
  environment.set_kernel(KernelName());
  for (const std::string& variable : TellingVariables()) environment.add_variables(variable);
  const MachineFacts machine = DescribeMachine();
  environment.set_cpu_id(machine.cpu_id);
  environment.set_microcode(machine.microcode);
  environment.set_hypervisor(machine.hypervisor);
  environment.set_sockets(machine.sockets);
  environment.set_numa_nodes(machine.numa_nodes);
  environment.set_threads_per_core(machine.threads_per_core);
  environment.set_governor(machine.governor);
  environment.set_turbo(machine.turbo);
  environment.set_huge_pages(machine.huge_pages);
  environment.set_amx(machine.amx);
  environment.set_cpu_quota(machine.cpu_quota);
  environment.set_cpuset(machine.cpuset);
  environment.set_onednn_commit(info.onednn_commit);
  environment.set_compiler(machine.compiler);
  environment.set_build_id(machine.build_id);
  return environment;
}

v1::Report ToReport(const OptimizeResult& result, const v1::Model& model, const BenchmarkOptions& benchmark) {
  v1::Report report;
  if (const v1::File* root = RootFile(model); root != nullptr) {
    report.set_model(root->path());
    *report.mutable_model_digest() = root->digest();
  }
  report.set_format(std::string(ModelFormatName(result.format)));
  *report.mutable_environment() = DescribeEnvironment(benchmark.threads);
  for (const std::string& warning : result.warnings) report.add_warnings(warning);
  for (const VariantResult& variant : result.variants) ToProto(variant, report.add_variants());
  report.set_evaluation_samples(result.evaluation_samples);
  report.set_seed(benchmark.seed);
  if (result.benchmark_run.has_value()) {
    *report.mutable_benchmark_run() = ToProto(*result.benchmark_run, result.variants, benchmark);
  }
  for (const StageTime& time : result.stages) {
    v1::StageTime* proto = report.add_stages();
    proto->set_stage(time.stage);
    proto->set_seconds(time.seconds);
    proto->set_inference_seconds(time.inference_seconds);
  }
  report.mutable_work()->set_imports(result.work.imports);
  report.mutable_work()->set_optimizations(result.work.optimizations);
  report.mutable_work()->set_processes(result.work.processes);
  if (result.calibration.has_value()) *report.mutable_calibration() = ToProto(*result.calibration);
  return report;
}

v1::Report WithoutNodes(v1::Report report) {
  for (v1::Variant& variant : *report.mutable_variants()) {
    variant.clear_nodes();
    variant.clear_rewrites();
    variant.clear_unfused();
    variant.clear_decisions();
    variant.mutable_benchmark()->clear_round_data();
  }
  if (report.has_benchmark_run()) report.mutable_benchmark_run()->mutable_self_check()->clear_round_data();
  return report;
}

absl::Status OptionsError(absl::Status status) {
  if (!status.ok()) status.SetPayload(kOptionsPayload, absl::Cord());
  return status;
}

v1::JobError ToJobError(const absl::Status& status) {
  v1::JobError error;
  error.set_code(static_cast<int>(status.code()));
  error.set_message(std::string(status.message()));
  if (status.GetPayload(kOptionsPayload).has_value()) {
    error.set_reason("OPTIONS_INVALID");
    return error;
  }
  if (IsSamplesError(status)) {
    error.set_reason("SAMPLES_INVALID");
    return error;
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      error.set_reason("MODEL_INVALID");
      break;
    case absl::StatusCode::kUnimplemented:
      error.set_reason("OP_UNSUPPORTED");
      break;
    case absl::StatusCode::kResourceExhausted:
      error.set_reason("RESOURCE_EXHAUSTED");
      break;
    case absl::StatusCode::kDeadlineExceeded:
      error.set_reason("TIMEOUT");
      break;
    case absl::StatusCode::kCancelled:
      error.set_reason("CANCELLED");
      break;
    default:
      error.set_reason("INTERNAL");
      break;
  }
  return error;
}

}  // namespace halftone::worker
