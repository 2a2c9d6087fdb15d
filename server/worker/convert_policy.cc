// SPDX-License-Identifier: Apache-2.0
#include "server/worker/convert_policy.h"

#include <algorithm>
#include <optional>

#include "base/sha256.h"
#include "base/status.h"
#include "base/strings.h"
#include "optimizer/check_options.h"
#include "report/json.h"
#include "report/names.h"
#include "server/worker/convert.h"
#include "server/worker/convert_int8.h"

namespace halftone::worker {
namespace {

void Append(const google::protobuf::RepeatedPtrField<std::string>& from, std::vector<std::string>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

ListEdit ToEdit(const v1::ListEdit& proto) {
  ListEdit edit;
  Append(proto.add(), edit.add);
  Append(proto.remove(), edit.remove);
  return edit;
}

// nullopt: not said.
std::optional<DataType> ToType(v1::Precision precision) {
  if (precision == v1::PRECISION_FP32) return DataType::kFloat32;
  if (precision == v1::PRECISION_BF16) return DataType::kBFloat16;
  if (precision == v1::PRECISION_FP16) return DataType::kFloat16;
  if (precision == v1::PRECISION_INT8) return DataType::kInt8;
  return precision == v1::PRECISION_UNSPECIFIED ? std::nullopt : std::optional<DataType>(DataType::kUnknown);
}

PolicyRules ToRules(const v1::Policy& policy) {
  PolicyRules rules;
  for (const v1::NodeRule& rule : policy.nodes()) {
    rules.nodes.push_back({.op = rule.op(),
                           .name = rule.name(),
                           .match = rule.match(),
                           .precision = ToType(rule.precision()),
                           .min_precision = ToType(rule.min_precision()),
                           .max_precision = ToType(rule.max_precision())});
  }
  rules.keep_first = policy.keep_first();
  rules.keep_last = policy.keep_last();
  return rules;
}

}  // namespace

std::string PolicySha256(const v1::Policy& policy) {
  return policy.ByteSizeLong() > 0 ? Sha256Hex(report::MessageToJson(policy)) : "";
}

absl::Status SetPolicy(const v1::Policy& policy, OptimizeOptions& options) {
  options.planner_kind = policy.planner() == v1::PLANNER_PLACEMENT ? PlannerKind::kPlacement : PlannerKind::kLists;
  options.planner.edits.push_back({ToEdit(policy.lists().allow()), ToEdit(policy.lists().infer()),
                                   ToEdit(policy.lists().deny()), ToEdit(policy.lists().clear())});
  options.lists_version = policy.lists_version();
  options.planner.level = policy.lists_level();
  Append(policy.op_types(), options.op_types);
  options.rules = ToRules(policy);
  options.bf16_math_mode = policy.bf16_math_mode();
  options.target_runtime = policy.target_runtime() == v1::Policy::TARGET_RUNTIME_ONNXRUNTIME
                               ? TargetRuntime::kOnnxRuntime
                               : TargetRuntime::kAny;
  options.policy_sha256 = PolicySha256(policy);
  options.force = policy.allow_emulation();
  if (policy.dialect() != v1::DIALECT_UNSPECIFIED) {
    const std::optional<Dialect> dialect = DialectFromName(report::DialectName(policy.dialect()));
    if (!dialect.has_value()) {
      return OptionsError(
          absl::InvalidArgumentError("policy.dialect is none of portable, tensorflow, itex, onnxruntime"));
    }
    options.dialect = *dialect;
  }
  Append(policy.passes(), options.passes);
  options.verify_passes = policy.verify_passes();
  HALFTONE_ASSIGN_OR_RETURN(options.int8, ToInt8Options(policy.int8()));
  return OptionsError(CheckOptions(options));
}

std::vector<VariantKind> ToPrecisions(const v1::Policy& policy) {
  if (policy.precisions().empty()) return {VariantKind::kBf16};
  std::vector<VariantKind> kinds;
  for (const VariantKind kind : {VariantKind::kBf16, VariantKind::kFp16, VariantKind::kInt8}) {
    const auto& wanted = policy.precisions();
    if (std::find(wanted.begin(), wanted.end(), ToProto(kind)) != wanted.end()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<VariantKind> ToProfiled(const v1::Policy& policy) {
  std::vector<VariantKind> kinds;
  for (const int precision : policy.precisions()) {
    for (const VariantKind kind : {VariantKind::kFp32, VariantKind::kBf16, VariantKind::kFp16, VariantKind::kInt8}) {
      if (ToProto(kind) == precision) kinds.push_back(kind);
    }
  }
  return kinds.empty() ? std::vector<VariantKind>{VariantKind::kFp32, VariantKind::kBf16} : kinds;
}

}  // namespace halftone::worker
