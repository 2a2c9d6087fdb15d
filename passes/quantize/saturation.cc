#include "passes/quantize/saturation.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ir/pair_sums.h"
#include "ir/weight_channels.h"
#include "passes/quantize/quantizable_ops.h"

namespace halftone {
namespace {

constexpr int kSevenBitLimit = 63;

constexpr std::string_view kNames[] = {"proved", "7 bits", "may saturate", "s8 activations"};

// What a dequantize_linear in front of this input reads; kNoValue if there is none.
ValueId Integers(const Graph& graph, NodeId id, int input) {
  const ValueId value = graph.input(id, input);
  if (!value.valid() || graph.op(value) != OpKind::kDequantizeLinear) return kNoValue;
  return graph.input(graph.producer(value), 0);
}

}  // namespace

std::string_view SaturationName(Saturation saturation) { return kNames[static_cast<int>(saturation)]; }

std::vector<SaturationCertificate> CertifySaturation(const Graph& graph) {
  std::vector<SaturationCertificate> certificates;
  for (const NodeId id : graph.TopologicalOrder()) {
    const ValueId data = Integers(graph, id, 0);
    if (!data.valid()) continue;
    PairSums sums;
    bool narrow = true, found = false;
    for (const int i : QuantizableInputs(graph, id)) {
      const ValueId weights = TakesWeights(QuantizedRoleOf(graph, id), i) ? Integers(graph, id, i) : kNoValue;
      if (!graph.IsConstant(weights) || graph.type(weights) != DataType::kInt8) continue;
      const Tensor& tensor = *graph.ConstantTensor(weights);
      const std::span<const int8_t> integers = tensor.data<int8_t>();
      const std::optional<WeightChannels> channels = WeightChannelsOf(graph.node(id), tensor.dims());
      const PairSums own = channels.has_value() ? PairSumsOf(integers, *channels) : PairSumsOfAny(integers);
      sums = {std::max(sums.most, own.most), std::min(sums.least, own.least),
              std::max(sums.worst_output, own.worst_output)};
      narrow = narrow &&
               std::ranges::all_of(integers, [](int8_t w) { return w >= -kSevenBitLimit && w <= kSevenBitLimit; });
      found = true;
    }
    if (!found) continue;
    SaturationCertificate certificate{.node = graph.Label(id), .most = sums.most, .least = sums.least};
    if (graph.type(data) == DataType::kInt8 && sums.worst_output >= 0) {
      certificate.saturation = Saturation::kHalvesWeights;
    } else if (!sums.fit()) {
      certificate.saturation = Saturation::kMay;
    } else if (narrow) {
      certificate.saturation = Saturation::kSevenBits;
    }
    certificates.push_back(std::move(certificate));
  }
  return certificates;
}

}  // namespace halftone
