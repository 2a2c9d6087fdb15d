#include "ir/dialect.h"

#include <algorithm>
#include <string>

#include "base/strings.h"

namespace halftone {
namespace {

struct DialectRow {
  Dialect dialect;
  std::string_view name;
  GraphFormat format;              // kNone: any
  const DialectTable& (*table)();  // nullptr: has none
  std::string_view domain = "";    // of its ops
};

constexpr DialectRow kDialects[] = {
    {Dialect::kPortable, "portable", GraphFormat::kNone, nullptr},
    {Dialect::kTensorFlow, "tensorflow", GraphFormat::kGraphDef, &TensorFlowDialect},
    {Dialect::kItex, "itex", GraphFormat::kGraphDef, &ItexDialect},
    {Dialect::kOnnxRuntime, "onnxruntime", GraphFormat::kOnnx, &OnnxRuntimeDialect, "com.microsoft"},
};

static_assert(
    [] {
      for (int i = 0; i < kNumDialects; ++i) {
        if (static_cast<int>(kDialects[i].dialect) != i) return false;
      }
      return std::size(kDialects) == kNumDialects;
    }(),
    "kDialects is in the order of Dialect");

const DialectRow& Row(Dialect dialect) { return kDialects[static_cast<int>(dialect)]; }

// A graph without a format (made from text) is written as ONNX.
bool Has(GraphFormat format, const DialectRow& row) {
  const GraphFormat written = format == GraphFormat::kNone ? GraphFormat::kOnnx : format;
  return row.format == GraphFormat::kNone || row.format == written;
}

}  // namespace

std::string_view DialectName(Dialect dialect) { return Row(dialect).name; }

std::optional<Dialect> DialectFromName(std::string_view name) {
  for (const DialectRow& row : kDialects) {
    if (row.name == name) return row.dialect;
  }
  return std::nullopt;
}

absl::Status CheckDialect(Dialect dialect, GraphFormat format) {
  if (Has(format, Row(dialect))) return absl::OkStatus();
  std::string known;
  for (const DialectRow& row : kDialects) {
    if (Has(format, row)) known += Concat(known.empty() ? "'" : ", '", row.name, "'");
  }
  const std::string_view name = format == GraphFormat::kGraphDef ? "a TensorFlow GraphDef" : "ONNX";
  return absl::InvalidArgumentError(
      Concat("dialect '", DialectName(dialect), "': the model is ", name, ", whose dialects are ", known));
}

std::string_view DialectOp(Dialect dialect, const Graph& graph, NodeId node) {
  const auto table = Row(dialect).table;
  if (graph.node(node).attributes.has("math_mode") && dialect != Dialect::kItex)
    return "";  // no other has words for it
  return table == nullptr ? "" : table().op(graph, node);
}

std::string_view DialectDomain(Dialect dialect) { return Row(dialect).domain; }

bool IsDialectOp(std::string_view op, GraphFormat format) {
  for (const DialectRow& row : kDialects) {
    if (row.table == nullptr || !Has(format, row)) continue;
    const std::span<const std::string_view> ops = row.table().ops;
    if (std::find(ops.begin(), ops.end(), op) != ops.end()) return true;
  }
  return false;
}

}  // namespace halftone
