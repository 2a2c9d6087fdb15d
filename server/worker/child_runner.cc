#include "server/worker/child_runner.h"

#include "base/child.h"
#include "base/frames.h"
#include "base/status.h"
#include "base/strings.h"
#include "server/worker/child.pb.h"

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
  request.set_batch(spec.batch);
  for (const SampleFile& file : spec.samples) {
    ChildRequest::Sample* sample = request.add_samples();
    sample->set_path(file.path);
    sample->set_label(file.label);
  }
  request.set_seed(spec.seed);
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
  spec.batch = request.batch();
  for (const ChildRequest::Sample& sample : request.samples()) spec.samples.push_back({sample.path(), sample.label()});
  spec.seed = request.seed();
  return spec;
}

void ToProto(const halftone::RoundFacts& facts, RoundFacts* proto) {
  proto->set_seconds(facts.seconds);
  proto->set_involuntary_switches(facts.involuntary_switches);
  proto->set_involuntary_switches_per_second_per_thread(facts.involuntary_switches_per_second_per_thread);
  proto->set_steal_share(facts.steal_share);
  proto->set_cgroup_throttled(facts.cgroup_throttled);
  proto->set_load(facts.load);
  proto->set_cores(facts.cores);
  proto->set_threads(facts.threads);
  proto->set_pinned(facts.pinned);
  proto->set_major_faults(facts.major_faults);
  proto->set_spin_us(facts.spin_us);
}

halftone::RoundFacts FromProto(const RoundFacts& proto) {
  halftone::RoundFacts facts;
  facts.seconds = proto.seconds();
  facts.involuntary_switches = proto.involuntary_switches();
  facts.involuntary_switches_per_second_per_thread = proto.involuntary_switches_per_second_per_thread();
  facts.steal_share = proto.steal_share();
  facts.cgroup_throttled = proto.cgroup_throttled();
  facts.load = proto.load();
  facts.cores = proto.cores();
  facts.threads = proto.threads();
  facts.pinned = proto.pinned();
  facts.major_faults = proto.major_faults();
  facts.spin_us = proto.spin_us();
  return facts;
}

absl::StatusOr<ChildReply> Ask(const std::string& program, const ChildRequest& request) {
  ChildOptions options;
  options.program = program;
  options.args = {"--child"};
  options.extra_env = RoundEnvironment(request.threads());
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Child> child, Child::Spawn(options));
  const absl::Status sent = WriteFrame(child->stdin_fd(), request.SerializeAsString());
  child->CloseStdin();
  absl::StatusOr<std::optional<std::string>> bytes = ReadFrame(child->stdout_fd(), kMaxReply);
  const ExitStatus end = child->Wait();
  if (!sent.ok() || !bytes.ok() || !bytes->has_value() || !end.ok()) {
    return absl::InternalError(
        Concat("the process that ran the model ended with ", end.ToString(), ": ", child->StderrTail()));
  }
  ChildReply reply;
  if (!reply.ParseFromString(**bytes)) return absl::InternalError("the process that ran the model answered nonsense");
  if (reply.code() != 0) return absl::Status(static_cast<absl::StatusCode>(reply.code()), reply.message());
  return reply;
}

ChildReply Work(const ChildRequest& request) {
  ChildReply reply;
  const auto fail = [&reply](const absl::Status& status) {
    reply.set_code(static_cast<int>(status.code()));
    reply.set_message(std::string(status.message()));
    return reply;
  };
  const RunSpec run = FromProto(request);
  if (request.has_round()) {
    const absl::StatusOr<RoundResult> result = MeasureVariant({run, request.round().seconds()});
    if (!result.ok()) return fail(result.status());
    ChildReply::Round* round = reply.mutable_round();
    round->mutable_samples_ms()->Assign(result->samples_ms.begin(), result->samples_ms.end());
    round->set_warmup_inferences(result->warmup_inferences);
    round->set_warm(result->warm);
    ToProto(result->facts, round->mutable_facts());
    return reply;
  }
  const absl::StatusOr<EvaluateResult> result =
      EvaluateVariant({run, request.evaluate().output_log(), request.evaluate().profile_repetitions()});
  if (!result.ok()) return fail(result.status());
  ChildReply::Evaluate* evaluate = reply.mutable_evaluate();
  for (const halftone::StepReport& step : result->steps) {
    StepReport* proto = evaluate->add_steps();
    proto->set_name(step.name);
    proto->set_op(step.op);
    proto->set_kernel(step.kernel);
    proto->set_src_type(step.src_type);
    proto->set_weights_type(step.weights_type);
    proto->set_dst_type(step.dst_type);
    proto->set_median_us(step.median_us);
  }
  evaluate->set_samples(result->samples);
  for (const std::string& warning : result->warnings) evaluate->add_warnings(warning);
  return reply;
}

}  // namespace

absl::StatusOr<EvaluateResult> ProcessChildRunner::Evaluate(const EvaluateSpec& spec) {
  ChildRequest request = ToProto(spec.run);
  request.mutable_evaluate()->set_output_log(spec.output_log);
  request.mutable_evaluate()->set_profile_repetitions(spec.profile_repetitions);
  HALFTONE_ASSIGN_OR_RETURN(const ChildReply reply, Ask(program_, request));
  EvaluateResult result;
  for (const StepReport& step : reply.evaluate().steps()) {
    result.steps.push_back({step.name(), step.op(), step.kernel(), step.src_type(), step.weights_type(),
                            step.dst_type(), step.median_us()});
  }
  result.samples = reply.evaluate().samples();
  result.warnings = {reply.evaluate().warnings().begin(), reply.evaluate().warnings().end()};
  return result;
}

absl::StatusOr<RoundResult> ProcessChildRunner::Round(const RoundSpec& spec) {
  ChildRequest request = ToProto(spec.run);
  request.mutable_round()->set_seconds(spec.seconds);
  HALFTONE_ASSIGN_OR_RETURN(const ChildReply reply, Ask(program_, request));
  RoundResult result;
  result.samples_ms = {reply.round().samples_ms().begin(), reply.round().samples_ms().end()};
  if (result.samples_ms.empty()) return absl::InternalError("a round of the benchmark has no samples");
  result.warmup_inferences = reply.round().warmup_inferences();
  result.warm = reply.round().warm();
  result.facts = FromProto(reply.round().facts());
  return result;
}

int ChildMain(int input, int output) {
  const absl::StatusOr<std::optional<std::string>> bytes = ReadFrame(input);
  ChildRequest request;
  if (!bytes.ok() || !bytes->has_value() || !request.ParseFromString(**bytes)) return 1;
  return WriteFrame(output, Work(request).SerializeAsString()).ok() ? 0 : 1;
}

}  // namespace halftone::worker
