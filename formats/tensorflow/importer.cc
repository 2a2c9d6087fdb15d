// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/importer.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "formats/tensorflow/attr_value.h"
#include "formats/tensorflow/dialects.h"
#include "formats/tensorflow/extra.h"
#include "formats/tensorflow/function_library.h"
#include "formats/tensorflow/functions.h"
#include "formats/tensorflow/node_graph.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/op_map.h"
#include "formats/tensorflow/parse.h"
#include "formats/tensorflow/provenance.h"
#include "formats/tensorflow/source_node.h"
#include "formats/tensorflow/tensor_proto.h"
#include "formats/tensorflow/unmapped_fields.h"
#include "ir/editor.h"
#include "ir/provenance.h"
#include "ir/verifier.h"

namespace halftone {
namespace graphdef {
namespace {

// Outputs that all nodes of a file may have together. Port numbers are a few bytes in a file and many here.
constexpr int64_t kMaxValues = 2'000'000;

template <typename... Args>
absl::Status Bad(const Args&... args) {
  return absl::InvalidArgumentError(Concat(args...));
}

// Nodes that remain of training or restoring and whose outputs are no results.
bool IsTrainingLeftover(std::string_view tf_op) {
  constexpr std::string_view kPrefixes[] = {"Assign",   "Apply",       "SparseApply", "Restore", "Save",
                                            "Variable", "VarHandleOp", "Queue",       "Reader",  "Initialize"};
  constexpr std::string_view kSuffixes[] = {"Summary", "SummaryV2", "Dataset", "DatasetV2"};
  const auto starts = [&](std::string_view word) { return tf_op.starts_with(word); };
  const auto ends = [&](std::string_view word) { return tf_op.ends_with(word); };
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), starts) ||
         std::any_of(std::begin(kSuffixes), std::end(kSuffixes), ends);
}

// Random numbers are a source, too, but may be a result.
bool IsSource(const Node& node) { return node.op == OpKind::kInput || node.op == OpKind::kConstant; }

// Control flow of frozen graphs, whose values are not results by themselves.
bool IsFlowOnly(OpKind op) {
  const OpGroup group = Info(op).group;
  return group == OpGroup::kStructural && op != OpKind::kIf && op != OpKind::kWhile && op != OpKind::kCall &&
         op != OpKind::kTensorArrayGather && op != OpKind::kTensorArrayRead && op != OpKind::kTensorArrayConcat;
}

class Importer {
 public:
  Importer(tf::GraphDef& def, NodeGraph nodes, FunctionLibrary& functions)
      : def_(def),
        nodes_(std::move(nodes)),
        functions_(functions),
        edit_(graph_),
        ids_(def.node_size()),
        ports_(def.node_size()) {}

  absl::StatusOr<Graph> Import(const GraphDefOptions& options, bool is_function) {
    edit_.SetLayout(GraphLayout::kChannelsLast);
    if (!is_function) KeepHeader(def_, edit_);
    if (!is_function) source_ = BeginSource(def_);
    const std::vector<int> read_outputs = nodes_.CountReadOutputs();
    for (const int i : nodes_.order()) {
      HALFTONE_RETURN_IF_ERROR(Annotate(AddNode(i, read_outputs[i]), Concat("node '", def_.node(i).name(), "'")));
    }
    HALFTONE_RETURN_IF_ERROR(CloseLoops());
    HALFTONE_RETURN_IF_ERROR(SettleTypes());
    HALFTONE_RETURN_IF_ERROR(options.outputs.empty() ? FindOutputs() : SetOutputs(options.outputs));
    if (!is_function && !functions_.names().empty()) edit_.SetHeader(std::string(kHeaderNested), functions_.names());
    HALFTONE_RETURN_IF_ERROR(VerifyFileGraph(graph_));
    KeepSource();
    return std::move(graph_);
  }

