// calibration_cost MODEL [THREADS [REPETITIONS]]: calibration against plain fp32 runs over the same samples, in turns;
// the median of the ratios, and what the calibrators take afterwards.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ir/reference/reference.h"
#include "optimizer/model.h"
#include "runtime/calibrate/calibration.h"
#include "runtime/engine.h"
#include "runtime/statistics.h"

namespace halftone {
namespace {

using Clock = std::chrono::steady_clock;
double Milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// `samples` times through what was made once.
CalibrationSource Again(const std::vector<Tensor>& inputs, int samples) {
  return [&inputs, left = samples]() mutable -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (left-- == 0) return std::nullopt;
    return CalibrationBatch{inputs};
  };
}

absl::Status Measure(const std::string& path, int threads, int repetitions) {
  constexpr int kSamples = 10;
  auto graph = LoadModel({.path = path});
  if (!graph.ok()) return graph.status();
  const auto target = MakeOneDnnTarget();
  if (absl::Status status = PrepareToRun(*graph, 1, {}, /*fuse=*/true, *target); !status.ok()) return status;
  const CompileOptions options{.threads = threads};
  const auto plan = CompilePlan(*graph, options);
  if (!plan.ok()) return plan.status();
  const std::vector<Tensor> inputs = reference::RandomInputs(*graph, 1);
  std::vector<double> plain, calibrated, ratios;
  std::optional<Calibration> last;
  for (int i = 0; i < repetitions; ++i) {
    Clock::time_point start = Clock::now();
    for (int sample = 0; sample < kSamples; ++sample) {
      if (const auto outputs = (*plan)->Run(inputs); !outputs.ok()) return outputs.status();
    }
    plain.push_back(Milliseconds(start) / kSamples);
    // What is done once (the plan, where values lie) cancels out: twice as many samples less once as many.
    start = Clock::now();
    if (const auto once = Calibration::Collect(*graph, Again(inputs, kSamples), options); !once.ok())
      return once.status();
    const double once = Milliseconds(start);
    start = Clock::now();
    auto twice = Calibration::Collect(*graph, Again(inputs, 2 * kSamples), options);
    if (!twice.ok()) return twice.status();
    calibrated.push_back((Milliseconds(start) - once) / kSamples);
    ratios.push_back(calibrated.back() / plain.back());
    last = *std::move(twice);
  }
  std::printf("%s, %d threads: plain %.3f ms, calibrating %.3f ms a sample, ratio %.3f\n", path.c_str(), threads,
              Median(plain), Median(calibrated), Median(ratios));
  uint64_t numbers = 0;
  size_t most = 0;
  for (const auto& [name, seen] : last->values()) {
    numbers += seen->statistics.count();
    most = std::max(most, seen->statistics.MemoryBytes());
  }
  std::printf("%zu values, %.2f million numbers a sample, at most %zu bytes a value\n", last->values().size(),
              static_cast<double>(numbers) / static_cast<double>(last->samples()) / 1e6, most);
  for (int c = 0; c < static_cast<int>(Calibrator::kLog); ++c) {
    const Clock::time_point start = Clock::now();
    if (const auto ranges = last->Ranges({static_cast<Calibrator>(c)}); !ranges.ok()) return ranges.status();
    std::printf("%s: %.1f ms\n", std::string(CalibratorName(static_cast<Calibrator>(c))).c_str(), Milliseconds(start));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: calibration_cost MODEL [THREADS [REPETITIONS]]\n"), 2;
  const absl::Status status =
      halftone::Measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 1, argc > 3 ? std::atoi(argv[3]) : 7);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
