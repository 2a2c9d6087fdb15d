// SPDX-License-Identifier: Apache-2.0
#include "passes/core/permissive_target.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone {
namespace {

struct PartRow {
  std::string_view name;
  bool FusedParts::* part;
};
constexpr PartRow kParts[] = {{"bias", &FusedParts::bias},
                              {"residual", &FusedParts::residual},
                              {"scale", &FusedParts::scale},
                              {"broadcast_residual", &FusedParts::broadcast_residual},
                              {"activation_first", &FusedParts::activation_first}};

// Whether `wanted` has all parts of `missing`.
bool Covers(const FusedParts& wanted, const FusedParts& missing) {
  for (const PartRow& row : kParts) {
    if (missing.*row.part && !(wanted.*row.part)) return false;
  }
  return missing.activation == Activation::kNone || wanted.activation == missing.activation;
}

// False: the name is not a part.
bool AddPart(std::string_view name, FusedParts& parts) {
  for (const PartRow& row : kParts) {
    if (row.name != name) continue;
    parts.*row.part = true;
    return true;
  }
  const std::optional<Activation> activation = ActivationFromName(name);
  if (activation.has_value()) parts.activation = *activation;
  return activation.has_value();
}

}  // namespace

absl::StatusOr<PermissiveTarget> PermissiveTarget::Parse(std::string_view text) {
  struct Int8Part {
    std::string_view name;
    bool Missing::* flag;
  };
  static constexpr Int8Part kInt8Parts[] = {{"int8", &Missing::int8},
                                            {"int8_result", &Missing::int8_result},
                                            {"int8_mixed", &Missing::int8_mixed},
                                            {"int8_scales", &Missing::int8_scales}};
  absl::string_view rest = absl::StripAsciiWhitespace(AbslView(text));
  if (!absl::ConsumePrefix(&rest, "without ")) {
    return absl::InvalidArgumentError(Concat("a target is 'without op+part, ...', not '", text, "'"));
  }
  PermissiveTarget target;
  for (const absl::string_view item : absl::StrSplit(rest, ',')) {
    const std::vector<std::string> names = absl::StrSplit(absl::StripAsciiWhitespace(item), '+');
    const std::optional<OpKind> op = OpFromName(names[0]);
    if (!op.has_value()) return absl::InvalidArgumentError(Concat("'", names[0], "' is not an op"));
    Missing missing{*op, {}, std::string(absl::StripAsciiWhitespace(item))};
    for (size_t i = 1; i < names.size(); ++i) {
      missing.result_type = missing.result_type || names[i] == "result_type";
      missing.math_mode = missing.math_mode || names[i] == "math_mode";
      for (const Int8Part& row : kInt8Parts) missing.*row.flag = missing.*row.flag || names[i] == row.name;
      if (!missing.OfFusion()) continue;
      if (!AddPart(names[i], missing.parts)) {
        return absl::InvalidArgumentError(Concat("'", names[i],
                                                 "' is neither an activation nor one of bias, residual, "
                                                 "scale, broadcast_residual, activation_first, result_type, "
                                                 "math_mode, int8, int8_result, int8_mixed and int8_scales"));
      }
    }
    target.missing_.push_back(std::move(missing));
  }
  return target;
}

absl::Status PermissiveTarget::SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const {
  const Attributes& attributes = graph.node(node).attributes;
  FusedParts all = parts;
  all.scale = all.scale || attributes.has("scale");
  all.activation_first = all.activation_first || attributes.Bool("activation_first", false);
  all.bias = all.bias || graph.input(node, 2).valid();
  all.residual = all.residual || graph.input(node, 3).valid();
  if (all.activation == Activation::kNone) {
    all.activation = ActivationFromName(attributes.String("activation", "")).value_or(Activation::kNone);
  }
  for (const Missing& missing : missing_) {
    if (missing.op == graph.op(node) && missing.OfFusion() && Covers(all, missing.parts)) {
      return absl::UnimplementedError(Concat("no kernel for ", missing.text));
    }
  }
  return absl::OkStatus();
}

absl::Status PermissiveTarget::SupportsOp(const Graph&, OpKind op, std::span<const ValueId>) const {
  for (const Missing& missing : missing_) {
    if (missing.op == op && missing.OfFusion() && Covers({}, missing.parts)) {
      return absl::UnimplementedError(Concat("no kernel for ", missing.text));
    }
  }
  return absl::OkStatus();
}

absl::Status PermissiveTarget::SupportsQuantized(const Graph& graph, NodeId node, std::span<const ValueId> inputs,
                                                 ValueId output) const {
  const OpKind op = graph.op(node);
  int integers = 0, floats = 0;
  bool one_scale = true;
  const Quantization* first = nullptr;
  const auto look = [&](ValueId value) {
    if (!value.valid()) return;
    const Quantization* quantization = graph.quantization(value);
    if (quantization == nullptr) {
      floats += graph.type(value) == DataType::kFloat32 ? 1 : 0;
      return;
    }
    ++integers;
    one_scale = one_scale && (first == nullptr || *first == *quantization);
    first = quantization;
  };
  for (const ValueId input : inputs) look(input);
  const bool mixed = integers > 0 && floats > 0;
  const bool writes = graph.quantization(output) != nullptr;
  if (writes) look(output);
  const bool is_contraction = Info(op).group == OpGroup::kContraction;
  if (is_contraction && (graph.quantization(inputs[0]) == nullptr) != (graph.quantization(inputs[1]) == nullptr)) {
    return absl::UnimplementedError("one int8 and one floating-point operand");
  }
  for (const Missing& missing : missing_) {
    if (missing.op != op) continue;
    const bool hit = missing.int8 || (missing.int8_result && writes) || (missing.int8_mixed && mixed) ||
                     (missing.int8_scales && !one_scale);
    if (hit) return absl::UnimplementedError(Concat("no kernel for ", missing.text));
  }
  return absl::OkStatus();
}

std::vector<Signature> PermissiveTarget::Signatures(const Graph& graph, NodeId node) const {
  constexpr DataType kF32 = DataType::kFloat32, kBf16 = DataType::kBFloat16;
  const auto has = [&](bool Missing::* what) {
    return std::none_of(missing_.begin(), missing_.end(),
                        [&](const Missing& missing) { return missing.op == graph.op(node) && missing.*what; });
  };
  std::vector<Signature> all = {{kF32, kF32, kF32}, {kBf16, kBf16, kBf16}};
  if (has(&Missing::result_type)) {
    all.push_back({kBf16, kBf16, kF32});
    all.push_back({kF32, kF32, kBf16});
  }
  if (has(&Missing::math_mode)) all.push_back({kF32, kF32, kF32, true, /*bf16_math=*/true});
  return all;
}

}  // namespace halftone
