// SPDX-License-Identifier: Apache-2.0
// Nodes whose values are integers that stand for numbers (ir/quantization.h): every case of int8.cases and
// int8_moves.cases with every combination of types against the reference function. In the text
//
//   $X, $x   the type of an image, u8 or s8, and its scale and zero point
//   $Y, $y   of a result: u8, s8, f32 or bf16; its scale is the case's "scale="
//   $R, $r   of another operand: u8, s8 or f32
//   $W       the largest weight: 127, or 64, which no CPU saturates with
//   $S12     twelve scales
//
// An integer may be another one than the reference's by one step, and only where the exact number lies within the
// rounding of floats of the middle between the two. "loose": after another node with this freedom, by two steps at one
// element of a hundred. "near=0.01": where what is rounded decides what is computed next, by so much. "kernel=WORD": a
// step's kernel has it in its name, "_" in place of spaces; "without_vnni=WORD": on a CPU with AVX2 and without VNNI.
// "slow": elsewhere it may be a reference function. "no_bf16": results are not bf16, where other operands are f32 and
// must have the result's type.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "base/strings.h"
#include "gtest/gtest.h"
#include "ir/editor.h"
#include "ir/quantization.h"
#include "ir/reference/reference.h"
#include "ir/text.h"
#include "runtime/engine.h"
#include "tests/kernels/cases.h"

namespace halftone::testing {
namespace {

std::vector<std::string>& Files() {
  static std::vector<std::string> files;
  return files;
}

struct Int8Case {
  std::string place;  // file and line
  std::string name, scale = "1", kernel, without_vnni, text;
  bool loose = false, no_bf16 = false, slow = false;
  float near = 0;
};

// Names of kernels have spaces: "int8_matmul_avx2" is "int8 matmul avx2".
std::string KernelNameOf(const std::string& word) { return absl::StrReplaceAll(word, {{"_", " "}}); }

std::vector<Int8Case> ReadInt8Cases(const std::string& path) {
  std::vector<Int8Case> cases;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.starts_with("case ")) {
      if (!line.starts_with("#") && !cases.empty()) cases.back().text += line + "\n";
      continue;
    }
    const size_t open = line.find('"'), close = line.find('"', open + 1);
    Int8Case& c = cases.emplace_back();
    c.place = Concat(path, ":", number);
    c.name = line.substr(open + 1, close - open - 1);
    std::istringstream words(line.substr(close + 1));
    for (std::string word; words >> word;) {
      if (word == "loose") {
        c.loose = true;
      } else if (word == "slow") {
        c.slow = true;
      } else if (word == "no_bf16") {
        c.no_bf16 = true;
      } else if (word.starts_with("scale=")) {
        c.scale = word.substr(6);
      } else if (word.starts_with("near=")) {
        c.near = std::stof(word.substr(5));
      } else if (word.starts_with("without_vnni=")) {
        c.without_vnni = KernelNameOf(word.substr(13));
      } else if (word.starts_with("kernel=")) {
        c.kernel = KernelNameOf(word.substr(7));
      } else {
        ADD_FAILURE() << c.place << ": unknown word " << word;
      }
    }
  }
  return cases;
}

// One combination.
struct Types {
  std::string x, y, other;
  int zero = 0;  // of x where it is u8; s8 has another
  int weight = 127;
};

int ZeroOf(const std::string& type, int zero) { return type == "u8" || zero == 0 ? zero : zero - 140; }

std::string Annotation(const std::string& type, const std::string& scale, int zero) {
  return type == "u8" || type == "s8" ? Concat("{", scale, ", ", ZeroOf(type, zero), "}") : "";
}

