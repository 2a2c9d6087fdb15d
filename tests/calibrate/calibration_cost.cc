// SPDX-License-Identifier: Apache-2.0
// calibration_cost MODEL [--samples FILE.npz] [--threads N] [--repetitions N] [--json]: the time of calibration
// relative to plain fp32 runs of the same samples, interleaved; and the time of each calibration method afterwards.
// Prints medians. Takes the first kSamples batches of the file, or random ones. --json prints them for
// tests/bench/calibration_cost.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/status.h"
#include "optimizer/import.h"
#include "optimizer/prepare.h"
#include "optimizer/samples.h"
#include "runtime/calibrate/calibration.h"
#include "runtime/engine.h"
#include "runtime/measure/statistics.h"

namespace halftone {
namespace {

constexpr int kSamples = 10;
constexpr uint64_t kSeed = 1;

using Clock = std::chrono::steady_clock;
double Milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

using Inputs = std::vector<std::vector<Tensor>>;  // of each sample

absl::StatusOr<Inputs> ReadInputs(SampleSource& samples) {
  Inputs inputs;
  for (int64_t i = 0; i < std::min<int64_t>(kSamples, samples.num_batches()); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(Batch batch, samples.Read(i));
    inputs.push_back(std::move(batch.inputs));
  }
  return inputs;
}

// Iterates over the samples `rounds` times.
CalibrationSource Repeated(const Inputs& inputs, size_t rounds) {
  return [&inputs, next = size_t{0}, rounds]() mutable -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (next == rounds * inputs.size()) return std::nullopt;
    return CalibrationBatch{inputs[next++ % inputs.size()]};
  };
}

struct Cost {
  double plain_ms = 0, calibrating_ms = 0, ratio = 0;  // medians, per sample
  size_t values = 0, most_bytes = 0;                   // observed values, and the largest memory for one of them
  double numbers = 0;                                  // observed elements per sample
  std::map<std::string, double> calibrator_ms;         // for the ranges of all values, by method
};

absl::StatusOr<Cost> Measure(const std::string& path, const std::string& npz, int threads, int repetitions) {
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, LoadModel({.path = path}));
  const std::vector<SampleFile> files = npz.empty() ? std::vector<SampleFile>{} : std::vector<SampleFile>{{npz, npz}};
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> samples, OpenSamplesOrRandom(files, kSeed));
  HALFTONE_RETURN_IF_ERROR(PrepareToRun(graph, DimSizes(), samples->dims(), Preparation::kOptimize, *MakeCpuTarget()));
  HALFTONE_RETURN_IF_ERROR(samples->Bind(graph));
  HALFTONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(*samples));
  const CompileOptions options{.threads = threads};
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Plan> plan, CompilePlan(graph, options));
  const double count = static_cast<double>(inputs.size());
  std::vector<double> plain, calibrating, ratios;
  std::optional<Calibration> last;
  for (int i = 0; i < repetitions; ++i) {
    Clock::time_point start = Clock::now();
    for (const std::vector<Tensor>& sample : inputs) HALFTONE_RETURN_IF_ERROR(plan->Run(sample).status());
    plain.push_back(Milliseconds(start) / count);
    // One-time work (compiling the plan, finding its values) cancels out in the difference of two rounds and one.
    start = Clock::now();
    HALFTONE_RETURN_IF_ERROR(Calibration::Collect(graph, Repeated(inputs, 1), options).status());
    const double once = Milliseconds(start);
    start = Clock::now();
    HALFTONE_ASSIGN_OR_RETURN(last, Calibration::Collect(graph, Repeated(inputs, 2), options));
    calibrating.push_back((Milliseconds(start) - once) / count);
    ratios.push_back(calibrating.back() / plain.back());
  }
  Cost cost{.plain_ms = Median(plain), .calibrating_ms = Median(calibrating), .ratio = Median(ratios)};
  cost.values = last->values().size();
  for (const auto& [name, seen] : last->values()) {
    cost.numbers += static_cast<double>(seen->statistics.count()) / static_cast<double>(last->samples());
    cost.most_bytes = std::max(cost.most_bytes, seen->statistics.MemoryBytes());
  }
  for (int c = 0; c < static_cast<int>(Calibrator::kLog); ++c) {
    const auto calibrator = static_cast<Calibrator>(c);
    const Clock::time_point start = Clock::now();
    HALFTONE_RETURN_IF_ERROR(last->Ranges({calibrator}).status());
    cost.calibrator_ms[std::string(CalibratorName(calibrator))] = Milliseconds(start);
  }
  return cost;
}

void Print(const Cost& cost) {
  std::printf("plain %.3f ms, calibrating %.3f ms per sample, ratio %.3f\n", cost.plain_ms, cost.calibrating_ms,
              cost.ratio);
  std::printf("%zu values, %.2f million elements per sample, at most %zu bytes per value\n", cost.values,
              cost.numbers / 1e6, cost.most_bytes);
  for (const auto& [name, ms] : cost.calibrator_ms) std::printf("%s: %.1f ms\n", name.c_str(), ms);
}

void PrintJson(const Cost& cost) {
  const nlohmann::json json = {{"plain_ms", cost.plain_ms},
                               {"calibrating_ms", cost.calibrating_ms},
                               {"ratio", cost.ratio},
                               {"values", cost.values},
                               {"numbers", cost.numbers},
                               {"most_bytes", cost.most_bytes},
                               {"calibrator_ms", cost.calibrator_ms}};
  std::printf("%s\n", json.dump().c_str());
}

int Main(int argc, char** argv) {
  std::string model, samples;
  int threads = 1, repetitions = 7;
  bool json = false;
  CLI::App app("The time of calibration relative to plain fp32 runs");
  app.add_option("MODEL", model)->required();
  app.add_option("--samples", samples);
  app.add_option("--threads", threads);
  app.add_option("--repetitions", repetitions)->check(CLI::Range(1, 1000));
  app.add_flag("--json", json);
  CLI11_PARSE(app, argc, argv);
  const absl::StatusOr<Cost> cost = Measure(model, samples, threads, repetitions);
  if (!cost.ok()) {
    std::fprintf(stderr, "calibration_cost: %s\n", std::string(cost.status().message()).c_str());
    return 1;
  }
  json ? PrintJson(*cost) : Print(*cost);
  return 0;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }
