// SPDX-License-Identifier: Apache-2.0
#include "optimizer/accuracy_control.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/output_log.h"
#include "optimizer/plan_int8.h"
#include "optimizer/prepare.h"
#include "passes/quantize/quantizable_ops.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

constexpr int64_t kBatchesAlone = 4;    // with which a node is quantized alone
constexpr double kShareConfigs = 0.25;  // of the budget, after which no config is begun
constexpr double kShareAlone = 0.5;     // after which no node is quantized alone, where a search follows
constexpr double kDecibelsOfABit = 6.02;
constexpr double kCosineStep = 0.01;
constexpr double kPoint = 0.01;

// A plan, and what is kept out of it.
struct Attempt {
  std::map<NodeId, Reason> excluded;
  std::set<NodeId> nodes;  // in int8
  Reached reached;
  double distance = 0;
};

class GoalSearch {
 public:
  GoalSearch(Int8Source& source, const Target& target, const OptimizeOptions& options, const ProgressCallback& progress)
      : source_(source),
        target_(target),
        options_(options),
        goal_(options.int8.goal),
        progress_(progress),
        reference_log_(Concat(options.out_dir, "/goal.fp32.log")),
        first_log_(Concat(options.out_dir, "/goal.first.log")),
        trial_log_(Concat(options.out_dir, "/goal.int8.log")) {}
  ~GoalSearch() {
    std::error_code ignored;
    for (const std::string& log : {reference_log_, first_log_, trial_log_}) std::filesystem::remove(log, ignored);
  }

  absl::StatusOr<AccuracyControlResult> Run() {
    HALFTONE_ASSIGN_OR_RETURN(made_, OwnCandidate(source_, target_, options_));
    HALFTONE_RETURN_IF_ERROR(OpenEvaluation());
    HALFTONE_RETURN_IF_ERROR(RunInFp32());
    if (goal_.empty()) {
      HALFTONE_ASSIGN_OR_RETURN(best_.nodes, PlanNodes({}));
    } else {
      HALFTONE_ASSIGN_OR_RETURN(best_, TryConfig());
      HALFTONE_RETURN_IF_ERROR(ChangeConfig());
    }
    const bool missed = best_.distance > 0;
    if (options_.int8.sensitivity || missed) HALFTONE_RETURN_IF_ERROR(QuantizeEachAlone(missed ? kShareAlone : 1));
    if (missed) HALFTONE_RETURN_IF_ERROR(LetTheWorstFallBack());
    // Some of the nodes and configs that were not tried might have been the ones to take.
    const bool still_missed = best_.distance > 0;
    if (!all_alone_ && (still_missed || options_.int8.sensitivity)) result_.in_time = false;
    if (!all_configs_ && still_missed) result_.in_time = false;
    HALFTONE_RETURN_IF_ERROR(KeepRanges());
    result_.candidate = std::move(made_);
    result_.search.excluded = std::move(best_.excluded);
    result_.goal_met = best_.distance == 0;
    result_.reached = best_.reached;
    result_.fallbacks = static_cast<int64_t>(result_.search.excluded.size());
    return std::move(result_);
  }