std::string TextOf(const Int8Case& c, const Types& types) {
  std::string text = absl::StrReplaceAll(c.text, {{"$X", types.x},
                                                  {"$x", Annotation(types.x, "0.02", types.zero)},
                                                  {"$Y", types.y},
                                                  {"$y", Annotation(types.y, c.scale, types.zero == 0 ? 0 : 117)},
                                                  {"$R", types.other},
                                                  {"$r", Annotation(types.other, "0.0371", types.zero == 0 ? 0 : 125)},
                                                  {"$W", Concat(types.weight)}});
  for (size_t at = text.find("$S"); at != std::string::npos; at = text.find("$S", at)) {
    size_t end = at + 2;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    std::string scales = "[";
    for (int i = 0; i < std::stoi(text.substr(at + 2, end - at - 2)); ++i)
      scales += Concat(i == 0 ? "" : ", ", 0.004f + 0.0013f * static_cast<float>(i * 7 % 11));
    text.replace(at, end - at, scales + "]");
  }
  return text;
}

// Bytes over their whole range, numbers between -1 and 1.
std::vector<Tensor> InputsOf(const Graph& graph) {
  std::mt19937 random(5);
  std::vector<Tensor> inputs = reference::RandomInputs(graph, /*seed=*/17);
  for (Tensor& input : inputs) {
    if (ElementSize(input.type()) != 1) continue;
    Tensor bytes(input.type(), input.dims());
    for (int64_t i = 0; i < bytes.num_elements(); ++i) bytes.mutable_raw()[i] = static_cast<std::byte>(random() & 255);
    input = bytes;
  }
  return inputs;
}

// The graph with its results in f32.
Graph InNumbers(Graph graph) {
  GraphEditor edit(graph);
  for (const GraphOutput& output : std::vector<GraphOutput>(graph.outputs())) {
    edit.SetQuantization(output.value, nullptr);
    edit.SetType(output.value, DataType::kFloat32);
  }
  return graph;
}

// "" or what is wrong.
std::string WrongIntegers(const Tensor& actual, const Tensor& expected, const Tensor& numbers, const Quantization& q,
                          const Int8Case& c) {
  if (actual.type() != expected.type() || actual.dims() != expected.dims()) return "another type or shape";
  const std::vector<int64_t> a = actual.ToInts(), e = expected.ToInts();
  const std::vector<float> real = numbers.ToFloats();
  size_t others = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t difference = std::abs(a[i] - e[i]);
    if (difference == 0) continue;
    ++others;
    const double exact = static_cast<double>(real[i]) / q.scales[0];
    const double from_middle = std::abs(exact - std::floor(exact) - 0.5);
    const bool tie = difference == 1 && from_middle <= 1e-4 + 1e-5 * std::abs(exact);
    const bool near = c.near > 0 && static_cast<double>(difference) <= c.near / q.scales[0] + 1;
    if (tie || near || (c.loose && difference <= 2)) continue;
    return Concat("element ", i, " is ", a[i], " instead of ", e[i], "; exactly ", exact, " steps");
  }
  if (others * 100 > a.size() + 100) return Concat(others, " of ", a.size(), " elements are others");
  return "";
}

std::string CompareResults(const Graph& graph, const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                           const std::vector<Tensor>& numbers, const Int8Case& c) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const ValueId value = graph.outputs()[i].value;
    const Quantization* q = graph.quantization(value);
    std::string wrong;
    if (q != nullptr) {
      wrong = WrongIntegers(actual[i], expected[i], numbers[i], *q, c);
    } else {
      const float relative = graph.type(value) == DataType::kBFloat16 ? 1.0f / 128 : 1e-5f;
      wrong = reference::Compare(actual[i], expected[i], relative, c.loose ? 0.3f : std::max(c.near, 1e-4f));
    }
    if (!wrong.empty()) return Concat("result ", i, ": ", wrong);
  }
  return "";
}

