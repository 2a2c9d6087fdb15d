#include "report/calibration.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "report/names.h"

namespace halftone::report {
namespace {

// "50 samples": what the ranges came from.
std::string SourceText(const v1::Calibration& calibration) {
  if (calibration.synthetic()) {
    return "SYNTHETIC: random numbers, not samples; ranges of real data differ: give --calibration";
  }
  std::string text = calibration.source() == "ranges" ? "ranges of a file" : "";
  if (calibration.samples() > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", calibration.samples(),
                    calibration.samples() == 1 ? " sample" : " samples");
  }
  if (calibration.source() == "cache") text += ", ranges from the cache";
  return text.empty() ? "an unknown number of samples" : text;
}

}  // namespace

std::vector<std::string> CalibrationNotes(const v1::Calibration& calibration) {
  if (calibration.source().empty()) return {};
  std::string first = absl::StrCat("calibration: ", SourceText(calibration));
  if (!calibration.calibrator().empty()) absl::StrAppend(&first, "; ", Printable(calibration.calibrator()));
  if (!calibration.file().path().empty()) absl::StrAppend(&first, "; ", Printable(calibration.file().path()));
  std::vector<std::string> notes = {std::move(first)};
  if (!calibration.silent_channels().empty()) {
    google::protobuf::RepeatedPtrField<std::string> values;
    for (const v1::SilentChannels& silent : calibration.silent_channels()) {
      *values.Add() = absl::StrCat(silent.value(), " (", silent.channels(), ")");
    }
    notes.push_back(absl::StrCat("calibration: channels that no sample reached, of ", values.size(),
                                 values.size() == 1 ? " value: " : " values: ", Printable(FirstFew(values))));
  }
  if (const auto& widening = calibration.still_widening(); !widening.empty()) {
    notes.push_back(absl::StrCat("calibration: the last sample still widened ", widening.size(),
                                 widening.size() == 1 ? " range" : " ranges",
                                 ", give more: ", Printable(FirstFew(widening))));
  }
  return notes;
}

}  // namespace halftone::report
