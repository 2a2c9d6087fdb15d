// SPDX-License-Identifier: Apache-2.0
// From a line to a primitive: one function a kind (products in repeat_contractions.cc), and the table of them.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/repeat_internal.h"

namespace halftone::onednn {
namespace {

using Result = absl::StatusOr<MadePrimitive>;
constexpr auto kForward = dnnl::prop_kind::forward_inference;

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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  return Finish<dnnl::eltwise_forward>(
      dnnl::eltwise_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst,
                                            FloatSetting(line, "alpha", 0), FloatSetting(line, "beta", 0),
                                            pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Softmax(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  int axis = 0;
  if (!absl::SimpleAtoi(line.setting("axis"), &axis)) return absl::InvalidArgumentError("axis of a softmax");
  return Finish<dnnl::softmax_forward>(
      dnnl::softmax_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst, axis,
                                            pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

// "CH": with scale and shift; "G": statistics are given; "R": relu after it.
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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::normalization_flags flags, FlagsOf(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  const dnnl::layer_normalization_forward::primitive_desc desc(CpuEngine(), kForward, pair.src, pair.dst, kEpsilon,
                                                               flags, pair.with.attributes, /*allow_empty=*/true);
  const Desc vector(Dims{dims[0].back()}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  return Normalize<dnnl::layer_normalization_forward>(desc, flags, vector, line, std::move(pair.arguments));
}

Result BatchNormalization(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const ImageProblem p, ImageProblemOf(line));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::normalization_flags flags, FlagsOf(line));
  const Dims dims = p.src();
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims, dims));
  const dnnl::batch_normalization_forward::primitive_desc desc(CpuEngine(), kForward, pair.src, pair.dst, kEpsilon,
                                                               flags, pair.with.attributes, /*allow_empty=*/true);
  const Desc vector(Dims{p.in}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  return Normalize<dnnl::batch_normalization_forward>(desc, flags, vector, line, std::move(pair.arguments));
}

Result Pooling(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const ImageProblem p, ImageProblemOf(line));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, p.src(), p.dst(p.in)));
  return Finish<dnnl::pooling_forward>(
      dnnl::pooling_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst, p.strides, p.kernel,
                                            p.dilations, p.pads_begin, p.pads_end, pair.with.attributes,
                                            /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Resampling(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const ImageProblem p, ImageProblemOf(line));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, p.src(), p.dst(p.in)));
  return Finish<dnnl::resampling_forward>(
      dnnl::resampling_forward::primitive_desc(CpuEngine(), kForward, algorithm, pair.src, pair.dst,
                                               pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Reduction(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 2));
  HALFTONE_ASSIGN_OR_RETURN(const dnnl::algorithm algorithm, AlgorithmIn(line));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[1]));
  return Finish<dnnl::reduction>(
      dnnl::reduction::primitive_desc(CpuEngine(), algorithm, pair.src, pair.dst, FloatSetting(line, "p", 0),
                                      FloatSetting(line, "eps", 0), pair.with.attributes, /*allow_empty=*/true),
      line, std::move(pair.arguments));
}

Result Reorder(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 1));
  HALFTONE_ASSIGN_OR_RETURN(Pair pair, PairOf(line, dims[0], dims[0]));
  return Finish<dnnl::reorder>(dnnl::reorder::primitive_desc(CpuEngine(), pair.src, CpuEngine(), pair.dst,
                                                             pair.with.attributes, /*allow_empty=*/true),
                               line, std::move(pair.arguments));
}

// ---- Of several.

Result Binary(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 2));
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
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 2));
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
    {"convolution", MakeConvolution},
    {"deconvolution", MakeDeconvolution},
    {"matmul", MakeMatMul},
    {"inner_product", MakeInnerProduct},
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
    {"rnn", MakeRecurrent},
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
