// SPDX-License-Identifier: Apache-2.0
// Rows of rows_nn.cc at their own opset and at a higher one.
#include "formats/onnx/nn_rules.h"

#include <algorithm>
#include <string>

#include "formats/onnx/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/text.h"

namespace halftone::onnx_format {
namespace {

int64_t OpsetOf(const onnx::ModelProto& model) { return model.opset_import(0).version(); }

struct Case {
  const char* name;
  int opset;
  const char* graph;
  int min_opset;
  const char* nodes;         // at its own opset
  const char* raised_nodes;  // at min_opset
};

const Case kCases[] = {
    {"ConvTranspose", 9,
     "agraph (float[1,2,4] x, float[2,3,3] w) => (float[1,3,9] y) { y = ConvTranspose<kernel_shape=[3], "
     "strides=[2]>(x, "
     "w) }",
     22, "ConvTranspose(x,w)->y strides=2; kernel_shape=3;\n", "ConvTranspose(x,w)->y strides=2; kernel_shape=3;\n"},
    {"LogSoftmaxFlatten", 9, "agraph (float[2,3,4] x) => (float[2,3,4] y) { y = LogSoftmax(x) }", 13,
     "LogSoftmax(x)->y axis=1\n",
     "Flatten(x)->x_matrix axis=1\nLogSoftmax(x_matrix)->x_softmax "
     "axis=1\nShape(x)->x_shape\nReshape(x_softmax,x_shape)->y\n"},
    {"Upsample7", 7,
     "agraph (float[1,1,2,3] x) => (float[1,1,4,6] y) { y = Upsample<mode=\"nearest\", scales=[1.0,1.0,2.0,2.0]>(x) }",
     9, "Upsample(x)->y mode=nearest scales=\n", "Upsample(x,const)->y mode=nearest\n"},
    {"Upsample9", 9,
     "agraph (float[1,1,2,3] x) => (float[1,1,4,6] y) <float[4] scales = {1,1,2,2}> { y = Upsample<mode=\"linear\">(x, "
     "scales) }",
     13, "Upsample(x,scales)->y mode=linear\n",
     "Resize(x,,scales)->y coordinate_transformation_mode=asymmetric mode=linear nearest_mode=floor\n"},
    {"Resize10Smaller", 10,
     "agraph (float[1,1,4,6] x) => (float[1,1,2,3] y) <float[4] scales = {1,1,0.5,0.5}> { y = "
     "Resize<mode=\"nearest\">(x, scales) }",
     13, "Resize(x,scales)->y mode=nearest\n",
     "Resize(x,,scales)->y coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=ceil\n"},
    {"GroupNormPerGroup", 18,
     "agraph (float[2,4,5] x, float[2] s, float[2] b) => (float[2,4,5] y) { y = GroupNormalization<num_groups=2>(x, s, "
     "b) "
     "}",
     21, "GroupNormalization(x,s,b)->y num_groups=2\n",
     "Reshape(s,shape)->s_column\nExpand(s_column,shape_1)->s_column_channels\n"
     "Reshape(s_column_channels,shape_2)->s_column_channels_vector\nReshape(b,shape_3)->b_column\n"
     "Expand(b_column,shape_4)->b_column_channels\nReshape(b_column_channels,shape_5)->b_column_channels_vector\n"
     "GroupNormalization(x,s_column_channels_vector,b_column_channels_vector)->y num_groups=2\n"},
    {"GridSample16", 16,
     "agraph (float[1,1,2,3] x, float[1,4,5,2] g) => (float[1,1,4,5] y) { y = GridSample<mode=\"bicubic\">(x, g) }", 20,
     "GridSample(x,g)->y mode=bicubic\n", "GridSample(x,g)->y mode=cubic\n"},
    {"RoiAlign10", 10,
     "agraph (float[1,1,2,3] x, float[4,4] r, int64[4] i) => (float[4,1,1,1] y) { y = RoiAlign(x, r, i) }", 16,
     "RoiAlign(x,r,i)->y\n", "RoiAlign(x,r,i)->y coordinate_transformation_mode=output_half_pixel\n"},
    {"LayerNorm", 17,
     "agraph (float[2,3] x, float[3] s) => (float[2,3] y, float[2,1] m) { y, m = LayerNormalization<stash_type=1>(x, "
     "s) }",
     22, "LayerNormalization(x,s)->y,m stash_type=1\n", "LayerNormalization(x,s)->y,m stash_type=1\n"},
    {"LayerNormOfOnnxRuntime", 11,
     "agraph (float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization<axis=-1>(x, s, s) }", 17,
     "LayerNormalization(x,s,s)->y axis=-1\n", "LayerNormalization(x,s,s)->y axis=-1\n"},
    {"RmsNorm", 17,
     "agraph (float[2,3] x, float[3] s) => (float[2,3] y) { y = SimplifiedLayerNormalization<epsilon=0.5>(x, s) }", 18,
     "SimplifiedLayerNormalization(x,s)->y epsilon=0.500000\n",
     "SimplifiedLayerNormalization(x,s)->y epsilon=0.500000\n"},
    {"BatchNormInTraining", 14,
     "agraph (float[2,3,4] x, float[3] s) => (float[2,3,4] y, float[3] m, float[3] v) { y, m, v = "
     "BatchNormalization<training_mode=1>(x, s, s, s, s) }",
     15, "BatchNormalization(x,s,s,s,s)->y,m,v training_mode=1\n",
     "BatchNormalization(x,s,s,s,s)->y,m,v training_mode=1\n"},
    {"NonMaxSuppression", 10,
     "agraph (float[1,6,4] b, float[1,1,6] s, int64[1] n) => (int64[m,3] y) { y = NonMaxSuppression(b, s, n) }", 11,
     "NonMaxSuppression(b,s,n)->y\n", "NonMaxSuppression(b,s,n)->y\n"},
};

class NnRowsTest : public testing::TestWithParam<Case> {};

TEST_P(NnRowsTest, InBothOpsets) {
  const Case& c = GetParam();
  const Graph graph = Imported(Model(c.opset, c.graph));
  for (const NodeId id : graph.nodes()) EXPECT_NE(graph.op(id), OpKind::kOpaque) << graph.node(id).spelling;
  const onnx::ModelProto same = Exported(graph);
  EXPECT_EQ(OpsetOf(same), c.opset);
  EXPECT_EQ(NodesOf(same), c.nodes);
  const onnx::ModelProto raised = Exported(graph, c.min_opset);
  EXPECT_EQ(OpsetOf(raised), std::max(c.opset, c.min_opset));
  EXPECT_EQ(NodesOf(raised), c.raised_nodes);
  EXPECT_TRUE(Import(raised).ok()) << Import(raised).status();
}

INSTANTIATE_TEST_SUITE_P(Table, NnRowsTest, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(NnRows, KeepTheDomainOfRmsNorm) {
  onnx::ModelProto model =
      Model(17, "agraph (float[2,3] x, float[3] s) => (float[2,3] y) { y = SimplifiedLayerNormalization(x, s) }");
  model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("com.microsoft");
  opset.set_version(1);
  const onnx::ModelProto written = Exported(Imported(model));
  EXPECT_EQ(written.graph().node(0).domain(), "com.microsoft");
  EXPECT_EQ(Imported(model).op(Imported(model).nodes().back()), OpKind::kRmsNorm);
}

TEST(NnRows, AFusedLayerNormIsWrittenOutBefore17) {
  const auto nodes = [](const std::string& norm) {
    const absl::StatusOr<Graph> graph = ParseGraph(
        "graph format=onnx (x: f32[2,3,4]) { s = const f32[3,4]   o = const f32[3,4]   v = const f32[4]   y = " + norm +
        "   return y } header {ir_version=6, opset=[11], opset_domains=[\"\"]}");
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? NodesOf(Exported(*graph)) : "";
  };
  EXPECT_THAT(nodes("layer_norm(x, s, o) {axis=1}"), testing::HasSubstr("ReduceMean(x)->x_mean axes=1;2;\n"));
  EXPECT_THAT(nodes("layer_norm(x, s, o) {axis=-2}"),
              testing::EndsWith("Mul(x_norm_4,s)->x_norm_5\nAdd(x_norm_5,o)->y\n"));
  EXPECT_THAT(nodes("layer_norm(x, v)"), testing::EndsWith(",v)->y\n"));
}

TEST(NnRows, StayOpaqueWhereTheirMeaningIsNotDefined) {
  const auto first_op = [](int opset, const std::string& text) {
    const Graph graph = Imported(Model(opset, text));
    for (const NodeId id : graph.nodes()) {
      if (graph.op(id) != OpKind::kInput && graph.op(id) != OpKind::kConstant) return graph.op(id);
    }
    return OpKind::kNoOp;
  };
  EXPECT_EQ(first_op(7, "agraph (float[4] x) => (float[2] y) { y = Upsample<scales=[0.5]>(x) }"), OpKind::kOpaque);
  EXPECT_EQ(first_op(10, "agraph (float[4,4] x) => (float[2,8] y) <float[2] s = {0.5,2}> { y = Resize(x, s) }"),
            OpKind::kOpaque);
  EXPECT_EQ(first_op(9,
                     "agraph (float[2,3,4] x, float[3] s) => (float[2,3,4] y) { y, m, v = "
                     "BatchNormalization(x, s, s, s, s) }"),
            OpKind::kOpaque);
}

}  // namespace
}  // namespace halftone::onnx_format
