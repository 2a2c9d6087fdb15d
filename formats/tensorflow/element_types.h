// SPDX-License-Identifier: Apache-2.0
// Element types: TensorFlow's numbers <-> halftone's.
#ifndef HALFTONE_FORMATS_TENSORFLOW_ELEMENT_TYPES_H_
#define HALFTONE_FORMATS_TENSORFLOW_ELEMENT_TYPES_H_

#include <string>

#include "formats/tensorflow/proto/types.pb.h"
#include "ir/types.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// kUnknown for what halftone has no type for (quantized types, 8-bit floats, references).
DataType FromTfType(int type);

// DT_INVALID for kUnknown.
tf::DataType ToTfType(DataType type);

// Types of references to variables; no attribute may hold one.
inline bool IsRefType(int type) { return type > 100; }

// TensorFlow's quantized types are integers whose range stands elsewhere: DT_QUINT8 -> DT_UINT8, ... and back; other
// types are what they are.
int PlainTfType(int type);
tf::DataType QuantizedTfType(tf::DataType plain);

// "DT_FLOAT"; the number if TensorFlow has no such type.
std::string TfTypeName(int type);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_ELEMENT_TYPES_H_
