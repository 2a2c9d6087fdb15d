// SPDX-License-Identifier: Apache-2.0
#include "optimizer/calibrate.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/version.h"
#include "formats/ranges/min_max_log.h"
#include "formats/ranges/ranges_json.h"
#include "optimizer/prepare.h"
#include "optimizer/ranges_cache.h"
#include "optimizer/samples.h"
#include "runtime/cpu/target.h"

namespace halftone {
namespace {

constexpr size_t kMostNames = 5;  // in a warning

// In pieces: the pages of a mapped file would be memory of this process, which must not grow with the samples.
absl::StatusOr<std::string> DigestOf(const std::string& path) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) return ErrnoToStatus(errno, Concat("cannot read ", path));
  Sha256 digest;
  std::string piece(kPieceBytes, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    digest.Update({piece.data(), static_cast<size_t>(file.gcount())});
  }
  if (file.bad()) return ErrnoToStatus(errno, Concat("cannot read ", path));
  return digest.Hex();
}

// Of one file its digest, of several the digest of theirs in order.
absl::StatusOr<std::string> DigestOf(const std::vector<SampleFile>& files) {
  std::string digests;
  for (const SampleFile& file : files) {
    HALFTONE_ASSIGN_OR_RETURN(const std::string digest, DigestOf(file.path));
    digests += digest;
  }
  return files.size() == 1 ? digests : Sha256Hex(digests);
}

CalibratorOptions CalibratorOf(const Int8Options& int8) {
  CalibratorOptions calibrator = int8.calibrator;
  calibrator.integers = {.type = int8.quantize.activations, .symmetric = int8.quantize.symmetric_activations};
  return calibrator;
}

// "'a', 'b' and 3 more".
std::string Names(const std::vector<std::string>& names) {
  std::vector<std::string> first;
  for (const std::string& name : names) {
    if (first.size() == kMostNames) break;
    first.push_back(Concat("'", name, "'"));
  }
  std::string text = absl::StrJoin(first, ", ");
  if (names.size() > kMostNames) text += Concat(" and ", names.size() - kMostNames, " more");
  return text;
}

// The same error, naming the file that was read last if it does not yet.
absl::Status NameSamples(absl::Status status, const std::string& label, size_t files) {
  if (label.empty() || StdView(status.message()).find(label) != std::string_view::npos) return status;
  const std::string_view numbering = files > 1 ? " (samples are numbered through all files)" : "";
  return SamplesError(Annotate(std::move(status), Concat("samples '", label, "'", numbering)));
}

// Runs the samples, or random ones where there are none, through the graph.
absl::StatusOr<Calibration> SeeSamples(const Graph& fused, const OptimizeOptions& options) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<SampleSource> source_of_samples,
                            OpenSamplesOrRandom(options.calibration, options.benchmark.seed));
  SampleSource& samples = *source_of_samples;
  Graph graph = fused;
  HALFTONE_RETURN_IF_ERROR(
      PrepareToRun(graph, options.benchmark.sizes, samples.dims(), Preparation::kPlain, *MakeCpuTarget()));
  HALFTONE_RETURN_IF_ERROR(samples.Bind(graph));
  int64_t next = 0;
  const CalibrationSource source = [&]() -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (next == samples.num_batches()) return std::nullopt;
    HALFTONE_ASSIGN_OR_RETURN(Batch batch, samples.Read(next++));
    return CalibrationBatch{std::move(batch.inputs), batch.rows, batch.capacity};
  };
  absl::StatusOr<Calibration> seen = Calibration::Collect(graph, source, {.threads = options.benchmark.threads});
  if (seen.ok() || next == 0) return seen;
  return NameSamples(seen.status(), samples.LabelOf(next - 1), options.calibration.size());
}

