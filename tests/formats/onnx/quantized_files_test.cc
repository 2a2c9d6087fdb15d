// SPDX-License-Identifier: Apache-2.0
// Every graph of the golden files, quantized wherever that can be and written as ONNX, answers the same when it is read
// back: as pairs of quantize_linear and dequantize_linear, and as operators of integers, which say the same as the
// pairs bit for bit.

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "formats/dialects.h"
#include "formats/formats.h"
#include "formats/onnx/exporter.h"
#include "formats/onnx/importer.h"
#include "gtest/gtest.h"
#include "ir/text.h"
#include "passes/core/equivalence.h"
#include "passes/core/permissive_target.h"
#include "passes/pipelines.h"
#include "tests/quantize/quantize_all_nodes.h"
#include "tests/support/golden.h"

namespace halftone {
namespace {

// Nothing is fused but what an operator of integers does itself.
constexpr std::string_view kPlain = "without conv+residual, matmul+residual, matmul+scale, matmul+bias, binary_chain";

struct Counts {
  int files = 0;
  int integer_operators = 0;
};

int CountIntegerOperators(const std::string& bytes) {
  int count = 0;
  for (size_t at = bytes.find("QLinear"); at != std::string::npos; at = bytes.find("QLinear", at + 1)) ++count;
  return count;
}

absl::Status SplitForOnnx(Graph& graph, PassContext& context) {
  const FileTypes types = FileTypesOf(ModelFormat::kOnnx);
  return MakeExportPipeline(FileDialectOf(ModelFormat::kOnnx), types).Run(graph, context);
}

bool CanBeWritten(Graph graph, PassContext& context) {
  return SplitForOnnx(graph, context).ok() && ExportOnnx(graph).ok();
}

struct Written {
  std::string bytes;
  Graph read;
};

absl::StatusOr<Written> ThroughFile(const Graph& graph, bool operators) {
  HALFTONE_ASSIGN_OR_RETURN(std::string bytes, ExportOnnx(graph, {.integer_operators = operators}));
  HALFTONE_ASSIGN_OR_RETURN(Graph read, ImportOnnx(bytes));
  return Written{std::move(bytes), std::move(read)};
}

std::string Problem(const Graph& golden, const QuantizeOptions& options, bool operators, Counts& counts) {
  const PermissiveTarget target = operators ? *PermissiveTarget::Parse(kPlain) : PermissiveTarget();
  PassContext context{.target = target};
  const OptimizedGraph optimized = OptimizeGolden(golden, context);
  if (optimized.ranges.values.empty()) return "";
  absl::StatusOr<QuantizedGraph> quantized = QuantizeAllNodes(optimized, options, context);
  if (!quantized.ok()) return std::string(quantized.status().message());
  if (!CanBeWritten(optimized.graph, context)) return "";
  Graph& graph = quantized->qdq;
  if (const absl::Status split = SplitForOnnx(graph, context); !split.ok()) return std::string(split.message());
  const absl::StatusOr<Written> pairs = ThroughFile(graph, /*operators=*/false);
  if (!pairs.ok()) return std::string(pairs.status().message());
  const absl::StatusOr<Written> file = operators ? ThroughFile(graph, true) : pairs;
  if (!file.ok()) return std::string(file.status().message());
  // A gelu that is several nodes in the file rounds more often.
  constexpr float kLastBits = 1e-5f;
  const absl::StatusOr<std::string> difference =
      operators ? CompareOutputs(pairs->read, file->read, kQuantizeSeed, /*tolerance=*/0)
                : CompareOutputs(graph, pairs->read, kQuantizeSeed, kLastBits);
  if (!difference.ok()) return "";  // opaque nodes
  ++counts.files;
  counts.integer_operators += CountIntegerOperators(file->bytes);
  return difference->empty() ? "" : Concat(*difference, "\n", PrintGraph(graph), "\n", PrintGraph(file->read));
}

TEST(QuantizedFiles, EveryGraphOfTheGoldenFilesIsReadBackExactly) {
  const absl::StatusOr<std::vector<GoldenGraph>> graphs = AllGoldenGraphs("tests/passes");
  ASSERT_TRUE(graphs.ok()) << graphs.status();
  for (const QuantizeOptions& options : kQuantizeOptions) {
    for (const bool operators : {false, true}) {
      Counts counts;
      for (const GoldenGraph& golden : *graphs) {
        EXPECT_EQ(Problem(golden.graph, options, operators, counts), "") << golden.name << " " << operators;
      }
      EXPECT_GT(counts.files, 100);
      EXPECT_GT(counts.integer_operators, operators && options.quantize_results ? 50 : -1);
    }
  }
}

}  // namespace
}  // namespace halftone
