// The parts of repeat.h: descriptors and attributes (repeat_descs.cc), primitives (repeat_make.cc). Private to
// runtime/onednn.
#ifndef HALFTONE_RUNTIME_ONEDNN_REPEAT_INTERNAL_H_
#define HALFTONE_RUNTIME_ONEDNN_REPEAT_INTERNAL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/onednn/primitive_line.h"
#include "runtime/onednn/support.h"

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

absl::StatusOr<MadePrimitive> MakeFromLine(const PrimitiveLine& line);

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_ONEDNN_REPEAT_INTERNAL_H_