// A file's ranges and what it says of them.
absl::StatusOr<RangesFile> ReadRangesFile(const SampleFile& file, const Graph& imported, const LogTrimming& trimming,
                                          std::vector<std::string>& warnings) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.path));
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return ReadRanges(text, file.label);
  HALFTONE_ASSIGN_OR_RETURN(const MinMaxLog log, ParseMinMaxLog(text, file.label));
  RangesFile result;
  result.calibrator = Calibrator::kLog;
  HALFTONE_ASSIGN_OR_RETURN(result.ranges, RangesOfLog(log, imported, trimming, file.label));
  if (!log.unread_lines.empty()) {
    warnings.push_back(Concat("ranges '", file.label, "': ", log.unread_lines.size(),
                              " lines hold a record's words but ", "none that can be read, the first is line ",
                              log.unread_lines.front()));
  }
  return result;
}

// Ranges of values that the graph does not have are left out.
absl::Status KeepKnown(const Graph& fused, const SampleFile& file, ValueRanges& ranges,
                       std::vector<std::string>& warnings) {
  const std::set<std::string> known = RangeNames(fused);
  std::vector<std::string> unknown;
  for (const auto& [name, range] : ranges.values) {
    if (!known.contains(name)) unknown.push_back(name);
  }
  if (unknown.size() == ranges.values.size()) {
    return absl::InvalidArgumentError(Concat("ranges '", file.label, "': none of its ", unknown.size(),
                                             " ranges is of a value of this model",
                                             unknown.empty() ? "" : Concat("; it has ", Names(unknown))));
  }
  for (const std::string& name : unknown) ranges.values.erase(name);
  if (!unknown.empty()) {
    warnings.push_back(Concat("ranges '", file.label, "': the fused model has no value ", Names(unknown)));
  }
  return absl::OkStatus();
}

void Summarize(const RangesFile& file, CalibrationSummary& summary) {
  summary.always_zero_channels.clear();
  summary.still_widening.clear();
  summary.samples = file.ranges.samples;
  summary.synthetic = file.ranges.synthetic;
  summary.calibrator = std::string(CalibratorName(file.calibrator));
  for (const auto& [name, range] : file.ranges.values) {
    const int64_t zero_channels = static_cast<int64_t>(range.AlwaysZeroChannels().size());
    if (zero_channels > 0) summary.always_zero_channels[name] = zero_channels;
    if (range.still_widening) summary.still_widening.push_back(name);
  }
}

// What an earlier job made of the same graph, samples and options, where there is such. One that cannot be used is made
// again, with a warning.
std::optional<RangesFile> FindKnownRanges(const Graph& fused, const RangesFile& wanted, const OptimizeOptions& options,
                                          CalibratedRanges& result) {
  if (!options.known_ranges.has_value()) return std::nullopt;
  result.summary.key = RangesKey(fused, wanted, options.benchmark);
  const auto known = options.known_ranges->find(result.summary.key);
  if (known == options.known_ranges->end()) return std::nullopt;
  absl::StatusOr<RangesFile> file = ReadKnownRanges(known->second, fused, wanted);
  if (file.ok()) return *std::move(file);
  result.warnings.push_back(
      Concat("int8: ranges from the cache cannot be used and are made again: ", file.status().message()));
  return std::nullopt;
}

