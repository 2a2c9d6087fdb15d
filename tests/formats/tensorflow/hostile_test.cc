// SPDX-License-Identifier: Apache-2.0
// Files made to break an importer: each is INVALID_ARGUMENT with words that help, soon and with little memory.

#include <climits>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

namespace tf = ::halftone::tensorflow;
using ::testing::HasSubstr;

void ExpectRefused(const absl::Status& status, std::string_view reason) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(reason)));
}

absl::Status ImportBytes(const std::string& bytes) { return ImportGraphDef(bytes, /*is_text=*/false).status(); }

struct TextCase {
  std::string_view name;
  std::string_view text;
  std::string_view reason;
};

#define FLOAT_T "attr { key: 'T' value { type: DT_FLOAT } } "
#define INPUT "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
#define CONST(tensor)                                                                                               \
  "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor " \
  "{ " tensor " } } } }"
#define CONV(attrs) INPUT "node { name: 'y' op: 'Conv2D' input: ['x', 'x'] " FLOAT_T attrs "}"
#define STRIDES "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } "

const TextCase kTextCases[] = {
    // Names and edges.
    {"EmptyName", "node { op: 'NoOp' }", "node 0 (NoOp) has no name"},
    {"NameWithSpace", "node { name: 'a b' op: 'NoOp' }", "its name is too long, or has a space"},
    {"NoOp", "node { name: 'x' }", "node 'x' has no op"},
    {"DuplicateName", INPUT INPUT, "two nodes have the name 'x'"},
    {"MissingInputNode", INPUT "node { name: 'y' op: 'Relu' input: 'z' " FLOAT_T "}", "its input 'z' does not exist"},
    {"MissingControlNode", INPUT "node { name: 'y' op: 'NoOp' input: '^z' }", "its input '^z' does not exist"},
    {"PortIsNoNumber", INPUT "node { name: 'y' op: 'Relu' input: 'x:one' " FLOAT_T "}", "input 'x:one' is none of"},
    {"PortOutOfRange", INPUT "node { name: 'y' op: 'Relu' input: 'x:1' " FLOAT_T "}",
     "output 1 is read; Placeholder has 1"},
    {"PortAbsurd", INPUT "node { name: 'y' op: 'Relu' input: 'x:4294967296' " FLOAT_T "}", "is none of"},
    {"PortOfControl", INPUT "node { name: 'y' op: 'NoOp' input: '^x:0' }", "is none of"},
    {"ControlBeforeData", INPUT "node { name: 'y' op: 'Relu' input: ['^x', 'x'] " FLOAT_T "}",
     "comes after a control input"},
    {"SelfLoop", "node { name: 'y' op: 'Relu' input: 'y' " FLOAT_T "}", "has itself as an input"},
    {"Cycle", "node { name: 'a' op: 'Relu' input: 'b' " FLOAT_T "} node { name: 'b' op: 'Relu' input: 'a' " FLOAT_T "}",
     "is on a cycle"},
    {"CycleOfControl", "node { name: 'a' op: 'NoOp' input: '^b' } node { name: 'b' op: 'NoOp' input: '^a' }",
     "is on a cycle"},
    {"CycleThroughNextIterationOnly",
     "node { name: 'a' op: 'Relu' input: 'b' " FLOAT_T "} node { name: 'b' op: 'NextIteration' input: 'a' " FLOAT_T "}",
     "is on a cycle"},
    {"NothingComputed", INPUT, "the graph computes nothing"},
    {"Empty", "versions { producer: 3 }", "holds no nodes"},
    // Attributes.
    {"DuplicateAttribute", "node { name: 'x' op: 'Relu' " FLOAT_T FLOAT_T "}", "attribute 'T' is given twice"},
    {"OurOwnAttribute", "node { name: 'x' op: 'NoOp' attr { key: 'tf.absent' value { s: 'T' } } }",
     "must not begin with 'tf.'"},
    {"MissingInputs", "node { name: 'y' op: 'Identity' " FLOAT_T "}", "0 data inputs; Identity needs 1"},
    {"ReshapeWithoutShape", INPUT "node { name: 'y' op: 'Reshape' input: 'x' " FLOAT_T "}",
     "1 data inputs; Reshape needs 2"},
    {"WrongN", INPUT "node { name: 'y' op: 'Merge' input: 'x' " FLOAT_T "attr { key: 'N' value { i: 2 } } }",
     "1 data inputs; Merge needs 2"},
    {"AbsurdN",
     INPUT "node { name: 'y' op: 'Merge' input: 'x' " FLOAT_T "attr { key: 'N' value { i: 4611686018427387904 } } }",
     "must be between 0 and 65535"},
    {"NegativeSplit",
     INPUT "node { name: 'y' op: 'Split' input: ['x', 'x'] " FLOAT_T "attr { key: 'num_split' value { i: -3 } } }",
     "'num_split' is -3"},
    {"MissingType", INPUT "node { name: 'y' op: 'Relu' input: 'x' }", "required attribute 'T' is missing"},
    {"TypeIsNoType", INPUT "node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { i: 1 } } }",
     "attribute 'T' must be of type type"},
    {"RefType", "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT_REF } } }",
     "DT_FLOAT_REF, a reference"},
    {"RefTypeInList",
     INPUT "node { name: 'y' op: 'My' attr { key: 'Tin' value { list { type: [DT_FLOAT, DT_INT32_REF] } } } }",
     "DT_INT32_REF, a reference"},
    {"TypeMismatch", INPUT "node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { type: DT_HALF } } }",
     "node 'y' (Relu): its attributes say that input 0 is f16, but 'x' is f32"},
    {"SwitchOnAFloat", INPUT "node { name: 'y' op: 'Switch' input: ['x', 'x'] " FLOAT_T "}",
     "input 1 is bool, but 'x' is f32"},
    {"MissingStrides", CONV("attr { key: 'padding' value { s: 'SAME' } }"), "required attribute 'strides' is missing"},
    {"ThreeStrides",
     CONV("attr { key: 'strides' value { list { i: [1, 1, 1] } } } attr { key: 'padding' value { s: 'SAME' } }"),
     "'strides' must have 4 numbers, it has 3"},
    {"ZeroStride",
     CONV("attr { key: 'strides' value { list { i: [1, 0, 1, 1] } } } attr { key: 'padding' value { s: 'SAME' } }"),
     "each number must be at least 1"},
    {"UnknownPadding", CONV(STRIDES "attr { key: 'padding' value { s: 'FULL' } }"),
     "it must be SAME, VALID or EXPLICIT"},
    {"ExplicitWithoutPads", CONV(STRIDES "attr { key: 'padding' value { s: 'EXPLICIT' } }"),
     "required attribute 'explicit_paddings' is missing"},
    {"NegativePads",
     CONV(STRIDES "attr { key: 'padding' value { s: 'EXPLICIT' } } attr { key: 'explicit_paddings' value { list { i: "
                  "[0, 0, -1, 0, 0, 0, 0, 0] } } }"),
     "no number may be negative"},
    {"UnknownLayout",
     CONV(STRIDES "attr { key: 'padding' value { s: 'SAME' } } attr { key: 'data_format' value { s: 'HWCN' } }"),
     "'data_format' is 'HWCN'"},
    // Tensors and shapes.
    {"ConstWithoutValue", "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } }",
     "required attribute 'value' is missing"},
    {"ConstOfAnotherType", CONST("dtype: DT_INT32 tensor_shape { } int_val: 1"),
     "'dtype' is DT_FLOAT, its tensor is DT_INT32"},
    {"TensorWithoutType", CONST("tensor_shape { }"), "a tensor of type DT_INVALID"},
    {"ContentTooShort", CONST("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abcd'"),
     "tensor_content has 4 bytes; f32[2] needs 8"},
    {"TooManyValues", CONST("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, 2, 3]"),
     "3 values for f32[2], which has 2 elements"},
    {"UnknownDimension", CONST("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"), "every dimension must be known"},
    {"NegativeDimension",
     "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
     "shape { dim { size: -2 } } } } }",
     "a dimension of size -2"},
    {"ProductOverflows", CONST("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 8 } }"),
     "too many elements"},
    {"AllocationWithoutBytes", CONST("dtype: DT_FLOAT tensor_shape { dim { size: 100000000000 } } float_val: 1"),
     "asks for too much memory"},
    {"BoolsThatAreNone",
     "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'value' value { tensor { "
     "dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\001\\002' } } } }",
     "other than 0 and 1"},
    {"UnknownRankWithDimensions",
     "node { name: 'x' op: 'My' attr { key: 's' value { list { shape { unknown_rank: true dim { size: 2 } } } } } }",
     "unknown rank that has dimensions"},
    {"TensorOfOpaqueNode",
     "node { name: 'x' op: 'My' attr { key: 't' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } "
     "tensor_content: 'abc' } } } }",
     "tensor_content has 3 bytes"},
    // Functions.
    {"FunctionCallsItself", INPUT "library { function { signature { name: 'f' } node_def { name: 'a' op: 'f' } } }",
     "function 'f' calls itself"},
    {"FunctionsCallEachOther",
     INPUT "library { function { signature { name: 'f' } node_def { name: 'a' op: 'If' attr { key: 'then_branch' value "
           "{ func { name: 'g' } } } } }"
           " function { signature { name: 'g' } node_def { name: 'a' op: 'PartitionedCall' attr { key: 'fs' value { "
           "list { func { name: 'f' } } } } } } }",
     "or a function that does"},
    {"DuplicateFunction", INPUT "library { function { signature { name: 'f' } } function { signature { name: 'f' } } }",
     "two functions have the name 'f'"},
    {"DuplicateAttrDef", INPUT "library { function { signature { name: 'f' attr { name: 'T' } attr { name: 'T' } } } }",
     "attribute 'T' is declared twice"},
    {"FunctionNodeWithoutOp", INPUT "library { function { signature { name: 'f' } node_def { name: 'a' } } }",
     "node 'a' has no op"},
    // Text.
    {"TextSyntax", "node { name: 'x'\n op: }", "line 2, column 6"},
    {"TextUnknownField", "node {\n\n shade: 3 }", "line 3"},
    {"TextIsNoText", "\x08\x07\x12\x03tf\n", "not a GraphDef in text form"},
};

