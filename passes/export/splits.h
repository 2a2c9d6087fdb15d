// The ops that stand for several, and the pass that splits each for export, in order.
#ifndef HALFTONE_PASSES_EXPORT_SPLITS_H_
#define HALFTONE_PASSES_EXPORT_SPLITS_H_

#include <memory>
#include <vector>

#include "ir/dialect.h"
#include "ir/graph.h"
#include "passes/core/pass.h"

namespace halftone {

// What they make may have fused parts of its own, which SplitFused, SplitActivations and SplitSoftmax split behind them.
std::vector<std::unique_ptr<Pass>> SplitsOfOps(GraphFormat format, Dialect dialect = Dialect::kPortable);

}  // namespace halftone

#endif  // HALFTONE_PASSES_EXPORT_SPLITS_H_
