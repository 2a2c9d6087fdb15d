// SPDX-License-Identifier: Apache-2.0
#include "passes/transforms/op_names.h"

#include <cctype>
#include <string>

namespace halftone {
namespace {

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::optional<OpKind> Exactly(const std::string& plain) {
  for (int i = 0; i < kNumOps; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (kind != OpKind::kOpaque && Plain(OpName(kind)) == plain) return kind;
  }
  return std::nullopt;
}

}  // namespace

bool IsOpNamed(const Graph& graph, NodeId id, std::string_view name) {
  const Node& node = graph.node(id);
  if (name == "*" || (!node.spelling.empty() && node.spelling == name)) return true;
  if (node.op == OpKind::kOpaque) return false;
  return node.spelling.empty() ? Plain(OpName(node.op)) == Plain(name) : OpName(node.op) == name;
}

std::optional<OpKind> OpOfAnyName(std::string_view name) {
  std::string plain = Plain(name);
  if (const std::optional<OpKind> kind = Exactly(plain); kind.has_value()) return kind;
  const size_t version = plain.rfind('v');
  if (version == std::string::npos || version + 2 != plain.size() || std::isdigit(plain.back()) == 0)
    return std::nullopt;
  return Exactly(plain.substr(0, version));
}

}  // namespace halftone
