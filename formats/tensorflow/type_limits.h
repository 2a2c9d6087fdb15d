// SPDX-License-Identifier: Apache-2.0
// Which types below f32 TensorFlow's ops take. Nearly all that take floats take half and bfloat16; the table has those
// that do not, by the registry of late 2020 (some have learnt bfloat16 since; a file should load in older versions
// too).
#ifndef HALFTONE_FORMATS_TENSORFLOW_TYPE_LIMITS_H_
#define HALFTONE_FORMATS_TENSORFLOW_TYPE_LIMITS_H_

#include <span>
#include <string>
#include <string_view>

#include "ir/file_types.h"
#include "ir/graph.h"

namespace halftone {

// Which types below f32 a GraphDef may have.
FileTypes GraphDefFileTypes();

namespace graphdef {

struct TypeLimit {
  std::string_view tf_op;
  bool takes_f16;  // none of them takes bf16
};
std::span<const TypeLimit> TypeLimits();

// Why TensorFlow's op for this node does not take the types below f32 of its values; "" where it does, or where there
// is no op for it (the exporter says so).
std::string RefuseTypes(const Graph& graph, NodeId id);

}  // namespace graphdef
}  // namespace halftone

#endif  // HALFTONE_FORMATS_TENSORFLOW_TYPE_LIMITS_H_
