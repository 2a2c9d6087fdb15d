// SPDX-License-Identifier: Apache-2.0
// The statements of the text form as they stand, before nodes are made of them.
#ifndef HALFTONE_IR_TEXT_STATEMENTS_INTERNAL_H_
#define HALFTONE_IR_TEXT_STATEMENTS_INTERNAL_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"

namespace halftone::text_internal {

struct Absent {};
struct ByName {
  std::string key;  // a name, or '%' and a number
  int line, column;
};
struct NestedCall {
  size_t statement;
};
using Operand = std::variant<Absent, ByName, NestedCall, Tensor>;

// A value that a statement makes.
struct Declared {
  std::string
      key;  // name, '%' and a number, "_" for absent, "" for nested; '"' and a name that looks like one of these
  bool annotated = false;
  DataType type = DataType::kUnknown;
  Shape shape;
  std::shared_ptr<const Quantization> quantization = nullptr;
};

struct Statement {
  Node node;  // without inputs, outputs and control inputs
  std::vector<Declared> outputs;
  std::vector<Operand> operands;
  std::vector<std::string> after;
  bool has_name = false;
  int line = 0, column = 0;
};

struct ReturnItem {
  std::string name;  // "" if not given
  Operand operand;
};

// The name that a key gives its value: none for temporaries ("%12") and absent ones ("_").
inline std::string NameOf(const std::string& key) {
  if (key.empty() || key[0] == '%' || key == "_") return "";
  return key[0] == '"' ? key.substr(1) : key;
}

// One graph.
struct ParsedGraph {
  std::string name;
  std::string format;  // kHeaderFormat
  GraphLayout layout = GraphLayout::kChannelsFirst;
  Attributes header;
  std::vector<Statement> inputs;
  std::vector<Statement> statements;
  std::vector<ReturnItem> returns;
};

// Makes nodes and wires them by name, so that a value may be read before the line that makes it; infers what the text
// left out; verifies. Errors: INVALID_ARGUMENT with line:column or the node.
absl::StatusOr<Graph> BuildGraph(ParsedGraph parsed);

}  // namespace halftone::text_internal

#endif  // HALFTONE_IR_TEXT_STATEMENTS_INTERNAL_H_
