// One round of one file, in a process of its own: the twin of onnxruntime_round.py.
//
//   halftone_round MODEL SAMPLES.npz --seconds S --batch N --threads K
//
// Reads, optimizes, plans and times the file as the workers of `halftone bench` do (MeasureVariant). Prints JSON: the
// samples in ms, and why the round must not be believed. The settings of OpenMP must be there before the process starts
// threads, so the program starts itself again with them.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "CLI/CLI.hpp"
#include "optimizer/variant_child.h"
#include "runtime/benchmark.h"

namespace halftone {
namespace {

constexpr char kIsSecondStart[] = "HALFTONE_ROUND_STARTED";

void StartAgainWithSettings(int threads, char** argv) {
  for (const std::string& setting : RoundEnvironment(threads)) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), /*overwrite=*/1);
  }
  setenv(kIsSecondStart, "1", 1);
  execv("/proc/self/exe", argv);
}

int Main(int argc, char** argv) {
  RoundSpec spec;
  std::string samples;
  CLI::App app("times one file in this process");
  app.add_option("MODEL", spec.run.model.path)->required();
  app.add_option("SAMPLES", samples)->required();
  app.add_option("--seconds", spec.seconds);
  app.add_option("--batch", spec.run.batch);
  app.add_option("--threads", spec.run.threads);
  CLI11_PARSE(app, argc, argv);
  if (std::getenv(kIsSecondStart) == nullptr) StartAgainWithSettings(spec.run.threads, argv);

  spec.run.samples = {{samples, samples}};
  const absl::StatusOr<RoundResult> round = MeasureVariant(spec);
  if (!round.ok()) {
    std::fprintf(stderr, "halftone_round: %s\n", std::string(round.status().message()).c_str());
    return 1;
  }
  nlohmann::json out;
  out["samples_ms"] = round->samples_ms;
  out["noise"] = InvalidReasons(round->facts, spec.run.threads);
  out["spin_us"] = round->facts.spin_us;
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace halftone

int main(int argc, char** argv) { return halftone::Main(argc, argv); }
