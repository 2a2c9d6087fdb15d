// SPDX-License-Identifier: Apache-2.0
#include "runtime/calibrate/calibration.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/shape_inference.h"
#include "runtime/calibrate/value_layout.h"
#include "runtime/engine.h"

namespace halftone {
namespace {

// The memory of a step in which a value is after it ran.
struct Tap {
  size_t step = 0;  // of WithSteps
  size_t output = 0;
  ValueId value;
  SeenValue* seen = nullptr;
  std::vector<int64_t> dims;
  ChannelLayout layout;
  std::unique_ptr<PlainCopy> copy;  // where its layout cannot be read
};

// A plan for inputs of certain shapes.
struct Stage {
  std::vector<Shape> inputs;
  Graph graph;
  std::unique_ptr<Plan> plan;
  // Whether shapes are known only while it runs: then all values are outputs of its graph.
  bool dynamic = false;
  bool tapped = false;
  std::vector<Tap> taps;  // in the order of steps
};

bool Fits(const Shape& declared, const Tensor& tensor) {
  if (!declared.has_rank()) return true;
  if (declared.rank() != tensor.rank()) return false;
  for (int i = 0; i < declared.rank(); ++i) {
    if (declared.dim(i).known() && declared.dim(i).value != tensor.dims()[i]) return false;
  }
  return true;
}

bool ShapesAreKnown(const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [&](NodeId node) {
    return std::ranges::all_of(graph.node(node).outputs,
                               [&](ValueId value) { return !value.valid() || graph.shape(value).fully_known(); });
  });
}

bool IsSeen(const Graph& graph, ValueId value) {
  return value.valid() && graph.type(value) == DataType::kFloat32 && graph.op(value) != OpKind::kConstant;
}

}  // namespace

