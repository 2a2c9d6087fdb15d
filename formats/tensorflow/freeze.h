// SPDX-License-Identifier: Apache-2.0
// One signature of a SavedModel as a graph without state: functions become their nodes, variables constants.
#ifndef HALFTONE_FORMATS_TENSORFLOW_FREEZE_H_
#define HALFTONE_FORMATS_TENSORFLOW_FREEZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/saved_model.pb.h"
#include "formats/tensorflow/variables.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// The signature "serving_default" or, where there is none, the only one; or the one that is named. Of several graphs
// the one with the tag "serve".
//
// Inputs are placeholders and outputs nodes with the signature's names ("x", not "serving_default_x"), unless another
// node has such a name. A node of a function is called "CALL/NODE", as TensorFlow's own freezing does it. Nodes
// that no output reads (assertions, updates of statistics) are left out, and so are control edges.
//
// INVALID_ARGUMENT: no such signature or none, an output that nothing computes, names that lead nowhere, functions that
// call themselves; UNIMPLEMENTED: a variable that is used otherwise than by reading it, a sparse input; NOT_FOUND: a
// variable without a value. Messages name node, variable or signature.
absl::StatusOr<tf::GraphDef> FreezeSignature(const tf::SavedModel& model, const Variables& variables,
                                             const std::string& signature);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_FREEZE_H_
