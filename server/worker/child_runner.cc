// SPDX-License-Identifier: Apache-2.0
#include "server/worker/child_runner.h"

#include <poll.h>

#include <memory>
#include <optional>

#include "base/child.h"
#include "base/frames.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/profile.h"
#include "server/worker/child.pb.h"
#include "server/worker/convert_benchmark.h"
#include "server/worker/profile_work.h"

namespace halftone::worker {
namespace {

constexpr size_t kMaxReply = size_t{1} << 30;  // of our own program

ChildRequest ToProto(const RunSpec& spec) {
  ChildRequest request;
  request.set_model_path(spec.model.path);
  request.set_model_name(spec.model.label());
  if (spec.model.format.has_value()) request.set_model_format(std::string(ModelFormatName(*spec.model.format)));
  for (const std::string& output : spec.model.outputs) request.add_outputs(output);
  request.set_fuse(spec.fuse);
  request.set_threads(spec.threads);
  request.set_batch(spec.sizes.batch);
  for (const auto& [name, size] : spec.sizes.named) (*request.mutable_dims())[name] = size;
  for (const SampleFile& file : spec.samples) {
    ChildRequest::Sample* sample = request.add_samples();
    sample->set_path(file.path);
    sample->set_label(file.label);
  }
  request.set_seed(spec.seed);
  request.set_model_sha256(spec.model_sha256);
  request.set_prepared_graph(spec.prepared_graph);
  request.mutable_cores()->Assign(spec.cores.begin(), spec.cores.end());
  request.set_wait_policy(spec.wait_policy);
  return request;
}

RunSpec FromProto(const ChildRequest& request) {
  RunSpec spec;
  spec.model = {request.model_path(),
                request.model_name(),
                ModelFormatFromName(request.model_format()),
                {request.outputs().begin(), request.outputs().end()}};
  spec.fuse = request.fuse();
  spec.threads = request.threads();
  spec.sizes = {request.batch(), {request.dims().begin(), request.dims().end()}};
  for (const ChildRequest::Sample& sample : request.samples()) spec.samples.push_back({sample.path(), sample.label()});
  spec.seed = request.seed();
  spec.model_sha256 = request.model_sha256();
  spec.prepared_graph = request.prepared_graph();
  spec.cores = {request.cores().begin(), request.cores().end()};
  spec.wait_policy = request.wait_policy();
  return spec;
}

// The child's next reply. What it does not send, or not in time, its end explains.
absl::StatusOr<ChildReply> NextReply(Child& child) {
  absl::StatusOr<std::optional<std::string>> bytes = ReadFrame(child.stdout_fd(), kMaxReply);
  if (!bytes.ok() || !bytes->has_value()) {
    const ExitStatus end = child.Wait();
    return absl::InternalError(
        Concat("the process that ran the model ended with ", end.ToString(), ": ", child.StderrTail()));
  }
  ChildReply reply;
  if (!reply.ParseFromString(**bytes))
    return absl::InternalError("the reply of the process that ran the model cannot be read");
  if (reply.code() == 0) return reply;
  const absl::Status error(static_cast<absl::StatusCode>(reply.code()), reply.message());
  return reply.samples_error() ? SamplesError(error) : error;
}

// After the last reply.
absl::Status End(Child& child) {
  child.CloseStdin();
  const ExitStatus end = child.Wait();
  if (end.ok()) return absl::OkStatus();
  return absl::InternalError(
      Concat("the process that ran the model ended with ", end.ToString(), ": ", child.StderrTail()));
}

ChildReply Failure(const absl::Status& status) {
  ChildReply reply;
  reply.set_code(static_cast<int>(status.code()));
  reply.set_message(std::string(status.message()));
  reply.set_samples_error(IsSamplesError(status));
  return reply;
}

// With the work of the process so far.
bool Send(int output, ChildReply reply) {
  const WorkCounts work = WorkOfThisProcess();
  reply.set_imports(work.imports);
  reply.set_optimizations(work.optimizations);
  reply.set_inference_seconds(work.inference_seconds);
  return WriteFrame(output, reply.SerializeAsString()).ok();
}

// The child's part of a round. False: the parent is gone.
bool MeasureRound(const ChildRequest& request, int input, int output) {
  bool alive = true;
  RoundHooks hooks;
  hooks.warm = [&]() -> absl::Status {
    ChildReply warm;
    warm.set_warm(true);
    alive = Send(output, warm);
    const absl::StatusOr<std::optional<std::string>> begin = ReadFrame(input);
    alive = alive && begin.ok() && begin->has_value();
    return alive ? absl::OkStatus() : absl::CancelledError("the parent is gone");
  };
  hooks.measured = [&](const RoundResult& result, absl::FunctionRef<absl::Status()> inference) -> absl::Status {
    ChildReply reply;
    *reply.mutable_round() = worker::ToProto(result);
    alive = Send(output, reply);
    pollfd closed = {.fd = input, .events = POLLIN, .revents = 0};
    while (alive && request.round().beside_others() && poll(&closed, 1, 0) == 0) {
      HALFTONE_RETURN_IF_ERROR(inference());
    }
    return absl::OkStatus();
  };
  const ChildRequest::Round& round = request.round();
  const absl::StatusOr<RoundResult> result = MeasureVariant(
      {FromProto(request), round.seconds(), round.min_samples(), round.cold(), round.slow_down()}, hooks);
  if (alive && !result.ok()) alive = Send(output, Failure(result.status()));
  return alive;
}

ChildReply Work(const ChildRequest& request) {
  ChildReply reply;
  const RunSpec run = FromProto(request);
  if (request.has_profile()) {
    const absl::StatusOr<VariantProfile> profile = ProfileVariant(run);
    if (!profile.ok()) return Failure(profile.status());
    *reply.mutable_profile() = ProfileToProto(*profile, run.threads);
    return reply;
  }
  const ChildRequest::Evaluate& asked = request.evaluate();
  const absl::StatusOr<EvaluateResult> result =
      EvaluateVariant({run, asked.output_log(), asked.examine_int8(), asked.prepared_graph()});
  if (!result.ok()) return Failure(result.status());
  ChildReply::Evaluate* evaluate = reply.mutable_evaluate();
  for (const halftone::StepReport& step : result->steps) {
    StepReport* proto = evaluate->add_steps();
    proto->set_name(step.name);
    proto->set_op(step.op);
    proto->set_kernel(step.kernel.name);
    proto->set_slow(step.kernel.slow);
    proto->set_vector_bits(step.kernel.vector_bits);
    proto->set_kind(static_cast<int>(step.kind));
    proto->set_src_type(step.src_type);
    proto->set_weights_type(step.weights_type);
    proto->set_dst_type(step.dst_type);
    proto->set_median_us(step.median_us);
  }
  evaluate->set_samples(result->samples);
  for (const std::string& warning : result->warnings) evaluate->add_warnings(warning);
  evaluate->set_output_hash(result->output_hash);
  evaluate->set_batch(result->batch);
  evaluate->set_load_ms(result->load_ms);
  evaluate->set_int8_share(result->int8_share);
  for (const SaturationCheck& check : result->saturation) {
    Saturation* proto = evaluate->add_saturation();
    proto->set_node(check.node);
    proto->set_saturation(static_cast<int>(check.saturation));
    proto->set_most(check.most);
    proto->set_least(check.least);
  }
  return reply;
}

EvaluateResult FromProto(const ChildReply::Evaluate& proto) {
  EvaluateResult result;
  for (const StepReport& step : proto.steps()) {
    result.steps.push_back({step.name(),
                            step.op(),
                            static_cast<StepKind>(step.kind()),
                            {step.kernel(), step.slow(), step.vector_bits()},
                            step.src_type(),
                            step.weights_type(),
                            step.dst_type(),
                            step.median_us()});
  }
  result.samples = proto.samples();
  result.output_hash = proto.output_hash();
  result.warnings = {proto.warnings().begin(), proto.warnings().end()};
  result.batch = proto.batch();
  result.load_ms = proto.load_ms();
  result.int8_share = proto.int8_share();
  for (const Saturation& check : proto.saturation()) {
    result.saturation.push_back(
        {check.node(), static_cast<halftone::Saturation>(check.saturation()), check.most(), check.least()});
  }
  return result;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Child>> ProcessChildRunner::Start(const ChildRequest& request) {
  ChildOptions options;
  options.program = program_;
  options.args = {"--child"};
  options.extra_env =
      RoundEnvironment(request.threads(), {request.cores().begin(), request.cores().end()}, request.wait_policy());
  ++work_.processes;
  return Child::Spawn(options);
}

// A request with one reply.
absl::StatusOr<ChildReply> ProcessChildRunner::Ask(const ChildRequest& request) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Child> child, Start(request));
  (void)WriteFrame(child->stdin_fd(), request.SerializeAsString());  // a child that is gone says why below
  child->CloseStdin();
  HALFTONE_ASSIGN_OR_RETURN(ChildReply reply, NextReply(*child));
  HALFTONE_RETURN_IF_ERROR(End(*child));
  Count(reply);
  work_.inference_seconds += reply.inference_seconds();
  return reply;
}

void ProcessChildRunner::Count(const ChildReply& last_reply) {
  work_.imports += last_reply.imports();
  work_.optimizations += last_reply.optimizations();
}

absl::StatusOr<EvaluateResult> ProcessChildRunner::Evaluate(const EvaluateSpec& spec) {
  ChildRequest request = ToProto(spec.run);
  request.mutable_evaluate()->set_output_log(spec.output_log);
  request.mutable_evaluate()->set_examine_int8(spec.examine_int8);
  request.mutable_evaluate()->set_prepared_graph(spec.prepared_graph);
  HALFTONE_ASSIGN_OR_RETURN(const ChildReply reply, Ask(request));
  return FromProto(reply.evaluate());
}

absl::StatusOr<std::vector<RoundResult>> ProcessChildRunner::Round(const std::vector<RoundSpec>& specs) {
  std::vector<std::unique_ptr<Child>> children;
  for (const RoundSpec& spec : specs) {
    ChildRequest request = ToProto(spec.run);
    ChildRequest::Round& round = *request.mutable_round();
    round.set_seconds(spec.seconds);
    round.set_min_samples(spec.min_samples);
    round.set_cold(spec.cold);
    round.set_slow_down(spec.slow_down);
    round.set_beside_others(specs.size() > 1);
    HALFTONE_ASSIGN_OR_RETURN(children.emplace_back(), Start(request));
    (void)WriteFrame(children.back()->stdin_fd(), request.SerializeAsString());  // a child that is gone says why below
  }
  for (const std::unique_ptr<Child>& child : children) {
    HALFTONE_ASSIGN_OR_RETURN(const ChildReply reply, NextReply(*child));
    if (!reply.warm()) return absl::InternalError("a round of the benchmark did not warm up");
  }
  for (const std::unique_ptr<Child>& child : children) HALFTONE_RETURN_IF_ERROR(WriteFrame(child->stdin_fd(), ""));
  std::vector<RoundResult> results;
  double inference_seconds = 0;  // of instances side by side: the longest
  for (const std::unique_ptr<Child>& child : children) {
    HALFTONE_ASSIGN_OR_RETURN(const ChildReply reply, NextReply(*child));
    if (reply.round().samples_ns().empty()) return absl::InternalError("a round of the benchmark has no samples");
    results.push_back(worker::FromProto(reply.round()));
    Count(reply);
    inference_seconds = std::max(inference_seconds, reply.inference_seconds());
  }
  work_.inference_seconds += inference_seconds;
  for (const std::unique_ptr<Child>& child : children) HALFTONE_RETURN_IF_ERROR(End(*child));
  return results;
}

absl::StatusOr<v1::ProfiledVariant> ProcessChildRunner::Profile(const RunSpec& run) {
  ChildRequest request = ToProto(run);
  request.mutable_profile();
  HALFTONE_ASSIGN_OR_RETURN(ChildReply reply, Ask(request));
  return std::move(*reply.mutable_profile());
}

int ChildMain(int input, int output) {
  const absl::StatusOr<std::optional<std::string>> bytes = ReadFrame(input);
  ChildRequest request;
  if (!bytes.ok() || !bytes->has_value() || !request.ParseFromString(**bytes)) return 1;
  const bool heard = request.has_round() ? MeasureRound(request, input, output) : Send(output, Work(request));
  return heard ? 0 : 1;
}

}  // namespace halftone::worker
