// SPDX-License-Identifier: Apache-2.0
// Products from lines: convolution, deconvolution, matmul, inner product.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "runtime/cpu/onednn/repeat_internal.h"

namespace halftone::onednn {
namespace {

constexpr auto kForward = dnnl::prop_kind::forward_inference;

template <typename Primitive>
absl::StatusOr<MadePrimitive> Convolve(const PrimitiveLine& line, dnnl::algorithm algorithm, bool transposed) {
  HALFTONE_ASSIGN_OR_RETURN(ImageProblem p, ImageProblemOf(line));
  if (transposed) {  // the pads are those of the convolution that goes the other way
    for (size_t i = 0; i < p.input.size(); ++i) {
      p.pads_end[i] = (p.input[i] - 1) * p.strides[i] + (p.kernel[i] - 1) * (p.dilations[i] + 1) + 1 - p.output[i] -
                      p.pads_begin[i];
    }
  }
  Dims weights_dims{p.out / p.groups, p.in / p.groups};
  const LineTensor &src_tensor = line.tensor("src"), &weights_tensor = line.tensor("wei");
  const LineTensor &bias_tensor = line.tensor("bia"), &dst_tensor = line.tensor("dst");
  if (p.grouped) weights_dims.insert(weights_dims.begin(), p.groups);
  const Dims dst_dims = p.dst(p.out);
  HALFTONE_ASSIGN_OR_RETURN(const Desc src, DescOf(src_tensor, p.src()));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(weights_tensor, ImageProblem::Join(weights_dims, p.kernel)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(dst_tensor, dst_dims));
  Desc bias;
  if (bias_tensor.present()) {
    HALFTONE_ASSIGN_OR_RETURN(bias, DescOf(bias_tensor, Dims{p.out}));
  }
  HALFTONE_ASSIGN_OR_RETURN(LineAttributes with, AttributesOf(line, dst_dims));
  const typename Primitive::primitive_desc desc(CpuEngine(), kForward, algorithm, src, weights, bias, dst, p.strides,
                                                p.dilations, p.pads_begin, p.pads_end, with.attributes,
                                                /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  Arguments arguments = std::move(with.arguments);
  arguments.insert(
      arguments.end(),
      {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  if (bias_tensor.present()) arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return Finish<Primitive>(desc, line, std::move(arguments));
}

}  // namespace

absl::StatusOr<MadePrimitive> MakeConvolution(const PrimitiveLine& line) {
  return Convolve<dnnl::convolution_forward>(line, dnnl::algorithm::convolution_direct, /*transposed=*/false);
}
absl::StatusOr<MadePrimitive> MakeDeconvolution(const PrimitiveLine& line) {
  return Convolve<dnnl::deconvolution_forward>(line, dnnl::algorithm::deconvolution_direct, /*transposed=*/true);
}

absl::StatusOr<MadePrimitive> MakeMatMul(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const std::vector<Dims> dims, DimsOf(line, 2));
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
  using Product = dnnl::matmul::primitive_desc;
  Product desc(CpuEngine(), src, weights, bias, dst, with.attributes, /*allow_empty=*/true);
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  HALFTONE_RETURN_IF_ERROR(Guard([&] {
    desc = NamedOrFirst(desc, line);
    if (ImplementationName(desc) == line.kernel) return;
    // brg_matmul:avx2 of oneDNN 3.7 does not take by name the layout that it chose.
    const Desc any(dims[1], weights.get_data_type(), dnnl::memory::format_tag::any);
    const Product chosen = NamedOrFirst(Product(CpuEngine(), src, any, bias, dst, with.attributes), line);
    if (chosen.weights_desc() == weights) desc = chosen;
  }));
  Arguments arguments = std::move(with.arguments);
  arguments.insert(
      arguments.end(),
      {{DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()}, {DNNL_ARG_DST, desc.dst_desc()}});
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return Finish<dnnl::matmul>(desc, line, std::move(arguments));
}

absl::StatusOr<MadePrimitive> MakeInnerProduct(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const ImageProblem p, ImageProblemOf(line));
  HALFTONE_ASSIGN_OR_RETURN(const Desc src, DescOf(line.tensor("src"), p.src()));
  HALFTONE_ASSIGN_OR_RETURN(const Desc weights, DescOf(line.tensor("wei"), ImageProblem::Join({p.out, p.in}, p.input)));
  HALFTONE_ASSIGN_OR_RETURN(const Desc dst, DescOf(line.tensor("dst"), Dims{p.batch, p.out}));
  HALFTONE_ASSIGN_OR_RETURN(LineAttributes with, AttributesOf(line, Dims{p.batch, p.out}));
  Desc bias;
  if (line.tensor("bia").present()) {
    HALFTONE_ASSIGN_OR_RETURN(bias, DescOf(line.tensor("bia"), Dims{p.out}));
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

}  // namespace halftone::onednn
