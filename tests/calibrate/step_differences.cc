// SPDX-License-Identifier: Apache-2.0
// step_differences MODEL SAMPLES.npz [COUNT [ALL]]: where engine and reference functions differ on an int8 model. A
// debugging tool, not a test.
//
// Prints for each step of the plan, over the first COUNT samples (10):
//   distance   The largest difference between an integer output and the real number that the reference function
//              computes from the same inputs, in quantization steps. 0.5 is the rounding itself; more than 0.5 + kTie
//              is an error. For an f32 output: the largest difference relative to its largest magnitude.
//   mismatch   The fraction of integer outputs that differ from the reference function's on the same inputs: ties that
//              round to another integer.
//   drift      The fraction of integer outputs that differ from a run of the whole model by reference functions: the
//              accumulated effect of all ties before.
// Then prints the first step with an error, and the samples with another top-1 class than by reference functions. Lists
// only steps that drift or have an error; with ALL every step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/quantization.h"
#include "ir/reference/reference.h"
#include "optimizer/loaded_variant.h"

namespace halftone {
namespace {

constexpr double kTie = 1e-3;          // quantization steps: the rounding error of f32 sums in another order
constexpr double kF32Rounding = 1e-5;  // relative to the largest magnitude

struct StepRow {
  std::string label, op, kernel;
  bool integers = false;
  int64_t elements = 0, mismatched = 0, drifted = 0;
  double distance = 0;

  bool wrong() const { return distance > (integers ? 0.5 + kTie : kF32Rounding); }
};

// The graph in which nodes with integer outputs write the real numbers that the integers represent.
Graph WithRealResults(const Graph& planned) {
  Graph real = planned;
  GraphEditor edit(real);
  for (const NodeId id : planned.nodes()) {
    if (PassesIntegers(planned.op(id))) continue;
    for (const ValueId value : planned.node(id).outputs) {
      if (!value.valid() || planned.quantization(value) == nullptr) continue;
      edit.SetQuantization(value, nullptr);
      edit.SetType(value, DataType::kFloat32);
    }
  }
  return real;
}

using Values = std::vector<Tensor>;  // by value; kUnknown: not computed

int64_t Unequal(const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> x = a.ToInts(), y = b.ToInts();
  int64_t count = 0;
  for (size_t i = 0; i < x.size(); ++i) count += x[i] != y[i] ? 1 : 0;
  return count;
}

// The largest distance of an integer from its real number, in quantization steps.
double DistanceInSteps(const Tensor& integers, const Tensor& real, const Quantization& quantization) {
  const IntegerRange limits = QuantizedRange(integers.type()).value_or(IntegerRange{});
  const std::vector<int64_t> written = integers.ToInts();
  const std::vector<float> numbers = real.ToFloats();
  double largest = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    const double steps = static_cast<double>(numbers[i]) / quantization.scales[0] + quantization.zero_points[0];
    const double inside = std::clamp<double>(steps, static_cast<double>(limits.low), static_cast<double>(limits.high));
    largest = std::max(largest, std::abs(static_cast<double>(written[i]) - inside));
  }
  return largest;
}

double DistanceOfFloats(const Tensor& actual, const Tensor& expected) {
  const std::vector<float> x = actual.ToFloats(), y = expected.ToFloats();
  double difference = 0, magnitude = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(double{x[i]} - double{y[i]}));
    magnitude = std::max(magnitude, std::abs(double{y[i]}));
  }
  return magnitude > 0 ? difference / magnitude : difference;
}

