// SPDX-License-Identifier: Apache-2.0
#include "optimizer/compare.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "optimizer/output_log.h"
#include "optimizer/samples.h"

namespace halftone {
namespace {

// The rows of real samples, without trailing dimensions of 1 (but for the last axis of all).
Tensor RealRows(const Tensor& output, int64_t batch, int64_t rows) {
  std::vector<int64_t> dims = output.dims();
  while (dims.size() > 1 && dims.back() == 1) dims.pop_back();
  Tensor view = output.WithDims(dims);
  if (rows >= batch || dims.empty() || dims[0] != batch) return view;
  dims[0] = rows;
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return Tensor(view.type(), dims,
                Buffer::CopyOf(view.raw(), static_cast<size_t>(elements) * ElementSize(view.type())));
}

}  // namespace

absl::StatusOr<Comparison> CompareLogs(const std::string& reference_log, const std::string& variant_log) {
  HALFTONE_ASSIGN_OR_RETURN(OutputLogReader reference, OutputLogReader::Open(reference_log));
  HALFTONE_ASSIGN_OR_RETURN(OutputLogReader variant, OutputLogReader::Open(variant_log));
  const std::vector<std::string>& names = reference.output_names();
  if (names != variant.output_names()) return absl::InternalError("a variant has other outputs than the baseline");
  std::vector<FidelityAccumulator> fidelity(names.size());
  AccuracyCounter accuracy;
  OutputRecord expected;
  OutputRecord actual;
  while (true) {
    HALFTONE_ASSIGN_OR_RETURN(const bool more, reference.Next(expected));
    HALFTONE_ASSIGN_OR_RETURN(const bool more_actual, variant.Next(actual));
    if (more != more_actual)
      return absl::InternalError("a variant has outputs for another number of samples than the baseline");
    if (!more) break;
    for (size_t i = 0; i < names.size(); ++i) {
      if (ElementSize(expected.outputs[i].type()) == 0) continue;  // strings
      const Tensor output = RealRows(actual.outputs[i], actual.batch, actual.rows);
      HALFTONE_RETURN_IF_ERROR(
          Annotate(fidelity[i].Add(RealRows(expected.outputs[i], expected.batch, expected.rows), output),
                   Concat("output '", names[i], "'")));
      if (i == 0 && !actual.labels.empty()) {
        if (absl::Status fits = accuracy.Add(output, actual.labels); !fits.ok()) {
          return SamplesError(Annotate(std::move(fits), "labels"));
        }
      }
    }
  }
  Comparison result;
  for (size_t i = 0; i < names.size(); ++i) result.outputs.push_back({names[i], fidelity[i].Result()});
  result.top1_accuracy = accuracy.top1_accuracy();
  result.labelled_samples = accuracy.rows();
  return result;
}

}  // namespace halftone
