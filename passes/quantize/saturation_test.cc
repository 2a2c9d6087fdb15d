#include "passes/quantize/saturation.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/core/pipeline.h"
#include "passes/quantize/insert_quantization.h"
#include "passes/simplify/passes.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

Graph Parsed(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

// In `near` large weights are neighbours, in `apart` they are not; `dw` adds no pairs.
constexpr char kNet[] = R"(graph (x: f32[1,4,3,3]) {
  w1 = const f32[2,4,1,1] {1, 1, 0.1, 0, 0.5, 0.25, 0, 0}
  w2 = const f32[2,2,1,1] {1, -1, 0.003, 1}
  w3 = const f32[2,1,2,2] {1, 1, 1, 1, 1, 1, 1, 1}
  near = conv(x, w1)
  apart = conv(near, w2)
  dw = conv(apart, w3) {group=2}
  return dw
})";

std::map<std::string, SaturationCertificate> Certified(const QuantizeOptions& options, RewriteLog& log,
                                                       Graph* result = nullptr) {
  const Graph graph = Parsed(kNet);
  ValueRanges ranges;
  for (const std::string name : {"x", "near", "apart"}) ranges.values[name] = {.min = -4, .max = 4};
  const PermissiveTarget target;
  PassContext context{.target = target, .log = &log};
  Pipeline pipeline("quantize");
  const std::vector<NodeId> nodes = graph.nodes();
  pipeline.Add<InsertQuantization>(ranges, std::set<NodeId>(nodes.begin(), nodes.end()), options);
  pipeline.Add<RemoveDeadNodes>();
  Graph quantized = graph;
  EXPECT_TRUE(pipeline.Run(quantized, context).ok());
  std::map<std::string, SaturationCertificate> certificates;
  for (const SaturationCertificate& certificate : CertifySaturation(quantized))
    certificates[certificate.node] = certificate;
  if (result != nullptr) *result = quantized;
  return certificates;
}

TEST(Saturation, ProvedFromTheWeights) {
  RewriteLog log;
  std::map<std::string, SaturationCertificate> certificates = Certified({}, log);
  ASSERT_EQ(certificates.size(), 3);
  EXPECT_EQ(certificates["near"].saturation, Saturation::kMay);
  EXPECT_EQ(certificates["near"].most, 255 * (127 + 127));
  EXPECT_EQ(certificates["apart"].saturation, Saturation::kCannot);
  EXPECT_EQ(certificates["apart"].most, 255 * 127);
  EXPECT_EQ(certificates["apart"].least, -255 * 127);
  EXPECT_EQ(certificates["dw"].saturation, Saturation::kCannot);
  EXPECT_EQ(certificates["dw"].most, 0);
}

TEST(Saturation, SevenBitsWhereItIsNotProved) {
  RewriteLog log;
  Graph quantized;
  std::map<std::string, SaturationCertificate> certificates = Certified({.fit_pairs = true}, log, &quantized);
  EXPECT_EQ(certificates["near"].saturation, Saturation::kSevenBits);
  EXPECT_EQ(certificates["near"].most, 255 * (63 + 63));
  EXPECT_EQ(certificates["apart"].saturation, Saturation::kCannot);  // as before
  EXPECT_EQ(certificates["apart"].most, 255 * 127);
  std::map<std::string, std::string> said;
  for (const RewriteLogEntry& entry : log.entries()) {
    if (entry.pass == "narrow-weights") said[entry.node] = entry.text;
  }
  ASSERT_EQ(said.size(), 1);
  EXPECT_THAT(said["near"], HasSubstr("could reach 64770"));
  const absl::StatusOr<std::string> difference = CompareAnswers(Parsed(kNet), quantized, /*seed=*/3, 0.1f);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_EQ(*difference, "");
}

TEST(Saturation, SignedActivationsHalveWeights) {
  RewriteLog log;
  std::map<std::string, SaturationCertificate> certificates =
      Certified({.activations = DataType::kInt8, .symmetric_activations = true}, log);
  EXPECT_EQ(certificates["apart"].saturation, Saturation::kHalvesWeights);
  EXPECT_EQ(certificates["dw"].saturation, Saturation::kCannot);
  EXPECT_EQ(SaturationName(Saturation::kHalvesWeights), "s8 activations");
}

TEST(Saturation, OfRealNumbersThereIsNothingToSay) { EXPECT_TRUE(CertifySaturation(Parsed(kNet)).empty()); }

}  // namespace
}  // namespace halftone
