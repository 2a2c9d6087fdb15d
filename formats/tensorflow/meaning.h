// SPDX-License-Identifier: Apache-2.0
// Where TensorFlow means something else by an op than the canonical op does: attributes that say so.
#ifndef HALFTONE_FORMATS_TENSORFLOW_MEANING_H_
#define HALFTONE_FORMATS_TENSORFLOW_MEANING_H_

#include "formats/tensorflow/node_import.h"

namespace halftone::graphdef {

// Completes a canonical node that was read. Only where it can make a difference: a reduction over constant axes stays
// plain. The exporter demands these attributes (write_math.cc, write_move.cc) and writes none of them.
//   reductions   noop_with_empty_axes: an empty list of axes is no axis
//   reshape      allowzero: a dimension of 0 is 0
//   batch_norm   statistics="batch": what training hands out
// (one_hot's wrap_negative is implied by its row.)
void SayWhatIsMeant(const NodeContext& context, ConvertedNode& result);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_MEANING_H_
