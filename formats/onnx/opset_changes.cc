#include "formats/onnx/opset_changes.h"

#include <algorithm>
#include <string_view>

namespace halftone::onnx_format {
namespace {

// When the change touches a node.
enum class Touches {
  kAll,
  kWithAttribute,  // those that have the attribute: it became an input, was renamed or removed
  kWithFewerThan2Inputs,
  kWithMoreThan1Output,
};

struct Change {
  std::string_view op;
  int opset;
  Touches touches = Touches::kAll;
  std::string_view attribute;
};

// New element types, new attributes with a default that means the old behaviour, and inputs that became optional are no
// changes in this sense.
constexpr Change kChanges[] = {
    {"BatchNormalization", 9, Touches::kWithAttribute, "spatial"},
    {"BatchNormalization", 14, Touches::kWithMoreThan1Output},
    {"Clip", 11, Touches::kWithAttribute, "max"},
    {"Clip", 11, Touches::kWithAttribute, "min"},
    {"ConvTranspose", 11, Touches::kWithAttribute, "auto_pad"},
    {"DFT", 20},                                     // axis became an input with another default
    {"Dropout", 10, Touches::kWithMoreThan1Output},  // the mask became bool
    {"Dropout", 12, Touches::kWithAttribute, "ratio"},
    {"GridSample", 20, Touches::kWithAttribute, "mode"},  // bilinear is called linear
    {"GroupNormalization", 21},                           // scale and bias per channel, not per group
    {"Hardmax", 13},
    {"LogSoftmax", 13},
    {"Pad", 11},
    {"ReduceL1", 18, Touches::kWithAttribute, "axes"},
    {"ReduceL2", 18, Touches::kWithAttribute, "axes"},
    {"ReduceLogSum", 18, Touches::kWithAttribute, "axes"},
    {"ReduceLogSumExp", 18, Touches::kWithAttribute, "axes"},
    {"ReduceMax", 18, Touches::kWithAttribute, "axes"},
    {"ReduceMean", 18, Touches::kWithAttribute, "axes"},
    {"ReduceMin", 18, Touches::kWithAttribute, "axes"},
    {"ReduceProd", 18, Touches::kWithAttribute, "axes"},
    {"ReduceSum", 13, Touches::kWithAttribute, "axes"},
    {"ReduceSumSquare", 18, Touches::kWithAttribute, "axes"},
    {"Resize", 11},
    {"RoiAlign", 16},  // half a pixel by default
    {"Scan", 9},
    {"Scatter", 11},  // removed
    {"Slice", 10},
    {"Softmax", 13},
    {"Split", 13, Touches::kWithAttribute, "split"},
    {"Split", 18, Touches::kWithFewerThan2Inputs},  // wants num_outputs
    {"Squeeze", 13, Touches::kWithAttribute, "axes"},
    {"TopK", 10},
    {"Unsqueeze", 13},
    {"Upsample", 9},
    {"Upsample", 10},  // removed
};

bool IsTouched(const onnx::NodeProto& node, const Change& change) {
  switch (change.touches) {
    case Touches::kAll:
      return true;
    case Touches::kWithAttribute:
      return std::any_of(node.attribute().begin(), node.attribute().end(),
                         [&](const onnx::AttributeProto& a) { return a.name() == change.attribute; });
    case Touches::kWithFewerThan2Inputs:
      return node.input_size() < 2;
    case Touches::kWithMoreThan1Output:
      return node.output_size() > 1;
  }
  return true;
}

}  // namespace

int FirstChange(const onnx::NodeProto& node, int from, int to) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return 0;
  int first = 0;
  for (const Change& change : kChanges) {
    const bool within = change.opset > from && change.opset <= to;
    if (within && change.op == node.op_type() && IsTouched(node, change) && (first == 0 || change.opset < first)) {
      first = change.opset;
    }
  }
  return first;
}

}  // namespace halftone::onnx_format
