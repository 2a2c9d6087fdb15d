// SPDX-License-Identifier: Apache-2.0
// From the fields of a line to descriptors and attributes.
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/repeat_internal.h"

namespace halftone::onednn {
namespace {

using DnnlDataType = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

DnnlDataType TypeOf(const std::string& name) {
  for (const DnnlDataType type : {DnnlDataType::f32, DnnlDataType::bf16, DnnlDataType::f16, DnnlDataType::s32,
                                  DnnlDataType::s8, DnnlDataType::u8}) {
    if (name == dnnl_dt2str(static_cast<dnnl_data_type_t>(type))) return type;
  }
  return DnnlDataType::undef;
}

// oneDNN's names of layouts, from its own table.
Tag TagOf(const std::string& name) {
  static const auto* const tags = [] {
    auto* all = new std::map<std::string, Tag>;
    for (int i = dnnl_format_tag_any + 1; i < dnnl_format_tag_last; ++i)
      all->emplace(dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(i)), static_cast<Tag>(i));
    return all;
  }();
  const auto it = tags->find(name);
  return it == tags->end() ? Tag::undef : it->second;
}

// A layout without inner blocks: the order of the dimensions alone.
bool IsOrder(const std::string& tag, size_t rank) {
  return tag.size() == rank && std::all_of(tag.begin(), tag.end(), [](char c) { return c >= 'a' && c <= 'l'; });
}

// "sum", "sum:0.5", "eltwise_clip_v2:0:6", "binary_add:f32:14:acdb"
absl::Status AddPostOp(const std::string& text, const Dims& dst, dnnl::post_ops& ops, Arguments& arguments) {
  const absl::Status refused = absl::UnimplementedError(Concat("post-op '", text, "' is not covered"));
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  const auto number = [&](size_t i, float otherwise) {
    float value = otherwise;
    return i < parts.size() && !absl::SimpleAtof(parts[i], &value) ? otherwise : value;
  };
  if (parts[0] == "sum") {
    if (parts.size() > 2) return refused;
    ops.append_sum(number(1, 1));
    return absl::OkStatus();
  }
  const dnnl::algorithm algorithm = AlgorithmOf(parts[0]);
  if (algorithm == dnnl::algorithm::undef) return refused;
  if (parts[0].starts_with("eltwise_")) {
    if (parts.size() > 3) return refused;
    ops.append_eltwise(algorithm, number(1, 0), number(2, 0));
    return absl::OkStatus();
  }
  int mask = 0;
  if (!parts[0].starts_with("binary_") || parts.size() < 3 || parts.size() > 4 || !absl::SimpleAtoi(parts[2], &mask)) {
    return refused;
  }
  Dims dims(dst.size(), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((mask >> i & 1) != 0) dims[i] = dst[i];
  }
  HALFTONE_ASSIGN_OR_RETURN(
      const Desc desc,
      DescOf(LineTensor{.type = parts[1], .kind = "blocked", .tag = parts.size() > 3 ? parts[3] : ""}, dims));
  arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1, desc);
  ops.append_binary(algorithm, desc);
  return absl::OkStatus();
}

}  // namespace

dnnl::algorithm AlgorithmOf(const std::string& name) {
  constexpr int kMost = 0x40000;  // after the last of dnnl_alg_kind_t
  static const auto* const algorithms = [] {
    auto* all = new std::map<std::string, dnnl::algorithm>;
    for (int i = 1; i < kMost; ++i)
      all->emplace(dnnl_alg_kind2str(static_cast<dnnl_alg_kind_t>(i)), static_cast<dnnl::algorithm>(i));
    all->erase("unknown alg_kind");
    return all;
  }();
  const auto it = algorithms->find(name);
  return it == algorithms->end() ? dnnl::algorithm::undef : it->second;
}

