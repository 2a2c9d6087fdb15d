// SPDX-License-Identifier: Apache-2.0
// Names in Node::extra that are ours and not TensorFlow's. They keep what a NodeDef has and canonical attributes cannot
// express, so that an unchanged node is written as it was read. Each is a hint: where it no longer fits the
// node, the exporter ignores it.
#ifndef HALFTONE_FORMATS_TENSORFLOW_EXTRA_H_
#define HALFTONE_FORMATS_TENSORFLOW_EXTRA_H_

#include <string_view>

namespace halftone::graphdef {

// Strings: attributes with a default that the NodeDef left out, though the exporter would write them. Left out again
// while their value is TensorFlow's default.
inline constexpr std::string_view kExtraAbsent = "tf.absent";

// String: the form of a Const's elements, see EncodingOf (tensor_proto.h).
inline constexpr std::string_view kExtraEncoding = "tf.encoding";

// RawBytes: the whole TensorProto of a Const that says more than its elements (unknown fields, names of dimensions).
// Written again while it holds the node's tensor.
inline constexpr std::string_view kExtraTensor = "tf.tensor";

// RawBytes: the TensorShapeProto of a Placeholder that says more than the shape (names of dimensions; a scalar that,
// before GraphDef version 22, stood for an unknown shape). Written again while the value's shape is the one it was read
// as.
inline constexpr std::string_view kExtraShape = "tf.shape";

// RawBytes: a NodeDef with the fields that have no place in Node (debug information, unknown fields).
inline constexpr std::string_view kExtraRest = "tf.rest";

// Integers: data inputs that were written with ":0", which may be left out.
inline constexpr std::string_view kExtraPortZero = "tf.port_zero";

// String: the op that the node was read as, where extra holds attributes of that op (names without "_"). They are
// written only while the node still becomes that op.
inline constexpr std::string_view kExtraOp = "tf.op";

// Bool, true: padding was EXPLICIT in an op that learnt it late (pools, depthwise convolutions), so this file's readers
// know it.
inline constexpr std::string_view kExtraExplicit = "tf.explicit";

// Bool, true: the op has had two forms and the file has the older one, so this file's readers know it.
inline constexpr std::string_view kExtraOlderForm = "tf.older_form";

// Strings: type attributes that are quantized types (DT_QUINT8) in the file and plain ones (u8) in the graph.
inline constexpr std::string_view kExtraQuantized = "tf.quantized";

// Floats, lows and then highs, and names of the two constants that they were read from: the range of which scale and
// zero point of a quantize_linear or dequantize_linear were made. Written again while it still makes them.
inline constexpr std::string_view kExtraRange = "tf.range";
inline constexpr std::string_view kExtraRangeNames = "tf.range.names";

// String: this node was made for a reader whose op is this one, which holds what it does. Written only where it has
// other consumers, too.
inline constexpr std::string_view kExtraHelper = "tf.helper";

// One node of several that the file has as one (IdentityN): the name of that one, and {index, number of all}.
inline constexpr std::string_view kExtraPartOf = "tf.part_of";
inline constexpr std::string_view kExtraPart = "tf.part";

// Followed by the name of a nested graph: the hash of that graph as it was read (NestedGraphHash). While it is the
// same, the function of the library is what it was.
inline constexpr std::string_view kExtraFunctionHash = "tf.function.";

// Names in Graph::header().
inline constexpr std::string_view kHeaderProducer = "producer";           // int
inline constexpr std::string_view kHeaderMinConsumer = "min_consumer";    // int
inline constexpr std::string_view kHeaderBadConsumers = "bad_consumers";  // ints
inline constexpr std::string_view kHeaderLibrary = "library";             // RawBytes: FunctionDefLibrary
// Strings: functions of the library that are nested graphs, too. Left out of the file once they have no callers.
inline constexpr std::string_view kHeaderNested = "nested_functions";
inline constexpr std::string_view kHeaderRest = "rest";  // RawBytes: GraphDef without nodes, library, versions

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_EXTRA_H_