class CalibrationRun {
 public:
  CalibrationRun(const Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  absl::StatusOr<Calibration> Collect(const CalibrationSource& source) {
    EngineBackend(options_).UseThreads(std::max(options_.threads, 1));  // for the inputs, which no plan looks at
    for (;;) {
      HALFTONE_ASSIGN_OR_RETURN(const std::optional<CalibrationBatch> batch, source());
      if (!batch.has_value()) break;
      HALFTONE_RETURN_IF_ERROR(CheckInputs(batch->inputs));
      FindPadded(*batch);
      HALFTONE_RETURN_IF_ERROR(AddInputs(*batch));
      HALFTONE_ASSIGN_OR_RETURN(Stage * stage, StageFor(batch->inputs));
      HALFTONE_RETURN_IF_ERROR(stage->dynamic ? RunDynamic(*stage, *batch) : RunStatic(*stage, *batch));
      result_.samples_ += batch->samples;
      ++result_.batches_;
    }
    if (result_.batches_ == 0) {
      return absl::InvalidArgumentError("calibration needs at least one sample, and there is none");
    }
    for (const auto& [name, seen] : result_.values_) {
      if (seen->statistics.count() == seen->expected) continue;
      return absl::InternalError(Concat("value '", name, "': the histogram has ", seen->statistics.count(),
                                        " numbers, the samples had ", seen->expected));
    }
    return std::move(result_);
  }

 private:
  absl::Status CheckInputs(const std::vector<Tensor>& inputs) const {
    if (inputs.size() != graph_.inputs().size()) {
      return absl::InvalidArgumentError(
          Concat("calibration: ", inputs.size(), " inputs given, the model has ", graph_.inputs().size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId value = graph_.output(graph_.inputs()[i]);
      if (inputs[i].type() == graph_.type(value) && Fits(graph_.shape(value), inputs[i])) continue;
      return absl::InvalidArgumentError(Concat("calibration: input '", RangeName(graph_, value), "' must be ",
                                               DataTypeName(graph_.type(value)), graph_.shape(value).ToString(),
                                               ", not ", DataTypeName(inputs[i].type()), inputs[i].shape().ToString()));
    }
    return absl::OkStatus();
  }

  SeenValue& SeenOf(const Graph& graph, ValueId value) {
    std::unique_ptr<SeenValue>& seen = result_.values_[RangeName(graph, value)];
    if (seen == nullptr) {
      seen = std::make_unique<SeenValue>();
      seen->channel_axis = ChannelAxisOf(graph, value);
    }
    return *seen;
  }

  // Values that a partly padded batch makes, its inputs among them.
  void FindPadded(const CalibrationBatch& batch) {
    padded_.assign(graph_.num_values(), false);
    if (batch.samples >= batch.capacity) return;
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      const std::vector<int64_t>& dims = batch.inputs[i].dims();
      padded_[graph_.output(graph_.inputs()[i]).index] = !dims.empty() && dims[0] == batch.capacity;
    }
    for (const NodeId id : graph_.TopologicalOrder()) {
      const Node& node = graph_.node(id);
      const auto is_padded = [&](ValueId value) { return value.valid() && padded_[value.index]; };
      if (!std::ranges::any_of(node.inputs, is_padded)) continue;
      for (const ValueId output : node.outputs) {
        if (output.valid()) padded_[output.index] = true;
      }
    }
  }

  // How many of a value's elements are of samples: of a padded one its part, where its first dimension can be cut like
  // the batch.
  int64_t Counted(ValueId value, std::span<const int64_t> dims, const CalibrationBatch& batch) const {
    const int64_t elements = CheckedProduct(dims).value_or(0);
    const bool cut = padded_[value.index] && !dims.empty() && dims[0] % batch.capacity == 0;
    return cut ? elements / batch.capacity * batch.samples : elements;
  }

  // `numbers`: all of the value, its first dimension outermost.
  absl::Status Add(SeenValue& seen, std::span<const float> numbers, std::span<const int64_t> dims,
                   const ChannelLayout& layout, const CalibrationBatch& batch, const Graph& graph, ValueId value) {
    const int64_t counted = Counted(value, dims, batch);
    seen.expected += static_cast<uint64_t>(counted);
    const std::optional<int64_t> bad = seen.statistics.Add(numbers.first(counted), layout);
    if (!bad.has_value()) return absl::OkStatus();
    const float number = numbers[*bad];
    const int64_t sample = result_.samples_ + *bad * batch.samples / counted;
    const NodeId node = graph.producer(value);
    const std::string what = graph.op(node) == OpKind::kInput
                                 ? Concat("input '", RangeName(graph, value), "'")
                                 : Concat("node '", graph.Label(node), "': value '", RangeName(graph, value), "'");
    return absl::InvalidArgumentError(Concat(what, " holds ",
                                             std::isnan(number) ? "NaN"
                                             : number > 0       ? "inf"
                                                                : "-inf",
                                             " in sample ", sample,
                                             " (counted from 0); ranges can be made of finite numbers only"));
  }

  absl::Status AddInputs(const CalibrationBatch& batch) {
    for (size_t i = 0; i < batch.inputs.size(); ++i) {
      const ValueId value = graph_.output(graph_.inputs()[i]);
      if (!IsSeen(graph_, value)) continue;
      const Tensor& tensor = batch.inputs[i];
      SeenValue& seen = SeenOf(graph_, value);
      HALFTONE_RETURN_IF_ERROR(Add(seen, tensor.data<float>(), tensor.dims(),
                                   PlainLayout(tensor.dims(), seen.channel_axis), batch, graph_, value));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Stage*> StageFor(const std::vector<Tensor>& inputs) {
    constexpr size_t kMostStages = 4;
    std::vector<Shape> shapes;
    for (const Tensor& tensor : inputs) shapes.push_back(tensor.shape());
    const auto it = std::ranges::find_if(stages_, [&](const Stage& stage) { return stage.inputs == shapes; });
    if (it != stages_.end()) {
      stages_.splice(stages_.begin(), stages_, it);
      return &stages_.front();
    }
    if (stages_.size() == kMostStages) stages_.pop_back();
    Stage stage{.inputs = std::move(shapes), .graph = graph_};
    if (!ShapesAreKnown(graph_)) {
      GraphEditor edit(stage.graph);
      for (size_t i = 0; i < inputs.size(); ++i) {
        edit.SetShape(stage.graph.output(stage.graph.inputs()[i]), stage.inputs[i]);
      }
      HALFTONE_RETURN_IF_ERROR(Specialize(edit, {}, /*batch=*/1));
    }
    stage.dynamic = !ShapesAreKnown(stage.graph);
    if (stage.dynamic) MakeAllOutputs(stage.graph);
    HALFTONE_ASSIGN_OR_RETURN(stage.plan, CompilePlan(stage.graph, options_));
    stages_.push_front(std::move(stage));
    return &stages_.front();
  }

  static void MakeAllOutputs(Graph& graph) {
    GraphEditor edit(graph);
    for (const NodeId node : graph.nodes()) {
      if (graph.op(node) == OpKind::kInput) continue;
      for (const ValueId value : graph.node(node).outputs) {
        if (IsSeen(graph, value) && !graph.IsOutput(value)) edit.AddGraphOutput(RangeName(graph, value), value);
      }
    }
  }

  absl::Status RunDynamic(Stage& stage, const CalibrationBatch& batch) {
    HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, stage.plan->Run(batch.inputs));
    std::vector<bool> done(stage.graph.num_values(), false);  // an output may be listed twice, or be an input
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = stage.graph.outputs()[i].value;
      if (!IsSeen(stage.graph, value) || stage.graph.op(value) == OpKind::kInput || done[value.index]) continue;
      done[value.index] = true;
      const std::vector<int64_t>& dims = outputs[i].dims();
      SeenValue& seen = SeenOf(stage.graph, value);
      HALFTONE_RETURN_IF_ERROR(
          Add(seen, outputs[i].data<float>(), dims, PlainLayout(dims, seen.channel_axis), batch, stage.graph, value));
    }
    return absl::OkStatus();
  }

  absl::Status RunStatic(Stage& stage, const CalibrationBatch& batch) {
    return stage.plan->WithSteps(batch.inputs, [&](std::span<const BoundStep> steps) -> absl::Status {
      if (!stage.tapped) HALFTONE_RETURN_IF_ERROR(FindTaps(stage, steps));
      auto tap = stage.taps.begin();
      for (size_t i = 0; i < steps.size(); ++i) {
        if (absl::Status status = steps[i].step->Run(); !status.ok()) {
          return Annotate(std::move(status), steps[i].info->label);
        }
        for (; tap != stage.taps.end() && tap->step == i; ++tap) {
          HALFTONE_RETURN_IF_ERROR(Read(*tap, steps[i].outputs[tap->output].address, batch, stage.graph));
        }
      }
      return absl::OkStatus();
    });
  }

  absl::Status Read(Tap& tap, std::byte* address, const CalibrationBatch& batch, const Graph& graph) {
    std::span<const float> numbers(reinterpret_cast<const float*>(address),
                                   static_cast<size_t>(CheckedProduct(tap.dims).value_or(0)));
    if (tap.copy != nullptr) {
      HALFTONE_ASSIGN_OR_RETURN(numbers, tap.copy->Read(address));
    }
    return Add(*tap.seen, numbers, tap.dims, tap.layout, batch, graph, tap.value);
  }

  // Which steps leave a value, and how it lies there; and which values are views of others.
  absl::Status FindTaps(Stage& stage, std::span<const BoundStep> steps) {
    const Graph& graph = stage.graph;
    const Backend& backend = EngineBackend(options_);
    for (size_t i = 0; i < steps.size(); ++i) {
      const BoundStep& step = steps[i];
      for (size_t output = 0; output < step.placements.size() && output < step.outputs.size(); ++output) {
        const ValueId value = graph.output(step.info->node, static_cast<int>(output));
        if (!IsSeen(graph, value) || step.outputs[output].address == nullptr) continue;
        Tap tap{.step = i, .output = output, .value = value, .dims = graph.shape(value).values()};
        if (CheckedProduct(tap.dims).value_or(0) == 0) continue;
        tap.seen = &SeenOf(graph, value);
        const int axis = tap.seen->channel_axis;
        const Placement& placement = step.placements[output];
        tap.layout = PlainLayout(tap.dims, axis);
        if (placement.type != DataType::kFloat32 || !placement.plain()) {
          std::optional<ChannelLayout> packed;
          if (placement.type == DataType::kFloat32) {
            HALFTONE_ASSIGN_OR_RETURN(packed, PackedLayoutOf(tap.dims, axis, placement, backend));
          }
          if (packed.has_value()) {
            tap.layout = *packed;
          } else {
            HALFTONE_ASSIGN_OR_RETURN(tap.copy, PlainCopy::Make(tap.dims, placement, backend));
          }
        }
        stage.taps.push_back(std::move(tap));
      }
    }
    for (const StepInfo& info : stage.plan->steps()) {
      // Steps of nested graphs have the outer node and a longer label.
      if (info.kind != StepKind::kView || info.label != graph.Label(info.node)) continue;
      const ValueId view = graph.output(info.node), source = graph.input(info.node, 0);
      if (!IsSeen(graph, view) || !source.valid() || !IsSeen(graph, source)) continue;
      if (graph.shape(view).num_elements() != graph.shape(source).num_elements()) continue;
      result_.views_[RangeName(graph, view)] = RangeName(graph, source);
    }
    stage.tapped = true;
    return absl::OkStatus();
  }

  const Graph& graph_;
  const CompileOptions options_;
  std::list<Stage> stages_;   // the last used first
  std::vector<bool> padded_;  // by value: of the batch that is read
  Calibration result_;
};

absl::StatusOr<Calibration> Calibration::Collect(const Graph& graph, const CalibrationSource& source,
                                                 const CompileOptions& options) {
  return CalibrationRun(graph, options).Collect(source);
}

absl::StatusOr<ValueRanges> Calibration::Ranges(const CalibratorOptions& options) const {
  ValueRanges ranges;
  ranges.samples = samples_;
  for (const auto& [name, seen] : values_) {
    HALFTONE_ASSIGN_OR_RETURN(ValueRange range, MakeValueRange(seen->statistics, options));
    range.channel_axis = range.channel_magnitudes.empty() ? -1 : seen->channel_axis;
    ranges.values[name] = std::move(range);
  }
  for (const auto& [view, source] : views_) {
    // A view of a view of ... a value; they are fewer than there are views.
    std::string owner = source;
    for (size_t i = 0; i < views_.size() && views_.contains(owner); ++i) owner = views_.at(owner);
    const auto it = ranges.values.find(owner);
    if (it == ranges.values.end()) continue;
    ValueRange range = it->second;
    range.channel_axis = -1;
    range.channel_magnitudes.clear();
    range.channel_means.clear();
    ranges.values.try_emplace(view, std::move(range));
  }
  return ranges;
}

absl::StatusOr<ValueRanges> CalibrateGraph(const Graph& graph, const CalibrationSource& source,
                                           const CalibratorOptions& calibrator, const CompileOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(const Calibration calibration, Calibration::Collect(graph, source, options));
  return calibration.Ranges(calibrator);
}

}  // namespace halftone
