// SPDX-License-Identifier: Apache-2.0
#include "passes/export/splits.h"

#include <optional>

#include "passes/export/split_activations.h"
#include "passes/export/split_attention.h"
#include "passes/export/split_binary_chain.h"
#include "passes/export/split_comparisons.h"
#include "passes/export/split_conv_groups.h"
#include "passes/export/split_conv_layout.h"
#include "passes/export/split_fused.h"
#include "passes/export/split_gru_attention.h"
#include "passes/export/split_instance_norm.h"
#include "passes/export/split_integer_matmul.h"
#include "passes/export/split_l2_loss.h"
#include "passes/export/split_layer_norm.h"
#include "passes/export/split_mixed_types.h"
#include "passes/export/split_prelu.h"
#include "passes/export/split_recurrent.h"
#include "passes/export/split_scaled_attention.h"
#include "passes/export/split_softmax.h"

namespace halftone {
namespace {

template <typename P>
std::unique_ptr<Pass> Make(const FileDialect& file) {
  return std::make_unique<P>(file);
}

// A split runs where the dialect lacks the feature. Without a feature it always runs: no standard op of any format says
// all of such a node.
struct SplitRow {
  std::unique_ptr<Pass> (*make)(const FileDialect& file);
  std::optional<FileFeature> unless = std::nullopt;
};

constexpr SplitRow kSplits[] = {
    {Make<SplitMixedTypes>},
    {Make<SplitBinaryChain>},
    {Make<SplitAttention>, FileFeature::kMergedAttention},  // before the next, which splits what it makes
    {Make<SplitScaledAttention>},
    {Make<SplitGruAttention>},
    {Make<SplitRecurrent>, FileFeature::kRecurrent},
    {Make<SplitIntegerMatMul>},
    {Make<SplitL2Loss>},
    {Make<SplitComparisons>},
    {Make<SplitInstanceNorm>, FileFeature::kInstanceNorm},
    {Make<SplitPRelu>, FileFeature::kPRelu},
    {Make<SplitConvLayout>, FileFeature::kConvChannelsLast},
    {Make<SplitConvGroups>, FileFeature::kConvGroups},
    {Make<SplitFused>},                                   // after all that make convolutions and matmuls with parts
    {Make<SplitActivations>, FileFeature::kActivations},  // after it: it makes them
    {Make<SplitLayerNorm>, FileFeature::kLayerNorm},
    {Make<SplitSoftmax>},
};

}  // namespace

std::vector<std::unique_ptr<Pass>> SplitsFor(const FileDialect& file) {
  std::vector<std::unique_ptr<Pass>> passes;
  for (const SplitRow& row : kSplits) {
    if (!row.unless.has_value() || !file.has(*row.unless)) passes.push_back(row.make(file));
  }
  return passes;
}

}  // namespace halftone
