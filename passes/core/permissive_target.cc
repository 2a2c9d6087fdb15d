#include "passes/core/permissive_target.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone {
namespace {

struct PartWord {
  std::string_view word;
  bool FusedParts::* part;
};
constexpr PartWord kPartWords[] = {{"bias", &FusedParts::bias},
                                   {"residual", &FusedParts::residual},
                                   {"scale", &FusedParts::scale},
                                   {"broadcast_residual", &FusedParts::broadcast_residual},
                                   {"activation_first", &FusedParts::activation_first}};

// `wanted` has everything that `missing` names.
bool Covers(const FusedParts& wanted, const FusedParts& missing) {
  for (const PartWord& row : kPartWords) {
    if (missing.*row.part && !(wanted.*row.part)) return false;
  }
  return missing.activation == Activation::kNone || wanted.activation == missing.activation;
}

// False: it is no word for a part.
bool AddPart(std::string_view word, FusedParts& parts) {
  for (const PartWord& row : kPartWords) {
    if (row.word != word) continue;
    parts.*row.part = true;
    return true;
  }
  const std::optional<Activation> activation = ActivationFromName(word);
  if (activation.has_value()) parts.activation = *activation;
  return activation.has_value();
}

}  // namespace

absl::StatusOr<PermissiveTarget> PermissiveTarget::Parse(std::string_view text) {
  struct IntegerWord {
    std::string_view word;
    bool Missing::* flag;
  };
  static constexpr IntegerWord kIntegerWords[] = {{"int8", &Missing::int8},
                                                  {"int8_result", &Missing::int8_result},
                                                  {"int8_mixed", &Missing::int8_mixed},
                                                  {"int8_scales", &Missing::int8_scales}};
  absl::string_view rest = absl::StripAsciiWhitespace(AbslView(text));
  if (!absl::ConsumePrefix(&rest, "without ")) {
    return absl::InvalidArgumentError(Concat("a target is 'without op+part, ...', not '", text, "'"));
  }
  PermissiveTarget target;
  for (const absl::string_view item : absl::StrSplit(rest, ',')) {
    const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(item), '+');
    const std::optional<OpKind> op = OpFromName(words[0]);
    if (!op.has_value()) return absl::InvalidArgumentError(Concat("'", words[0], "' is no op"));
    Missing missing{*op, {}, std::string(absl::StripAsciiWhitespace(item))};
    for (size_t i = 1; i < words.size(); ++i) {
      missing.result_type = missing.result_type || words[i] == "result_type";
      missing.math_mode = missing.math_mode || words[i] == "math_mode";
      for (const IntegerWord& row : kIntegerWords) missing.*row.flag = missing.*row.flag || words[i] == row.word;
      if (!missing.OfFusion()) continue;
      if (!AddPart(words[i], missing.parts)) {
        return absl::InvalidArgumentError(Concat("'", words[i],
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
    return absl::UnimplementedError("one operand of integers and one of floats");
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
