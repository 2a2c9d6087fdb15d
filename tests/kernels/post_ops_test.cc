// SPDX-License-Identifier: Apache-2.0
// What is fused into a contraction, as a product of tables: every form of conv and matmul x bias and residual, each
// with the ways in which they come x every activation x f32 and bf16; matmul x a scale, x a residual that is broadcast
// along every set of dimensions; and gemm's forms x alpha and beta x every shape of c. Odd sizes. Compared with the
// reference functions; a step that runs by a reference function fails, too.
#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

// ---- The tables.

struct Form {
  std::string op;
  std::string x, weights;  // dimensions
  int64_t channels = 0;    // elements of a bias; 0: there is no kernel with one, and nothing fuses one
  std::string attributes;  // at least one
};

// What a group makes of the channels.
struct Grouping {
  int64_t in, out, groups;
};

std::vector<Form> ConvForms() {
  constexpr std::string_view kImages[] = {"11", "7,5", "3,5,4"}, kKernels[] = {"3", "3,2", "2,3,1"};
  constexpr Grouping kGroupings[] = {{3, 17, 1}, {17, 5, 1},   {1, 3, 1}, {33, 1, 1},
                                     {6, 9, 3},  {17, 17, 17}, {5, 10, 5}};
  std::vector<Form> forms;
  for (int spatial = 1; spatial <= 3; ++spatial) {
    const std::string_view image = kImages[spatial - 1], kernel = kKernels[spatial - 1];
    for (const std::string_view layout : {"NCHW", "NHWC"}) {
      for (const auto& [in, out, groups] : kGroupings) {
        const std::string x = layout == "NCHW" ? Concat("2,", in, ",", image) : Concat("2,", image, ",", in);
        const auto add = [&](std::string_view weights_layout, const std::string& weights) {
          std::string attributes = Concat("layout=\"", layout, "\", weights_layout=\"", weights_layout,
                                          "\", auto_pad=\"SAME_UPPER\", group=", groups);
          forms.push_back({"conv", x, weights, out, std::move(attributes)});
        };
        add("OIHW", Concat(out, ",", in / groups, ",", kernel));
        add("HWIO", Concat(kernel, ",", in / groups, ",", out));
        if (groups == in) add("HWCM", Concat(kernel, ",", in, ",", out / in));
      }
    }
  }
  for (const std::string_view more :
       {"strides=[2,1], pads=[0,2,1,3]", "dilations=[2,1]", "auto_pad=\"SAME_LOWER\", strides=[2,3]"}) {
    forms.push_back({"conv", "1,17,9,11", "5,17,3,3", 5, std::string(more)});
    forms.push_back({"conv", "1,17,9,11", "17,1,3,3", 17, Concat("group=17, ", more)});
  }
  for (const std::string_view layout : {"NCHW", "NHWC"}) {  // kernels of 1
    const std::string x = layout == "NCHW" ? "3,17,7,5" : "3,7,5,17";
    forms.push_back({"conv", x, "33,17,1,1", 33, Concat("layout=\"", layout, "\"")});
  }
  return forms;
}

std::vector<Form> MatMulForms() {
  return {
      {"matmul", "3,5", "5,17", 17, "transpose_a=false"},
      {"matmul", "1,33", "33,5", 5, "transpose_a=false"},
      {"matmul", "17,1", "1,3", 3, "transpose_a=false"},
      {"matmul", "5,17", "17,1", 1, "transpose_a=false"},
      {"matmul", "5,3", "5,17", 17, "transpose_a=true"},
      {"matmul", "3,5", "17,5", 17, "transpose_b=true"},
      {"matmul", "5,3", "17,5", 17, "transpose_a=true, transpose_b=true"},
      {"matmul", "2,3,5", "5,17", 17, "transpose_a=false"},
      {"matmul", "2,3,1,5", "17,5", 17, "transpose_b=true"},
      {"matmul", "2,5,3", "5,17", 17, "transpose_a=true"},
      {"matmul", "3,5", "2,5,17", 17, "transpose_a=false"},
      {"matmul", "2,3,5", "2,5,17", 17, "transpose_a=false"},
      {"matmul", "3,3,5", "3,17,5", 17, "transpose_b=true"},
      {"matmul", "2,1,3,5", "3,5,17", 17, "transpose_a=false"},
      {"matmul", "2,1,5,3", "3,17,5", 17, "transpose_a=true, transpose_b=true"},
      {"matmul", "5", "5,17", 17, "transpose_a=false"},
      {"matmul", "5", "3,5,17", 17, "transpose_a=false"},
      {"matmul", "3,5", "5", 0, "transpose_a=false"},
      {"matmul", "2,3,5", "5", 0, "transpose_a=false"},
  };
}