absl::StatusOr<Desc> DescOf(const LineTensor& tensor, const Dims& dims) {
  const DnnlDataType type = TypeOf(tensor.type);
  if (type == DnnlDataType::undef) return absl::UnimplementedError(Concat("type '", tensor.type, "' is not covered"));
  if (tensor.kind != "blocked" && !tensor.any) {
    return absl::UnimplementedError(Concat("a layout of kind '", tensor.kind, "' is not covered"));
  }
  // Flags speak of data that only the implementation knows how to make (compensation of s8).
  const bool has_extra = !tensor.rest.empty() && !tensor.rest.starts_with("f0");
  if (tensor.any && has_extra) return Desc(dims, type, Tag::any, /*allow_empty=*/true);
  if (!tensor.strides.empty()) {
    if (!IsOrder(tensor.tag, dims.size()) || tensor.strides.size() != dims.size()) {
      return absl::UnimplementedError(Concat("a part of a tensor in layout ", tensor.tag, " is not covered"));
    }
    return Desc(dims, type, tensor.strides, /*allow_empty=*/true);
  }
  if (tensor.tag.empty()) return Desc(dims, type, PlainStrides(dims), /*allow_empty=*/true);
  if (const Tag tag = TagOf(tensor.tag); tag != Tag::undef) {
    Desc desc(dims, type, tag, /*allow_empty=*/true);
    if (desc) return desc;
  }
  if (tensor.any) return Desc(dims, type, Tag::any, /*allow_empty=*/true);
  return absl::UnimplementedError(
      Concat("oneDNN has no name for layout ", tensor.tag, " of ", dims.size(), " dimensions"));
}

absl::StatusOr<LineAttributes> AttributesOf(const PrimitiveLine& line, const Dims& dst) {
  LineAttributes result;
  dnnl::post_ops ops;
  for (const auto& [name, value] : line.attributes) {
    if (name == "scratchpad") {
      if (value == "user") result.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    } else if (name == "post-ops") {
      for (const absl::string_view op : absl::StrSplit(value, '+'))
        HALFTONE_RETURN_IF_ERROR(AddPostOp(std::string(op), dst, ops, result.arguments));
    } else {
      return absl::UnimplementedError(Concat("attribute '", name, ":", value, "' is not covered"));
    }
  }
  result.attributes.set_post_ops(ops);
  return result;
}

Dims ImageProblem::Join(Dims head, const Dims& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

absl::StatusOr<ImageProblem> ImageProblemOf(const PrimitiveLine& line) {
  HALFTONE_ASSIGN_OR_RETURN(const auto letters, ParseProblemLetters(line.problem));
  const auto letter = [&](const std::string& name, int64_t otherwise) {
    const auto it = letters.find(name);
    return it == letters.end() ? otherwise : it->second;
  };
  ImageProblem problem{
      .batch = letter("mb", 1), .groups = letter("g", 1), .in = letter("ic", 1), .out = letter("oc", 1)};
  problem.grouped = letters.contains("g");
  for (const std::string axis : {"d", "h", "w"}) {
    if (!letters.contains("i" + axis)) continue;
    const int64_t in = letter("i" + axis, 1), out = letter("o" + axis, in), kernel = letter("k" + axis, 1);
    const int64_t stride = letter("s" + axis, 1), dilation = letter("d" + axis, 0), pad = letter("p" + axis, 0);
    problem.input.push_back(in);
    problem.output.push_back(out);
    problem.kernel.push_back(kernel);
    problem.strides.push_back(stride);
    problem.dilations.push_back(dilation);
    problem.pads_begin.push_back(pad);
    problem.pads_end.push_back((out - 1) * stride + (kernel - 1) * (dilation + 1) + 1 - in - pad);
  }
  return problem;
}

absl::StatusOr<std::vector<Dims>> DimsOf(const PrimitiveLine& line, size_t count) {
  HALFTONE_ASSIGN_OR_RETURN(std::vector<Dims> dims, ParseProblemDims(line.problem));
  if (dims.size() != count) return absl::InvalidArgumentError(Concat("dimensions '", line.problem, "'"));
  return dims;
}

}  // namespace halftone::onednn
