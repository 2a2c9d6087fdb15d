// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/tensorflow_ops.h"

#include <algorithm>

namespace halftone {
namespace {

constexpr TensorFlowOpRow kRegistry[] = {
#include "passes/precision/tensorflow_ops/a_d.inc"
#include "passes/precision/tensorflow_ops/e_o.inc"
#include "passes/precision/tensorflow_ops/p_r.inc"
#include "passes/precision/tensorflow_ops/s_z.inc"
};

constexpr TensorFlowOpRow kInternal[] = {
#include "passes/precision/tensorflow_ops/internal.inc"
};

constexpr bool IsSorted(std::span<const TensorFlowOpRow> rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    if (!(rows[i - 1].op < rows[i].op)) return false;
  }
  return true;
}
static_assert(IsSorted(kRegistry) && IsSorted(kInternal), "each op once, in alphabetical order");

const TensorFlowOpRow* Find(std::span<const TensorFlowOpRow> rows, std::string_view op) {
  const auto it = std::lower_bound(rows.begin(), rows.end(), op,
                                   [](const TensorFlowOpRow& row, std::string_view name) { return row.op < name; });
  return it == rows.end() || it->op != op ? nullptr : &*it;
}

// Calls `take` with each item of a list.
template <typename Take>
void ForEachItem(std::string_view list, char separator, Take take) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    if (end > 0) take(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

SignatureType ParseType(std::string_view item) {
  SignatureType type;
  const size_t colon = std::min(item.find(':'), item.size());
  const std::string_view flags = item.substr(colon);
  type.allows_bf16 = flags.find('b') != std::string_view::npos;
  type.allows_f16 = flags.find('h') != std::string_view::npos;
  item = item.substr(0, colon);
  if (const size_t equals = item.find('='); equals != std::string_view::npos) {
    type.otherwise = item.substr(equals + 1);
    item = item.substr(0, equals);
  }
  type.is_list = item.ends_with("[]");
  type.name = type.is_list ? item.substr(0, item.size() - 2) : item;
  return type;
}

}  // namespace

std::span<const TensorFlowOpRow> RegistryOpRows() { return kRegistry; }

const TensorFlowOpRow* FindTensorFlowOp(std::string_view op) {
  const TensorFlowOpRow* row = Find(kRegistry, op);
  return row != nullptr ? row : Find(kInternal, op);
}

OpSignature::OpSignature(std::string_view input_list, std::string_view output_list, std::string_view type_list) {
  ForEachItem(type_list, ' ', [this](std::string_view item) { types.push_back(ParseType(item)); });
  const auto parse = [this](std::string_view item) {
    SignaturePort port;
    if (const size_t star = item.find('*'); star != std::string_view::npos) {
      port.number = item.substr(0, star);
      item.remove_prefix(star + 1);
    }
    port.is_list = item.ends_with("[]");
    port.type = port.is_list ? item.substr(0, item.size() - 2) : item;
    port.is_fixed = Find(port.type) == nullptr;
    return port;
  };
  ForEachItem(input_list, ',', [&](std::string_view item) { inputs.push_back(parse(item)); });
  ForEachItem(output_list, ',', [&](std::string_view item) { outputs.push_back(parse(item)); });
}

const SignatureType* OpSignature::Find(std::string_view name) const {
  const auto it =
      std::find_if(types.begin(), types.end(), [&](const SignatureType& type) { return type.name == name; });
  return it == types.end() ? nullptr : &*it;
}

}  // namespace halftone
