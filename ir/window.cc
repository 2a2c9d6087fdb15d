// SPDX-License-Identifier: Apache-2.0
#include "ir/window.h"

#include <algorithm>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"
#include "ir/window_settings_internal.h"

namespace halftone {
namespace {

struct Settings : WindowSettings {
  bool ceil_mode = false;
};

absl::StatusOr<Settings> ReadSettings(const Attributes& attributes, size_t rank) {
  Settings s;
  HALFTONE_ASSIGN_OR_RETURN(static_cast<WindowSettings&>(s), ReadWindowSettings(attributes, rank));
  s.ceil_mode = attributes.Bool("ceil_mode", false);
  return s;
}

struct OneDimension {
  int64_t output = 0, pad_begin = 0, pad_end = 0;
};

// REQUIRES: settings of ReadSettings
absl::StatusOr<OneDimension> Resolve(const Settings& s, size_t i, int64_t input, int64_t kernel) {
  if (kernel < 1 || kernel > kLargestWindow || input > kLargestWindow) {
    return absl::InvalidArgumentError(Concat("a window of ", kernel, " over ", input, " elements"));
  }
  const int64_t rank = static_cast<int64_t>(s.strides.size());
  const int64_t stride = s.strides[i];
  const int64_t extent = (kernel - 1) * s.dilations[i] + 1;  // elements from the first to the last tap
  OneDimension result;
  if (s.same()) {
    result.output = (input + stride - 1) / stride;
    const int64_t total = std::max<int64_t>((result.output - 1) * stride + extent - input, 0);
    result.pad_begin = s.SamePadBegin(total);
    result.pad_end = total - result.pad_begin;
    return result;
  }
  result.pad_begin = s.pads[i];
  result.pad_end = s.pads[i + rank];
  const int64_t room = input + result.pad_begin + result.pad_end - extent;  // steps of the first tap, if >= 0
  if (room <= -stride) {
    return absl::InvalidArgumentError(Concat("a window of ", extent, " elements does not fit into ", input,
                                             " with pads ", result.pad_begin, " and ", result.pad_end));
  }
  if (room < 0) return result;
  result.output = room / stride + 1;
  if (s.ceil_mode && s.auto_pad == "NOTSET") {
    if (room % stride != 0) ++result.output;
    if ((result.output - 1) * stride >= input + result.pad_begin) --result.output;
  }
  return result;
}

// One dimension of output from one that is unknown: known only by name, where the window changes nothing.
Dim ResolveUnknown(const Settings& s, size_t i, const Dim& input, const Dim& kernel) {
  if (s.strides[i] != 1) return Dim::Unknown();
  if (s.same()) return input;
  const int64_t rank = static_cast<int64_t>(s.strides.size());
  const int64_t pads = s.pads[i] + s.pads[i + rank];
  return kernel.known() && (kernel.value - 1) * s.dilations[i] == pads ? input : Dim::Unknown();
}

}  // namespace

absl::StatusOr<Window> ResolveWindow(const Attributes& attributes, std::span<const int64_t> input,
                                     std::span<const int64_t> kernel) {
  if (kernel.size() != input.size()) {
    return absl::InvalidArgumentError(Concat("a window of ", kernel.size(), " dimensions over ", input.size()));
  }
  HALFTONE_ASSIGN_OR_RETURN(Settings settings, ReadSettings(attributes, input.size()));
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  for (size_t i = 0; i < input.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(const OneDimension one, Resolve(settings, i, input[i], kernel[i]));
    window.output.push_back(one.output);
    window.pads_begin.push_back(one.pad_begin);
    window.pads_end.push_back(one.pad_end);
  }
  window.strides = std::move(settings.strides);
  window.dilations = std::move(settings.dilations);
  return window;
}

absl::StatusOr<std::vector<Dim>> WindowOutputDims(const Attributes& attributes, std::span<const Dim> input,
                                                  std::span<const Dim> kernel) {
  if (kernel.size() != input.size()) {
    return absl::InvalidArgumentError(Concat("a window of ", kernel.size(), " dimensions over ", input.size()));
  }
  HALFTONE_ASSIGN_OR_RETURN(const Settings settings, ReadSettings(attributes, input.size()));
  std::vector<Dim> output;
  for (size_t i = 0; i < input.size(); ++i) {
    if (!input[i].known() || !kernel[i].known()) {
      output.push_back(ResolveUnknown(settings, i, input[i], kernel[i]));
      continue;
    }
    HALFTONE_ASSIGN_OR_RETURN(const OneDimension one, Resolve(settings, i, input[i].value, kernel[i].value));
    output.push_back(Dim::Of(one.output));
  }
  return output;
}

bool IsChannelsLast(const Attributes& attributes) { return attributes.String("layout", "NCHW") == "NHWC"; }

int ChannelAxis(const Attributes& attributes, int rank) { return IsChannelsLast(attributes) ? rank - 1 : 1; }

}  // namespace halftone