 private:
  absl::Status AddNode(int i, int num_read_outputs);
  void AddMade(const ConvertedNode& converted, const NodeEdges& edges, std::vector<ValueId>& made);
  void AddOne(int i, ConvertedNode converted);
  void AddParts(int i, ConvertedNode converted);
  ValueId NumberedInput(int from, const NodeEdges& edges, const std::vector<ValueId>& made) const;
  std::optional<QuantizationParameters> QuantizedAs(ValueId integers) const;
  ValueId Unmoved(ValueId value) const;
  bool IsExtreme(ValueId end, OpKind reduce, ValueId x) const;
  ValueId InputValue(const Edge& edge) const { return ports_[edge.node][edge.port]; }
  absl::Status CloseLoops();
  absl::Status SettleTypes();
  absl::Status SetOutputs(const std::vector<std::string>& names);
  absl::Status FindOutputs();
  void KeepSource();
  void AddOutput(int i, int port) {
    const std::string& name = def_.node(i).name();
    edit_.AddGraphOutput(port == 0 ? name : Concat(name, ":", port), ports_[i][port]);
  }

  // A data input of a canonical node, and the type that the node's attributes ask of it.
  struct TypedInput {
    int node;
    int index;
    DataType type;
  };
  struct LateInput {
    int node;
    std::vector<int> inputs;  // as ConvertedNode::inputs; no made ones
  };

