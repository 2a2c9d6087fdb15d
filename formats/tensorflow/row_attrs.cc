// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/row_attrs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/element_types.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/written_as.h"

namespace halftone::graphdef {
namespace {

template <typename... Args>
absl::Status Broken(const Args&... args) {
  return absl::InternalError(Concat(args...));
}

class RowAttrs {
 public:
  RowAttrs(const Graph& graph, NodeId id, const OpRow& row, const std::vector<Source>& inputs,
           const Attributes& attributes, AttrValues& attrs)
      : graph_(graph), node_(graph.node(id)), row_(row), inputs_(inputs), attributes_(attributes), attrs_(attrs) {
    if (const AttributeValue* absent = node_.extra.find(kExtraAbsent)) {
      if (const auto* names = std::get_if<std::vector<std::string>>(absent))
        absent_.insert(names->begin(), names->end());
    }
    if (const AttributeValue* quantized = node_.extra.find(kExtraQuantized)) {
      if (const auto* names = std::get_if<std::vector<std::string>>(quantized))
        quantized_.insert(names->begin(), names->end());
    }
    if (node_.op == OpKind::kDequantizeRange) quantized_.insert("T");  // its registry lists no other types
  }

  absl::Status Set() {
    HALFTONE_RETURN_IF_ERROR(SetTypes());
    for (const AttrRow& attr : row_.attrs) HALFTONE_RETURN_IF_ERROR(SetAttr(attr));
    return absl::OkStatus();
  }

 private:
  bool WasAbsent(std::string_view name) const { return absent_.contains(name); }
  bool WasQuantized(std::string_view name) const { return quantized_.contains(name); }
  // How often the ports that `name` counts stand there: all are counted by one attribute, or the first by one and the
  // others, which are none, by another.
  int64_t CountVariadic(std::string_view name) const;
  void Put(std::string_view name, tf::AttrValue value) { attrs_[std::string(name)] = std::move(value); }

  absl::Status SetTypes();
  absl::Status SetAttr(const AttrRow& attr);
  absl::Status SetNumber(const AttrRow& attr);
  absl::Status SetLayout(const AttrRow& attr);
  absl::Status SetSpatial(const AttrRow& attr);
  absl::Status SetPadding(const AttrRow& attr);
  absl::Status SetExplicitPads(const AttrRow& attr);
  absl::Status SetSqueezeDims(const AttrRow& attr);
  absl::Status SetOutputShape(const AttrRow& attr);
  bool ChannelLast() const { return attributes_.String("layout", "NCHW") == "NHWC"; }
  // Pads are given, and the op can say them.
  bool IsExplicit() const {
    const bool by_pads = attributes_.String("auto_pad", "NOTSET") == "NOTSET" && !attributes_.Ints("pads").empty();
    return by_pads && (row_.tf_op == "Conv2D" || row_.tf_op == "Conv2DBackpropInput" || SaysPads(row_) ||
                       node_.extra.Bool(kExtraExplicit, false));
  }

