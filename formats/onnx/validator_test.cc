// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/validator.h"

#include <functional>
#include <string>
#include <vector>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"

namespace halftone::onnx_format {
namespace {

using testing::HasSubstr;

onnx::ModelProto Good() {
  return Model(13, R"(agraph (float[2,3] x) => (float[2,5] y) <float[3,5] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}>
                      { m = MatMul(x, w)  y = Relu(m) })");
}

onnx::TensorProto& Weight(onnx::ModelProto& m) { return *m.mutable_graph()->mutable_initializer(0); }
onnx::NodeProto& Node(onnx::ModelProto& m, int i) { return *m.mutable_graph()->mutable_node(i); }

onnx::FunctionProto& AddFunction(onnx::ModelProto& m, const std::string& name, const std::string& calls) {
  onnx::FunctionProto& function = *m.add_functions();
  function.set_name(name);
  function.set_domain("f");
  function.add_input("a");
  function.add_output("b");
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type(calls);
  node.set_domain("f");
  node.add_input("a");
  node.add_output("b");
  return function;
}

onnx::GraphProto& AddSubgraph(onnx::GraphProto& graph) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("If");
  node.add_input("c");
  node.add_output("if" + std::to_string(graph.node_size()));
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("then_branch");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

TEST(Validator, AcceptsAGoodModel) { EXPECT_TRUE(ValidateModel(Good()).ok()); }

struct Hostile {
  const char* name;
  std::function<void(onnx::ModelProto&)> spoil;
  const char* says;
};

const Hostile kHostile[] = {
    {"NoGraph", [](auto& m) { m.clear_graph(); }, "no graph"},
    {"NoIrVersion", [](auto& m) { m.clear_ir_version(); }, "IR version 0"},
    {"NewIrVersion", [](auto& m) { m.set_ir_version(99); }, "IR version 99"},
    {"OldOpset", [](auto& m) { m.mutable_opset_import(0)->set_version(5); }, "opset 5 is not supported, 6 to 22"},
    {"NewOpset", [](auto& m) { m.mutable_opset_import(0)->set_version(23); }, "opset 23"},
    {"HugeOpset", [](auto& m) { m.mutable_opset_import(0)->set_version(int64_t{1} << 40); }, "opset"},
    {"NoOpset", [](auto& m) { m.clear_opset_import(); }, "opset_import"},
    {"OpsetTwice",
     [](auto& m) {
       *m.add_opset_import() = m.opset_import(0);
       m.mutable_opset_import(1)->set_domain("ai.onnx");
     },
     "twice"},
    {"RawDataTooShort",
     [](auto& m) {
       Weight(m).clear_float_data();
       Weight(m).set_raw_data("abc");
     },
     "'w' holds 3 bytes, but FLOAT[3,5] needs 60"},
    {"RawDataTooLong",
     [](auto& m) {
       Weight(m).clear_float_data();
       Weight(m).set_raw_data(std::string(61, 'x'));
     },
     "needs 60"},
    {"NoData", [](auto& m) { Weight(m).clear_float_data(); }, "holds 0 numbers, but FLOAT[3,5] needs 15"},
    {"DataTwice", [](auto& m) { Weight(m).set_raw_data(std::string(60, 'x')); }, "twice"},
    {"DataInOtherField", [](auto& m) { Weight(m).add_int64_data(1); }, "field of another type"},
    {"NegativeDimension", [](auto& m) { Weight(m).set_dims(0, -3); }, "negative"},
    {"DimsOverflow",
     [](auto& m) {
       Weight(m).set_dims(0, int64_t{1} << 62);
       Weight(m).set_dims(1, 8);
     },
     "2^40"},
    {"DimsOverflowToZero",
     [](auto& m) {
       Weight(m).clear_float_data();
       Weight(m).set_dims(0, int64_t{1} << 32);
       Weight(m).set_dims(1, int64_t{1} << 32);
     },
     "2^40"},
    {"Rank13",
     [](auto& m) {
       for (int i = 0; i < 11; ++i) Weight(m).add_dims(1);
     },
     "rank 13"},
    {"NoType", [](auto& m) { Weight(m).set_data_type(0); }, "element type 0"},
    {"StrangeType", [](auto& m) { Weight(m).set_data_type(99); }, "element type 99"},
    {"Segment", [](auto& m) { Weight(m).mutable_segment()->set_begin(1); }, "segment"},
    {"ExternalData",
     [](auto& m) {
       auto& e = *Weight(m).add_external_data();
       e.set_key("location");
       e.set_value("../../etc/passwd");
     },
     "another file"},
    {"ExternalLocation", [](auto& m) { Weight(m).set_data_location(onnx::TensorProto::EXTERNAL); }, "another file"},
    {"ExternalInAttribute",
     [](auto& m) {
       auto& a = *Node(m, 0).add_attribute();
       a.set_name("t");
       a.set_type(onnx::AttributeProto::TENSOR);
       a.mutable_t()->set_data_type(1);
       a.mutable_t()->set_data_location(onnx::TensorProto::EXTERNAL);
     },
     "another file"},
    {"ExternalInSparse",
     [](auto& m) {
       auto& s = *m.mutable_graph()->add_sparse_initializer();
       s.mutable_values()->set_data_type(1);
       s.mutable_values()->set_data_location(onnx::TensorProto::EXTERNAL);
     },
     "another file"},
    {"BadBool",
     [](auto& m) {
       Weight(m).clear_float_data();
       Weight(m).set_data_type(onnx::TensorProto::BOOL);
       Weight(m).set_raw_data(std::string(15, 7));
     },
     "bools other than"},
    {"InitializerTwice", [](auto& m) { *m.mutable_graph()->add_initializer() = m.graph().initializer(0); },
     "two initializers are called 'w'"},
    {"InputTwice", [](auto& m) { *m.mutable_graph()->add_input() = m.graph().input(0); }, "two inputs"},
    {"OutputTwice", [](auto& m) { *m.mutable_graph()->add_output() = m.graph().output(0); }, "two outputs"},
    {"ValueMadeTwice", [](auto& m) { Node(m, 1).set_output(0, "m"); }, "'m' is made twice"},
    {"InitializerMadeAgain", [](auto& m) { Node(m, 1).set_output(0, "w"); }, "'w' is made twice"},
    {"NoOpType", [](auto& m) { Node(m, 0).clear_op_type(); }, "op_type"},
    {"NewlineInName", [](auto& m) { Node(m, 0).set_name("a\nb"); }, "'a\\nb' holds a control character"},
    {"EscapeInName", [](auto& m) { Node(m, 0).set_name("\x1b[31m"); }, "control character"},
    {"BadUtf8", [](auto& m) { Node(m, 0).set_name("\xc0\xaf"); }, "not valid UTF-8"},
    {"Surrogate", [](auto& m) { Node(m, 0).set_name("\xed\xa0\x80"); }, "not valid UTF-8"},
    {"CutUtf8", [](auto& m) { Node(m, 0).set_name("a\xe2\x82"); }, "not valid UTF-8"},
    {"LongName", [](auto& m) { Node(m, 0).set_name(std::string(5000, 'n')); }, "5000 bytes"},
    {"AttributeTwice",
     [](auto& m) {
       for (int i = 0; i < 2; ++i) {
         auto& a = *Node(m, 0).add_attribute();
         a.set_name("k");
         a.set_type(onnx::AttributeProto::INT);
       }
     },
     "'k' is there twice"},
    {"AttributeWithoutType", [](auto& m) { Node(m, 0).add_attribute()->set_name("k"); }, "has no type"},
    {"AttributeOfTwoTypes",
     [](auto& m) {
       auto& a = *Node(m, 0).add_attribute();
       a.set_name("k");
       a.set_type(onnx::AttributeProto::INT);
       a.set_s("x");
     },
     "is of type INT but holds STRING"},
    {"ReferenceOutsideFunction",
     [](auto& m) {
       auto& a = *Node(m, 0).add_attribute();
       a.set_name("k");
       a.set_type(onnx::AttributeProto::INT);
       a.set_ref_attr_name("z");
     },
     "outside of any function"},
    {"FunctionCallsItself", [](auto& m) { AddFunction(m, "A", "A"); }, "'A' calls itself"},
    {"FunctionsCallEachOther",
     [](auto& m) {
       AddFunction(m, "A", "B");
       AddFunction(m, "B", "A");
     },
     "calls itself"},
    {"FunctionTwice",
     [](auto& m) {
       AddFunction(m, "A", "B");
       AddFunction(m, "A", "C");
     },
     "defined twice"},
    {"RecursionThroughSubgraph",
     [](auto& m) {
       onnx::FunctionProto& f = AddFunction(m, "A", "B");
       onnx::NodeProto& node = *f.add_node();
       node.set_op_type("If");
       node.add_output("z");
       onnx::AttributeProto& a = *node.add_attribute();
       a.set_name("then_branch");
       a.set_type(onnx::AttributeProto::GRAPH);
       onnx::NodeProto& inner = *a.mutable_g()->add_node();
       inner.set_op_type("A");
       inner.set_domain("f");
     },
     "calls itself"},
    {"DeepFunctions",
     [](auto& m) {
       for (int i = 0; i < 80; ++i) AddFunction(m, "A" + std::to_string(i), "A" + std::to_string(i + 1));
     },
     "64 levels"},
    {"DeepSubgraphs",
     [](auto& m) {
       onnx::GraphProto* graph = m.mutable_graph();
       for (int i = 0; i < 30; ++i) graph = &AddSubgraph(*graph);
     },
     "nested more than 24"},
};

class HostileTest : public testing::TestWithParam<Hostile> {};

TEST_P(HostileTest, IsRefused) {
  onnx::ModelProto model = Good();
  GetParam().spoil(model);
  const absl::Status status = ValidateModel(model);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
  EXPECT_EQ(Import(model).status().code(), absl::StatusCode::kInvalidArgument);  // through the bytes too
}

INSTANTIATE_TEST_SUITE_P(Table, HostileTest, testing::ValuesIn(kHostile),
                         [](const testing::TestParamInfo<Hostile>& info) { return std::string(info.param.name); });

TEST(Validator, SubgraphsUpToTheLimitAreFine) {
  onnx::ModelProto model = Good();
  onnx::GraphProto* graph = model.mutable_graph();
  for (int i = 0; i < kMaxSubgraphDepth; ++i) graph = &AddSubgraph(*graph);
  EXPECT_TRUE(ValidateModel(model).ok()) << ValidateModel(model);
}

TEST(Validator, BytesThatAreNoModel) {
  const std::string good = Good().SerializeAsString();
  for (const std::string& bytes :
       {std::string(), std::string("hello, world"), std::string(1000, '\xff'), std::string("\x08\x08", 2)}) {
    EXPECT_EQ(ImportOnnx(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  }
  for (size_t length = 0; length < good.size(); ++length) {  // cut anywhere: an error, never a crash
    EXPECT_FALSE(ImportOnnx(std::string_view(good).substr(0, length)).ok()) << length;
  }
}

TEST(Validator, FlippedBytesNeverCrash) {
  const std::string good = Good().SerializeAsString();
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const absl::StatusOr<Graph> graph = ImportOnnx(bytes);
      if (graph.ok()) ExportOnnx(*graph).status().IgnoreError();
    }
  }
}

}  // namespace
}  // namespace halftone::onnx_format