  tf::GraphDef& def_;
  const NodeGraph nodes_;
  FunctionLibrary& functions_;
  Graph graph_;
  GraphEditor edit_;
  std::vector<NodeId> ids_;                  // by index in the file
  std::vector<std::vector<ValueId>> ports_;  // the outputs of each node of the file
  std::vector<TypedInput> typed_inputs_;
  std::vector<LateInput> late_;          // nodes that read a value that was made after them
  std::shared_ptr<SourceGraph> source_;  // nullptr in functions
};

absl::Status Importer::AddNode(int i, int num_read_outputs) {
  const tf::NodeDef& def = def_.node(i);
  const NodeEdges& edges = nodes_.edges()[i];
  NodeContext context;
  context.num_inputs = static_cast<int>(edges.data.size());
  context.num_read_outputs = num_read_outputs;
  context.graph_version = def_.versions().producer();
  const auto input = [&](int k) { return ids_[edges.data[k].node].valid() ? InputValue(edges.data[k]) : kNoValue; };
  context.constant_ints = [&](int k) { return graph_.ConstantInts(input(k)); };
  context.constant = [&](int k) { return graph_.ConstantTensor(input(k)); };
  context.input_shape = [&](int k) {
    ValueId value = input(k);
    while (value.valid() && graph_.op(value) == OpKind::kIdentity) value = graph_.input(graph_.producer(value), 0);
    return value.valid() ? graph_.shape(value) : Shape();
  };
  context.input_name = [&](int k) { return def_.node(edges.data[k].node).name(); };
  context.input_type = [&](int k) { return input(k).valid() ? graph_.type(input(k)) : DataType::kUnknown; };
  context.quantized_as = [&](int k) { return QuantizedAs(input(k)); };
  context.input_op = [&](int k) { return input(k).valid() ? graph_.op(Unmoved(input(k))) : OpKind::kOpaque; };
  context.is_range_of = [&](int low, int high, int x) {
    return IsExtreme(input(low), OpKind::kReduceMin, input(x)) && IsExtreme(input(high), OpKind::kReduceMax, input(x));
  };
  context.function = [&](const std::string& name) { return functions_.Get(name); };
  HALFTONE_ASSIGN_OR_RETURN(ConvertedNode converted, ConvertNode(def, context, functions_.repeat_budget()));
  if (graph_.num_values() + static_cast<int64_t>(converted.outputs.size()) > kMaxValues) {
    return Bad("the nodes of this file have more than ", kMaxValues, " outputs");
  }

  if (source_ != nullptr) source_->nodes[i] = ReadSourceNode(def, edges);
  Node& node = converted.node;
  node.device = def.device();
  KeepUnmappedFields(def, edges.data, nodes_, node);
  for (const int from : edges.control) node.control_inputs.push_back(ids_[from]);
  for (int k = 0; k < context.num_inputs; ++k) {
    if (converted.input_types[k] != DataType::kUnknown) typed_inputs_.push_back({i, k, converted.input_types[k]});
  }
  if (converted.is_parts && !converted.outputs.empty()) {
    AddParts(i, std::move(converted));
  } else {
    AddOne(i, std::move(converted));
  }
  def_.mutable_node(i)->clear_attr();  // weights are held once from here on
  return absl::OkStatus();
}

void Importer::AddOne(int i, ConvertedNode converted) {
  const std::string& name = def_.node(i).name();
  const NodeEdges& edges = nodes_.edges()[i];
  Node& node = converted.node;
  std::vector<ValueId> made;
  AddMade(converted, edges, made);
  const auto is_there = [&](int from) { return from < 0 || ids_[edges.data[from].node].valid(); };
  if (std::all_of(converted.inputs.begin(), converted.inputs.end(), is_there)) {
    for (const int from : converted.inputs) node.inputs.push_back(NumberedInput(from, edges, made));
  } else {
    late_.push_back({i, converted.inputs});
  }
  std::vector<bool> absent;
  size_t count = 0;
  for (size_t k = 0; k < converted.outputs.size(); ++k) {
    const int port = converted.output_ports[k];
    absent.push_back(port < 0);
    count = std::max(count, static_cast<size_t>(port + 1));
    if (port >= 0) converted.outputs[k].name = port == 0 ? name : Concat(name, ":", port);
  }
  ids_[i] = edit_.AddNode(std::move(node), std::move(converted.outputs));
  ports_[i].resize(count);
  for (size_t k = 0; k < absent.size(); ++k) {
    if (!absent[k]) ports_[i][converted.output_ports[k]] = graph_.output(ids_[i], static_cast<int>(k));
  }
  edit_.DropAbsentOutputs(ids_[i], absent);
  for (auto& [port, tensor] : converted.constant_ports) {
    if (ports_[i].size() <= static_cast<size_t>(port)) ports_[i].resize(port + 1);
    ports_[i][port] = edit_.AddConstant("", std::move(tensor));
  }
  for (const auto& [port, from] : converted.value_ports) {
    if (ports_[i].size() <= static_cast<size_t>(port)) ports_[i].resize(port + 1);
    ports_[i][port] = NumberedInput(from, edges, made);
  }
}

ValueId Importer::NumberedInput(int from, const NodeEdges& edges, const std::vector<ValueId>& made) const {
  if (from == kAbsentInput) return kNoValue;
  return from >= 0 ? InputValue(edges.data[from]) : made[MadeInputNumber(0) - from];
}

void Importer::AddMade(const ConvertedNode& converted, const NodeEdges& edges, std::vector<ValueId>& made) {
  for (const MadeInput& input : converted.made) {
    if (input.constant.has_value()) {
      made.push_back(edit_.AddConstant("", *input.constant));
      continue;
    }
    if (input.port.has_value()) {
      const auto [helper, port] = *input.port;
      made.push_back(graph_.output(graph_.producer(NumberedInput(helper, edges, made)), port));
      continue;
    }
    Node node = input.node;
    node.device = converted.node.device;
    node.extra.Set(std::string(kExtraHelper), converted.node.spelling);
    for (const int from : input.inputs) node.inputs.push_back(NumberedInput(from, edges, made));
    std::vector<ValueSpec> outputs = {input.output};
    outputs.insert(outputs.end(), input.more_outputs.begin(), input.more_outputs.end());
    made.push_back(graph_.output(edit_.AddNode(std::move(node), std::move(outputs))));
  }
}

// Looks through nodes that only change the shape.
ValueId Importer::Unmoved(ValueId value) const {
  while (value.valid() && (graph_.op(value) == OpKind::kIdentity || graph_.op(value) == OpKind::kReshape)) {
    value = graph_.input(graph_.producer(value), 0);
  }
  return value;
}

// The end of a range is one number, so that the reduction is over all dimensions. A low end may be clipped to at most
// 0.
bool Importer::IsExtreme(ValueId end, OpKind reduce, ValueId x) const {
  end = Unmoved(end);
  if (end.valid() && graph_.op(end) == OpKind::kMinimum && reduce == OpKind::kReduceMin) {
    const Tensor* bound = graph_.ConstantTensor(graph_.input(graph_.producer(end), 0));
    if (bound == nullptr || bound->num_elements() != 1 || bound->ToDoubles()[0] != 0) return false;
    end = Unmoved(graph_.input(graph_.producer(end), 1));
  }
  if (!end.valid() || !x.valid() || graph_.op(end) != reduce) return false;
  return Unmoved(graph_.input(graph_.producer(end), 0)) == Unmoved(x);
}

std::optional<QuantizationParameters> Importer::QuantizedAs(ValueId integers) const {
  using enum OpKind;
  const auto moves = [](OpKind op) { return op == kIdentity || op == kMaxPool || op == kReshape; };
  while (integers.valid() && moves(graph_.op(integers))) integers = graph_.input(graph_.producer(integers), 0);
  if (!integers.valid() || graph_.op(integers) != kQuantizeLinear) return std::nullopt;
  const NodeId id = graph_.producer(integers);
  const Tensor* scale = graph_.ConstantTensor(graph_.input(id, 1));
  const Tensor* zero = graph_.ConstantTensor(graph_.input(id, 2));
  if (scale == nullptr || scale->type() != DataType::kFloat32 || scale->num_elements() != 1) return std::nullopt;
  if (zero == nullptr || zero->num_elements() != 1) return std::nullopt;
  return QuantizationParameters{scale->data<float>()[0], static_cast<int32_t>(zero->ToInts()[0])};
}

// One node for each output of a node that only has several of the same.
void Importer::AddParts(int i, ConvertedNode converted) {
  const std::string& name = def_.node(i).name();
  const auto count = static_cast<int64_t>(converted.outputs.size());
  for (int64_t k = 0; k < count; ++k) {
    Node part = converted.node;
    if (k > 0) {
      part.name.clear();
      part.extra = Attributes();
    }
    part.extra.Set(std::string(kExtraPartOf), name);
    part.extra.Set(std::string(kExtraPart), std::vector<int64_t>{k, count});
    part.inputs = {InputValue(nodes_.edges()[i].data[k])};
    converted.outputs[k].name = k == 0 ? name : Concat(name, ":", k);
    const NodeId id = edit_.AddNode(std::move(part), {converted.outputs[k]});
    if (k == 0) ids_[i] = id;
    ports_[i].push_back(graph_.output(id));
  }
}

absl::Status Importer::CloseLoops() {
  for (const LateInput& late : late_) {
    std::vector<ValueId> inputs;
    for (const int from : late.inputs) {
      inputs.push_back(from < 0 ? kNoValue : InputValue(nodes_.edges()[late.node].data[from]));
    }
    edit_.SetInputs(ids_[late.node], std::move(inputs));
  }
  return absl::OkStatus();
}

// What reads a value says which type it must have; outputs of opaque nodes get theirs this way.
absl::Status Importer::SettleTypes() {
  for (const TypedInput& input : typed_inputs_) {
    const Edge& edge = nodes_.edges()[input.node].data[input.index];
    const ValueId value = InputValue(edge);
    const DataType type = graph_.type(value);
    if (type == DataType::kUnknown) {
      edit_.SetType(value, input.type);
    } else if (type != input.type) {
      return Bad("node '", def_.node(input.node).name(), "' (", def_.node(input.node).op(),
                 "): its attributes say that input ", input.index, " is ", DataTypeName(input.type), ", but '",
                 graph_.value(value).name, "' is ", DataTypeName(type));
    }
  }
  return absl::OkStatus();
}

absl::Status Importer::SetOutputs(const std::vector<std::string>& names) {
  for (const std::string& text : names) {
    HALFTONE_ASSIGN_OR_RETURN(const TensorName name, ParseTensorName(text));
    const int i = nodes_.Find(name.node);
    if (i < 0) {
      std::vector<std::string_view> all;
      for (const tf::NodeDef& node : def_.node()) all.push_back(node.name());
      return Bad("output '", text, "': there is no such node", NearMisses(name.node, all));
    }
    const size_t count = ports_[i].size();
    if (static_cast<size_t>(name.port) >= count) {
      return Bad("output '", text, "': node '", name.node, "' has ", count, " outputs");
    }
    AddOutput(i, name.port);
  }
  return absl::OkStatus();
}

absl::Status Importer::FindOutputs() {
  std::vector<bool> is_read(def_.node_size(), false);
  for (int i = 0; i < def_.node_size(); ++i) {
    for (const Edge& edge : nodes_.edges()[i].data) is_read[edge.node] = true;
    if (def_.node(i).op() == "NoOp") continue;  // a group of nodes to run reads nothing
    for (const int from : nodes_.edges()[i].control) is_read[from] = true;
  }
  for (const bool exits : {false, true}) {  // only where there is nothing else: values that leave a loop
    for (int i = 0; i < def_.node_size(); ++i) {
      const Node& node = graph_.node(ids_[i]);
      if (is_read[i] || IsSource(node) || ports_[i].empty() || IsTrainingLeftover(def_.node(i).op())) continue;
      if (exits ? node.op != OpKind::kExit : IsFlowOnly(node.op)) continue;
      const bool all = node.op != OpKind::kBatchNorm;  // whose others are for training
      const size_t count = all ? ports_[i].size() : 1;
      for (size_t port = 0; port < count; ++port) {
        if (port == 0 || !graph_.IsConstant(ports_[i][port])) AddOutput(i, static_cast<int>(port));
      }
    }
    if (!graph_.outputs().empty()) return absl::OkStatus();
  }
  return Bad(
      "the graph computes nothing: every node is a constant, a placeholder, or read by another; name its outputs");
}

void Importer::KeepSource() {
  if (source_ == nullptr) return;
  for (size_t i = 0; i < source_->nodes.size(); ++i) {
    source_->nodes[i].node = ids_[i];
    source_->nodes[i].outputs = std::move(ports_[i]);
  }
  edit_.SetSource(std::move(source_));
}

}  // namespace

