// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/generators.h"

namespace halftone::fuzz {

const Generator* FindGenerator(OpKind op) {
  for (const std::span<const Generator> table : {ElementwiseGenerators(), NetworkGenerators(), TensorGenerators(),
                                                 IndexGenerators(), SequenceGenerators(), FusedGenerators()}) {
    for (const Generator& row : table) {
      if (row.op == op) return &row;
    }
  }
  return nullptr;
}

}  // namespace halftone::fuzz
