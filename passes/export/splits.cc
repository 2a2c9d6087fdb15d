#include "passes/export/splits.h"

#include "passes/export/split_attention.h"
#include "passes/export/split_binary_chain.h"
#include "passes/export/split_comparisons.h"
#include "passes/export/split_conv_groups.h"
#include "passes/export/split_conv_layout.h"
#include "passes/export/split_gru_attention.h"
#include "passes/export/split_instance_norm.h"
#include "passes/export/split_integer_matmul.h"
#include "passes/export/split_l2_loss.h"
#include "passes/export/split_prelu.h"
#include "passes/export/split_recurrent.h"
#include "passes/export/split_scaled_attention.h"

namespace halftone {

std::vector<std::unique_ptr<Pass>> SplitsOfOps(GraphFormat format, Dialect dialect) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<SplitBinaryChain>(format, dialect));
  if (format != GraphFormat::kGraphDef) passes.push_back(std::make_unique<SplitAttention>(dialect));  // makes the next
  passes.push_back(std::make_unique<SplitScaledAttention>(format, dialect));
  passes.push_back(std::make_unique<SplitGruAttention>(format, dialect));
  if (format == GraphFormat::kGraphDef) passes.push_back(std::make_unique<SplitRecurrent>());  // ONNX has the ops
  passes.push_back(std::make_unique<SplitIntegerMatMul>(format));
  passes.push_back(std::make_unique<SplitL2Loss>(format, dialect));
  passes.push_back(std::make_unique<SplitComparisons>(format, dialect));
  passes.push_back(std::make_unique<SplitInstanceNorm>(format, dialect));
  passes.push_back(std::make_unique<SplitPRelu>(format, dialect));
  passes.push_back(std::make_unique<SplitConvLayout>(format, dialect));
  passes.push_back(std::make_unique<SplitConvGroups>(format, dialect));
  return passes;
}

}  // namespace halftone
