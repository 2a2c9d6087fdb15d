// SPDX-License-Identifier: Apache-2.0
// Constants that several graphs of a model hold. A nested graph is closed: what it reads of the weights around it is a
// copy that shares their bytes, and what passes compute in two branches of one weight are the same bytes twice. In the
// file such a constant stands once, in a graph around all that read it, and these read it by its name.
#ifndef HALFTONE_FORMATS_ONNX_SHARED_CONSTANTS_H_
#define HALFTONE_FORMATS_ONNX_SHARED_CONSTANTS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace halftone::onnx_format {

// One constant, wherever it is held.
struct SharedConstant {
  Tensor tensor;
  std::map<const Graph*, ValueId> holders;
  // Of the graphs that hold it the one around all others; nullptr if there is none, or if it is in the file twice.
  const Graph* owner = nullptr;
};

// Those of a graph and everything nested in it, at the time of construction. Thread-safe.
class SharedConstants {
 public:
  explicit SharedConstants(const Graph& outermost);

  // nullptr: this constant is in one graph alone, or so small that copies do no harm.
  const SharedConstant* Find(const Tensor& tensor) const;

 private:
  using Bytes = std::tuple<const std::byte*, DataType, std::vector<int64_t>>;
  struct Place;  // a graph with the way to it
  class Collector;

  std::vector<std::unique_ptr<SharedConstant>> constants_;
  std::map<Bytes, const SharedConstant*> by_bytes_;  // of every copy that has bytes of its own
};

}  // namespace halftone::onnx_format

#endif  // HALFTONE_FORMATS_ONNX_SHARED_CONSTANTS_H_
