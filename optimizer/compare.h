// SPDX-License-Identifier: Apache-2.0
// Outputs of a variant against those of the fp32 baseline and against labels, from their output logs.
#ifndef HALFTONE_OPTIMIZER_COMPARE_H_
#define HALFTONE_OPTIMIZER_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/measure/fidelity.h"

namespace halftone {

struct OutputFidelity {
  std::string output;
  Fidelity fidelity;
};

struct Comparison {
  std::vector<OutputFidelity> outputs;
  std::optional<double> top1_accuracy;  // of the variant, by the first output; nullopt without labels
  int64_t labelled_samples = 0;
};

// Record by record, padding left out, trailing dimensions of 1 dropped (so that the classes are the last axis).
absl::StatusOr<Comparison> CompareLogs(const std::string& reference_log, const std::string& variant_log);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_COMPARE_H_
