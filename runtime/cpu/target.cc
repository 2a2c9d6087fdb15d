// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/target.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "runtime/cpu/backend.h"
#include "runtime/cpu/onednn/isa.h"
#include "runtime/cpu/onednn/version.h"
#include "runtime/cpu/quantized_support.h"

namespace halftone {
namespace {

constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16, kF16 = DataType::kFloat16;

bool IsFloatOrUnknown(DataType type) {
  return type == DataType::kUnknown || type == kF32 || type == kBf16 || type == kF16;
}

// The first of `parts` that no row of the table has; empty: none.
std::string_view MissingPart(const FusableParts& has, const FusedParts& parts) {
  if (parts.bias && !has.bias) return "a bias";
  if ((parts.residual || parts.broadcast_residual) && !has.residual) return "a residual";
  if ((parts.activation != Activation::kNone || parts.activation_first) && !has.activation) return "an activation";
  return parts.scale && !has.scale ? "a scale" : "";
}

// Asks the rows of the table (kernels.cc), and the kernels where a row alone does not tell.
class CpuTarget final : public Target {
 public:
  std::string_view name() const override { return "oneDNN"; }
  absl::Status SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const override;
  absl::Status SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const override;
  std::vector<Signature> Signatures(const Graph& graph, NodeId node) const override;
  absl::Status SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                 ValueId output) const override {
    return SupportsQuantizedNode(graph, node, inputs, output);
  }
  bool IsNative(DataType type) const override {
    if (type == kF16) return CurrentIsa().native_f16;
    return type == kF32 || (type == kBf16 && CurrentIsa().native_bf16);
  }
};

absl::Status CpuTarget::SupportsFused(const Graph& graph, NodeId id, const FusedParts& parts) const {
  const OpKind op = graph.op(id);
  const DataType type = graph.type(graph.input(id, 0));
  for (const KernelRow& row : CpuBackend().Kernels(op)) {
    if (!row.facts->fuses.any()) continue;
    if (const std::string_view missing = MissingPart(row.facts->fuses, parts); !missing.empty())
      return absl::UnimplementedError(Concat("no kernel of ", OpName(op), " with ", missing));
    if (type != DataType::kUnknown && !row.facts->types.Has(type))
      return absl::UnimplementedError(Concat("no kernel for ", OpName(op), " of ", DataTypeName(type)));
    return row.kernel->SupportsFused(graph, id, parts);
  }
  return absl::UnimplementedError(Concat("nothing is fused into ", OpName(op)));
}

// No fused op is slower than its parts on the shapes of `dev bench --fusions`: one that is must be refused by its
// kernel, with a sentence that says so.
absl::Status CpuTarget::SupportsOp(const Graph& graph, OpKind op, std::span<const ValueId> inputs) const {
  const std::span<const KernelRow> rows = CpuBackend().Kernels(op);
  const absl::Status none = absl::UnimplementedError(Concat("no kernel for ", OpName(op)));
  if (rows.empty()) return none;
  absl::Status refusal;
  for (const KernelRow& row : rows.first(rows.size() - 1)) {  // the last one is the reference
    if (!row.facts->values.Has(NodeValues::kPlain) || !row.missing.empty()) continue;
    const absl::Status supported = row.kernel->SupportsInputs(graph, inputs);
    if (supported.ok()) return supported;
    if (refusal.ok()) refusal = supported;
  }
  return refusal.ok() ? none : refusal;
}

std::vector<Signature> CpuTarget::Signatures(const Graph& graph, NodeId id) const {
  const OpKind op = graph.op(id);
  if (op == OpKind::kInput || op == OpKind::kConstant) return {};
  const std::span<const KernelRow> rows = CpuBackend().Kernels(op);
  if (rows.empty()) return {};
  const DataType type = graph.type(graph.input(id, 0));
  if (!IsFloatOrUnknown(type)) return {{type, type, graph.type(graph.output(id))}};
  const auto any = [&rows](const auto& has) { return std::ranges::any_of(rows, has); };
  const bool f32_parameters = any([](const KernelRow& row) { return row.facts->f32_parameters; });
  std::vector<Signature> signatures;
  for (const DataType operand : {kF32, kBf16, kF16}) {
    signatures.push_back({operand, f32_parameters ? kF32 : operand, operand, IsNative(operand)});
  }
  for (const auto& [operand, result] : {std::pair(kBf16, kF32), std::pair(kF32, kBf16)}) {
    const auto writes = [&](const KernelRow& row) { return row.kernel->WritesType(graph, id, operand, result); };
    if (any(writes)) signatures.push_back({operand, operand, result, IsNative(kBf16)});
  }
  const bool bf16_math = any([](const KernelRow& row) { return row.facts->bf16_math; });
  if (bf16_math && IsNative(kBf16)) signatures.push_back({kF32, kF32, kF32, true, /*bf16_math=*/true});
  return signatures;
}

}  // namespace

std::unique_ptr<Target> MakeCpuTarget() { return std::make_unique<CpuTarget>(); }

EnvironmentInfo DescribeCpu() {
  EnvironmentInfo info;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, 10, "model name") != 0) continue;
    info.cpu_model = line.substr(std::min(line.size(), colon + 2));
    break;
  }
  info.isa = CurrentIsa().name;
  info.vector_bits = CurrentIsa().vector_bits;
  info.native_int8 = CurrentIsa().native_int8;
  info.native_bf16 = CurrentIsa().native_bf16;
  info.tiles = CurrentIsa().tiles;
  info.onednn_version = onednn::Version();
  info.onednn_commit = onednn::CommitHash();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) info.cores = CPU_COUNT(&set);
  return info;
}

}  // namespace halftone
