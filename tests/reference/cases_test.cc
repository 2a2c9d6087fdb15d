// SPDX-License-Identifier: Apache-2.0
// Compares shape rules and reference functions with the outputs of ONNX Runtime in cases.txt (see make_cases.py).

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/reference/reference.h"
#include "ir/text.h"

namespace halftone::reference {
namespace {

struct Expected {
  std::vector<int64_t> dims;
  double absolute = 0, sum = 0, weighted = 0;
  std::vector<double> picks;
};

struct Case {
  std::string name;
  std::string graph;
  std::vector<std::string> fill;  // one per input: "signed", "positive" or the bound of integers
  std::vector<Expected> expected;
};

Expected ParseExpected(const std::string& text) {
  Expected result;
  std::istringstream in(text);
  std::string word;
  while (in >> word && word != "|") result.dims.push_back(std::stoll(word));
  in >> result.absolute >> result.sum >> result.weighted >> word;
  while (in >> word) result.picks.push_back(std::stod(word));
  return result;
}

std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  std::istringstream file(*ReadFile("tests/reference/cases.txt"));
  std::string line;
  while (std::getline(file, line)) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string value = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "case") cases.push_back({.name = value});
    if (word == "graph") cases.back().graph = line;
    if (word == "fill") {
      std::istringstream in(value);
      for (std::string kind; in >> kind;) cases.back().fill.push_back(kind);
    }
    if (word == "expect") cases.back().expected.push_back(ParseExpected(value));
  }
  return cases;
}

// The input by the formula of make_cases.py.
Tensor Input(const Value& value, const std::string& kind, int64_t number) {
  Tensor result(value.type, value.shape.values());
  for (int64_t i = 0; i < result.num_elements(); ++i) {
    const int64_t raw = (i * 37 + number * 11 + 5) % 101;
    if (value.type == DataType::kInt64) {
      result.mutable_data<int64_t>()[i] = raw % std::stoll(kind);
    } else {
      result.mutable_data<float>()[i] =
          kind == "signed" ? static_cast<float>(raw - 50) / 32 : static_cast<float>(raw + 10) / 64;
    }
  }
  return result;
}

void ExpectNumbers(const Tensor& tensor, const Expected& expected) {
  ASSERT_EQ(tensor.dims(), expected.dims);
  const std::vector<double> y = tensor.ToDoubles();
  double absolute = 0, sum = 0, weighted = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    absolute += std::abs(y[i]);
    sum += y[i];
    weighted += y[i] * static_cast<double>(i * 13 % 17 + 1);
  }
  const double tolerance = 1e-5 * (expected.absolute + 1);
  EXPECT_NEAR(absolute, expected.absolute, tolerance);
  EXPECT_NEAR(sum, expected.sum, tolerance);
  EXPECT_NEAR(weighted, expected.weighted, 17 * tolerance);
  for (size_t i = 0; i < expected.picks.size(); ++i) {
    EXPECT_NEAR(y[i * (y.size() - 1) / 5], expected.picks[i], 2e-5 * (1 + std::abs(expected.picks[i]))) << "pick " << i;
  }
}

TEST(Cases, AgreeWithOnnxRuntime) {
  const std::vector<Case> cases = ReadCases();
  ASSERT_GT(cases.size(), 100u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name + "\n" + c.graph);
    const absl::StatusOr<Graph> graph = ParseGraph(c.graph);
    if (!graph.ok()) {
      ADD_FAILURE() << graph.status();
      continue;
    }
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < graph->inputs().size(); ++i) {
      inputs.push_back(Input(graph->value(graph->output(graph->inputs()[i])), c.fill[i], static_cast<int64_t>(i)));
    }
    const absl::StatusOr<std::vector<Tensor>> outputs = EvaluateGraph(*graph, inputs);
    if (!outputs.ok()) {
      ADD_FAILURE() << outputs.status();
      continue;
    }
    ASSERT_EQ(outputs->size(), c.expected.size());
    for (size_t i = 0; i < outputs->size(); ++i) {
      const Shape& inferred = graph->shape(graph->outputs()[i].value);
      EXPECT_EQ(inferred.ToString(), Shape::Of(c.expected[i].dims).ToString()) << "shape rule, output " << i;
      ExpectNumbers((*outputs)[i], c.expected[i]);
    }
  }
}

}  // namespace
}  // namespace halftone::reference
