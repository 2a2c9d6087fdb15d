// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/transformer_graph.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/editor.h"

namespace halftone {
namespace {

class Builder final {
 public:
  explicit Builder(const TransformerOptions& options)
      : tokens_(options.tokens), hidden_(options.hidden), heads_(options.heads), random_(options.seed), edit_(graph_) {
    edit_.SetHeader("ir_version", int64_t{8});
    edit_.SetHeader("opset", std::vector<int64_t>{17});
    edit_.SetHeader("opset_domains", std::vector<std::string>{""});
    edit_.SetHeader("producer_name", std::string("synthetic"));
    x_ = edit_.AddInput("x", DataType::kFloat32, Shape::Of({1, tokens_, hidden_}));
    const ValueId mask = edit_.AddInput("mask", DataType::kInt64, Shape::Of({1, tokens_}));
    const ValueId kept =
        Op(OpKind::kCast, {Op(OpKind::kUnsqueeze, {mask, Ints({1, 2})}, {1, 1, 1, tokens_}, DataType::kInt64)},
           {1, 1, 1, tokens_});
    const ValueId dropped = Op(OpKind::kSub, {Number(1), kept}, {1, 1, 1, tokens_});
    mask_ = Op(OpKind::kMul, {dropped, Number(-10000)}, {1, 1, 1, tokens_});
    scale_ = Weights({hidden_}, 1);
    offset_ = Weights({hidden_}, 0);
    for (Dense* dense : {&query_, &key_, &value_, &out_}) *dense = MakeDense(hidden_, hidden_);
    up_ = MakeDense(hidden_, 4 * hidden_);
    down_ = MakeDense(4 * hidden_, hidden_);
    wide_ = {1, tokens_, hidden_};
    heads_shape_ = Ints({1, tokens_, heads_, hidden_ / heads_});
    joined_shape_ = Ints({1, tokens_, hidden_});
    half_ = Number(0.5f);
    one_ = Number(1);
    two_ = Number(2);
    epsilon_ = Number(1e-5f);
    root_two_ = Number(static_cast<float>(std::numbers::sqrt2));
    root_width_ = Number(std::sqrt(static_cast<float>(hidden_ / heads_)));
  }

  int nodes() const { return nodes_; }

  // One block behind what there is.
  void AddBlock() {
    prefix_ = "/layer." + std::to_string(block_++) + "/";
    x_ = Norm(Op(OpKind::kAdd, {Attention(x_), x_}, wide_));
    x_ = Norm(Op(OpKind::kAdd, {Linear(Gelu(Linear(x_, up_)), down_), x_}, wide_));
  }

  Graph Finish() {
    edit_.SetValueName(x_, "y");
    edit_.AddGraphOutput("y", x_);
    return std::move(graph_);
  }

 private:
  struct Dense {
    ValueId weights, bias;
    int64_t width = 0;
  };

  ValueId Op(OpKind op, std::vector<ValueId> inputs, std::vector<int64_t> dims, DataType type = DataType::kFloat32,
             Attributes attributes = {}) {
    const std::string name = prefix_ + std::string(OpName(op)) + "_" + std::to_string(nodes_++);
    return graph_.output(edit_.Add(op, name, std::move(inputs),
                                   {.type = type, .shape = Shape::Of(dims), .name = name + "_output_0"},
                                   std::move(attributes)));
  }
  ValueId Constant(Tensor tensor) {
    return edit_.AddConstant("onnx::" + std::to_string(constants_++), std::move(tensor));
  }
  ValueId Number(float number) { return Constant(Tensor::Scalar(number)); }
  ValueId Ints(const std::vector<int64_t>& numbers) { return Constant(Tensor::Ints(numbers, DataType::kInt64)); }

  ValueId Weights(std::vector<int64_t> dims, float mean) {
    Tensor tensor(DataType::kFloat32, std::move(dims));
    std::uniform_real_distribution<float> noise(-0.1f, 0.1f);
    for (float& number : tensor.mutable_data<float>()) number = mean + noise(random_);
    return Constant(std::move(tensor));
  }
  Dense MakeDense(int64_t from, int64_t to) { return {Weights({from, to}, 0), Weights({to}, 0), to}; }

  // x w + b, where all layers share w: then exporters write an Identity of it.
  ValueId Linear(ValueId x, const Dense& dense) {
    const std::vector<int64_t> dims = {1, tokens_, dense.width};
    const Shape& shape = graph_.shape(dense.weights);
    const ValueId weights = Op(OpKind::kIdentity, {dense.weights}, shape.values());
    return Op(OpKind::kAdd, {dense.bias, Op(OpKind::kMatMul, {x, weights}, dims)}, dims);
  }

  ValueId Norm(ValueId x) {
    Attributes last;
    last.Set("keepdims", true);
    const std::vector<int64_t> one = {1, tokens_, 1};
    const ValueId axis = Ints({-1});
    const ValueId centred =
        Op(OpKind::kSub, {x, Op(OpKind::kReduceMean, {x, axis}, one, DataType::kFloat32, last)}, wide_);
    const ValueId variance =
        Op(OpKind::kReduceMean, {Op(OpKind::kPow, {centred, two_}, wide_), axis}, one, DataType::kFloat32, last);
    const ValueId deviation = Op(OpKind::kSqrt, {Op(OpKind::kAdd, {variance, epsilon_}, one)}, one);
    const ValueId normal = Op(OpKind::kDiv, {centred, deviation}, wide_);
    return Op(OpKind::kAdd, {Op(OpKind::kMul, {normal, scale_}, wide_), offset_}, wide_);
  }

  ValueId Gelu(ValueId x) {
    const std::vector<int64_t> dims = {1, tokens_, 4 * hidden_};
    const ValueId erf = Op(OpKind::kErf, {Op(OpKind::kDiv, {x, root_two_}, dims)}, dims);
    return Op(OpKind::kMul, {Op(OpKind::kMul, {x, Op(OpKind::kAdd, {erf, one_}, dims)}, dims), half_}, dims);
  }

  ValueId Heads(ValueId x, const std::vector<int64_t>& order) {
    const int64_t each = hidden_ / heads_;
    const std::vector<int64_t> split = {1, tokens_, heads_, each};
    std::vector<int64_t> dims;
    for (const int64_t axis : order) dims.push_back(split[axis]);
    return Op(OpKind::kTranspose, {Op(OpKind::kReshape, {x, heads_shape_}, split), Ints(order)}, dims);
  }

  ValueId Attention(ValueId x) {
    const int64_t each = hidden_ / heads_;
    const std::vector<int64_t> all = {1, heads_, tokens_, tokens_};
    const ValueId q = Heads(Linear(x, query_), {0, 2, 1, 3});
    const ValueId k = Heads(Linear(x, key_), {0, 2, 3, 1});
    const ValueId v = Heads(Linear(x, value_), {0, 2, 1, 3});
    const ValueId scores = Op(OpKind::kDiv, {Op(OpKind::kMatMul, {q, k}, all), root_width_}, all);
    Attributes over;
    over.Set("axis", int64_t{-1});
    const ValueId shares =
        Op(OpKind::kSoftmax, {Op(OpKind::kAdd, {scores, mask_}, all)}, all, DataType::kFloat32, over);
    const ValueId mixed = Op(OpKind::kMatMul, {shares, v}, {1, heads_, tokens_, each});
    const ValueId back = Op(OpKind::kTranspose, {mixed, Ints({0, 2, 1, 3})}, {1, tokens_, heads_, each});
    return Linear(Op(OpKind::kReshape, {back, joined_shape_}, wide_), out_);
  }

  const int64_t tokens_, hidden_, heads_;
  std::mt19937_64 random_;
  Graph graph_;
  GraphEditor edit_;
  std::string prefix_ = "/";
  int nodes_ = 0, constants_ = 0, block_ = 0;
  std::vector<int64_t> wide_;
  ValueId x_, mask_, scale_, offset_, heads_shape_, joined_shape_, half_, one_, two_, epsilon_, root_two_, root_width_;
  Dense query_, key_, value_, out_, up_, down_;
};

}  // namespace

Graph MakeTransformerGraph(const TransformerOptions& options) {
  Builder builder(options);
  while (builder.nodes() < options.nodes) builder.AddBlock();
  return builder.Finish();
}

}  // namespace halftone