  const Graph& graph_;
  const Node& node_;
  const OpRow& row_;
  const std::vector<Source>& inputs_;
  const Attributes& attributes_;
  AttrValues& attrs_;
  std::set<std::string, std::less<>> absent_, quantized_;
};

// The type of each type attribute is that of the ports it stands at; all must agree.
absl::Status RowAttrs::SetTypes() {
  const auto counted = [&](std::string_view name) -> absl::StatusOr<int64_t> { return CountVariadic(name); };
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> in, ExpandSignature(row_.inputs, counted, counted));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<PortType> out, ExpandSignature(row_.outputs, counted, counted));
  if (in.size() != inputs_.size()) return Broken(row_.tf_op, " with ", inputs_.size(), " inputs; it needs ", in.size());
  const std::vector<int> ports = ReadOrder(row_.output_order, static_cast<int>(out.size()));
  if (ports.size() < node_.outputs.size())
    return Broken(row_.tf_op, " with ", node_.outputs.size(), " outputs; it has ", out.size());
  std::map<std::string_view, DataType> types;
  const auto agree = [&](std::string_view word, DataType type) -> absl::Status {
    if (type == DataType::kUnknown) return absl::OkStatus();
    const DataType known = types.emplace(word, DataTypeFromName(word).value_or(type)).first->second;
    if (known == type) return absl::OkStatus();
    return Broken(row_.tf_op, " has ports of types ", DataTypeName(known), " and ", DataTypeName(type),
                  ", which must be the same (", word, ")");
  };
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (!node_.outputs[i].valid()) continue;
    if (ports[i] < 0) return Broken("output ", i, ", which ", row_.tf_op, " has not");
    HALFTONE_RETURN_IF_ERROR(agree(out[ports[i]].word, graph_.type(node_.outputs[i])));
  }
  std::map<std::string_view, tf::AttrValue> lists;
  for (size_t i = 0; i < in.size(); ++i) {
    if (const std::string_view word = in[i].word; word.ends_with("[]")) {
      lists[word.substr(0, word.size() - 2)].mutable_list()->add_type(ToTfType(inputs_[i].type));
    } else {
      HALFTONE_RETURN_IF_ERROR(agree(word, inputs_[i].type));
    }
  }
  for (const TypeRow& row : row_.types) {
    if (row_.inputs.find(Concat(row.name, "[]")) != std::string_view::npos) {
      lists[row.name].mutable_list();
      Put(row.name, lists[row.name]);
      continue;
    }
    const auto it = types.find(row.name);
    if (it == types.end() && row.otherwise != DataType::kUnknown) continue;  // no port has it: it does not matter
    if (it == types.end()) return Broken("the type of attribute '", row.name, "' is unknown");
    if (WasAbsent(row.name) && it->second == row.otherwise) continue;
    tf::AttrValue type = TypeAttr(it->second);
    if (WasQuantized(row.name)) type.set_type(QuantizedTfType(type.type()));
    Put(row.name, std::move(type));
  }
  for (const AttrRow& row : row_.attrs) {
    if (row.form == AttrForm::kCount) Put(row.name, IntAttr(CountVariadic(row.name)));
  }
  return absl::OkStatus();
}

int64_t RowAttrs::CountVariadic(std::string_view name) const {
  const auto variadic = [](std::string_view ports) { return ports.find_first_of("*[") != std::string_view::npos; };
  const bool by_inputs = variadic(row_.inputs);
  std::string_view ports = by_inputs ? row_.inputs : row_.outputs;
  std::string_view first;  // what counts the first of them
  int64_t fixed = 0, counted = 0;
  while (!ports.empty()) {
    const size_t comma = std::min(ports.find(','), ports.size());
    const std::string_view port = ports.substr(0, comma);
    ports.remove_prefix(std::min(comma + 1, ports.size()));
    const std::string_view counter = port.substr(0, std::min(port.find_first_of("*["), port.size()));
    if (counter.size() == port.size()) {
      ++fixed;
      continue;
    }
    if (first.empty()) first = counter;
    if (counter == first) ++counted;
  }
  if (counted == 0 || (name != first && by_inputs)) return 0;
  const auto all = static_cast<int64_t>(by_inputs ? inputs_.size() : node_.outputs.size());
  return (all - fixed) / counted;
}

