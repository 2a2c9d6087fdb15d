// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/element_types.h"

#include <utility>

namespace halftone::graphdef {
namespace {

struct Pair {
  tf::DataType tensorflow;
  DataType ours;
};

constexpr Pair kTypes[] = {
    {tf::DT_INVALID, DataType::kUnknown},       {tf::DT_FLOAT, DataType::kFloat32},
    {tf::DT_BFLOAT16, DataType::kBFloat16},     {tf::DT_HALF, DataType::kFloat16},
    {tf::DT_DOUBLE, DataType::kFloat64},        {tf::DT_INT8, DataType::kInt8},
    {tf::DT_UINT8, DataType::kUInt8},           {tf::DT_INT16, DataType::kInt16},
    {tf::DT_UINT16, DataType::kUInt16},         {tf::DT_INT32, DataType::kInt32},
    {tf::DT_UINT32, DataType::kUInt32},         {tf::DT_INT64, DataType::kInt64},
    {tf::DT_UINT64, DataType::kUInt64},         {tf::DT_BOOL, DataType::kBool},
    {tf::DT_STRING, DataType::kString},         {tf::DT_COMPLEX64, DataType::kComplex64},
    {tf::DT_COMPLEX128, DataType::kComplex128}, {tf::DT_RESOURCE, DataType::kResource},
    {tf::DT_VARIANT, DataType::kVariant},
};

constexpr bool EveryTypeInOrder() {
  for (int i = 0; i < kNumDataTypes; ++i) {
    if (static_cast<int>(kTypes[i].ours) != i) return false;
  }
  return true;
}
static_assert(std::size(kTypes) == kNumDataTypes && EveryTypeInOrder(), "one row a DataType, in its order");

constexpr std::pair<tf::DataType, tf::DataType> kQuantized[] = {{tf::DT_QINT8, tf::DT_INT8},
                                                                {tf::DT_QUINT8, tf::DT_UINT8},
                                                                {tf::DT_QINT16, tf::DT_INT16},
                                                                {tf::DT_QUINT16, tf::DT_UINT16},
                                                                {tf::DT_QINT32, tf::DT_INT32}};

}  // namespace

int PlainTfType(int type) {
  for (const auto& [quantized, plain] : kQuantized) {
    if (quantized == type) return plain;
  }
  return type;
}

tf::DataType QuantizedTfType(tf::DataType plain) {
  for (const auto& [quantized, other] : kQuantized) {
    if (other == plain) return quantized;
  }
  return plain;
}

DataType FromTfType(int type) {
  for (const Pair& pair : kTypes) {
    if (pair.tensorflow == type) return pair.ours;
  }
  return DataType::kUnknown;
}

tf::DataType ToTfType(DataType type) { return kTypes[static_cast<int>(type)].tensorflow; }

std::string TfTypeName(int type) {
  return tf::DataType_IsValid(type) ? tf::DataType_Name(static_cast<tf::DataType>(type)) : std::to_string(type);
}

}  // namespace halftone::graphdef