enum class Bias { kNone, kConstant, kComputed };
enum class Residual {
  kNone,
  kInput,  // of the graph: must not be written over
  kConstant,
  kDies,    // a result that lies as this one does: the sum is made in place
  kIsRead,  // the same with another reader
};
constexpr std::string_view kBiasNames[] = {"none", "a constant", "computed"},
                           kResidualNames[] = {"none", "an input", "a constant", "a result that dies",
                                               "a result that others read"};

struct Additions {
  Bias bias;
  Residual residual;
  bool activation_first = false;
};
constexpr Additions kAdditions[] = {
    {Bias::kNone, Residual::kNone},           {Bias::kNone, Residual::kInput},
    {Bias::kNone, Residual::kDies},           {Bias::kConstant, Residual::kNone},
    {Bias::kConstant, Residual::kInput},      {Bias::kConstant, Residual::kConstant},
    {Bias::kConstant, Residual::kDies},       {Bias::kConstant, Residual::kIsRead},
    {Bias::kComputed, Residual::kNone},       {Bias::kComputed, Residual::kInput},
    {Bias::kComputed, Residual::kIsRead},     {Bias::kNone, Residual::kInput, true},
    {Bias::kConstant, Residual::kDies, true}, {Bias::kConstant, Residual::kIsRead, true},
};
constexpr Additions kFewAdditions[] = {{Bias::kNone, Residual::kNone},          {Bias::kNone, Residual::kIsRead},
                                       {Bias::kConstant, Residual::kNone},      {Bias::kConstant, Residual::kDies},
                                       {Bias::kComputed, Residual::kInput},     {Bias::kNone, Residual::kInput, true},
                                       {Bias::kConstant, Residual::kDies, true}};

struct FusedActivation {
  std::string_view what, name, parameters;
};
constexpr FusedActivation kActivations[] = {
    {"none", "", ""},
    {"relu", "relu", ""},
    {"relu6", "relu6", ""},
    {"clip", "clip", "activation_alpha=-0.25, activation_beta=0.5"},
    {"clip from below", "clip", "activation_alpha=0.125"},
    {"clip from above", "clip", "activation_beta=0.125"},
    {"clip of nothing", "clip", ""},
    {"elu", "elu", "activation_alpha=0.5"},
    {"elu by default", "elu", ""},
    {"leaky_relu", "leaky_relu", "activation_alpha=0.25"},
    {"leaky_relu that rises to the left", "leaky_relu", "activation_alpha=-0.5"},
    {"leaky_relu by default", "leaky_relu", ""},
    {"tanh", "tanh", ""},
    {"sigmoid", "sigmoid", ""},
    {"swish", "swish", "activation_alpha=1.5"},
    {"swish by default", "swish", ""},
    {"hard_swish", "hard_swish", ""},
    {"hard_sigmoid", "hard_sigmoid", "activation_alpha=0.25, activation_beta=0.375"},
    {"hard_sigmoid by default", "hard_sigmoid", ""},
    {"gelu", "gelu", ""},
    {"gelu_tanh", "gelu_tanh", ""},
    {"mish", "mish", ""},
};

// Those that ir/ops.h has.
std::vector<FusedActivation> Activations() {
  std::vector<FusedActivation> known;
  std::ranges::copy_if(kActivations, std::back_inserter(known),
                       [](const FusedActivation& row) { return ActivationFromName(row.name).has_value(); });
  return known;
}

// As the attributes of a node, after others.
std::string AttributesText(const FusedActivation& activation) {
  if (activation.name.empty()) return "";
  return Concat(", activation=\"", activation.name, "\"", activation.parameters.empty() ? "" : ", ",
                activation.parameters);
}

// ---- The graphs.

constexpr float kScale = 4;  // of inputs: the bounds of relu6 are reached

std::string TypeText(std::string_view dims) { return Concat("$T[", dims, "]"); }

// The dimensions of op(x, weights); "" after a failure.
std::string ResultDims(const Form& form, const std::string& call) {
  const std::string text = Concat("graph (x: f32[", form.x, "], w: f32[", form.weights, "]) { return ", call, " }");
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? absl::StrJoin(graph->shape(graph->outputs()[0].value).values(), ",") : "";
}

