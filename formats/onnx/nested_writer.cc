// SPDX-License-Identifier: Apache-2.0
// Nested graphs as subgraphs: the part of NodeWriter that writes graphs in graphs.

#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/node_writer.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/value_infos.h"
#include "formats/onnx/verbatim.h"
#include "ir/nested.h"

namespace halftone::onnx_format {
namespace {

constexpr size_t kSmallConstant = 1024;  // bytes; several copies in a file do no harm

}  // namespace

ValueId NodeWriter::FindConstant(const Tensor& tensor, const std::string& name) {
  if (constants_.empty()) {
    for (const NodeId id : graph_.nodes()) {
      const ValueId value = graph_.output(id);
      if (graph_.op(id) == OpKind::kConstant && value.valid()) constants_.emplace(graph_.value(value).name, value);
    }
  }
  const auto can_be_read = [this](ValueId value) {
    return names_.IsOuter(value) || IsInitializer(graph_.producer(value)) || written_constants_.contains(value);
  };
  if (const auto named = constants_.find(name); !name.empty() && named != constants_.end()) {
    const Tensor* here = graph_.ConstantTensor(named->second);
    if (can_be_read(named->second) && here != nullptr && here->SameBytes(tensor)) return named->second;
  }
  const SharedConstant* shared = shared_->Find(tensor);
  if (shared == nullptr) return kNoValue;
  const auto holder = shared->holders.find(&graph_);
  return holder != shared->holders.end() && can_be_read(holder->second) ? holder->second : kNoValue;
}

std::string NodeWriter::Hoist(const Tensor& tensor, const std::string& name, bool filled) {
  NodeWriter* outermost = this;
  for (NodeWriter* writer = this; writer != nullptr; writer = writer->outer_) {
    const ValueId value = writer->FindConstant(tensor, name);
    if (value.valid()) return writer->Read(value);
    outermost = writer;
  }
  const std::string base = name.empty() ? "constant" : name;
  if (tensor.type() == DataType::kString) return outermost->AddConstant(tensor, base);
  const SharedConstant* shared = shared_->Find(tensor);
  const std::byte* bytes = shared == nullptr ? tensor.raw() : shared->tensor.raw();
  const auto [it, added] = outermost->hoisted_.try_emplace({bytes, tensor.type(), tensor.dims()});
  if (added) it->second = filled ? outermost->AddFill(tensor, base) : outermost->AddConstant(tensor, base);
  return it->second;
}

absl::StatusOr<onnx::GraphProto> NodeWriter::WriteNested(NodeId id, std::string_view name) {
  const Node& node = graph_.node(id);
  HALFTONE_ASSIGN_OR_RETURN(const NestedForm form, NestedFormOf(node));
  const std::shared_ptr<const Graph> nested = NestedGraph(node, name);
  NameScope scope;
  scope.outer = &names_;
  HALFTONE_RETURN_IF_ERROR(AddNamesInside(*nested, scope.reserved));
  const size_t formal = nested->inputs().size() - form.captured;
  const size_t first = node.inputs.size() - form.captured;
  for (int i = 0; i < form.captured; ++i) {
    const std::string read = Read(node.inputs[first + i]);
    const size_t known = node.captures.size() == static_cast<size_t>(form.captured) ? i : node.captures.size();
    const bool needs_name = known < node.captures.size() && !node.captures[known].empty();
    scope.fixed[nested->output(nested->inputs()[formal + i])] = needs_name ? node.captures[known] : read;
  }
  for (const NodeId inner : nested->nodes()) {
    const ValueId value = nested->output(inner);
    const Tensor* tensor = nested->op(inner) == OpKind::kConstant ? nested->ConstantTensor(value) : nullptr;
    if (tensor == nullptr) continue;
    // Copies of constants around: the importer has marked them; those that a pass made have no name. Others are found
    // by their bytes.
    const SharedConstant* shared = shared_->Find(*tensor);
    const std::string& own_name = nested->value(value).name;
    const bool marked = nested->node(inner).extra.has(kOuterMark);
    const bool is_copy = marked || (own_name.empty() && tensor->byte_size() > kSmallConstant) ||
                         (shared != nullptr && shared->owner != nested.get());
    const bool is_read = !nested->uses(value).empty() || nested->IsOutput(value);
    if (is_copy && is_read) {
      scope.fixed[value] = Hoist(*tensor, marked ? nested->node(inner).extra.String(kOuterMark, "") : own_name,
                                 IsFillNode(*nested, inner));
    }
  }
  HALFTONE_ASSIGN_OR_RETURN(ValueNames names, ValueNames::Assign(*nested, std::move(scope)));
  NodeWriter writer(*nested, opset_, names, name_nodes_, this);
  for (const NodeId inner : nested->TopologicalOrder()) HALFTONE_RETURN_IF_ERROR(writer.Write(inner));
  onnx::GraphProto proto;
  HALFTONE_RETURN_IF_ERROR(SetGraphHeader(*nested, proto));
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Initializer> initializers, writer.Finish(proto, {}));
  for (const Initializer& initializer : initializers) {
    *proto.add_initializer() = ToProto(initializer.value, initializer.name);
  }
  for (size_t i = 0; i < formal; ++i) {
    const ValueId value = nested->output(nested->inputs()[i]);
    HALFTONE_RETURN_IF_ERROR(SetInfo(*nested, value, names.of(value), nested->value(value).name, *proto.add_input()));
  }
  for (size_t i = 0; i < nested->outputs().size(); ++i) {
    const GraphOutput& output = nested->outputs()[i];
    HALFTONE_RETURN_IF_ERROR(SetInfo(*nested, output.value, names.output(i), output.name, *proto.add_output()));
  }
  HALFTONE_RETURN_IF_ERROR(AddOpaqueInfos(*nested, names, proto));
  return proto;
}

}  // namespace halftone::onnx_format