// The sources of ranges: a file that was given, the cache, samples, random inputs.
absl::StatusOr<RangesFile> FindRanges(const Graph& imported, const Graph& fused, const OptimizeOptions& options,
                                      const std::string& model_sha256, CalibratedRanges& result) {
  const Int8Options& int8 = options.int8;
  if (int8.ranges.has_value()) {
    HALFTONE_ASSIGN_OR_RETURN(RangesFile file,
                              ReadRangesFile(*int8.ranges, imported, int8.trim_ranges, result.warnings));
    HALFTONE_RETURN_IF_ERROR(KeepKnown(fused, *int8.ranges, file.ranges, result.warnings));
    if (!file.model_sha256.empty() && file.model_sha256 != model_sha256) {
      result.warnings.push_back(Concat("ranges '", int8.ranges->label, "' were made for another model file (",
                                       file.model_sha256.substr(0, 12), "...); this one is ",
                                       model_sha256.substr(0, 12), "..."));
    }
    result.summary.source = "ranges";
    return file;
  }
  const CalibratorOptions calibrator = CalibratorOf(int8);
  RangesFile file;
  file.calibrator = calibrator.calibrator;
  file.integers = calibrator.integers;
  file.percentile = calibrator.percentile;
  const bool synthetic = options.calibration.empty();
  if (!synthetic) {
    HALFTONE_ASSIGN_OR_RETURN(file.samples_sha256, DigestOf(options.calibration));
    if (std::optional<RangesFile> known = FindKnownRanges(fused, file, options, result); known.has_value()) {
      result.summary.source = "cache";
      return *std::move(known);
    }
  }
  result.summary.source = synthetic ? "synthetic" : "samples";
  HALFTONE_ASSIGN_OR_RETURN(Calibration seen, SeeSamples(fused, options));
  HALFTONE_ASSIGN_OR_RETURN(file.ranges, seen.Ranges(calibrator));
  file.ranges.synthetic = synthetic;
  if (!int8.goal.empty()) result.seen = std::make_shared<const Calibration>(std::move(seen));
  return file;
}

// "dir/resnet50.onnx" -> "resnet50.ranges.json".
std::string RangesFileName(const ModelSource& model) {
  return Concat(std::filesystem::path(model.label()).stem().string(), ".ranges.json");
}

// Writes the file and says in the summary what it holds; the ranges and what else it says go to `result`.
absl::Status Keep(RangesFile file, const OptimizeOptions& options, CalibratedRanges& result) {
  Summarize(file, result.summary);
  const std::string text = WriteRanges(file);
  result.summary.file_name = RangesFileName(options.model);
  result.summary.path = Concat(options.out_dir, "/", result.summary.file_name);
  result.summary.sha256 = Sha256Hex(text);
  HALFTONE_RETURN_IF_ERROR(WriteFileAtomically(result.summary.path, text));
  result.ranges = std::move(file.ranges);
  file.ranges = {};
  result.origin = std::move(file);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CalibratedRanges> CalibrateModel(const Graph& imported, const Graph& fused,
                                                const OptimizeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CalibratedRanges result;
  HALFTONE_ASSIGN_OR_RETURN(const std::string model_sha256, DigestOf(options.model.path));
  HALFTONE_ASSIGN_OR_RETURN(RangesFile file, FindRanges(imported, fused, options, model_sha256, result));
  file.tool_version = kVersion;
  file.model_sha256 = model_sha256;
  if (file.ranges.synthetic) {
    result.warnings.push_back(
        "int8: the ranges are those of RANDOM inputs: accuracy on real data will be poor; give calibration samples");
  }
  HALFTONE_RETURN_IF_ERROR(Keep(std::move(file), options, result));
  result.summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

absl::StatusOr<ValueRanges> RangesByCalibrator(const Graph& fused, const OptimizeOptions& options,
                                               CalibratedRanges& calibrated) {
  if (calibrated.seen == nullptr) {
    HALFTONE_ASSIGN_OR_RETURN(Calibration seen, SeeSamples(fused, options));
    calibrated.seen = std::make_shared<const Calibration>(std::move(seen));
  }
  HALFTONE_ASSIGN_OR_RETURN(ValueRanges ranges, calibrated.seen->Ranges(CalibratorOf(options.int8)));
  ranges.synthetic = options.calibration.empty();
  return ranges;
}

absl::Status TakeRanges(ValueRanges ranges, const Graph& fused, const OptimizeOptions& options,
                        CalibratedRanges& calibrated) {
  RangesFile file = calibrated.origin;
  file.ranges = std::move(ranges);
  file.calibrator = options.int8.calibrator.calibrator;
  file.percentile = options.int8.calibrator.percentile;
  if (calibrated.summary.source == "cache") calibrated.summary.source = "samples";
  if (!calibrated.summary.key.empty()) calibrated.summary.key = RangesKey(fused, file, options.benchmark);
  return Keep(std::move(file), options, calibrated);
}

}  // namespace halftone