// All activations after one form with one bias and one residual: a graph with a result each.
std::string GraphOf(const Form& form, bool constant_weights, const Additions& additions) {
  const auto& [bias, residual, activation_first] = additions;
  const std::string plain = Concat(form.op, "(x, w) {", form.attributes, "}"), y = TypeText(ResultDims(form, plain));
  std::string inputs = Concat("x: ", TypeText(form.x)), body, outputs;
  const auto give = [&](bool constant, std::string_view name, const std::string& type) {
    if (constant) {
      body += Concat("  ", name, " = const ", type, "\n");
    } else {
      inputs += Concat(", ", name, ": ", type);
    }
  };
  give(constant_weights, "w", TypeText(form.weights));
  if (bias != Bias::kNone) give(bias == Bias::kConstant, "b", TypeText(Concat(form.channels)));
  if (residual == Residual::kInput || residual == Residual::kConstant) give(residual == Residual::kConstant, "r", y);
  const std::string second = bias == Bias::kNone ? "_" : "b";
  int k = 0;
  for (const FusedActivation& activation : Activations()) {
    if (activation_first && activation.name.empty()) continue;
    std::string arguments = Concat("x, w, ", second);
    if (residual == Residual::kDies || residual == Residual::kIsRead) {
      body += Concat("  s", k, " = ", plain, "\n");
      arguments += Concat(", s", k);
      if (residual == Residual::kIsRead) outputs += Concat("s", k, ", ");
    } else if (residual != Residual::kNone) {
      arguments += ", r";
    }
    body += Concat("  y", k, " = ", form.op, "(", arguments, ") {", form.attributes, AttributesText(activation),
                   activation_first ? ", activation_first=true" : "", "}  # ", activation.what, "\n");
    outputs += Concat("y", k, ", ");
    ++k;
  }
  outputs.resize(outputs.size() - 2);
  return Concat("graph (", inputs, ") {\n", body, "  return ", outputs, "\n}");
}

// ---- The check.

Tensor Scaled(const Tensor& tensor) {
  std::vector<float> numbers = tensor.ToFloats();
  for (float& number : numbers) number *= kScale;
  return *Tensor::Of<float>(tensor.dims(), numbers).ConvertTo(tensor.type());
}

// `inner`: how many roundings of results as large as these lie between.
void Check(const std::string& text, std::string_view type, int inner) {
  const std::string with_type = absl::StrReplaceAll(text, {{"$T", AbslView(type)}});
  SCOPED_TRACE(with_type);
  const absl::StatusOr<Graph> graph = ParseGraph(with_type);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<Tensor> inputs = reference::RandomInputs(*graph, /*seed=*/17);
  for (Tensor& input : inputs) input = Scaled(input);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Tolerance tolerance = ToleranceOf(*graph, type);
  tolerance.absolute *= kScale * kScale;                 // of sums of products
  if (type == "bf16") tolerance.absolute += 1.0f / 512;  // our own swish follows a result that was rounded
  if (inner > 0 && type == "bf16") {
    float largest = 0;
    for (const Tensor& tensor : *expected) {
      for (const float number : tensor.ToFloats()) largest = std::max(largest, std::abs(number));
    }
    tolerance.absolute += static_cast<float>(inner) * largest / 128;
  }
  for (int run = 0; run < 2; ++run) {  // the second run sees the first one's memory
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(CompareAll(*actual, *expected, tolerance), "") << "run " << run << "\n" << AllSteps(**plan);
  }
  if (HasAllKernels()) {
    EXPECT_EQ(SlowSteps(**plan), "") << "slow steps";
  }
}

void CheckForm(const Form& form, bool constant_weights, std::span<const Additions> additions) {
  for (const Additions& row : additions) {
    const auto& [bias, residual, activation_first] = row;
    if (bias != Bias::kNone && form.channels == 0) continue;
    SCOPED_TRACE(Concat("bias: ", kBiasNames[static_cast<int>(bias)], ", residual: ",
                        kResidualNames[static_cast<int>(residual)], activation_first ? ", after the activation" : ""));
    const std::string text = GraphOf(form, constant_weights, row);
    const bool computed = residual == Residual::kDies || residual == Residual::kIsRead;
    for (const std::string_view type : {"f32", "bf16"})
      Check(text, type, (computed ? 1 : 0) + (activation_first ? 1 : 0));
  }
}

TEST(PostOpsTest, EveryActivationHasARow) {
  for (int kind = 0; kind < kNumOps; ++kind) {
    const std::string_view name = OpName(static_cast<OpKind>(kind));
    if (ActivationFromName(name).has_value()) {
      EXPECT_TRUE(std::ranges::count(kActivations, name, &FusedActivation::name) > 0) << name;
    }
  }
}

bool IsOfImages(const Form& form) { return std::ranges::count(form.x, ',') == 3; }

TEST(PostOpsTest, Convolutions) {
  for (const Form& form : ConvForms()) {
    const std::span<const Additions> all = kAdditions, few = kFewAdditions;
    CheckForm(form, /*constant_weights=*/true, IsOfImages(form) ? all : few);
  }
}