int64_t TopClass(const Tensor& tensor) {
  const std::vector<float> numbers = tensor.ToFloats();
  return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

class StepDifferences {
 public:
  explicit StepDifferences(LoadedVariant loaded)
      : loaded_(std::move(loaded)),
        planned_(loaded_.graph),
        real_(WithRealResults(planned_)),
        order_(planned_.TopologicalOrder()),
        rows_(planned_.num_values()) {}

  absl::Status Compare(int64_t count) {
    for (int64_t i = 0; i < std::min(count, loaded_.samples->num_batches()); ++i) {
      HALFTONE_ASSIGN_OR_RETURN(const Batch batch, loaded_.samples->Read(i));
      HALFTONE_ASSIGN_OR_RETURN(Values engine, StepResults(batch.inputs));
      HALFTONE_RETURN_IF_ERROR(CompareSample(batch.inputs, std::move(engine)));
    }
    return absl::OkStatus();
  }

  void Print(bool all) const {
    std::printf("%-44s %-28s %-34s %10s %10s %8s\n", "step", "op", "kernel", "distance", "mismatch", "drift");
    const StepRow* first = nullptr;
    for (const NodeId id : order_) {
      for (const ValueId value : planned_.node(id).outputs) {
        if (!value.valid() || rows_[value.index].elements == 0) continue;
        const StepRow& row = rows_[value.index];
        if (first == nullptr && row.wrong()) first = &row;
        if (!all && !row.wrong() && row.drifted == 0) continue;
        const double elements = static_cast<double>(row.elements);
        std::printf("%-44.44s %-28.28s %-34.34s %10.6f %10.2e %8.4f%s\n", row.label.c_str(), row.op.c_str(),
                    row.kernel.c_str(), row.distance, static_cast<double>(row.mismatched) / elements,
                    static_cast<double>(row.drifted) / elements, row.wrong() ? "  ERROR" : "");
      }
    }
    std::printf("first error: %s\n", first == nullptr ? "none, all differences are ties" : first->label.c_str());
    std::printf("%zu of %zu samples have another top-1 class than by reference functions:", changed_.size(),
                by_reference_.size());
    for (const int64_t sample : changed_) std::printf(" %lld", static_cast<long long>(sample));
    std::printf("\ntop-1 classes by reference functions:");
    for (const int64_t top : by_reference_) std::printf(" %lld", static_cast<long long>(top));
    std::printf("\n");
  }

 private:
  // The outputs of the steps of one run, in plain layout.
  absl::StatusOr<Values> StepResults(const std::vector<Tensor>& inputs) {
    Values values(planned_.num_values());
    const absl::Status status = loaded_.plan->WithSteps(inputs, [&](std::span<const BoundStep> steps) -> absl::Status {
      for (const BoundStep& step : steps) {
        HALFTONE_RETURN_IF_ERROR(step.step->Run());
        for (size_t i = 0; i < step.placements.size() && i < step.outputs.size(); ++i) {
          const ValueId value = planned_.output(step.info->node, static_cast<int>(i));
          if (!value.valid() || step.outputs[i].address == nullptr) continue;
          HALFTONE_ASSIGN_OR_RETURN(values[value.index],
                                    PlainTensor(value, step.placements[i], step.outputs[i].address));
          StepRow& row = rows_[value.index];
          row.label = step.info->label;
          row.op = step.info->op;
          row.kernel = step.info->kernel.name;
        }
      }
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    return values;
  }

  absl::StatusOr<Tensor> PlainTensor(ValueId value, const Placement& placement, std::byte* address) const {
    const std::vector<int64_t> dims = planned_.shape(value).values();
    Tensor plain(planned_.type(value), dims);
    if (plain.num_elements() == 0) return plain;
    HALFTONE_ASSIGN_OR_RETURN(const Prepared prepared,
                              EngineBackend({}).Convert(dims, placement, Placement{planned_.type(value)}));
    if (prepared.step == nullptr) {
      std::memcpy(plain.mutable_raw(), address, plain.byte_size());
      return plain;
    }
    const std::shared_ptr<Buffer> scratch = Buffer::Allocate(prepared.scratch_bytes);
    std::byte* const from[] = {address};
    std::byte* const to[] = {plain.mutable_raw()};
    prepared.step->Bind(from, to, scratch->mutable_data());
    HALFTONE_RETURN_IF_ERROR(prepared.step->Run());
    return plain;
  }

  // The outputs of a node for the inputs in `values`, as real numbers where the node writes integers.
  absl::StatusOr<std::vector<Tensor>> RealResults(NodeId id, const Values& values) const {
    std::vector<Tensor> arguments;
    for (const ValueId input : planned_.node(id).inputs) {
      Tensor tensor = input.valid() ? values[input.index] : Tensor();
      const bool became_real =
          input.valid() && planned_.quantization(input) != nullptr && real_.quantization(input) == nullptr;
      arguments.push_back(became_real && !PassesIntegers(planned_.op(id))
                              ? Dequantized(tensor, *planned_.quantization(input))
                              : std::move(tensor));
    }
    return reference::EvaluateNode(real_, id, arguments);
  }

  Tensor AsWritten(ValueId value, const Tensor& real) const {
    const Quantization* quantization = planned_.quantization(value);
    if (quantization == nullptr || real.type() == planned_.type(value)) return real;
    return Quantized(real, planned_.type(value), *quantization);
  }

  // `engine`: outputs of steps. Values that need no step are added.
  absl::Status CompareSample(const std::vector<Tensor>& inputs, Values engine) {
    Values alone(planned_.num_values());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId value = planned_.output(planned_.inputs()[i]);
      engine[value.index] = alone[value.index] = inputs[i];
    }
    for (const NodeId id : order_) {
      const Node& node = planned_.node(id);
      if (node.op == OpKind::kInput || node.op == OpKind::kNoOp) continue;
      HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> local, RealResults(id, engine));
      HALFTONE_ASSIGN_OR_RETURN(const std::vector<Tensor> own, RealResults(id, alone));
      for (size_t i = 0; i < local.size(); ++i) {
        const ValueId value = node.outputs[i];
        if (!value.valid()) continue;
        alone[value.index] = AsWritten(value, own[i]);
        const Tensor expected = AsWritten(value, local[i]);
        if (engine[value.index].type() == DataType::kUnknown) {
          engine[value.index] = expected;
        } else {
          Count(value, engine[value.index], local[i], expected, alone[value.index]);
        }
      }
    }
    const ValueId output = planned_.outputs()[0].value;
    by_reference_.push_back(TopClass(alone[output.index]));
    if (TopClass(engine[output.index]) != by_reference_.back()) {
      changed_.push_back(static_cast<int64_t>(by_reference_.size()) - 1);
    }
    return absl::OkStatus();
  }

  void Count(ValueId value, const Tensor& written, const Tensor& real, const Tensor& expected, const Tensor& alone) {
    StepRow& row = rows_[value.index];
    row.elements += written.num_elements();
    const Quantization* quantization = planned_.quantization(value);
    row.integers = quantization != nullptr && real.type() == DataType::kFloat32;
    if (row.integers) {
      row.distance = std::max(row.distance, DistanceInSteps(written, real, *quantization));
    } else if (IsFloatingPoint(written.type())) {
      row.distance = std::max(row.distance, DistanceOfFloats(written, expected));
    }
    if (IsFloatingPoint(written.type())) return;
    row.mismatched += Unequal(written, expected);
    row.drifted += Unequal(written, alone);
  }

  LoadedVariant loaded_;
  const Graph planned_, real_;
  const std::vector<NodeId> order_;
  std::vector<StepRow> rows_;                    // by value
  std::vector<int64_t> by_reference_, changed_;  // top-1 classes; samples whose class differs
};

absl::Status Run(const std::string& model, const std::string& npz, int64_t count, bool all) {
  RunSpec spec;
  spec.model.path = model;
  spec.samples = {{npz, npz}};
  HALFTONE_ASSIGN_OR_RETURN(LoadedVariant loaded, LoadVariant(spec));
  StepDifferences differences(std::move(loaded));
  HALFTONE_RETURN_IF_ERROR(differences.Compare(count));
  differences.Print(all);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: step_differences MODEL SAMPLES.npz [COUNT [ALL]]\n"), 2;
  const absl::Status status = halftone::Run(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 10, argc > 4);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
