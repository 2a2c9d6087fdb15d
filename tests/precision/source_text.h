// SPDX-License-Identifier: Apache-2.0
// For tests: an imported GraphDef from text with one line per node.
#ifndef HALFTONE_TESTS_PRECISION_SOURCE_TEXT_H_
#define HALFTONE_TESTS_PRECISION_SOURCE_TEXT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "ir/editor.h"
#include "ir/graph.h"
#include "ir/source_graph.h"

namespace halftone {

// Lines are "NAME OP INPUT,INPUT:1 KEY=VALUE ...". "-" stands for no inputs; inputs may name later nodes. KEY=f32 is a
// type attribute, KEY=[f32,s32] a list of types, KEY=3 an integer attribute; device=DEVICE sets the device and
// outputs=COUNT the number of outputs (1). "!NAME" makes the first output one of the graph. Every node becomes an
// opaque op with f32 outputs. `functions`: names and ports of the function library.
inline Graph SourceGraphOf(std::string_view text, std::map<std::string, SourceFunction, std::less<>> functions = {}) {
  Graph graph;
  GraphEditor edit(graph);
  edit.SetLayout(GraphLayout::kChannelsLast);
  auto source = std::make_shared<SourceGraph>();
  source->functions = std::move(functions);
  std::map<std::string, int> index;
  std::vector<std::vector<std::string>> lines;
  for (const absl::string_view line : absl::StrSplit(AbslView(text), '\n')) {
    std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 2) continue;
    const bool is_output = words[0][0] == '!';
    if (is_output) words[0].erase(0, 1);
    index[words[0]] = static_cast<int>(lines.size());
    SourceNode node{.name = words[0], .op = words[1]};
    int outputs = 1;
    for (size_t i = 3; i < words.size(); ++i) {
      const std::pair<std::string, std::string> attribute = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      const auto& [key, value] = attribute;
      int64_t number = 0;
      if (key == "device") {
        node.device = value;
      } else if (absl::SimpleAtoi(value, &number)) {
        if (key == "outputs") outputs = static_cast<int>(number);
        if (key != "outputs") node.counts.emplace_back(key, number);
      } else {
        SourceTypes types{.attribute = key, .is_list = value[0] == '['};
        for (const absl::string_view type : absl::StrSplit(value, absl::ByAnyChar("[],"), absl::SkipEmpty())) {
          const bool quantized = type[0] == 'q';
          types.types.push_back(
              {DataTypeFromName(StdView(quantized ? type.substr(1) : type)).value_or(DataType::kUnknown), quantized});
        }
        node.types.push_back(std::move(types));
      }
    }
    Node made;
    made.op = OpKind::kOpaque;
    made.spelling = node.op;
    made.name = node.name;
    node.node = edit.AddNode(std::move(made), std::vector<ValueSpec>(outputs, {DataType::kFloat32, Shape(), ""}));
    node.outputs = graph.node(node.node).outputs;
    if (is_output) edit.AddGraphOutput(node.name, node.outputs[0]);
    source->nodes.push_back(std::move(node));
    lines.push_back(std::move(words));
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() < 3 || lines[i][2] == "-") continue;
    for (const absl::string_view input : absl::StrSplit(lines[i][2], ',')) {
      const std::pair<std::string, std::string> name = absl::StrSplit(input, absl::MaxSplits(':', 1));
      int port = 0;
      if (!name.second.empty()) CHECK(absl::SimpleAtoi(name.second, &port)) << input;
      CHECK(index.contains(name.first)) << input;
      source->nodes[i].inputs.push_back({index[name.first], port});
    }
  }
  edit.SetSource(std::move(source));
  return graph;
}

}  // namespace halftone

#endif  // HALFTONE_TESTS_PRECISION_SOURCE_TEXT_H_