absl::StatusOr<Graph> ImportNodes(tf::GraphDef& def, FunctionLibrary& functions, const GraphDefOptions& options,
                                  bool is_function) {
  HALFTONE_ASSIGN_OR_RETURN(NodeGraph nodes, NodeGraph::Build(def));
  return Importer(def, std::move(nodes), functions).Import(options, is_function);
}

}  // namespace graphdef

absl::StatusOr<Graph> ImportGraphDef(std::string_view bytes, bool is_text, const GraphDefOptions& options) {
  graphdef::tf::GraphDef def;
  HALFTONE_RETURN_IF_ERROR(graphdef::ParseGraphDef(bytes, is_text, def));
  const auto provenance = graphdef::TakeProvenance(def);
  HALFTONE_RETURN_IF_ERROR(Annotate(graphdef::CheckFunctions(def.library()), "function library"));
  int64_t repeat_budget = graphdef::kRepeatBudget;
  graphdef::FunctionLibrary functions(def.library(), def.versions(), repeat_budget);
  HALFTONE_ASSIGN_OR_RETURN(Graph graph, graphdef::ImportNodes(def, functions, options, /*is_function=*/false));
  GraphEditor edit(graph);
  for (const auto& [key, value] : provenance) AddMetadata(edit, key, value);
  return graph;
}

}  // namespace halftone