TEST(HostileGraphDef, TextCases) {
  for (const TextCase& c : kTextCases) {
    SCOPED_TRACE(std::string(c.name));
    ExpectRefused(ImportGraphDef(c.text, /*is_text=*/true).status(), c.reason);
  }
}

tf::NodeDef* AddNode(tf::GraphDef& graph, std::string name, std::string op) {
  tf::NodeDef* node = graph.add_node();
  node->set_name(std::move(name));
  node->set_op(std::move(op));
  return node;
}

void SetType(tf::NodeDef* node, std::string name, tf::DataType type) {
  tf::AttrEntry* entry = node->add_attr();
  entry->set_key(std::move(name));
  entry->mutable_value()->set_type(type);
}

TEST(HostileGraphDef, DeepChainOfFunctions) {
  tf::GraphDef graph;
  AddNode(graph, "x", "NoOp");
  for (int i = 0; i < 1000; ++i) {
    tf::FunctionDef* function = graph.mutable_library()->add_function();
    function->mutable_signature()->set_name(Concat("f", i));
    tf::NodeDef* call = function->add_node_def();
    call->set_name("call");
    call->set_op(Concat("f", i + 1));
  }
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "nests calls deeper than 64");
}

TEST(HostileGraphDef, NestedFunctionAttributes) {
  tf::GraphDef graph;
  tf::AttrEntry* entry = AddNode(graph, "x", "My")->add_attr();
  entry->set_key("f");
  for (int i = 0; i < 200; ++i) {
    tf::NameAttrList* function = entry->mutable_value()->mutable_func();
    entry = function->add_attr();
    entry->set_key("f");
  }
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "the bytes are no such protobuf");
  std::string text = "node { name: 'x' op: 'My' ";
  for (int i = 0; i < 2000; ++i) text += "attr { key: 'f' value { func { ";
  ExpectRefused(ImportGraphDef(text, /*is_text=*/true).status(), "not a GraphDef in text form");
}

