// SPDX-License-Identifier: Apache-2.0
// Channels last or in blocks: the descriptors of a convolution, and what it takes in either, measured.
//
// Every problem is timed once in a process. The images are those of the plan, cut into parts of a few images each where
// the batch is large: the next run reads and writes the next part, so that caches are as cold as they are in a run.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/status.h"
#include "runtime/cpu/onednn/kernels.h"
#include "runtime/cpu/onednn/problem.h"

namespace halftone::onednn {
namespace {

using Tag = dnnl::memory::format_tag;
using Primitive = dnnl::convolution_forward::primitive_desc;

// An image of so few channels is read as it is: blocks would be mostly padding.
constexpr int64_t kFewChannels = 4;
constexpr double kNever = 1e3;  // seconds: there is no such kernel

Tag TagOf(size_t rank, ImageLayout layout) {
  constexpr Tag kLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  constexpr Tag kBlocks16[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  constexpr Tag kBlocks8[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  static const bool wide = [] {
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    return (static_cast<int>(isa) & static_cast<int>(dnnl::cpu_isa::avx512_core)) ==
           static_cast<int>(dnnl::cpu_isa::avx512_core);
  }();
  if (layout == ImageLayout::kChannelsLast) return kLast[rank - 3];
  return (wide ? kBlocks16 : kBlocks8)[rank - 3];
}

Desc Tagged(std::span<const int64_t> dims, DataType type, Tag tag) {
  return Desc(Dims(dims.begin(), dims.end()), *DnnlType(type), tag, /*allow_empty=*/true);
}

// What the convolutions that are timed work on, one after another.
class TimingMemory final {
 public:
  enum Use { kSrc, kDst, kWeights, kBias, kScratch, kNumUses };

  // At least so many bytes, which were written before: what never was is read from one page.
  absl::StatusOr<std::byte*> Get(Use use, size_t bytes) {
    Pages& pages = pages_[use];
    if (pages.size() < bytes) {
      pages = Pages();
      HALFTONE_ASSIGN_OR_RETURN(pages, Pages::Allocate(bytes));
      std::memset(pages.data(), 0, pages.size());
    }
    return pages.data();
  }

 private:
  std::array<Pages, kNumUses> pages_;
};

// The convolution of a part of the images.
class PartialConv final {
 public:
  static absl::StatusOr<PartialConv> Make(const ConvProblem& whole, const OperandTypes& types, const Epilogue& epilogue,
                                          ImageLayout layout) {
    constexpr int64_t kImages = 4, kMostParts = 3;  // with three, two others are used between two uses of one
    ConvProblem part = whole;
    PartialConv conv;
    if (whole.src[0] >= 2 * kImages) {
      conv.parts_ = std::min(whole.src[0] / kImages, kMostParts);
      conv.share_ = static_cast<double>(kImages) / static_cast<double>(whole.src[0]);
      part.src[0] = part.dst[0] = kImages;
    }
    conv.desc_ = MakeConv(part, types, epilogue, ChosenLayouts(part, types, layout));
    if (!conv.desc_ || IsSlow(conv.desc_)) return absl::UnimplementedError("no fast kernel");
    HALFTONE_RETURN_IF_ERROR(Guard([&] { conv.primitive_ = dnnl::convolution_forward(conv.desc_); }));
    return conv;
  }

  // Seconds for all images, from one run over part `run` modulo their number.
  absl::StatusOr<double> Time(TimingMemory& memory, int64_t run) const {
    const int64_t part = run % parts_;
    std::unordered_map<int, dnnl::memory> arguments;
    const auto add = [&](int name, const Desc& desc, TimingMemory::Use use, int64_t parts) -> absl::Status {
      if (IsEmpty(desc)) return absl::OkStatus();
      const size_t bytes = (desc.get_size() + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
      HALFTONE_ASSIGN_OR_RETURN(std::byte* const start, memory.Get(use, bytes * parts));
      std::byte* const here = start + (parts > 1 ? part * bytes : 0);
      return Guard([&] { arguments.emplace(name, dnnl::memory(desc, CpuEngine(), here)); });
    };
    HALFTONE_RETURN_IF_ERROR(add(DNNL_ARG_SRC, desc_.src_desc(), TimingMemory::kSrc, parts_));
    HALFTONE_RETURN_IF_ERROR(add(DNNL_ARG_DST, desc_.dst_desc(), TimingMemory::kDst, parts_));
    HALFTONE_RETURN_IF_ERROR(add(DNNL_ARG_WEIGHTS, desc_.weights_desc(), TimingMemory::kWeights, 1));
    HALFTONE_RETURN_IF_ERROR(add(DNNL_ARG_BIAS, desc_.bias_desc(), TimingMemory::kBias, 1));
    HALFTONE_RETURN_IF_ERROR(add(DNNL_ARG_SCRATCHPAD, desc_.scratchpad_desc(), TimingMemory::kScratch, 1));
    using Clock = std::chrono::steady_clock;
    double seconds = 0;
    HALFTONE_RETURN_IF_ERROR(Guard([&] {
      dnnl::stream stream(CpuEngine());
      const Clock::time_point start = Clock::now();
      primitive_.execute(stream, arguments);
      stream.wait();
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }));
    return seconds / share_;
  }

 private:
  Primitive desc_;
  dnnl::convolution_forward primitive_;
  int64_t parts_ = 1;
  double share_ = 1;  // of all images, in one part
};

// Both in turns; the faster of two runs each, after one that does not count.
absl::StatusOr<LayoutSeconds> TimeBoth(const ConvProblem& problem, const OperandTypes& types, const Epilogue& epilogue,
                                       TimingMemory& memory) {
  const absl::StatusOr<PartialConv> sides[] = {
      PartialConv::Make(problem, types, epilogue, ImageLayout::kChannelsLast),
      PartialConv::Make(problem, types, epilogue, ImageLayout::kChannelBlocks)};
  double best[] = {kNever, kNever};
  int64_t run = 0;
  for (const bool counts : {false, true, true}) {
    for (int side = 0; side < 2; ++side) {
      if (!sides[side].ok()) continue;
      HALFTONE_ASSIGN_OR_RETURN(const double seconds, sides[side]->Time(memory, run++));
      if (counts) best[side] = std::min(best[side], seconds);
    }
  }
  return LayoutSeconds{best[0], best[1]};
}

void AppendNumbers(std::string& key, std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) key.append(reinterpret_cast<const char*>(&number), sizeof number);
  key += ';';
}

// Everything that decides about the time.
std::string KeyOf(const ConvProblem& problem, const OperandTypes& types, const Epilogue& epilogue, int threads) {
  std::string key;
  for (const Dims& dims :
       {problem.src, problem.weights, problem.strides, problem.dilations, problem.pads_begin, problem.pads_end})
    AppendNumbers(key, dims);
  AppendNumbers(key, Dims{static_cast<int>(types.src), static_cast<int>(types.weights), static_cast<int>(types.bias),
                          static_cast<int>(types.dst), static_cast<int>(epilogue.activation), threads});
  return key;
}

}  // namespace

ConvLayouts ChosenLayouts(const ConvProblem& problem, const OperandTypes& types, ImageLayout layout) {
  const Tag tag = TagOf(problem.src.size(), layout);
  ConvLayouts layouts{Tagged(problem.src, types.src, tag), Tagged(problem.dst, types.dst, tag)};
  if (layout == ImageLayout::kChannelBlocks && problem.src[1] <= kFewChannels)
    layouts.src = PlainDesc(problem.src, types.src);
  return layouts;
}

std::vector<std::optional<LayoutSeconds>> ConvSecondsByLayout(std::span<const NodeContext* const> convs) {
  static std::mutex* const mutex = new std::mutex;  // also: nothing else is timed at the same time
  static auto* const known = new std::map<std::string, LayoutSeconds>;
  const std::lock_guard<std::mutex> lock(*mutex);
  TimingMemory memory;
  std::vector<std::optional<LayoutSeconds>> result;
  for (const NodeContext* const conv : convs) {
    const NodeContext& context = *conv;
    std::optional<LayoutSeconds>& seconds = result.emplace_back();
    OperandTypes types{.src = context.InputType(0), .weights = context.InputType(1), .dst = context.OutputType()};
    if (context.HasInput(2)) types.bias = DataType::kFloat32;
    if (!IsFloat(types.src) || !IsFloat(types.weights) || !IsFloat(types.dst)) continue;
    const Attributes& attributes = context.node().attributes;
    const absl::StatusOr<Epilogue> epilogue = EpilogueOf(attributes);
    const absl::StatusOr<ConvProblem> problem = MakeConvProblem(attributes, context.InputDims(0), context.InputDims(1));
    if (!epilogue.ok() || !problem.ok()) continue;
    const std::string key = KeyOf(*problem, types, *epilogue, context.threads());
    auto it = known->find(key);
    if (it == known->end()) {
      const absl::StatusOr<LayoutSeconds> times = TimeBoth(*problem, types, *epilogue, memory);
      it = known->emplace(key, times.value_or(LayoutSeconds{kNever, kNever})).first;
    }
    if (it->second.channels_last < kNever || it->second.channel_blocks < kNever) seconds = it->second;
  }
  return result;
}

}  // namespace halftone::onednn