absl::Status RowAttrs::SetAttr(const AttrRow& attr) {
  switch (attr.form) {
    case AttrForm::kBool:
    case AttrForm::kFloat:
    case AttrForm::kInt:
    case AttrForm::kAnyInt:
      return SetNumber(attr);
    case AttrForm::kString:
      if (const std::string value = attributes_.String(attr.canonical, attr.text);
          attributes_.has(attr.canonical) || attr.required) {
        Put(attr.name, StringAttr(value));
      }
      return absl::OkStatus();
    case AttrForm::kLayout:
      return SetLayout(attr);
    case AttrForm::kSpatial:
      return SetSpatial(attr);
    case AttrForm::kPadding:
      return SetPadding(attr);
    case AttrForm::kExplicitPads:
      return SetExplicitPads(attr);
    case AttrForm::kMirrorMode:
      Put(attr.name, StringAttr(attributes_.String("mode", "") == "symmetric" ? "SYMMETRIC" : "REFLECT"));
      return absl::OkStatus();
    case AttrForm::kSqueezeDims:
      return SetSqueezeDims(attr);
    case AttrForm::kTensor:
      return Broken("a constant has a writer of its own");
    case AttrForm::kOutputShape:
      return SetOutputShape(attr);
    case AttrForm::kCount:
      return absl::OkStatus();  // with the types
    case AttrForm::kKeep:
      return attrs_.contains(std::string(attr.name)) ? absl::OkStatus()
                                                     : Broken("attribute '", attr.name, "' is missing");
    case AttrForm::kMustBe:
      // A pass may have spelled the node so. Required ones are bools.
      if (attr.required && !attrs_.contains(std::string(attr.name))) Put(attr.name, BoolAttr(attr.tf_default != 0));
      return absl::OkStatus();
    case AttrForm::kByRule:
      return absl::OkStatus();  // extra, or absent: the default; the rule's value replaces it
    case AttrForm::kImpliedBool:
    case AttrForm::kImpliedInt:
    case AttrForm::kImpliedFloat:
    case AttrForm::kImpliedString:
      return absl::OkStatus();  // RowFits has looked at them
  }
  return absl::OkStatus();
}

absl::Status RowAttrs::SetNumber(const AttrRow& attr) {
  const bool is_there = attributes_.has(attr.canonical);
  if (!is_there && attr.required) return Broken("attribute '", attr.canonical, "' is missing");
  if (!is_there && attr.tf_default == attr.canonical_default) return absl::OkStatus();
  if (attr.form == AttrForm::kBool) {
    const bool value = attributes_.Bool(attr.canonical, attr.canonical_default != 0);
    if (!(WasAbsent(attr.name) && value == (attr.tf_default != 0))) Put(attr.name, BoolAttr(value));
  } else if (attr.form == AttrForm::kFloat) {
    const float value = attributes_.Float(attr.canonical, static_cast<float>(attr.canonical_default));
    if (!(WasAbsent(attr.name) && value == static_cast<float>(attr.tf_default))) Put(attr.name, FloatAttr(value));
  } else {
    const int64_t value = attributes_.Int(attr.canonical, static_cast<int64_t>(attr.canonical_default));
    if (!(WasAbsent(attr.name) && value == static_cast<int64_t>(attr.tf_default))) Put(attr.name, IntAttr(value));
  }
  return absl::OkStatus();
}

absl::Status RowAttrs::SetLayout(const AttrRow& attr) {
  const bool last = ChannelLast();
  if (const auto kept = attrs_.find(std::string(attr.name)); kept != attrs_.end()) {
    if ((kept->second.s().ends_with('C')) == last) return absl::OkStatus();  // TensorFlow's own word for the same
  }
  if (WasAbsent(attr.name) && last) {
    attrs_.erase(std::string(attr.name));
    return absl::OkStatus();
  }
  const ValueId x = node_.inputs.empty() ? kNoValue : node_.inputs[0];
  const bool by_rank = node_.op == OpKind::kBatchNorm || node_.op == OpKind::kInstanceNorm;
  const bool is_volume =
      row_.spatial == 3 || (by_rank && x.valid() && graph_.shape(x).has_rank() && graph_.shape(x).rank() == 5);
  Put(attr.name, StringAttr(is_volume ? (last ? "NDHWC" : "NCDHW") : (last ? "NHWC" : "NCHW")));
  return absl::OkStatus();
}

