// SPDX-License-Identifier: Apache-2.0
// What one job is asked to do. Every step reads it; no step changes it.
#ifndef HALFTONE_OPTIMIZER_OPTIONS_H_
#define HALFTONE_OPTIMIZER_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/dialects.h"
#include "formats/formats.h"
#include "optimizer/benchmark_options.h"
#include "optimizer/import.h"
#include "optimizer/int8_options.h"
#include "optimizer/samples.h"
#include "optimizer/variant_kind.h"
#include "passes/precision/lists_planner.h"
#include "passes/precision/policy_rules.h"

namespace halftone {

enum class PlannerKind : uint8_t { kLists, kPlacement };

struct OptimizeOptions {
  ModelSource model;
  std::vector<VariantKind> precisions = {VariantKind::kBf16};  // beside fp32
  PlannerKind planner_kind = PlannerKind::kLists;
  PlannerOptions planner;             // of kLists
  std::vector<std::string> op_types;  // of kPlacement: the only ops to mark; empty: all of its list
  std::string lists_version;          // version of the planner's lists; "": the newest of TensorFlow or Paddle
  PolicyRules rules;                  // for single nodes; they override the planner
  bool bf16_math_mode = false;        // matmuls that stay f32 may round their operands to bf16
  TargetRuntime target_runtime = TargetRuntime::kAny;  // of the written files (formats/onnx/target_runtimes.h)
  std::string policy_sha256;                           // for the files' provenance; "": no policy was given
  bool force = false;                                  // convert also where the CPU has no instructions for the type
  Dialect dialect = Dialect::kPortable;                // of the written files
  std::vector<std::string> passes;      // graph transforms of the imported model: "round_weights(num_steps=64)"
  bool verify_passes = false;           // the equivalence check
  std::vector<SampleFile> calibration;  // for the ranges of int8; also used where `evaluation` is empty
  std::vector<SampleFile> evaluation;
  Int8Options int8;  // of kInt8
  // Calibrations of earlier jobs: files of ranges by RangesKey (ranges_cache.h). nullopt: every calibration is made
  // anew, and gets no key.
  std::optional<std::map<std::string, std::string>> known_ranges;
  BenchmarkOptions benchmark;
  std::string out_dir;  // absolute; variants are written here

  // The samples on which variants are compared.
  const std::vector<SampleFile>& evaluation_samples() const { return evaluation.empty() ? calibration : evaluation; }
};

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_OPTIONS_H_
