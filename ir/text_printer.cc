// SPDX-License-Identifier: Apache-2.0
// Printing a graph as text. The grammar is in text.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "ir/text.h"
#include "ir/text_internal.h"

namespace halftone {
namespace {

std::string Quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
          result += absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
        } else {
          result += c;
        }
    }
  }
  return result + "\"";
}

// Whether it prints without quotes: a keyword does not.
bool IsIdentifier(std::string_view text) {
  static constexpr std::string_view kWords[] = {"graph",  "return", "const",   "opaque", "header", "extra", "name",
                                                "device", "after",  "true",    "false",  "inf",    "nan",   "captures",
                                                "base64", "hash",   "uniform", "at",     "_"};
  if (text.empty() || std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords)) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

std::string text_internal::Name(std::string_view text) { return IsIdentifier(text) ? std::string(text) : Quote(text); }

namespace {

using text_internal::Name;

std::string PrintFloat(double value, bool is_double) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = is_double ? absl::StrFormat("%.17g", value) : absl::StrFormat("%.9g", value);
  // The shortest of the usual lengths that reads back to the same bits.
  for (const int digits : {6, 7, 8, 15, 16}) {
    const std::string shorter = absl::StrFormat("%.*g", digits, value);
    const double back = std::strtod(shorter.c_str(), nullptr);
    if (is_double ? back == value : static_cast<float>(back) == static_cast<float>(value)) {
      text = shorter;
      break;
    }
  }
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string PrintShape(const Shape& shape) {
  if (!shape.has_rank()) return "[*]";
  return Concat(
      "[",
      absl::StrJoin(shape.dims(), ",",
                    [](std::string* out, const Dim& dim) {
                      *out += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : Name(dim.symbol);
                    }),
      "]");
}

std::string Base64(const void* data, size_t size) {
  return absl::Base64Escape(absl::string_view(static_cast<const char*>(data), size));
}

// A NaN whose bits "nan" would not give back.
bool HasOddNan(const Tensor& tensor) {
  if (!IsFloatingPoint(tensor.type())) return false;
  for (const double value : tensor.ToDoubles()) {
    if (std::isnan(value)) return true;
  }
  return false;
}

std::string PrintElements(const Tensor& tensor) {
  std::vector<std::string> parts;
  if (tensor.type() == DataType::kString) {
    for (const std::string& s : tensor.strings()) parts.push_back(Quote(s));
  } else if (tensor.type() == DataType::kBool) {
    for (const int64_t v : tensor.ToInts()) parts.push_back(v != 0 ? "true" : "false");
  } else if (tensor.type() == DataType::kUInt64) {
    for (const uint64_t v : tensor.data<uint64_t>()) parts.push_back(absl::StrCat(v));
  } else if (IsFloatingPoint(tensor.type())) {
    for (const double v : tensor.ToDoubles()) parts.push_back(PrintFloat(v, tensor.type() == DataType::kFloat64));
  } else {
    for (const int64_t v : tensor.ToInts()) parts.push_back(absl::StrCat(v));
  }
  return absl::StrJoin(parts, ", ");
}

// Whether its elements, printed as such, read back to the same bytes.
bool PrintsExactly(const Tensor& tensor) {
  if (tensor.type() == DataType::kString || IsInteger(tensor.type())) return true;
  if (IsFloatingPoint(tensor.type())) return !HasOddNan(tensor);
  return tensor.type() == DataType::kBool &&
         std::all_of(tensor.raw(), tensor.raw() + tensor.byte_size(),
                     [](std::byte b) { return b == std::byte{0} || b == std::byte{1}; });
}

// "f32[3,5] {...}", "f32[3,5] base64 ...", "f32[3,5] at=..." or "f32[3,5] hash=...".
std::string PrintTensor(const Tensor& tensor, const PrintOptions& options) {
  const std::string head = Concat(DataTypeName(tensor.type()), PrintShape(tensor.shape()), " ");
  const bool is_small = tensor.num_elements() <= options.max_elements;
  const bool whole_strings =
      tensor.type() == DataType::kString && (options.with_weights || options.store_weights != nullptr);
  if ((is_small || whole_strings) && PrintsExactly(tensor)) return Concat(head, "{", PrintElements(tensor), "}");
  if (options.with_weights || is_small) {
    return Concat(head, "base64 \"", Base64(tensor.raw(), tensor.byte_size()), "\"");
  }
  if (options.store_weights != nullptr) return Concat(head, "at=", options.store_weights(tensor));
  return Concat(head, "hash=", tensor.Hash());
}

template <typename T, typename Print>
std::string PrintList(std::string_view kind, const std::vector<T>& list, Print print) {
  if (list.empty()) return Concat(kind, "[]");
  std::vector<std::string> parts;
  for (const auto& element : list) parts.push_back(print(element));
  return Concat("[", absl::StrJoin(parts, ", "), "]");
}

std::string PrintValue(const AttributeValue& value, const PrintOptions& options, int indent);

struct ValuePrinter {
  const PrintOptions& options;
  int indent;

  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(float v) const {
    if (std::isnan(v) && std::bit_cast<uint32_t>(v) != 0x7fc00000u) {
      return absl::StrFormat("floatbits:\"%08x\"", std::bit_cast<uint32_t>(v));
    }
    return PrintFloat(v, /*is_double=*/false);
  }
  std::string operator()(const std::string& v) const { return Quote(v); }
  std::string operator()(DataType v) const {
    return Concat("type:", v == DataType::kUnknown ? "unknown" : DataTypeName(v));
  }
  std::string operator()(const Shape& v) const { return Concat("shape:", PrintShape(v)); }
  std::string operator()(const Tensor& v) const { return Concat("tensor ", PrintTensor(v, options)); }
  std::string operator()(const std::shared_ptr<const Graph>& v) const;
  std::string operator()(const RawBytes& v) const {
    return Concat("raw:\"", Base64(v.bytes.data(), v.bytes.size()), "\"");
  }
  std::string operator()(const std::vector<bool>& v) const {
    return PrintList("bools", v, [&](bool b) { return (*this)(b); });
  }
  std::string operator()(const std::vector<int64_t>& v) const { return PrintList("ints", v, *this); }
  std::string operator()(const std::vector<float>& v) const { return PrintList("floats", v, *this); }
  std::string operator()(const std::vector<std::string>& v) const { return PrintList("strings", v, *this); }
  std::string operator()(const std::vector<DataType>& v) const { return PrintList("types", v, *this); }
  std::string operator()(const std::vector<Shape>& v) const { return PrintList("shapes", v, *this); }
  std::string operator()(const std::vector<Tensor>& v) const { return PrintList("tensors", v, *this); }
  std::string operator()(const std::vector<std::shared_ptr<const Graph>>& v) const {
    return PrintList("graphs", v, *this);
  }
};

std::string PrintValue(const AttributeValue& value, const PrintOptions& options, int indent) {
  return std::visit(ValuePrinter{options, indent}, value);
}

std::string PrintAttributes(const Attributes& attributes, const PrintOptions& options, int indent) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attributes)
    parts.push_back(Concat(Name(name), "=", PrintValue(value, options, indent)));
  return Concat("{", absl::StrJoin(parts, ", "), "}");
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const PrintOptions& options, int indent)
      : graph_(graph), options_(options), indent_(indent), margin_(indent, ' ') {}

  std::string Print() const {
    std::string out = "graph";
    const std::string format = graph_.header().String(kHeaderFormat, "");
    if (!format.empty()) out += Concat(" format=", Name(format));
    if (graph_.layout() == GraphLayout::kChannelsLast) out += " layout=channels_last";
    if (!graph_.name().empty()) out += Concat(" ", Quote(graph_.name()));
    std::vector<std::string> inputs;
    for (const NodeId id : graph_.inputs())
      inputs.push_back(Concat(Defined(graph_.output(id), /*always=*/true), Tail(id)));
    out += Concat(" (", absl::StrJoin(inputs, ", "), ") {\n");
    for (const NodeId id : graph_.nodes()) {
      if (graph_.op(id) == OpKind::kInput || IsInline(id)) continue;
      out += Concat(margin_, "  ", Statement(id), "\n");
    }
    std::vector<std::string> outputs;
    for (const GraphOutput& output : graph_.outputs()) {
      const std::string reference = Reference(output.value);
      outputs.push_back(output.name == graph_.value(output.value).name ? reference
                                                                       : Concat(Name(output.name), "=", reference));
    }
    out += Concat(margin_, "  return ", absl::StrJoin(outputs, ", "), "\n", margin_, "}");
    Attributes header = graph_.header();
    header.Erase(kHeaderFormat);
    if (!header.empty()) out += Concat(" header ", PrintAttributes(header, options_, indent_));
    return out;
  }

 private:
  // A small constant without names, read once: stands where it is read.
  bool IsInline(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != OpKind::kConstant || !node.name.empty() || !node.extra.empty() || !node.spelling.empty() ||
        !node.device.empty() || !node.control_inputs.empty() || node.outputs.size() != 1) {
      return false;
    }
    const ValueId value = node.outputs[0];
    const Tensor* tensor = graph_.ConstantTensor(value);
    if (tensor == nullptr || !graph_.value(value).name.empty() || graph_.uses(value).size() != 1 ||
        graph_.IsOutput(value) || graph_.quantization(value) != nullptr)
      return false;
    if (graph_.IsCaptured(value) || tensor->rank() > 1 || tensor->num_elements() > 16 || HasOddNan(*tensor))
      return false;
    constexpr DataType kInlineTypes[] = {DataType::kInt64, DataType::kInt32, DataType::kInt8, DataType::kUInt8,
                                         DataType::kFloat32};
    return std::find(std::begin(kInlineTypes), std::end(kInlineTypes), tensor->type()) != std::end(kInlineTypes);
  }

  std::string Literal(const Tensor& tensor) const {
    std::string text = PrintElements(tensor);
    if (tensor.rank() == 1) text = Concat("[", text, "]");
    const bool is_default =
        tensor.type() == DataType::kInt64 || (tensor.type() == DataType::kFloat32 && tensor.num_elements() > 0);
    return is_default ? text : Concat(text, ":", DataTypeName(tensor.type()));
  }

  std::string ValueName(ValueId id) const {
    if (!id.valid()) return "_";
    const std::string& name = graph_.value(id).name;
    return name.empty() ? absl::StrCat("%", id.index) : Name(name);
  }

  std::string Reference(ValueId id) const {
    if (id.valid() && IsInline(graph_.producer(id))) return Literal(*graph_.ConstantTensor(id));
    return ValueName(id);
  }

  // "name: type[shape]{scale, zero point}" of a value that is being made.
  std::string Defined(ValueId id, bool always) const {
    if (!id.valid()) return ValueName(id);
    const Quantization* quantization = graph_.quantization(id);
    if (!always && !options_.shapes && quantization == nullptr) return ValueName(id);
    return Concat(ValueName(id), ": ", DataTypeName(graph_.type(id)), PrintShape(graph_.shape(id)),
                  quantization == nullptr ? "" : quantization->ToString());
  }

  // Everything that may follow: extra, name, device, control inputs, captures.
  std::string Tail(NodeId id) const {
    const Node& node = graph_.node(id);
    std::string out;
    if (!node.extra.empty()) out += Concat(" extra ", PrintAttributes(node.extra, options_, indent_ + 2));
    const bool has_value_name = !node.outputs.empty() && node.outputs[0].valid();
    const std::string implied = has_value_name ? graph_.value(node.outputs[0]).name : "";
    if (node.name != implied) out += Concat(" name=", Quote(node.name));
    if (!node.device.empty()) out += Concat(" device=", Quote(node.device));
    if (!node.control_inputs.empty()) {
      out += Concat(" after(",
                    absl::StrJoin(node.control_inputs, ", ",
                                  [this](std::string* text, NodeId control) { *text += Quote(graph_.Label(control)); }),
                    ")");
    }
    if (!node.captures.empty()) {
      out += Concat(
          " captures(",
          absl::StrJoin(node.captures, ", ", [](std::string* text, const std::string& name) { *text += Quote(name); }),
          ")");
    }
    return out;
  }

  std::string Statement(NodeId id) const {
    const Node& node = graph_.node(id);
    std::vector<std::string> outputs;
    for (const ValueId output : node.outputs) outputs.push_back(Defined(output, /*always=*/false));
    std::string out = outputs.empty() ? "" : Concat(absl::StrJoin(outputs, ", "), " = ");
    if (node.op == OpKind::kConstant) {
      const Tensor* tensor = graph_.ConstantTensor(node.outputs[0]);
      const bool annotated = graph_.quantization(node.outputs[0]) != nullptr;
      out = Concat(annotated ? Defined(node.outputs[0], /*always=*/true) : ValueName(node.outputs[0]), " = const ",
                   node.spelling.empty() ? "" : Quote(node.spelling) + " ",
                   tensor == nullptr ? "f32[0] {}" : PrintTensor(*tensor, options_));
      return out + Tail(id);
    }
    out += OpName(node.op);
    if (!node.spelling.empty() || node.op == OpKind::kOpaque) out += Concat(" ", Quote(node.spelling));
    if (!node.domain.empty()) out += Concat(" domain=", Quote(node.domain));
    out += Concat(
        node.spelling.empty() && node.domain.empty() && node.op != OpKind::kOpaque ? "(" : " (",
        absl::StrJoin(node.inputs, ", ", [this](std::string* text, ValueId input) { *text += Reference(input); }), ")");
    if (!node.attributes.empty()) out += Concat(" ", PrintAttributes(node.attributes, options_, indent_ + 2));
    return out + Tail(id);
  }

  const Graph& graph_;
  const PrintOptions& options_;
  const int indent_;
  const std::string margin_;
};

std::string ValuePrinter::operator()(const std::shared_ptr<const Graph>& v) const {
  return GraphPrinter(*v, options, indent + 2).Print();
}

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  return GraphPrinter(graph, options, 0).Print() + "\n";
}

}  // namespace halftone