absl::Status RowAttrs::SetSpatial(const AttrRow& attr) {
  std::vector<int64_t> spatial = attributes_.Ints(attr.canonical);
  if (spatial.empty()) {
    if (attr.canonical == "kernel") return Broken("attribute 'kernel' is missing");
    if (!attr.required) return absl::OkStatus();
    spatial.assign(row_.spatial, 1);
  }
  if (static_cast<int>(spatial.size()) != row_.spatial) {
    return Broken("attribute '", attr.canonical, "' has ", spatial.size(), " numbers; ", row_.tf_op, " needs ",
                  row_.spatial);
  }
  std::vector<int64_t> all = {1};
  if (!ChannelLast()) all.push_back(1);
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (ChannelLast()) all.push_back(1);
  Put(attr.name, IntsAttr(all));
  return absl::OkStatus();
}

// write_node.cc has moved pads that the op cannot say into a node of their own.
absl::Status RowAttrs::SetPadding(const AttrRow& attr) {
  const std::string auto_pad = attributes_.String("auto_pad", "NOTSET");
  Put(attr.name, StringAttr(auto_pad == "SAME_UPPER" ? "SAME" : IsExplicit() ? "EXPLICIT" : "VALID"));
  return absl::OkStatus();
}

absl::Status RowAttrs::SetExplicitPads(const AttrRow& attr) {
  const std::string name(attr.name);
  if (!IsExplicit()) {
    const auto kept = attrs_.find(name);  // an empty list may stay
    if (kept != attrs_.end() && kept->second.list().i_size() > 0) attrs_.erase(kept);
    return absl::OkStatus();
  }
  const std::vector<int64_t> pads = attributes_.Ints("pads");
  if (static_cast<int>(pads.size()) != 2 * row_.spatial)
    return Broken("attribute 'pads' has ", pads.size(), " numbers");
  std::vector<int64_t> all = {0, 0};
  if (!ChannelLast()) all.insert(all.end(), {0, 0});
  for (int i = 0; i < row_.spatial; ++i) all.insert(all.end(), {pads[i], pads[i + row_.spatial]});
  if (ChannelLast()) all.insert(all.end(), {0, 0});
  Put(attr.name, IntsAttr(all));
  return absl::OkStatus();
}

absl::Status RowAttrs::SetSqueezeDims(const AttrRow& attr) {
  if (node_.inputs.size() < 2 || !node_.inputs[1].valid()) return absl::OkStatus();  // extra may hold an empty list
  const std::optional<std::vector<int64_t>> axes = graph_.ConstantInts(node_.inputs[1]);
  if (!axes.has_value()) return absl::UnimplementedError("axes that are no constant; Squeeze has them as an attribute");
  Put(attr.name, IntsAttr(*axes));
  return absl::OkStatus();
}

absl::Status RowAttrs::SetOutputShape(const AttrRow& attr) {
  const Shape& shape = graph_.shape(node_.outputs[0]);
  tf::AttrValue value;
  if (const AttributeValue* kept = node_.extra.find(kExtraShape)) {
    tf::TensorShapeProto proto;
    const auto* raw = std::get_if<RawBytes>(kept);
    if (raw != nullptr && proto.ParseFromString(raw->bytes)) {
      const absl::StatusOr<Shape> read = DecodeShape(proto);
      const bool legacy_scalar = read.ok() && *read == Shape::Scalar() && !shape.has_rank();
      if (legacy_scalar ||
          (read.ok() && EncodeShape(*read).SerializeAsString() == EncodeShape(shape).SerializeAsString())) {
        *value.mutable_shape() = std::move(proto);
        Put(attr.name, std::move(value));
        return absl::OkStatus();
      }
    }
  }
  if (WasAbsent(attr.name) && !shape.has_rank()) return absl::OkStatus();
  *value.mutable_shape() = EncodeShape(shape);
  Put(attr.name, std::move(value));
  return absl::OkStatus();
}

}  // namespace

absl::Status SetRowAttrs(const Graph& graph, NodeId id, const OpRow& row, const std::vector<Source>& inputs,
                         const Attributes& attributes, AttrValues& attrs) {
  return RowAttrs(graph, id, row, inputs, attributes, attrs).Set();
}

}  // namespace halftone::graphdef
