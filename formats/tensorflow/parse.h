// SPDX-License-Identifier: Apache-2.0
// Bytes or text -> GraphDef.
#ifndef HALFTONE_FORMATS_TENSORFLOW_PARSE_H_
#define HALFTONE_FORMATS_TENSORFLOW_PARSE_H_

#include <string_view>

#include "absl/status/status.h"
#include "formats/tensorflow/proto/graph.pb.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// Also reads text where is_text is false, for it is said by the file's name.
// INVALID_ARGUMENT: no GraphDef, too large for a protobuf, or (text) what is wrong in which line.
absl::Status ParseGraphDef(std::string_view bytes, bool is_text, tf::GraphDef& graph);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_PARSE_H_
