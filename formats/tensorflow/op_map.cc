// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/op_map.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using Rows = std::vector<const OpRow*>;

// All rows, by op of TensorFlow and by canonical op.
struct Tables {
  std::map<std::string_view, Rows> by_name;
  std::array<Rows, kNumOps> by_kind;
};

const Tables& AllTables() {
  static const Tables& tables = *[] {
    auto* made = new Tables;
    for (const std::span<const OpRow> rows :
         {BasicRows(), MathRows(), NeuralRows(), QuantizeRows(), QuantizedRows(), MoveRows(), ControlRows(), CallRows(), CellRows(), FusedRows()}) {
      for (const OpRow& row : rows) {
        made->by_name[row.tf_op].push_back(&row);
        made->by_kind[static_cast<int>(row.kind)].push_back(&row);
      }
    }
    return made;
  }();
  return tables;
}

}  // namespace

std::span<const OpRow* const> RowsNamed(std::string_view tf_op) {
  const auto it = AllTables().by_name.find(tf_op);
  return it == AllTables().by_name.end() ? std::span<const OpRow* const>() : it->second;
}

const OpRow* FindRow(std::string_view tf_op) {
  const std::span<const OpRow* const> rows = RowsNamed(tf_op);
  return rows.empty() ? nullptr : rows.front();
}

std::span<const OpRow* const> RowsOf(OpKind kind) { return AllTables().by_kind[static_cast<int>(kind)]; }

absl::StatusOr<std::vector<PortType>> ExpandSignature(
    std::string_view signature, const std::function<absl::StatusOr<int64_t>(std::string_view)>& count,
    const std::function<absl::StatusOr<int64_t>(std::string_view)>& list) {
  std::vector<PortType> ports;
  while (!signature.empty()) {
    const size_t comma = std::min(signature.find(','), signature.size());
    std::string_view item = signature.substr(0, comma);
    signature.remove_prefix(std::min(comma + 1, signature.size()));
    int64_t repeat = 1;
    std::string_view counted_by;
    if (const size_t star = item.find('*'); star != std::string_view::npos) {
      counted_by = item.substr(0, star);
      item.remove_prefix(star + 1);
      HALFTONE_ASSIGN_OR_RETURN(repeat, count(counted_by));
    } else if (item.ends_with("[]")) {
      counted_by = item.substr(0, item.size() - 2);
      HALFTONE_ASSIGN_OR_RETURN(repeat, list(counted_by));
    }
    if (repeat < 0 || repeat > kMaxPorts) {
      return absl::InvalidArgumentError(
          Concat("attribute '", counted_by, "' is ", repeat, "; it must be between 0 and ", kMaxPorts));
    }
    PortType port{item};
    if (const size_t equals = item.find('='); equals != std::string_view::npos) {
      port = {item.substr(0, equals), item.substr(equals + 1)};
    }
    ports.insert(ports.end(), repeat, port);
  }
  return ports;
}

}  // namespace halftone::graphdef
