// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/run.h"

#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "ir/reference/reference.h"
#include "tests/fuzz/generators.h"

namespace halftone::fuzz {
namespace {

// Graphs of six ops and of two take turns: file formats can express more of the small ones.
constexpr uint64_t kLarge = 6, kSmall = 2;

// Ops that passes fuse into convolutions and matmuls or simplify around them.
const std::vector<OpKind> kFollowers = {OpKind::kBatchNorm, OpKind::kAdd,     OpKind::kMul,       OpKind::kRelu,
                                        OpKind::kClip,      OpKind::kSigmoid, OpKind::kLeakyRelu, OpKind::kBiasAdd,
                                        OpKind::kTranspose, OpKind::kTanh,    OpKind::kElu,       OpKind::kIdentity};

// Op number `index` of an endless sequence of random permutations of all ops.
OpKind OpAt(uint64_t index, const std::vector<OpKind>& ops) {
  std::vector<size_t> order(ops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Maker shuffle(0x5eed + index / ops.size());
  for (size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<size_t>(shuffle.Int(0, static_cast<int64_t>(i)))]);
  }
  return ops[order[index % ops.size()]];
}

bool IsComputing(const Graph& graph, NodeId id) {
  return graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant;
}

}  // namespace

absl::StatusOr<Case> MakeCase(uint64_t seed, const std::vector<OpKind>& ops) {
  Maker maker(seed);
  const bool small = seed % 2 == 1;
  const uint64_t first = seed / 2 * (kLarge + kSmall) + (small ? kLarge : 0);
  for (uint64_t i = 0; i < (small ? kSmall : kLarge) && maker.status().ok(); ++i) {
    const OpKind op = OpAt(first + i, ops);
    FindGenerator(op)->make(maker, op);
    const bool contraction = Info(op).group == OpGroup::kContraction;
    while (maker.status().ok() && maker.Chance(contraction ? 60 : 10)) {
      const OpKind follower = maker.OneOf(kFollowers);
      FindGenerator(follower)->make(maker, follower);
    }
  }
  if (!maker.status().ok()) return maker.status();
  return maker.Finish();
}

Coverage FindCoverage(const Subject& subject) {
  Coverage coverage;
  for (int i = 0; i < kNumOps; ++i) {
    const OpKind op = static_cast<OpKind>(i);
    const std::string name(OpName(op));
    if (op == OpKind::kInput || op == OpKind::kConstant || op == OpKind::kOpaque) continue;
    const Generator* generator = FindGenerator(op);
    if (!reference::HasReference(op)) {
      coverage.not_covered[name] = "no reference function";
    } else if (generator == nullptr) {
      coverage.not_covered[name] = "no generator";
    } else {
      Maker maker(7);
      generator->make(maker, op);
      const absl::Status made = maker.status();
      const Outcome outcome = made.ok() ? Check(maker.Finish(), subject) : Outcome();
      if (absl::IsUnimplemented(made)) {
        coverage.not_covered[name] = std::string(made.message());
      } else if (!outcome.cannot_run.empty()) {
        coverage.not_covered[name] = outcome.cannot_run;
      } else {
        coverage.ops.push_back(op);
      }
    }
  }
  return coverage;
}

std::optional<Failure> TrySeed(uint64_t seed, const Coverage& coverage, const Subject& subject, Totals& totals) {
  const absl::StatusOr<Case> made = MakeCase(seed, coverage.ops);
  if (!made.ok()) return Failure{seed, Concat("cannot make a graph: ", std::string(made.status().message()), "\n"), 0};
  const Outcome outcome = Check(*made, subject);
  if (!outcome.cannot_run.empty()) {
    ++totals.cannot_run[outcome.cannot_run];
    return std::nullopt;
  }
  ++totals.graphs;
  totals.onnx += outcome.onnx;
  totals.graphdef += outcome.graphdef;
  for (const NodeId id : made->graph.nodes()) ++totals.nodes[made->graph.op(id)];
  if (!outcome.failed()) return std::nullopt;
  const Case small = Minimize(*made, subject, outcome);
  const Outcome again = Check(small, subject);
  Failure failure{
      seed, Concat(outcome.stage, ": ", again.failed() ? again.problem : outcome.problem, "\n", Describe(small)), 0};
  for (const NodeId id : small.graph.nodes()) failure.nodes += IsComputing(small.graph, id);
  return failure;
}

}  // namespace halftone::fuzz
