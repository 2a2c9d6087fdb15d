// SPDX-License-Identifier: Apache-2.0
// AttrValue <-> AttributeValue, and the attributes of one NodeDef by name.
#ifndef HALFTONE_FORMATS_TENSORFLOW_ATTR_VALUE_H_
#define HALFTONE_FORMATS_TENSORFLOW_ATTR_VALUE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/attributes.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// By name. The values belong to the NodeDef.
using AttrMap = std::map<std::string_view, const tf::AttrValue*>;

// A name that is empty, given twice, or begins with "tf." (ours, see extra.h) is INVALID_ARGUMENT.
absl::StatusOr<AttrMap> ReadAttrs(const tf::NodeDef& node);

// What no attribute may hold: references to variables as types, malformed shapes and tensors, huge strings.
absl::Status CheckAttr(const tf::AttrValue& value);

// A native value where it represents all of the attribute, else RawBytes, the serialized AttrValue.
// Empty lists become lists of integers: TensorFlow's have no type.
AttributeValue FromAttr(const tf::AttrValue& value);

// The inverse. INTERNAL for what no importer makes (nested graphs, bytes that are no AttrValue).
absl::StatusOr<tf::AttrValue> ToAttr(const AttributeValue& value);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_ATTR_VALUE_H_
