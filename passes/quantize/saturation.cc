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

constexpr int kWeights = 1;
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
    if (QuantizedRoleOf(graph, id) != QuantizedRole::kContraction) continue;
    const ValueId data = Integers(graph, id, 0), weights = Integers(graph, id, kWeights);
    if (!data.valid() || !graph.IsConstant(weights) || graph.type(weights) != DataType::kInt8) continue;
    const std::span<const int8_t> integers = graph.ConstantTensor(weights)->data<int8_t>();
    const std::optional<WeightChannels> channels = WeightChannelsOf(graph, id);
    const PairSums sums = channels.has_value() ? PairSumsOf(integers, *channels) : PairSumsOfAny(integers);
    const bool narrow =
        std::ranges::all_of(integers, [](int8_t w) { return w >= -kSevenBitLimit && w <= kSevenBitLimit; });
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
