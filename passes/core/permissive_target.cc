#include "passes/core/permissive_target.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace halftone {
namespace {

// `wanted` has everything that `missing` names.
bool Covers(const FusedParts& wanted, const FusedParts& missing) {
  return (wanted.bias || !missing.bias) && (wanted.residual || !missing.residual) &&
         (missing.activation == Activation::kNone || wanted.activation == missing.activation);
}

}  // namespace

absl::StatusOr<PermissiveTarget> PermissiveTarget::Parse(std::string_view text) {
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
      const std::optional<Activation> activation = ActivationFromName(words[i]);
      if (words[i] == "bias") {
        missing.parts.bias = true;
      } else if (words[i] == "residual") {
        missing.parts.residual = true;
      } else if (activation.has_value()) {
        missing.parts.activation = *activation;
      } else {
        return absl::InvalidArgumentError(Concat("'", words[i], "' is neither bias, residual nor an activation"));
      }
    }
    target.missing_.push_back(std::move(missing));
  }
  return target;
}

absl::Status PermissiveTarget::SupportsFused(const Graph& graph, NodeId node, const FusedParts& parts) const {
  FusedParts all = parts;
  all.bias = all.bias || graph.input(node, 2).valid();
  all.residual = all.residual || graph.input(node, 3).valid();
  if (all.activation == Activation::kNone) {
    all.activation =
        ActivationFromName(graph.node(node).attributes.String("activation", "")).value_or(Activation::kNone);
  }
  for (const Missing& missing : missing_) {
    if (missing.op == graph.op(node) && Covers(all, missing.parts)) {
      return absl::UnimplementedError(Concat("no kernel for ", missing.text));
    }
  }
  return absl::OkStatus();
}

std::vector<Signature> PermissiveTarget::Signatures(const Graph&, NodeId) const {
  return {{DataType::kFloat32, DataType::kFloat32, DataType::kFloat32},
          {DataType::kBFloat16, DataType::kBFloat16, DataType::kBFloat16}};
}

}  // namespace halftone
