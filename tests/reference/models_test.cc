// SPDX-License-Identifier: Apache-2.0
// Real models: every shape that does not depend on data is inferred, and the reference functions give the outputs that
// the models' authors (or ONNX Runtime) recorded. HALFTONE_SHARED names the folder with the models.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "formats/formats.h"
#include "formats/npz/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/reference/reference.h"
#include "ir/shape_inference.h"

namespace halftone::reference {
namespace {

std::string ModelsFolder() {
  const char* shared = std::getenv("HALFTONE_SHARED");
  const std::string folder = shared == nullptr ? "" : Concat(shared, "/data/models/");
  return std::filesystem::exists(folder) ? folder : "";
}

// Shapes of inputs that the files do not specify, by model and input.
const std::map<std::string, Shape>& InputShapes() {
  static const auto* const kShapes = new std::map<std::string, Shape>{
      {"superres/ESPCN_x2.pb IteratorGetNext", Shape::Of({1, 96, 96, 1})},
      {"superres/FSRCNN_x2.pb IteratorGetNext", Shape::Of({1, 96, 96, 1})},
      {"rnn/nnsplit_en.onnx input", Shape::Of({1, 20})},
      {"rnn/mnist_lstm.pb keep_prob", Shape::Scalar()},
      {"rnn/mnist_gru.pb keep_prob", Shape::Scalar()},
      {"rnn/mnist_gru.pb X", Shape::Of({1, 784})},
  };
  return *kShapes;
}

absl::StatusOr<Graph> Load(const std::string& folder, const std::string& model) {
  absl::StatusOr<Graph> graph = ImportModel(folder + model);
  if (!graph.ok()) return graph.status();
  GraphEditor edit(*graph);
  for (const NodeId input : graph->inputs()) {
    const auto given = InputShapes().find(Concat(model, " ", graph->Label(input)));
    if (given != InputShapes().end()) edit.SetShape(graph->output(input), given->second);
  }
  const absl::Status status = Specialize(edit, {}, 1);
  if (!status.ok()) return status;
  return graph;
}

// Values that depend on an op without a shape rule.
std::vector<bool> UnknownShapes(const Graph& graph) {
  std::vector<bool> unknown(graph.num_values(), false);
  for (const NodeId id : graph.TopologicalOrder()) {
    const Node& node = graph.node(id);
    bool here = Info(node.op).group == OpGroup::kOpaque || Info(node.op).group == OpGroup::kStructural;
    for (const ValueId input : node.inputs) here = here || (input.valid() && unknown[input.index]);
    for (const ValueId output : node.outputs) {
      if (output.valid()) unknown[output.index] = here;
    }
  }
  return unknown;
}

class Models : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ModelsFolder();
    if (folder_.empty()) GTEST_SKIP() << "HALFTONE_SHARED does not name a folder with data/models";
  }
  std::string folder_;
};

TEST_F(Models, EveryShapeIsInferred) {
  for (const char* model : {"imagenet/mobilenet_v2_fp32_dequantized.onnx",
                            "imagenet/mobilenet_v2_fp32_dequantized.pb",
                            "imagenet/squeezenet_fp32_from_fp16.onnx",
                            "imagenet/squeezenet_fp32_from_fp16.pb",
                            "imagenet/tiny_darknet_imagenet.onnx",
                            "imagenet/tiny_darknet_imagenet.pb",
                            "mnist/mnist_cnn.onnx",
                            "mnist/mnist_fc.pb",
                            "superres/super_resolution.onnx",
                            "superres/ESPCN_x2.pb",
                            "superres/FSRCNN_x2.pb",
                            "detect/yolox_nano.onnx",
                            "detect/yunet_n_320_320.onnx",
                            "detect/version-RFB-320.onnx",
                            "audio/DS_CNN_S_mfcc.pb",
                            "audio/CNN_S_mfcc.pb",
                            "audio/GRU_S_mfcc.pb",
                            "audio/LSTM_S_mfcc.pb",
                            "rnn/nnsplit_en.onnx",
                            "rnn/gtcrn_simple.onnx",
                            "rnn/mnist_lstm.pb",
                            "rnn/mnist_gru.pb"}) {
    SCOPED_TRACE(model);
    const absl::StatusOr<Graph> graph = Load(folder_, model);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) continue;
    const std::vector<bool> unknown = UnknownShapes(*graph);
    int known = 0;
    for (const NodeId id : graph->nodes()) {
      for (const ValueId output : graph->node(id).outputs) {
        if (!output.valid() || unknown[output.index]) continue;
        if (graph->op(id) == OpKind::kBatchNorm && graph->value(output).port == 5)
          continue;  // TensorFlow's reserve_space_3: its shape depends on the device
        ++known;
        EXPECT_TRUE(graph->shape(output).fully_known())
            << graph->Label(id) << " (" << OpName(graph->op(id)) << ") is " << graph->shape(output).ToString();
      }
    }
    EXPECT_GT(known, 5);
  }
}

struct Clip {
  const char* model;
  const char* archive;
  const char* input;
  const char* output;
};

TEST_F(Models, GiveTheRecordedOutputs) {
  const Clip kClips[] = {
      {"superres/ESPCN_x2.pb", "superres/ESPCN_x2.npz", "in_IteratorGetNext", "out_NCHW_output"},
      {"superres/FSRCNN_x2.pb", "superres/FSRCNN_x2.npz", "in_IteratorGetNext", "out_NCHW_output"},
      {"audio/DS_CNN_S_mfcc.pb", "audio/io.npz", "DS_CNN_S_mfcc__in__yes_1000ms", "DS_CNN_S_mfcc__out__yes_1000ms"},
      {"audio/CNN_S_mfcc.pb", "audio/io.npz", "CNN_S_mfcc__in__no_1000ms", "CNN_S_mfcc__out__no_1000ms"},
  };
  for (const Clip& clip : kClips) {
    SCOPED_TRACE(clip.model);
    const absl::StatusOr<Graph> graph = Load(folder_, clip.model);
    ASSERT_TRUE(graph.ok()) << graph.status();
    absl::StatusOr<std::unique_ptr<NpzReader>> archive = NpzReader::Open(folder_ + clip.archive, clip.archive);
    ASSERT_TRUE(archive.ok()) << archive.status();
    const absl::StatusOr<Tensor> x = (*archive)->ReadAll((*archive)->Find(clip.input));
    const absl::StatusOr<Tensor> y = (*archive)->ReadAll((*archive)->Find(clip.output));
    ASSERT_TRUE(x.ok() && y.ok());
    const std::vector<int64_t> dims = graph->shape(graph->output(graph->inputs()[0])).values();
    const absl::StatusOr<std::vector<Tensor>> outputs = EvaluateGraph(*graph, {x->WithDims(dims)});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(Compare((*outputs)[0].WithDims(y->dims()), *y, 1e-4f, 1e-4f), "");
  }
}

}  // namespace
}  // namespace halftone::reference