TEST(HostileGraphDef, ManyDimensions) {
  tf::GraphDef graph;
  tf::AttrEntry* shape = AddNode(graph, "x", "My")->add_attr();
  shape->set_key("shape");
  for (int i = 0; i < 1000000; ++i) shape->mutable_value()->mutable_shape()->add_dim()->set_size(1);
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "1000000 dimensions");
}

TEST(HostileGraphDef, RepeatedValuesShareOneBudget) {
  tf::GraphDef graph;
  for (int i = 0; i < 100; ++i) {
    tf::NodeDef* node = AddNode(graph, Concat("c", i), "Const");
    SetType(node, "dtype", tf::DT_DOUBLE);
    tf::AttrEntry* value = node->add_attr();
    value->set_key("value");
    value->mutable_value()->mutable_tensor()->set_dtype(tf::DT_DOUBLE);
    value->mutable_value()->mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1 << 20);
  }
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "asks for too much memory");
}

TEST(HostileGraphDef, PortsMultiply) {
  tf::GraphDef graph;
  for (int i = 0; i < 1000; ++i) {
    AddNode(graph, Concat("a", i), "My");
    AddNode(graph, Concat("b", i), "My")->add_input(Concat("a", i, ":65534"));
  }
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "have more than 2000000 outputs");
}

