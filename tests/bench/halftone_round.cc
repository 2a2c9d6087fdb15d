// SPDX-License-Identifier: Apache-2.0
// One round of one model file in its own process. onnxruntime_round.py is the same for ONNX Runtime.
//
//   halftone_round MODEL SAMPLES.npz --seconds S --samples N --batch N --cores 0,1
//
// Reads, optimizes, plans and times the file with MeasureVariant, as workers of `halftone bench` do, with one thread per
// core. Prints JSON: the samples in ms, reasons why the round is unreliable ("noise"), and the planning time. OpenMP
// reads its settings when the process starts, so the program starts itself again with them.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "optimizer/variant_child.h"
#include "runtime/measure/benchmark.h"
#include "runtime/measure/cores.h"

namespace halftone {
namespace {

constexpr char kSecondStart[] = "HALFTONE_ROUND_OF_CORES";  // how many cores the first one was allowed

// Does not return unless it fails.
void StartAgainWithSettings(const RunSpec& run, char** argv) {
  for (const std::string& setting : RoundEnvironment(run.threads, run.cores)) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), /*overwrite=*/1);
  }
  setenv(kSecondStart, std::to_string(AllowedCores().size()).c_str(), 1);
  execv("/proc/self/exe", argv);
}

std::vector<double> Milliseconds(const TimedSamples& samples) {
  std::vector<double> ms;
  for (const int64_t ns : samples.ns) ms.push_back(ns * 1e-6 / samples.inferences_per_sample);
  return ms;
}

int Main(int argc, char** argv) {
  RoundSpec spec;
  std::string samples;
  CLI::App app("times one file in this process");
  app.add_option("MODEL", spec.run.model.path)->required();
  app.add_option("SAMPLES", samples)->required();
  app.add_option("--seconds", spec.seconds);
  app.add_option("--samples", spec.min_samples, "measured even when the time is up");
  app.add_option("--batch", spec.run.sizes.batch);
  app.add_option("--cores", spec.run.cores)->delimiter(',')->required();
  CLI11_PARSE(app, argc, argv);
  spec.run.threads = static_cast<int>(spec.run.cores.size());
  spec.run.samples = {{samples, samples}};
  const char* second_start = std::getenv(kSecondStart);
  if (second_start == nullptr) {
    StartAgainWithSettings(spec.run, argv);
    std::perror("halftone_round: cannot start itself");
    return 1;
  }

  const absl::StatusOr<RoundResult> round = MeasureVariant(spec);
  if (!round.ok()) {
    std::fprintf(stderr, "halftone_round: %s\n", std::string(round.status().message()).c_str());
    return 1;
  }
  RoundFacts facts = round->facts;
  facts.cores = std::atoi(second_start);
  nlohmann::json out;
  out["samples_ms"] = Milliseconds(round->samples);
  std::vector<std::string> noise = InvalidReasons(facts, spec.run.threads);
  for (std::string& reason : NoiseReasons(facts, spec.run.threads, NoiseLimits())) noise.push_back(std::move(reason));
  out["noise"] = noise;
  out["plan_ms"] = round->plan_ms;
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }
