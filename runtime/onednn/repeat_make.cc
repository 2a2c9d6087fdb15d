// From a line to a primitive: one function a kind, and the table of them.
#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/onednn/repeat_internal.h"

namespace halftone::onednn {
namespace {

using Result = absl::StatusOr<MadePrimitive>;
using Letters = std::map<std::string, int64_t>;
constexpr auto kForward = dnnl::prop_kind::forward_inference;

// The implementation that the line names where there is one of that name, else the first.
template <typename Primitive>
Result Finish(typename Primitive::primitive_desc desc, const PrimitiveLine& line, Arguments arguments) {
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  if constexpr (requires { desc.next_impl(); }) {  // reorder and concat have no choice
    typename Primitive::primitive_desc named = desc;
    while (ImplementationName(named) != line.kernel && named.next_impl()) {
    }
    if (ImplementationName(named) == line.kernel) desc = std::move(named);
  }
  MadePrimitive made{.arguments = std::move(arguments), .kernel = ImplementationName(desc)};
  HALFTONE_RETURN_IF_ERROR(Guard([&] { made.primitive = Primitive(desc); }));
  made.arguments.emplace_back(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  return made;
}

// The tensor that some primitives call "data" where source and destination lie alike.
const LineTensor& SourceOf(const PrimitiveLine& line) {
  return line.tensor("src").present() ? line.tensor("src") : line.tensor("data");
}
const LineTensor& DestinationOf(const PrimitiveLine& line) {
  return line.tensor("dst").present() ? line.tensor("dst") : SourceOf(line);
}

float FloatSetting(const PrimitiveLine& line, const std::string& name, float otherwise) {
  float value = otherwise;
  return absl::SimpleAtof(line.setting(name), &value) ? value : otherwise;
}

absl::StatusOr<dnnl::algorithm> AlgorithmIn(const PrimitiveLine& line) {
  const dnnl::algorithm algorithm = AlgorithmOf(line.setting("alg"));
  if (algorithm == dnnl::algorithm::undef) {
    return absl::UnimplementedError(Concat("algorithm '", line.setting("alg"), "' is not covered"));
  }
  return algorithm;
}

absl::StatusOr<std::vector<Dims>> DimsIn(const PrimitiveLine& line, size_t count) {
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Dims> dims, ParseProblemDims(line.problem));
  if (dims.size() != count) return absl::InvalidArgumentError(Concat("dimensions '", line.problem, "'"));
  return dims;
}

int64_t LetterOr(const Letters& letters, const std::string& name, int64_t otherwise) {
  const auto it = letters.find(name);
  return it == letters.end() ? otherwise : it->second;
}

// The spatial part of a problem in letters: depth, height, width, those that are there.
struct Window {
  Dims input, output, kernel, strides, dilations, pads_begin, pads_end;
};

Window WindowOf(const Letters& letters) {
  Window window;
  for (const std::string axis : {"d", "h", "w"}) {
    if (!letters.contains("i" + axis)) continue;
    const auto letter = [&](const char* name, int64_t otherwise) { return LetterOr(letters, name + axis, otherwise); };
    const int64_t in = letter("i", 1), out = letter("o", in), kernel = letter("k", 1), stride = letter("s", 1);
    const int64_t dilation = letter("d", 0), pad = letter("p", 0);
    window.input.push_back(in);
    window.output.push_back(out);
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(dilation);
    window.pads_begin.push_back(pad);
    window.pads_end.push_back((out - 1) * stride + (kernel - 1) * (dilation + 1) + 1 - in - pad);
  }
  return window;
}

Dims Join(Dims head, const Dims& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

// ---- Products.

template <typename Primitive>
Result Convolve(const PrimitiveLine& line, dnnl::algorithm algorithm, bool transposed) {
  HALFTONE_ASSIGN_OR_RETURN(const Letters letters, ParseProblemLetters(line.problem));
  Window window = WindowOf(letters);
  if (transposed) {  // the pads are those of the convolution that goes the other way
    for (size_t i = 0; i < window.input.size(); ++i) {
      window.pads_end[i] = (window.input[i] - 1) * window.strides[i] +
                           (window.kernel[i] - 1) * (window.dilations[i] + 1) + 1 - window.output[i] -
                           window.pads_begin[i];
    }
  }
  const int64_t groups = LetterOr(letters, "g", 1), batch = LetterOr(letters, "mb", 1);
  const int64_t in = LetterOr(letters, "ic", 1), out = LetterOr(letters, "oc", 1);
  Dims weights_dims{out / groups, in / groups};
  const LineTensor &src_tensor = line.tensor("src"), &weights_tensor = line.tensor("wei");
  const LineTensor &bias_tensor = line.tensor("bia"), &dst_tensor = line.tensor("dst");
  const bool grouped = letters.contains("g");
  if (grouped) weights_dims.insert(weights_dims.begin(), groups);
  const Dims dst_dims = Join({batch, out}, window.output);
  HALFTONE_ASSIGN_OR_RETURN(const Desc src, DescOf(src_tensor, Join({batch, in}, window.input)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(weights_tensor, Join(weights_dims, window.kernel)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(dst_tensor, dst_dims));
  Desc bias;
  if (bias_tensor.present()) {
    HALFTONE_ASSIGN_OR_RETURN(bias, DescOf(bias_tensor, Dims{out}));
  }
  HALFTONE_ASSIGN_OR_RETURN(LineAttributes with, AttributesOf(line, dst_dims));
  const typename Primitive::primitive_desc desc(CpuEngine(), kForward, algorithm, src, weights, bias, dst,
                                                window.strides, window.dilations, window.pads_begin, window.pads_end,
                                                with.attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  Arguments arguments = std::move(with.arguments);
  arguments.insert(
      arguments.end(),
      {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  if (bias_tensor.present()) arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return Finish<Primitive>(desc, line, std::move(arguments));
}

Result Convolution(const PrimitiveLine& line) {
  return Convolve<dnnl::convolution_forward>(line, dnnl::algorithm::convolution_direct, /*transposed=*/false);
}
Result Deconvolution(const PrimitiveLine& line) {
  return Convolve<dnnl::deconvolution_forward>(line, dnnl::algorithm::deconvolution_direct, /*transposed=*/true);
}

Result MatMul(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 2));
  if (dims[0].size() != dims[1].size() || dims[0].size() < 2) return absl::InvalidArgumentError("ranks of a matmul");
  Dims dst_dims;
  for (size_t i = 0; i + 1 < dims[0].size(); ++i)
    dst_dims.push_back(i + 2 < dims[0].size() ? std::max(dims[0][i], dims[1][i]) : dims[0][i]);
  dst_dims.push_back(dims[1].back());
  HALFTONE_ASSIGN_OR_RETURN(const Desc src, DescOf(line.tensor("src"), dims[0]));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(line.tensor("wei"), dims[1]));
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(line.tensor("dst"), dst_dims));
  HALFTONE_ASSIGN_OR_RETURN(LineAttributes with, AttributesOf(line, dst_dims));
  Desc bias;
  if (LineTensor tensor = line.tensor("bia"); tensor.present()) {
    int mask = 1 << (dst_dims.size() - 1);
    if (const size_t at = tensor.rest.find("_mask"); at != std::string::npos) {
      if (!absl::SimpleAtoi(tensor.rest.substr(at + 5), &mask)) return absl::InvalidArgumentError("mask of a bias");
    }
    Dims bias_dims(dst_dims.size(), 1);
    for (size_t i = 0; i < bias_dims.size(); ++i) bias_dims[i] = (mask >> i & 1) != 0 ? dst_dims[i] : 1;
    HALFTONE_ASSIGN_OR_RETURN(bias, DescOf(tensor, bias_dims));
  }
  const dnnl::matmul::primitive_desc desc(CpuEngine(), src, weights, bias, dst, with.attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  Arguments arguments = std::move(with.arguments);
  arguments.insert(
      arguments.end(),
      {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return Finish<dnnl::matmul>(desc, line, std::move(arguments));
}

Result InnerProduct(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const Letters letters, ParseProblemLetters(line.problem));
  const Dims spatial = WindowOf(letters).input;
  const int64_t batch = LetterOr(letters, "mb", 1), in = LetterOr(letters, "ic", 1), out = LetterOr(letters, "oc", 1);
  HALFTONE_ASSIGN_OR_RETURN(const Desc src, DescOf(line.tensor("src"), Join({batch, in}, spatial)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(line.tensor("wei"), Join({out, in}, spatial)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(line.tensor("dst"), Dims{batch, out}));
  HALFTONE_ASSIGN_OR_RETURN(LineAttributes with, AttributesOf(line, Dims{batch, out}));
  Desc bias;
  if (line.tensor("bia").present()) {
    HALFTONE_ASSIGN_OR_RETURN(bias, DescOf(line.tensor("bia"), Dims{out}));
  }
  const dnnl::inner_product_forward::primitive_desc desc(CpuEngine(), kForward, src, weights, bias, dst,
                                                         with.attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  Arguments arguments = std::move(with.arguments);
  arguments.insert(
      arguments.end(),
      {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return Finish<dnnl::inner_product_forward>(desc, line, std::move(arguments));
}

// ---- From one tensor to one of the same dimensions.

struct Pair {
  Desc src, dst;
  LineAttributes with;
  Arguments arguments;
};
absl::StatusOr<Pair> PairOf(const PrimitiveLine& line, const Dims& src_dims, const Dims& dst_dims) {
  Pair pair;
  HALFTONE_ASSIGN_OR_RETURN(pair.src, DescOf(SourceOf(line), src_dims));
  HALFTONE_ASSIGN_OR_RETURN(pair.dst, DescOf(DestinationOf(line), dst_dims));
  HALFTONE_ASSIGN_OR_RETURN(pair.with, AttributesOf(line, dst_dims));
  pair.arguments = std::move(pair.with.arguments);
  pair.arguments.emplace_back(DNNL_ARG_SRC, pair.src);
  pair.arguments.emplace_back(DNNL_ARG_DST, pair.dst);
  return pair;
}

Result Eltwise(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  return Finish<dnnl::eltwise_forward>(
      dnnl::eltwise_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst,
                                            FloatSetting(line, "alpha", 0), FloatSetting(line, "beta", 0),
                                            pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Softmax(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  int axis = 0;
  if (!absl::SimpleAtoi(line.setting("axis"), &axis)) return absl::InvalidArgumentError("axis of a softmax");
  return Finish<dnnl::softmax_forward>(
      dnnl::softmax_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst, axis,
                                            pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

// "CH": with scale and shift; "G": statistics are given; "R": relu behind.
absl::StatusOr<dnnl::normalization_flags> FlagsOf(const PrimitiveLine& line) {
  auto flags = dnnl::normalization_flags::none;
  for (const char c : line.setting("flags")) {
    switch (c) {
      case 'G':
        flags |= dnnl::normalization_flags::use_global_stats;
        break;
      case 'C':
        flags |= dnnl::normalization_flags::use_scale;
        break;
      case 'H':
        flags |= dnnl::normalization_flags::use_shift;
        break;
      case 'R':
        flags |= dnnl::normalization_flags::fuse_norm_relu;
        break;
      default:
        return absl::UnimplementedError(Concat("flags '", line.setting("flags"), "' are not covered"));
    }
  }
  return flags;
}

// oneDNN's line does not say epsilon; no time depends on it.
constexpr float kEpsilon = 1e-5f;

template <typename Primitive>
Result Normalize(const typename Primitive::primitive_desc& desc, dnnl::normalization_flags flags, const Desc& vector,
                 const PrimitiveLine& line, Arguments arguments) {
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  const auto has = [&](dnnl::normalization_flags flag) { return (flags & flag) != dnnl::normalization_flags::none; };
  if (has(dnnl::normalization_flags::use_global_stats)) {
    arguments.emplace_back(DNNL_ARG_MEAN, desc.mean_desc());
    arguments.emplace_back(DNNL_ARG_VARIANCE, desc.variance_desc());
  }
  if (has(dnnl::normalization_flags::use_scale)) arguments.emplace_back(DNNL_ARG_SCALE, vector);
  if (has(dnnl::normalization_flags::use_shift)) arguments.emplace_back(DNNL_ARG_SHIFT, vector);
  return Finish<Primitive>(desc, line, std::move(arguments));
}

Result LayerNormalization(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::normalization_flags flags, FlagsOf(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  const dnnl::layer_normalization_forward::primitive_desc desc(CpuEngine(), kForward, pair.src, pair.dst, kEpsilon,
                                                               flags, pair.with.attributes, /*allow_empty=*/true);
  const Desc vector(Dims{dims[0].back()}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  return Normalize<dnnl::layer_normalization_forward>(desc, flags, vector, line, std::move(pair.arguments));
}

Result BatchNormalization(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const Letters letters, ParseProblemLetters(line.problem));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::normalization_flags flags, FlagsOf(line));
  const int64_t channels = LetterOr(letters, "ic", 1);
  const Dims dims = Join({LetterOr(letters, "mb", 1), channels}, WindowOf(letters).input);
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims, dims));
  const dnnl::batch_normalization_forward::primitive_desc desc(CpuEngine(), kForward, pair.src, pair.dst, kEpsilon,
                                                               flags, pair.with.attributes, /*allow_empty=*/true);
  const Desc vector(Dims{channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  return Normalize<dnnl::batch_normalization_forward>(desc, flags, vector, line, std::move(pair.arguments));
}

Result Pooling(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const Letters letters, ParseProblemLetters(line.problem));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  const Window window = WindowOf(letters);
  const Dims head{LetterOr(letters, "mb", 1), LetterOr(letters, "ic", 1)};
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, Join(head, window.input), Join(head, window.output)));
  return Finish<dnnl::pooling_forward>(
      dnnl::pooling_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst, window.strides,
                                            window.kernel, window.dilations, window.pads_begin, window.pads_end,
                                            pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Resampling(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const Letters letters, ParseProblemLetters(line.problem));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  const Window window = WindowOf(letters);
  const Dims head{LetterOr(letters, "mb", 1), LetterOr(letters, "ic", 1)};
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, Join(head, window.input), Join(head, window.output)));
  return Finish<dnnl::resampling_forward>(
      dnnl::resampling_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst,
                                               pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Reduction(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 2));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[1]));
  return Finish<dnnl::reduction>(
      dnnl::reduction::primitive_desc(CpuEngine(), algorithm, pair.src, pair.dst, FloatSetting(line, "p", 0),
                                      FloatSetting(line, "eps", 0), pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Reorder(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  return Finish<dnnl::reorder>(dnnl::reorder::primitive_desc(CpuEngine(), pair.src, CpuEngine(), pair.dst,
                                                             pair.with.attributes, /*allow_empty=*/true),
                               line, std::move(pair.arguments));
}

// ---- Of several.

Result Binary(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 2));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  if (dims[0].size() != dims[1].size()) return absl::InvalidArgumentError("ranks of a binary");
  Dims dst_dims = dims[0];
  for (size_t i = 0; i < dst_dims.size(); ++i) dst_dims[i] = std::max(dims[0][i], dims[1][i]);
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dst_dims));
  HALFTONE_ASSIGN_OR_RETURN(const Desc other, DescOf(line.tensor("src", 1), dims[1]));
  pair.arguments.emplace_back(DNNL_ARG_SRC_1, other);
  return Finish<dnnl::binary>(dnnl::binary::primitive_desc(CpuEngine(), algorithm, pair.src, other, pair.dst,
                                                           pair.with.attributes, /*allow_empty=*/true),
                              line, std::move(pair.arguments));
}

Result PRelu(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsIn(line, 2));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(line.tensor("wei"), dims[1]));
  const dnnl::prelu_forward::primitive_desc desc(CpuEngine(), kForward, pair.src, weights, pair.dst,
                                                 pair.with.attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  pair.arguments.emplace_back(DNNL_ARG_WEIGHTS, desc.weights_desc());
  return Finish<dnnl::prelu_forward>(desc, line, std::move(pair.arguments));
}

Result Concatenate(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, ParseProblemDims(line.problem));
  int axis = 0;
  if (!absl::SimpleAtoi(line.setting("axis"), &axis) || axis < 0 || axis >= static_cast<int>(dims[0].size())) {
    return absl::InvalidArgumentError("axis of a concat");
  }
  Dims dst_dims = dims[0];
  dst_dims[axis] = 0;
  std::vector<Desc> sources;
  Arguments arguments;
  for (size_t i = 0; i < dims.size(); ++i) {
    HALFTONE_ASSIGN_OR_RETURN(Desc source, DescOf(line.tensor("src", static_cast<int>(i)), dims[i]));
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), source);
    sources.push_back(std::move(source));
    dst_dims[axis] += dims[i][axis];
  }
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(line.tensor("dst"), dst_dims));
  HALFTONE_ASSIGN_OR_RETURN(const LineAttributes with, AttributesOf(line, dst_dims));
  arguments.emplace_back(DNNL_ARG_DST, dst);
  return Finish<dnnl::concat>(
      dnnl::concat::primitive_desc(CpuEngine(), dst, axis, sources, with.attributes, /*allow_empty=*/true), line,
      std::move(arguments));
}

struct Row {
  std::string_view primitive;
  Result (*make)(const PrimitiveLine&);
};
constexpr Row kRows[] = {
    {"convolution", Convolution},
    {"deconvolution", Deconvolution},
    {"matmul", MatMul},
    {"inner_product", InnerProduct},
    {"eltwise", Eltwise},
    {"softmax", Softmax},
    {"layer_normalization", LayerNormalization},
    {"batch_normalization", BatchNormalization},
    {"pooling", Pooling},
    {"resampling", Resampling},
    {"reduction", Reduction},
    {"reorder", Reorder},
    {"binary", Binary},
    {"prelu", PRelu},
    {"concat", Concatenate},
};

}  // namespace

absl::StatusOr<MadePrimitive> MakeFromLine(const PrimitiveLine& line) {
  if (line.direction != "forward_inference" && line.direction != "undef") {
    return absl::UnimplementedError(Concat("direction '", line.direction, "' is not covered"));
  }
  for (const Row& row : kRows) {
    if (row.primitive != line.primitive) continue;
    Result result = absl::InternalError("not made");
    HALFTONE_RETURN_IF_ERROR(Guard([&] { result = row.make(line); }));
    return result;
  }
  return absl::UnimplementedError(Concat("primitive '", line.primitive, "' is not covered"));
}

}  // namespace halftone::onednn
