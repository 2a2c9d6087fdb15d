// SPDX-License-Identifier: Apache-2.0
#include "report/calibration.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "report/names.h"

namespace halftone::report {
namespace {

// "50 samples": the source of the ranges.
std::string SourceText(const v1::Calibration& calibration) {
  if (calibration.synthetic()) return "RANDOM DATA, ranges and accuracy of real data differ: give --calibration";
  std::string text = calibration.source() == "ranges" ? "ranges of a file" : "";
  if (calibration.samples() > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", calibration.samples(),
                    calibration.samples() == 1 ? " sample" : " samples");
  }
  if (calibration.source() == "cache") text += ", ranges from the cache";
  return text.empty() ? "an unknown number of samples" : text;
}

}  // namespace

std::string CalibrationNote(const v1::Calibration& calibration) {
  if (calibration.source().empty()) return "";
  std::string note = absl::StrCat("calibration: ", SourceText(calibration));
  const std::string& method = calibration.calibration_method();
  if (!method.empty()) absl::StrAppend(&note, "; ", Printable(method));
  if (!calibration.file().path().empty()) absl::StrAppend(&note, "; ", Printable(calibration.file().path()));
  return note;
}

std::vector<std::string> CalibrationDetails(const v1::Calibration& calibration) {
  std::vector<std::string> details;
  if (!calibration.always_zero_channels().empty()) {
    google::protobuf::RepeatedPtrField<std::string> tensors;
    for (const v1::AlwaysZeroChannels& row : calibration.always_zero_channels()) {
      *tensors.Add() = absl::StrCat(row.tensor(), " (", row.channels(), ")");
    }
    details.push_back(absl::StrCat("calibration: always-zero channels in ", tensors.size(),
                                   tensors.size() == 1 ? " tensor: " : " tensors: ", Printable(FirstFew(tensors))));
  }
  if (const auto& tensors = calibration.not_converged(); !tensors.empty()) {
    details.push_back(absl::StrCat("calibration: not converged, ", tensors.size(),
                                   tensors.size() == 1 ? " range" : " ranges",
                                   " still grew at the last sample, give more: ", Printable(FirstFew(tensors))));
  }
  return details;
}

}  // namespace halftone::report