TEST(HostileGraphDef, TooManyNodes) {
  tf::GraphDef graph;
  for (int i = 0; i <= 1000000; ++i) AddNode(graph, Concat("n", i), "NoOp");
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "1000001 nodes; at most 1000000");
}

// Not refused, but nothing may take quadratic time.
TEST(HostileGraphDef, ManyNodesAndEdges) {
  tf::GraphDef graph;
  tf::NodeDef* concat = AddNode(graph, "y", "My");
  for (int i = 0; i < 100000; ++i) {
    SetType(AddNode(graph, Concat("n", i), "Placeholder"), "dtype", tf::DT_FLOAT);
    concat->add_input(Concat("n", i));
    tf::NodeDef* relu = AddNode(graph, Concat("r", i), "Relu");  // each an output
    relu->add_input("n0");
    SetType(relu, "T", tf::DT_FLOAT);
  }
  const absl::StatusOr<Graph> imported = ImportGraphDef(graph.SerializeAsString(), /*is_text=*/false);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->outputs().size(), 100001u);
}

TEST(HostileGraphDef, BytesThatAreNoGraphDef) {
  tf::GraphDef good;
  AddNode(good, "node_with_a_name", "NoOp");
  const std::string bytes = good.SerializeAsString();
  ExpectRefused(ImportBytes(bytes.substr(0, bytes.size() - 1)), "cut off");
  ExpectRefused(ImportBytes(""), "holds no nodes");
  ExpectRefused(ImportBytes("\x08\x07\x12\x04onnx"), "not a GraphDef");    // an ONNX model's first fields
  ExpectRefused(ImportBytes("node { name: 'x' }"), "node 'x' has no op");  // text is read as such
  ExpectRefused(ImportBytes("no GraphDef at all"), "not a GraphDef in text form");
  ExpectRefused(ImportBytes(std::string("\x0a\x03\x0a\x01\xff", 5)), "not a GraphDef");  // a name that is no UTF-8
  ExpectRefused(ImportBytes(std::string(11, '\xff')), "not a GraphDef");                 // a number that does not end
  ExpectRefused(ImportBytes(std::string(200, '\x2b')), "not a GraphDef");                // groups in groups
  ExpectRefused(ImportGraphDef(std::string_view(bytes.data(), size_t{INT_MAX} + 1), false).status(),
                "at most 2147483647");
}

TEST(HostileGraphDef, UnknownFieldsByTheMillion) {
  tf::GraphDef graph;
  auto* unknown = graph.GetReflection()->MutableUnknownFields(&graph);
  for (int i = 0; i < 10000000; ++i) unknown->AddVarint(1000, 1);
  ExpectRefused(ImportBytes(graph.SerializeAsString()), "holds no nodes");
}

// Every truncation and every flipped byte of a small graph: a graph or an error, never a crash.
TEST(HostileGraphDef, DamagedBytes) {
  constexpr std::string_view kText = INPUT CONST("dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2]")
      " node { name: 'y' op: 'AddV2' input: ['x', 'c'] " FLOAT_T "} node { name: 's' op: 'Squeeze' input: ['y:0', '^x'] " FLOAT_T
      "attr { key: 'squeeze_dims' value { list { i: 0 } } } } versions { producer: 20 }"
      " library { function { signature { name: 'f' } node_def { name: 'a' op: 'My' } } }";
  ASSERT_TRUE(ImportGraphDef(kText, /*is_text=*/true).ok()) << ImportGraphDef(kText, /*is_text=*/true).status();
  tf::GraphDef graph;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(kText), &graph));
  const std::string bytes = graph.SerializeAsString();
  for (size_t cut = 0; cut < kText.size(); ++cut) (void)ImportGraphDef(kText.substr(0, cut), /*is_text=*/true);
  for (size_t cut = 0; cut < bytes.size(); ++cut) (void)ImportBytes(bytes.substr(0, cut));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      (void)ImportBytes(damaged);
    }
  }
}

}  // namespace
}  // namespace halftone
