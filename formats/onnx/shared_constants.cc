// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/shared_constants.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "formats/onnx/node_writer.h"
#include "ir/nested.h"

namespace halftone::onnx_format {
namespace {

constexpr size_t kSmall = 256;  // bytes; about what a name costs in each graph that reads it

bool IsRead(const Graph& graph, ValueId value) { return !graph.uses(value).empty() || graph.IsOutput(value); }

bool IsLarge(const Tensor& tensor) { return tensor.type() != DataType::kString && tensor.byte_size() > kSmall; }

size_t HashOf(const Tensor& tensor) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(tensor.raw()), tensor.byte_size()});
}

}  // namespace

// Goes through the graphs, each as often as nodes hold it.
class SharedConstants::Collector {
 public:
  explicit Collector(SharedConstants& result) : result_(result) {}

  // Recurses over graphs in graphs, of which the verifier allows kMaxNestingDepth.
  void Visit(const Graph& graph) {
    around_.push_back(&graph);
    for (const NodeId id : graph.nodes()) {
      if (graph.op(id) == OpKind::kConstant) Add(graph, id);
      for (const std::string_view name : NestedGraphNames(graph.op(id))) {
        if (const std::shared_ptr<const Graph> nested = NestedGraph(graph.node(id), name)) Visit(*nested);
      }
    }
    around_.pop_back();
  }

  // Drops what is in one place alone.
  void Finish() {
    std::erase_if(result_.by_bytes_, [this](const auto& entry) { return places_.at(entry.second).size() < 2; });
    for (std::unique_ptr<SharedConstant>& constant : result_.constants_) {
      const std::vector<Graphs>& places = places_.at(constant.get());
      if (places.size() < 2) {
        constant.reset();
        continue;
      }
      const auto is_shallower = [](const Graphs& a, const Graphs& b) { return a.size() < b.size(); };
      const Graph* candidate = std::min_element(places.begin(), places.end(), is_shallower)->back();
      const auto holds = [candidate](const Graphs& place) { return place.back() == candidate; };
      const auto is_inside = [candidate](const Graphs& place) {
        return std::find(place.begin(), place.end(), candidate) != place.end();
      };
      const bool owns = std::count_if(places.begin(), places.end(), holds) == 1 &&
                        std::all_of(places.begin(), places.end(), is_inside);
      if (owns) constant->owner = candidate;
    }
    std::erase(result_.constants_, nullptr);
  }

 private:
  using Graphs = std::vector<const Graph*>;  // the outermost first

  void Add(const Graph& graph, NodeId id) {
    const ValueId value = graph.output(id);
    const Tensor* tensor = graph.ConstantTensor(value);
    const bool filled = graph.node(id).extra.has(kFillNodeMark);  // a node of a few bytes makes it
    if (tensor == nullptr || filled || !IsLarge(*tensor) || !IsRead(graph, value)) return;
    SharedConstant& constant = ConstantOf(*tensor);
    const auto [holder, added] = constant.holders.emplace(&graph, value);
    if (added || holder->second == value) places_[&constant].push_back(around_);  // else: twice in one graph
  }

  SharedConstant& ConstantOf(const Tensor& tensor) {
    const auto [same, added] = known_.try_emplace({tensor.raw(), tensor.type(), tensor.dims()});
    if (!added) return *same->second;
    std::vector<SharedConstant*>& candidates = by_hash_[HashOf(tensor)];
    for (SharedConstant* candidate : candidates) {
      if (candidate->tensor.SameBytes(tensor)) same->second = candidate;
    }
    if (same->second == nullptr) {
      same->second = result_.constants_.emplace_back(std::make_unique<SharedConstant>()).get();
      same->second->tensor = tensor;
      candidates.push_back(same->second);
    }
    result_.by_bytes_.emplace(same->first, same->second);
    return *same->second;
  }

  SharedConstants& result_;
  Graphs around_;
  std::map<Bytes, SharedConstant*> known_;
  std::unordered_map<size_t, std::vector<SharedConstant*>> by_hash_;
  std::map<const SharedConstant*, std::vector<Graphs>> places_;
};

SharedConstants::SharedConstants(const Graph& outermost) {
  const std::vector<NodeId> nodes = outermost.nodes();
  const auto has_nested = [&outermost](NodeId id) { return HasNestedGraphs(outermost.op(id)); };
  if (std::none_of(nodes.begin(), nodes.end(), has_nested)) return;  // bytes are hashed only where it may matter
  Collector collector(*this);
  collector.Visit(outermost);
  collector.Finish();
}

const SharedConstant* SharedConstants::Find(const Tensor& tensor) const {
  const auto it = by_bytes_.find({tensor.raw(), tensor.type(), tensor.dims()});
  return it == by_bytes_.end() ? nullptr : it->second;
}

}  // namespace halftone::onnx_format
