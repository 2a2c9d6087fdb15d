// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/sequences.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/node_writer.h"
#include "ir/shape_inference.h"

namespace halftone::onnx_format {
namespace {

constexpr int64_t kLongest = 4096;  // parts of one SplitToSequence

int64_t IntOf(const onnx::NodeProto& proto, std::string_view name, int64_t otherwise) {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

bool HasInput(const onnx::NodeProto& proto, int i) { return i < proto.input_size() && !proto.input(i).empty(); }

// `position` counted from the front; an error out of [-size, last].
absl::StatusOr<size_t> FromFront(int64_t position, size_t size, size_t last) {
  const int64_t signed_size = static_cast<int64_t>(size);
  const int64_t front = position < 0 ? position + signed_size : position;
  if (front >= 0 && front <= static_cast<int64_t>(last)) return static_cast<size_t>(front);
  return absl::InvalidArgumentError(halftone::Concat("position ", position, " of a sequence of ", size, " tensors: ",
                                                     -signed_size, " to ", static_cast<int64_t>(last), " are allowed"));
}

Node NodeOf(const onnx::NodeProto& proto, OpKind op, std::vector<ValueId> inputs) {
  Node node;
  node.op = op;
  node.name = proto.name();
  node.inputs = std::move(inputs);
  return node;
}

}  // namespace

const Sequences::List* Sequences::Find(const onnx::NodeProto& proto) const {
  if (proto.input_size() == 0) return nullptr;
  const auto it = lists_.find(proto.input(0));
  return it == lists_.end() ? nullptr : &it->second;
}

// The number that input `input` is, `otherwise` if it is absent, nullopt if it is not known.
std::optional<int64_t> Sequences::Position(const onnx::NodeProto& proto, int input, const Values& values,
                                           int64_t otherwise) {
  if (!HasInput(proto, input)) return otherwise;
  const auto it = values.find(proto.input(input));
  if (it == values.end()) return std::nullopt;
  const std::optional<std::vector<int64_t>> ints = known_.Ints(it->second);
  if (!ints.has_value() || ints->size() != 1) return std::nullopt;
  return ints->front();
}

Sequences::Step Sequences::Make(const onnx::NodeProto& proto, List list) {
  const int64_t size = static_cast<int64_t>(list.elements.size());
  if (proto.output_size() != 1 || size > budget_) return {};
  budget_ -= size;
  lists_[proto.output(0)] = std::move(list);
  return {.done = true};
}

std::vector<ValueId> Sequences::AddInferred(Node node, int outputs) {
  const NodeId id = edit_.AddNode(std::move(node), std::vector<ValueSpec>(static_cast<size_t>(outputs)));
  const absl::StatusOr<std::vector<ValueSpec>> specs = InferNode(edit_.graph(), id);
  std::vector<ValueId> result;
  for (int i = 0; i < outputs; ++i) {
    const ValueId value = edit_.graph().output(id, i);
    result.push_back(value);
    if (!specs.ok() || static_cast<size_t>(i) >= specs->size()) continue;
    edit_.SetType(value, (*specs)[static_cast<size_t>(i)].type);
    edit_.SetShape(value, (*specs)[static_cast<size_t>(i)].shape);
  }
  return result;
}

absl::StatusOr<Sequences::Step> Sequences::Import(const onnx::NodeProto& proto, const Values& values) {
  const std::string& op = proto.op_type();
  if (op == "SequenceEmpty") {
    List list;
    list.dtype = IntOf(proto, "dtype", onnx::TensorProto::FLOAT);
    return Make(proto, std::move(list));
  }
  if (op == "SequenceConstruct") {
    List list;
    for (const std::string& name : proto.input()) {
      const auto it = values.find(name);
      if (it == values.end()) return Step();
      list.elements.push_back(it->second);
    }
    return Make(proto, std::move(list));
  }
  if (op == "SplitToSequence") return Split(proto, values);
  if (op == "OptionalHasElement" || op == "OptionalGetElement") return OfOptional(proto, values);
  if (Find(proto) == nullptr) return Step();
  if (op == "SequenceInsert") return Insert(proto, values);
  if (op == "SequenceErase") return Erase(proto, values);
  if (op == "SequenceAt") return At(proto, values);
  if (op == "ConcatFromSequence") return Concat(proto);
  if (op == "Identity") return Make(proto, *Find(proto));
  if (op == "SequenceLength") {
    Node node = NodeOf(proto, OpKind::kConstant, {});
    node.attributes.Set("value", Tensor::IntScalar(static_cast<int64_t>(Find(proto)->elements.size())));
    node.extra.Set(std::string(kConstantNodeMark), true);
    return Step{.node = std::move(node)};
  }
  return Step();
}

// A tensor is an optional with a value; without an input the optional is empty.
absl::StatusOr<Sequences::Step> Sequences::OfOptional(const onnx::NodeProto& proto, const Values& values) {
  const auto it = HasInput(proto, 0) ? values.find(proto.input(0)) : values.end();
  const bool is_tensor = it != values.end() && edit_.graph().type(it->second) != DataType::kUnknown;
  if (HasInput(proto, 0) && !is_tensor) return Step();
  if (proto.op_type() == "OptionalGetElement") {
    if (!is_tensor) return absl::InvalidArgumentError("takes the element of an optional that has none");
    return Step{.node = NodeOf(proto, OpKind::kIdentity, {it->second})};
  }
  HALFTONE_ASSIGN_OR_RETURN(Tensor has_element, Tensor::IntScalar(is_tensor ? 1 : 0).ConvertTo(DataType::kBool));
  Node node = NodeOf(proto, OpKind::kConstant, {});
  node.attributes.Set("value", std::move(has_element));
  node.extra.Set(std::string(kConstantNodeMark), true);
  return Step{.node = std::move(node)};
}

absl::StatusOr<Sequences::Step> Sequences::Insert(const onnx::NodeProto& proto, const Values& values) {
  List list = *Find(proto);
  const size_t size = list.elements.size();
  const std::optional<int64_t> position = Position(proto, 2, values, static_cast<int64_t>(size));
  const auto tensor = HasInput(proto, 1) ? values.find(proto.input(1)) : values.end();
  if (!position.has_value() || tensor == values.end()) return Step();
  HALFTONE_ASSIGN_OR_RETURN(const size_t front, FromFront(*position, size, size));
  list.elements.insert(list.elements.begin() + static_cast<std::ptrdiff_t>(front), tensor->second);
  return Make(proto, std::move(list));
}

absl::StatusOr<Sequences::Step> Sequences::Erase(const onnx::NodeProto& proto, const Values& values) {
  List list = *Find(proto);
  const std::optional<int64_t> position = Position(proto, 1, values, -1);
  if (!position.has_value()) return Step();
  HALFTONE_ASSIGN_OR_RETURN(const size_t front, FromFront(*position, list.elements.size(), list.elements.size() - 1));
  list.elements.erase(list.elements.begin() + static_cast<std::ptrdiff_t>(front));
  return Make(proto, std::move(list));
}

absl::StatusOr<Sequences::Step> Sequences::At(const onnx::NodeProto& proto, const Values& values) {
  const std::vector<ValueId>& elements = Find(proto)->elements;
  if (!HasInput(proto, 1)) return absl::InvalidArgumentError("has no position");
  const std::optional<int64_t> position = Position(proto, 1, values, 0);
  if (!position.has_value()) return Step();
  HALFTONE_ASSIGN_OR_RETURN(const size_t front, FromFront(*position, elements.size(), elements.size() - 1));
  return Step{.node = NodeOf(proto, OpKind::kIdentity, {elements[front]})};
}

absl::StatusOr<Sequences::Step> Sequences::Concat(const onnx::NodeProto& proto) {
  std::vector<ValueId> elements = Find(proto)->elements;
  if (elements.empty()) return absl::InvalidArgumentError("joins a sequence of no tensors");
  int64_t axis = IntOf(proto, "axis", 0);
  if (IntOf(proto, "new_axis", 0) != 0) {
    const ValueId axes = edit_.AddConstant("", Tensor::Ints(std::vector<int64_t>{axis}));
    for (ValueId& element : elements) {
      Node unsqueeze;
      unsqueeze.op = OpKind::kUnsqueeze;
      unsqueeze.inputs = {element, axes};
      element = AddInferred(std::move(unsqueeze), 1).front();
    }
  }
  elements.push_back(edit_.AddConstant("", Tensor::IntScalar(axis)));
  return Step{.node = NodeOf(proto, OpKind::kConcat, std::move(elements))};
}

absl::StatusOr<Sequences::Step> Sequences::Split(const onnx::NodeProto& proto, const Values& values) {
  const auto x = HasInput(proto, 0) ? values.find(proto.input(0)) : values.end();
  if (x == values.end() || !edit_.graph().shape(x->second).has_rank()) return Step();
  const Shape shape = edit_.graph().shape(x->second);
  int64_t axis = IntOf(proto, "axis", 0);
  if (axis < -shape.rank() || axis >= shape.rank()) {
    return absl::InvalidArgumentError(halftone::Concat("axis ", axis, ": the input has rank ", shape.rank()));
  }
  const Dim length = shape.dim(static_cast<int>(axis));
  ValueId sizes = kNoValue;
  int64_t parts = length.value;
  bool squeeze = IntOf(proto, "keepdims", 1) == 0;
  if (HasInput(proto, 1)) {
    const auto split = values.find(proto.input(1));
    if (split == values.end() || !edit_.graph().shape(split->second).has_rank()) return Step();
    squeeze = false;
    if (edit_.graph().shape(split->second).rank() == 1) {
      sizes = split->second;
      parts = edit_.graph().shape(sizes).dim(0).value;
    } else {
      const std::optional<int64_t> size = Position(proto, 1, values, 0);
      if (!size.has_value() || !length.known()) return Step();
      if (*size <= 0) return absl::InvalidArgumentError(halftone::Concat("parts of ", *size, " elements"));
      parts = length.value / *size + (length.value % *size != 0);
      if (parts > kLongest) return Step();
      std::vector<int64_t> each(static_cast<size_t>(parts), *size);
      if (length.value % *size != 0) each.back() = length.value % *size;
      sizes = edit_.AddConstant("", Tensor::Ints(each));
    }
  }
  if (parts < 1 || parts > std::min(kLongest, budget_)) return Step();
  if (!sizes.valid()) sizes = edit_.AddConstant("", Tensor::Ints(std::vector<int64_t>(static_cast<size_t>(parts), 1)));
  const ValueId along = edit_.AddConstant("", Tensor::IntScalar(axis));
  List list;
  list.elements = AddInferred(NodeOf(proto, OpKind::kSplit, {x->second, sizes, along}), static_cast<int>(parts));
  if (squeeze) {
    const ValueId axes = edit_.AddConstant("", Tensor::Ints(std::vector<int64_t>{axis}));
    for (ValueId& element : list.elements) {
      Node node;
      node.op = OpKind::kSqueeze;
      node.inputs = {element, axes};
      element = AddInferred(std::move(node), 1).front();
    }
  }
  return Make(proto, std::move(list));
}

void Sequences::Materialize(const std::string& name, Values& values) {
  const auto it = lists_.find(name);
  if (it == lists_.end() || values.contains(name)) return;
  Node node;
  node.op = OpKind::kOpaque;
  node.spelling = it->second.elements.empty() ? "SequenceEmpty" : "SequenceConstruct";
  node.inputs = it->second.elements;
  if (it->second.elements.empty() && it->second.dtype.has_value()) node.extra.Set("dtype", *it->second.dtype);
  values[name] = edit_.graph().output(edit_.AddNode(std::move(node), {{DataType::kUnknown, Shape(), name}}));
}

}  // namespace halftone::onnx_format
