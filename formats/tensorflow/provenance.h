// SPDX-License-Identifier: Apache-2.0
// Provenance (ir/provenance.h) in a GraphDef, which has no metadata: a function of the library without nodes,
// arguments and results, named "halftone_provenance", without callers. Its attributes are the rows: "halftone.cpu" is
// "_halftone_cpu", a string. TensorFlow adds it to its library and never uses it; the text form holds it
// too, which unknown fields of the message would not survive; nodes and VersionDef stay as they are.
#ifndef HALFTONE_FORMATS_TENSORFLOW_PROVENANCE_H_
#define HALFTONE_FORMATS_TENSORFLOW_PROVENANCE_H_

#include <string>
#include <utility>
#include <vector>

#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/graph.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// Removes the function from the library, and the library where nothing else is in it, and returns the rows. A function
// of that name with any other content is not ours and stays.
std::vector<std::pair<std::string, std::string>> TakeProvenance(tf::GraphDef& def);

// Appends the function with the graph's rows; none where there are no rows, or where the name is taken.
void AddProvenance(const Graph& graph, tf::GraphDef& def);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_PROVENANCE_H_
