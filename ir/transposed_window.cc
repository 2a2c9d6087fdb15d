// SPDX-License-Identifier: Apache-2.0
#include "ir/transposed_window.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/window_settings_internal.h"

namespace halftone {
namespace {

struct Settings : WindowSettings {
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;  // empty if not given
};

absl::StatusOr<Settings> ReadSettings(const Attributes& attributes, size_t rank) {
  Settings s;
  HALFTONE_ASSIGN_OR_RETURN(static_cast<WindowSettings&>(s), ReadWindowSettings(attributes, rank));
  HALFTONE_ASSIGN_OR_RETURN(s.output_padding, WindowNumbers(attributes, "output_padding", rank, 0, 0));
  if (!attributes.Ints("output_shape").empty()) {
    const size_t written = attributes.Ints("output_shape").size();  // some exporters write batch and channels, too
    HALFTONE_ASSIGN_OR_RETURN(s.output_shape,
                              WindowNumbers(attributes, "output_shape", written == rank + 2 ? written : rank, 0, 0));
    s.output_shape.erase(s.output_shape.begin(), s.output_shape.end() - static_cast<int64_t>(rank));
  }
  return s;
}

struct OneDimension {
  int64_t output = 0, pad_begin = 0, pad_end = 0;
};

// REQUIRES: settings of ReadSettings. `given`: the size that an input says.
absl::StatusOr<OneDimension> Resolve(const Settings& s, size_t i, int64_t input, int64_t kernel,
                                     std::optional<int64_t> given) {
  if (kernel < 1 || kernel > kLargestWindow || input > kLargestWindow || given.value_or(0) < 0 ||
      given.value_or(0) > kLargestWindow) {
    return absl::InvalidArgumentError(Concat("a window of ", kernel, " over ", input, " elements",
                                             given.has_value() ? Concat(" into ", *given) : ""));
  }
  const size_t rank = s.strides.size();
  const int64_t reach = input == 0
                            ? s.output_padding[i]
                            : (input - 1) * s.strides[i] + (kernel - 1) * s.dilations[i] + 1 + s.output_padding[i];
  OneDimension result;
  std::optional<int64_t> wanted = given;
  if (!wanted.has_value() && !s.output_shape.empty()) wanted = s.output_shape[i];
  if (!wanted.has_value() && s.same()) wanted = std::min(input * s.strides[i], reach);
  if (!wanted.has_value()) {
    result.pad_begin = s.pads[i];
    result.pad_end = s.pads[i + rank];
    result.output = reach - result.pad_begin - result.pad_end;
    if (result.output < 0) {
      return absl::InvalidArgumentError(
          Concat("pads ", result.pad_begin, " and ", result.pad_end, " take more than the ", reach, " elements made"));
    }
    return result;
  }
  result.output = *wanted;
  const int64_t total = std::max<int64_t>(reach - *wanted, 0);
  if (given.has_value() && !s.same()) {
    result.pad_begin = s.pads[i];
  } else {
    result.pad_begin = s.SamePadBegin(total);
  }
  result.pad_end = reach - result.pad_begin - *wanted;
  return result;
}

absl::Status CheckRanks(size_t input, size_t kernel, size_t output) {
  if (kernel == input && (output == 0 || output == input)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Concat("a window of ", kernel, " dimensions over ", input, output == 0 ? "" : Concat(" into ", output)));
}

}  // namespace

absl::StatusOr<TransposedWindow> ResolveTransposedWindow(const Attributes& attributes, std::span<const int64_t> input,
                                                         std::span<const int64_t> kernel,
                                                         std::span<const int64_t> output) {
  HALFTONE_RETURN_IF_ERROR(CheckRanks(input.size(), kernel.size(), output.size()));
  HALFTONE_ASSIGN_OR_RETURN(Settings settings, ReadSettings(attributes, input.size()));
  TransposedWindow window;
  window.kernel.assign(kernel.begin(), kernel.end());
  for (size_t i = 0; i < input.size(); ++i) {
    const std::optional<int64_t> given = output.empty() ? std::nullopt : std::optional<int64_t>(output[i]);
    HALFTONE_ASSIGN_OR_RETURN(const OneDimension one, Resolve(settings, i, input[i], kernel[i], given));
    window.output.push_back(one.output);
    window.pads_begin.push_back(one.pad_begin);
    window.pads_end.push_back(one.pad_end);
  }
  window.strides = std::move(settings.strides);
  window.dilations = std::move(settings.dilations);
  return window;
}

absl::StatusOr<std::vector<Dim>> TransposedOutputDims(const Attributes& attributes, std::span<const Dim> input,
                                                      std::span<const Dim> kernel, std::span<const Dim> output) {
  HALFTONE_RETURN_IF_ERROR(CheckRanks(input.size(), kernel.size(), output.size()));
  HALFTONE_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(attributes, input.size()));
  std::vector<Dim> result;
  for (size_t i = 0; i < input.size(); ++i) {
    if (!output.empty()) {
      result.push_back(output[i]);
    } else if (!settings.output_shape.empty()) {
      result.push_back(Dim::Of(settings.output_shape[i]));
    } else if (input[i].known() && kernel[i].known()) {
      HALFTONE_ASSIGN_OR_RETURN(const OneDimension one,
                                Resolve(settings, i, input[i].value, kernel[i].value, std::nullopt));
      result.push_back(Dim::Of(one.output));
    } else {
      const int64_t pads = settings.pads[i] + settings.pads[i + input.size()];
      const bool unchanged =
          settings.strides[i] == 1 &&
          (settings.same() ||
           (kernel[i].known() && (kernel[i].value - 1) * settings.dilations[i] + settings.output_padding[i] == pads));
      result.push_back(unchanged ? input[i] : Dim::Unknown());
    }
  }
  return result;
}

}  // namespace halftone
