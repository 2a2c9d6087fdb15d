// SPDX-License-Identifier: Apache-2.0
#include "optimizer/ranges_cache.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "ir/nested.h"
#include "ir/text.h"
#include "runtime/cpu/target.h"
#include "runtime/measure/machine_facts.h"

namespace halftone {
namespace {

constexpr std::string_view kLabel = "ranges of an earlier job";

// The text has everything but the bytes of large constants.
void AddGraph(const Graph& graph, Sha256& hash) {
  hash.Update(PrintGraph(graph));
  for (const Graph* part : WithNested(graph)) {
    for (const NodeId id : part->nodes()) {
      if (part->op(id) != OpKind::kConstant) continue;
      const Tensor* tensor = part->ConstantTensor(part->output(id));
      if (tensor == nullptr) continue;
      hash.Update({reinterpret_cast<const char*>(tensor->raw()), tensor->raw() == nullptr ? 0 : tensor->byte_size()});
      for (const std::string& text : tensor->strings()) hash.Update(Concat(text.size(), ":", text));
    }
  }
}

}  // namespace

std::set<std::string> RangeNames(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : graph.nodes()) {
    for (const ValueId value : graph.node(id).outputs) {
      if (value.valid()) names.insert(RangeName(graph, value));
    }
  }
  return names;
}

std::string RangesKey(const Graph& fused, const RangesFile& wanted, const BenchmarkOptions& benchmark) {
  Sha256 hash;
  hash.Update(Concat("ranges ", kVersion, " ", DescribeMachine().build_id, " ", DescribeCpu().isa, "\n"));
  hash.Update(Concat("batch ", benchmark.sizes.batch_or_one(), " threads ", benchmark.threads, "\n"));
  for (const auto& [name, size] : benchmark.sizes.named) hash.Update(Concat("dim ", name, " ", size, "\n"));
  hash.Update(Concat(CalibratorName(wanted.calibrator), absl::StrFormat(" %.17g ", wanted.percentile),
                     DataTypeName(wanted.integers.type), wanted.integers.symmetric ? " symmetric" : "",
                     wanted.integers.narrow ? " narrow" : "", "\nsamples ", wanted.samples_sha256, "\n"));
  AddGraph(fused, hash);
  return hash.Hex();
}

absl::StatusOr<RangesFile> ReadKnownRanges(const std::string& path, const Graph& fused, const RangesFile& wanted) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return absl::NotFoundError(Concat(kLabel, ": the file cannot be read"));  // its path is the server's
  HALFTONE_ASSIGN_OR_RETURN(RangesFile file, ReadRanges(*text, kLabel));
  const bool same = file.samples_sha256 == wanted.samples_sha256 && file.calibrator == wanted.calibrator &&
                    file.integers == wanted.integers && file.percentile == wanted.percentile && !file.ranges.synthetic;
  if (!same)
    return absl::FailedPreconditionError(Concat(kLabel, ": of other samples or by another calibration method"));
  const std::set<std::string> names = RangeNames(fused);
  for (const auto& [name, range] : file.ranges.values) {
    if (!names.contains(name)) {
      return absl::FailedPreconditionError(Concat(kLabel, ": the fused model has no value '", name, "'"));
    }
  }
  return file;
}

}  // namespace halftone
