// SPDX-License-Identifier: Apache-2.0
// The parts of repeat.h: descriptors, attributes and dimensions (repeat_descs.cc), primitives (repeat_contractions.cc,
// repeat_rnn.cc, repeat_make.cc). Private to runtime/cpu/onednn.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_INTERNAL_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_INTERNAL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "runtime/cpu/onednn/primitive_line.h"
#include "runtime/cpu/onednn/support.h"

namespace halftone::onednn {

using Arguments = std::vector<std::pair<int, Desc>>;

// A primitive with what it is executed on.
struct MadePrimitive {
  dnnl::primitive primitive;
  Arguments arguments;
  std::string kernel;
};

// As the line says; `any` where the implementation chose a layout that has no name.
absl::StatusOr<Desc> DescOf(const LineTensor& tensor, const Dims& dims);

// Attributes, and the arguments that they want.
struct LineAttributes {
  dnnl::primitive_attr attributes;
  Arguments arguments;
};
absl::StatusOr<LineAttributes> AttributesOf(const PrimitiveLine& line, const Dims& dst);

// undef: no algorithm is called so.
dnnl::algorithm AlgorithmOf(const std::string& name);

// A problem in letters ("mb1_ic3oc64_ih224..."): depth, height and width, those that are there.
struct ImageProblem {
  int64_t batch = 1, groups = 1, in = 1, out = 1;  // channels
  bool grouped = false;
  Dims input, output, kernel, strides, dilations, pads_begin, pads_end;

  Dims src() const { return Join({batch, in}, input); }
  Dims dst(int64_t channels) const { return Join({batch, channels}, output); }
  static Dims Join(Dims head, const Dims& tail);
};
absl::StatusOr<ImageProblem> ImageProblemOf(const PrimitiveLine& line);
// A problem in numbers ("2x3:2x1"), of so many tensors.
absl::StatusOr<std::vector<Dims>> DimsOf(const PrimitiveLine& line, size_t count);

absl::StatusOr<MadePrimitive> MakeFromLine(const PrimitiveLine& line);
// repeat_contractions.cc
absl::StatusOr<MadePrimitive> MakeConvolution(const PrimitiveLine& line);
absl::StatusOr<MadePrimitive> MakeDeconvolution(const PrimitiveLine& line);
absl::StatusOr<MadePrimitive> MakeMatMul(const PrimitiveLine& line);
absl::StatusOr<MadePrimitive> MakeInnerProduct(const PrimitiveLine& line);
// repeat_rnn.cc
absl::StatusOr<MadePrimitive> MakeRecurrent(const PrimitiveLine& line);

// The implementation that the line names where there is one of that name, else the first.
template <typename PrimitiveDesc>
PrimitiveDesc NamedOrFirst(PrimitiveDesc desc, const PrimitiveLine& line) {
  PrimitiveDesc first = Frozen(desc);
  while (ImplementationName(desc) != line.kernel) {
    if (!desc.next_impl()) return first;
  }
  return desc;
}

// As NamedOrFirst.
template <typename Primitive>
absl::StatusOr<MadePrimitive> Finish(typename Primitive::primitive_desc desc, const PrimitiveLine& line,
                                     Arguments arguments) {
  if (!desc) return absl::UnimplementedError("oneDNN has no such primitive");
  if constexpr (requires { desc.next_impl(); }) {  // reorder and concat have no choice
    HALFTONE_RETURN_IF_ERROR(Guard([&] { desc = NamedOrFirst(desc, line); }));
  }
  MadePrimitive made{.arguments = std::move(arguments), .kernel = ImplementationName(desc)};
  HALFTONE_RETURN_IF_ERROR(Guard([&] { made.primitive = Primitive(desc); }));
  made.arguments.emplace_back(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  return made;
}

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_REPEAT_INTERNAL_H_