 private:
  // Whether so much of the budget is gone.
  bool Spent(double share) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return options_.int8.budget_seconds > 0 && seconds >= share * options_.int8.budget_seconds;
  }
  bool InTime() {
    if (Spent(1)) result_.in_time = false;
    return result_.in_time;
  }

  absl::Status OpenEvaluation() {
    HALFTONE_ASSIGN_OR_RETURN(samples_, OpenSamplesOrRandom(options_.evaluation_samples(), options_.benchmark.seed));
    Graph bound = source_.base.graph;
    HALFTONE_RETURN_IF_ERROR(BindShapes(bound, options_.benchmark.sizes, source_.base.samples));
    HALFTONE_RETURN_IF_ERROR(samples_->Bind(bound));
    batches_ = samples_->num_batches();
    batches_alone_ = std::min(batches_, kBatchesAlone);
    if (goal_.empty()) batches_ = batches_alone_;  // the others would decide nothing
    for (const GraphOutput& output : bound.outputs()) output_names_.push_back(output.name);
    return absl::OkStatus();
  }

  // The graph with these nodes in int8, planned as its file will be.
  absl::StatusOr<std::unique_ptr<Plan>> MakePlan(const std::set<NodeId>& nodes) const {
    HALFTONE_ASSIGN_OR_RETURN(Graph graph, QuantizeNodes(made_.base, made_.ranges, nodes, target_, made_.options));
    HALFTONE_RETURN_IF_ERROR(
        PrepareToRun(graph, options_.benchmark.sizes, made_.base.samples, Preparation::kFold, target_));
    return CompilePlan(graph, {.threads = options_.benchmark.threads});
  }

  absl::StatusOr<OutputRecord> RunBatch(Plan& plan, int64_t index) const {
    HALFTONE_ASSIGN_OR_RETURN(Batch batch, samples_->Read(index));
    HALFTONE_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, plan.Run(batch.inputs));
    return OutputRecord{batch.capacity, batch.rows, std::move(batch.labels), std::move(outputs)};
  }

  // The only run of fp32: all outputs, and those of the first batches in a log of their own.
  absl::Status RunInFp32() {
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, MakePlan({}));
    HALFTONE_ASSIGN_OR_RETURN(OutputLogWriter all, OutputLogWriter::Create(reference_log_, output_names_));
    HALFTONE_ASSIGN_OR_RETURN(OutputLogWriter first, OutputLogWriter::Create(first_log_, output_names_));
    for (int64_t i = 0; i < batches_; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const OutputRecord outputs, RunBatch(*plan, i));
      HALFTONE_RETURN_IF_ERROR(all.Append(outputs));
      if (i < batches_alone_) HALFTONE_RETURN_IF_ERROR(first.Append(outputs));
    }
    HALFTONE_RETURN_IF_ERROR(first.Close());
    HALFTONE_RETURN_IF_ERROR(all.Close());
    HALFTONE_ASSIGN_OR_RETURN(const Comparison itself, CompareLogs(reference_log_, reference_log_));
    baseline_top1_ = itself.top1_accuracy;
    return absl::OkStatus();
  }

  // The outputs of the first batches with these nodes in int8, against those of a log of fp32.
  absl::StatusOr<Comparison> Compare(const std::set<NodeId>& nodes, const std::string& fp32_log, int64_t batches) {
    HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, MakePlan(nodes));
    HALFTONE_ASSIGN_OR_RETURN(OutputLogWriter log, OutputLogWriter::Create(trial_log_, output_names_));
    for (int64_t i = 0; i < batches; ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const OutputRecord outputs, RunBatch(*plan, i));
      HALFTONE_RETURN_IF_ERROR(log.Append(outputs));
    }
    HALFTONE_RETURN_IF_ERROR(log.Close());
    return CompareLogs(fp32_log, trial_log_);
  }

  absl::StatusOr<std::set<NodeId>> PlanNodes(const std::map<NodeId, Reason>& excluded) const {
    const Int8Base& base = made_.base;
    HALFTONE_ASSIGN_OR_RETURN(Int8Plan plan, PlanInt8(base.graph, made_.ranges, target_, made_.options, base.ancestry,
                                                      base.samples, excluded));
    return std::move(plan.nodes);
  }

  absl::StatusOr<Attempt> Try(std::map<NodeId, Reason> excluded) {
    ++result_.tried;
    HALFTONE_ASSIGN_OR_RETURN(std::set<NodeId> nodes, PlanNodes(excluded));
    HALFTONE_ASSIGN_OR_RETURN(const Comparison comparison, Compare(nodes, reference_log_, batches_));
    Attempt attempt{std::move(excluded), std::move(nodes), ReachedBy(comparison, baseline_top1_), 0};
    attempt.distance = DistanceTo(goal_, attempt.reached);
    return attempt;
  }

  // Everything in int8 by the config at hand.
  absl::StatusOr<Attempt> TryConfig() {
    HALFTONE_ASSIGN_OR_RETURN(Attempt attempt, Try({}));
    result_.configs.push_back({DescribeConfig(made_.config), attempt.reached.top1_drop, attempt.reached.sqnr_db,
                               attempt.reached.cosine, attempt.distance == 0});
    return attempt;
  }

  // One thing about it after the other, each kept where it comes nearer to the goal.
  absl::Status ChangeConfig() {
    const std::vector<ConfigChange> changes = ChangesFor(options_.int8);
    for (size_t i = 0; i < changes.size() && best_.distance > 0; ++i) {
      all_configs_ = !Spent(kShareConfigs);
      if (!all_configs_) break;
      progress_("configs", static_cast<int64_t>(i), static_cast<int64_t>(changes.size()));
      HALFTONE_ASSIGN_OR_RETURN(Int8Candidate other,
                                MakeCandidate(Changed(made_.config, changes[i]), source_, target_, options_));
      if (changes[i] == ConfigChange::kSmooth && !IsSmoothed(other, source_)) continue;  // there are no outliers
      std::swap(made_, other);
      HALFTONE_ASSIGN_OR_RETURN(Attempt attempt, TryConfig());
      if (attempt.distance < best_.distance) {
        best_ = std::move(attempt);
      } else {
        std::swap(made_, other);
      }
    }
    return absl::OkStatus();
  }

  // The ranges of the source become those of the config.
  absl::Status KeepRanges() {
    if (made_.config.calibrator == source_.calibrated.origin.calibrator) return absl::OkStatus();
    HALFTONE_ASSIGN_OR_RETURN(ValueRanges ranges,
                              RangesByCalibrator(source_.base.graph, made_.options, source_.calibrated));
    return TakeRanges(std::move(ranges), source_.base.graph, made_.options, source_.calibrated);
  }

  // Movers only pass on what others rounded.
  bool Rounds(NodeId id) const {
    const QuantizedRole role = QuantizedRoleOf(made_.base.graph, id);
    return role != QuantizedRole::kNone && role != QuantizedRole::kMove;
  }

  absl::Status QuantizeEachAlone(double share) {
    std::vector<NodeId> nodes;
    for (const NodeId id : made_.base.graph.TopologicalOrder()) {
      if (best_.nodes.contains(id) && Rounds(id)) nodes.push_back(id);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      all_alone_ = !Spent(share);
      if (!all_alone_) break;
      progress_("accuracy", static_cast<int64_t>(i), static_cast<int64_t>(nodes.size()));
      HALFTONE_ASSIGN_OR_RETURN(const Comparison alone, Compare({nodes[i]}, first_log_, batches_alone_));
      result_.search.sqnr_alone[nodes[i]] = ReachedBy(alone, std::nullopt).sqnr_db;
    }
    return absl::OkStatus();
  }

  Reason ReasonFor(NodeId node, double sqnr_db, size_t place) const {
    return {"int8.accuracy",
            absl::StrFormat("%s: falls back for the accuracy goal, %d. of the worst: quantized alone it "
                            "leaves %.1f dB",
                            std::string(OpName(made_.base.graph.op(node))), place + 1, sqnr_db)};
  }

  // The fewest of the worst with which the goal holds.
  absl::Status LetTheWorstFallBack() {
    std::vector<std::pair<double, NodeId>> worst;
    for (const auto& [node, sqnr_db] : result_.search.sqnr_alone) worst.emplace_back(sqnr_db, node);
    std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    size_t too_few = 0;
    size_t enough = worst.size() + 1;  // not known to be
    for (size_t count = 1; too_few < worst.size() && InTime();) {
      std::map<NodeId, Reason> excluded;
      for (size_t i = 0; i < count; ++i) excluded[worst[i].second] = ReasonFor(worst[i].second, worst[i].first, i);
      HALFTONE_ASSIGN_OR_RETURN(Attempt attempt, Try(std::move(excluded)));
      (attempt.distance == 0 ? enough : too_few) = count;
      const bool fewer = attempt.distance == 0 && attempt.excluded.size() < best_.excluded.size();
      if (attempt.distance < best_.distance || fewer) best_ = std::move(attempt);
      if (enough <= too_few + 1) break;
      count = enough > worst.size() ? std::min(2 * too_few, worst.size()) : (too_few + enough) / 2;
      if (count <= too_few) break;
    }
    return absl::OkStatus();
  }

  Int8Source& source_;
  const Target& target_;
  const OptimizeOptions& options_;
  const AccuracyGoal& goal_;
  const ProgressCallback& progress_;
  const std::string reference_log_, first_log_, trial_log_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::unique_ptr<SampleSource> samples_;
  int64_t batches_ = 0, batches_alone_ = 0;
  std::vector<std::string> output_names_;
  std::optional<double> baseline_top1_;
  bool all_configs_ = true;  // each change was tried, if any was to be
  bool all_alone_ = true;    // each node was quantized alone, if any was to be
  Int8Candidate made_;       // by the best config so far, or the one that is tried
  Attempt best_;
  AccuracyControlResult result_;
};

}  // namespace