void Check(const Int8Case& c, const Types& types, int threads) {
  const std::string text = TextOf(c, types);
  SCOPED_TRACE(Concat(c.place, " \"", c.name, "\":\n", text));
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Tensor> inputs = InputsOf(*graph);
  const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<std::vector<Tensor>> numbers = reference::EvaluateGraph(InNumbers(*graph), inputs);
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = threads});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int run = 0; run < 2; ++run) {  // the second run sees the first one's memory
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(CompareResults(*graph, *actual, *expected, *numbers, c), "")
        << "run " << run << ", " << threads << " threads\n"
        << AllSteps(**plan);
  }
  if (!c.without_vnni.empty() && !DescribeCpu().native_int8 && __builtin_cpu_supports("x86-64-v3")) {
    EXPECT_NE(AllSteps(**plan).find(c.without_vnni), std::string::npos) << AllSteps(**plan);
  }
  if (!HasAllKernels()) return;
  if (!c.slow) {
    EXPECT_EQ(SlowSteps(**plan), "") << "slow steps of\n" << AllSteps(**plan);
  }
  if (!c.kernel.empty()) {
    EXPECT_NE(AllSteps(**plan).find(c.kernel), std::string::npos) << AllSteps(**plan);
  }
}

constexpr std::string_view kImages[] = {"u8", "s8"}, kResults[] = {"u8", "s8", "f32", "bf16"},
                           kOthers[] = {"u8", "s8", "f32"};

TEST(Int8Test, EveryCaseMatchesTheReference) {
  ASSERT_FALSE(Files().empty()) << "give the .cases files as arguments";
  int count = 0;
  for (const std::string& path : Files()) {
    for (const Int8Case& c : ReadInt8Cases(path)) {
      const bool result = c.text.find("$Y") != std::string::npos, other = c.text.find("$R") != std::string::npos;
      for (const std::string_view x : kImages) {
        for (const std::string_view y : kResults) {
          for (const std::string_view r : kOthers) {
            if ((!result && y != "u8") || (!other && r != "u8") || (c.no_bf16 && y == "bf16")) continue;
            for (const int zero : {0, 131}) {
              const int weight = HasAllKernels() ? 127 : 64;
              Check(c, {std::string(x), std::string(y), std::string(r), zero, weight}, 1 + count % 2);
              ++count;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(count, 500);
}

// Weights that would saturate sums of 16 bits are right on every CPU, by any kernel.
TEST(Int8Test, LargeWeightsDoNotSaturate) {
  for (const std::string_view x : kImages) {
    const std::string text = Concat("graph (x: ", x, "[1,16,3,3]{1, 0}) {\n", R"(
      w: s8[16,16,1,1]{1, 0} = const s8[16,16,1,1] uniform(120, 127)
      y: f32[1,16,3,3] = conv(x, w)
      v: s8[16,8]{1, 0} = const s8[16,8] uniform(-128, -120)
      z = reshape(x, [9,16])
      m: f32[9,8] = matmul(z, v)
      return y, m
    })");
    const absl::StatusOr<Graph> graph =
        ParseGraph(absl::StrReplaceAll(text, {{"z = ", Concat("z: ", x, "[9,16]{1, 0} = ")}}));
    ASSERT_TRUE(graph.ok()) << graph.status();
    Tensor largest(graph->type(graph->output(graph->inputs()[0])), {1, 16, 3, 3});
    for (int64_t i = 0; i < largest.num_elements(); ++i)
      largest.mutable_raw()[i] = static_cast<std::byte>(x == "u8" ? 255 : 127);
    const absl::StatusOr<std::vector<Tensor>> expected = reference::EvaluateGraph(*graph, {largest});
    ASSERT_TRUE(expected.ok()) << expected.status();
    absl::StatusOr<std::unique_ptr<Plan>> plan = CompilePlan(*graph, {.threads = 1});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<std::vector<Tensor>> actual = (*plan)->Run(std::vector<Tensor>{largest});
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(CompareAll(*actual, *expected, {0, 0}), "") << AllSteps(**plan);
  }
}

}  // namespace
}  // namespace halftone::testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) halftone::testing::Files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}