TEST(PostOpsTest, ConvolutionsWithComputedWeights) {
  for (const Form& form : ConvForms()) {
    if (IsOfImages(form)) CheckForm(form, /*constant_weights=*/false, kFewAdditions);
  }
}

TEST(PostOpsTest, MatrixProducts) {
  for (const Form& form : MatMulForms()) {
    for (const bool constant_weights : {true, false}) CheckForm(form, constant_weights, kAdditions);
  }
}

TEST(PostOpsTest, MatrixProductsWithAScale) {
  for (Form form : MatMulForms()) {
    form.attributes += ", scale=-0.375";
    for (const bool constant_weights : {true, false}) CheckForm(form, constant_weights, kFewAdditions);
  }
}

// Residuals with 1 for any of the result's dimensions, with and without dimensions of 1 in front.
std::vector<std::string> BroadcastDims(const std::string& dims) {
  const std::vector<std::string> sizes = absl::StrSplit(dims, ',', absl::SkipEmpty());
  std::vector<std::string> all;
  for (size_t kept = 0; kept < (size_t{1} << sizes.size()); ++kept) {
    std::vector<std::string> broadcast = sizes;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if ((kept >> i & 1) == 0) broadcast[i] = "1";
    }
    all.push_back(absl::StrJoin(broadcast, ","));
    while (!broadcast.empty() && broadcast[0] == "1") {
      broadcast.erase(broadcast.begin());
      all.push_back(absl::StrJoin(broadcast, ","));
    }
  }
  return all;
}

// Where oneDNN only has reference loops for the sum, a SIMD loop reads a product that was rounded.
TEST(PostOpsTest, MatrixProductsWithABroadcastResidual) {
  std::vector<Form> forms = MatMulForms();
  forms.push_back({"matmul", "2,3,5,7", "2,3,7,17", 17, "transpose_a=false"});
  forms.push_back({"matmul", "2,3,5,7", "2,3,17,7", 17, "transpose_b=true"});
  for (const Form& form : forms) {
    const std::string plain = Concat("matmul(x, w) {", form.attributes, "}");
    for (const std::string& residual : BroadcastDims(ResultDims(form, plain))) {
      for (const bool constant_weights : {true, false}) {
        const std::string weights = TypeText(form.weights);
        const std::string bias = form.channels > 0 ? "b" : "_";
        const auto call = [&](std::string_view second, std::string_view more) {
          return Concat("matmul(x, w, ", second, ", r) {", form.attributes, more, "}");
        };
        const std::string text =
            Concat("graph (x: ", TypeText(form.x), constant_weights ? "" : Concat(", w: ", weights),
                   ", r: ", TypeText(residual), ") {\n", constant_weights ? Concat("  w = const ", weights, "\n") : "",
                   form.channels > 0 ? Concat("  b = const ", TypeText(Concat(form.channels)), "\n") : "", "  return ",
                   call("_", ""), ", ", call(bias, ", activation=\"tanh\""), ", ",
                   call(bias, ", scale=0.625, activation=\"gelu\", activation_first=true"), "\n}");
        for (const std::string_view type : {"f32", "bf16"}) Check(text, type, /*inner=*/1);
      }
    }
  }
}

// gemm(a, b, c) = alpha a b + beta c, of [3, 5] and [5, 17].
TEST(PostOpsTest, Gemm) {
  constexpr std::string_view kAddends[] = {"17", "1,17", "3,17", "1", "1,1", "3,1"};
  constexpr std::string_view kFactors[] = {"", "alpha=0.5", "beta=-0.25", "alpha=2.0, beta=0.5",
                                           "alpha=-0.75, beta=0.0"};
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const std::string_view addend : kAddends) {
        for (const std::string_view from : {"constant", "input"}) {
          const bool constant = from == "constant";
          if (addend == "3,1" && !constant) continue;  // by the reference function
          std::string body = Concat("  w = const $T[", transpose_b ? "17,5" : "5,17", "]\n"), outputs;
          if (constant) body += Concat("  c = const $T[", addend, "]\n");
          for (const std::string_view factors : kFactors) {
            const std::string_view comma = factors.empty() ? "" : ", ";
            outputs +=
                Concat(outputs.empty() ? "" : ", ", "gemm(x, w, c) {transpose_a=", transpose_a ? "true" : "false",
                       ", transpose_b=", transpose_b ? "true" : "false", comma, factors, "}");
          }
          const std::string more = constant ? "" : Concat(", c: $T[", addend, "]");
          const std::string text = Concat("graph (x: $T[", transpose_a ? "5,3" : "3,5", "]", more, ") {\n", body,
                                          "  return ", outputs, "\n}");
          for (const std::string_view type : {"f32", "bf16"}) Check(text, type, /*inner=*/0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace halftone::testing