Reached ReachedBy(const Comparison& variant, std::optional<double> baseline_top1) {
  Reached reached{.sqnr_db = kExactSqnr};
  for (const OutputFidelity& output : variant.outputs) {
    reached.sqnr_db = std::min(reached.sqnr_db, output.fidelity.sqnr_db);
    reached.cosine = std::min(reached.cosine, output.fidelity.cosine);
  }
  if (baseline_top1.has_value() && variant.top1_accuracy.has_value()) {
    reached.top1_drop = *baseline_top1 - *variant.top1_accuracy;
  } else if (!variant.outputs.empty()) {
    reached.top1_drop = 1 - variant.outputs[0].fidelity.top1_agreement().value_or(1);
  }
  return reached;
}

double DistanceTo(const AccuracyGoal& goal, const Reached& reached) {
  constexpr double kSlack = 1e-9;  // of differences of shares
  const auto off = [](double missing, double step) {
    if (std::isnan(missing)) return std::numeric_limits<double>::infinity();  // outputs that are no numbers
    return missing > kSlack ? missing / step : 0;
  };
  double distance = 0;
  if (goal.max_top1_drop) distance += off(reached.top1_drop - *goal.max_top1_drop, kPoint);
  if (goal.min_sqnr_db) distance += off(*goal.min_sqnr_db - reached.sqnr_db, kDecibelsOfABit);
  if (goal.min_cosine) distance += off(*goal.min_cosine - reached.cosine, kCosineStep);
  return distance;
}

std::string DescribeReached(const AccuracyGoal& goal, const Reached& reached) {
  std::vector<std::string> parts;
  if (goal.max_top1_drop) {
    parts.push_back(absl::StrFormat("top-1 drop %.4f (at most %.4f)", reached.top1_drop, *goal.max_top1_drop));
  }
  if (goal.min_sqnr_db) parts.push_back(absl::StrFormat("%.1f dB (at least %.1f)", reached.sqnr_db, *goal.min_sqnr_db));
  if (goal.min_cosine) {
    parts.push_back(absl::StrFormat("cosine %.6f (at least %.6f)", reached.cosine, *goal.min_cosine));
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<AccuracyControlResult> MeetGoal(Int8Source& source, const Target& target, const OptimizeOptions& options,
                                               const ProgressCallback& progress) {
  return GoalSearch(source, target, options, progress).Run();
}

}  // namespace halftone
