// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/serialize.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <limits>

#include "base/strings.h"
#include "formats/onnx/tensors.h"

namespace halftone::onnx_format {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint32_t LengthDelimited(int field) { return static_cast<uint32_t>(field) << 3 | 2; }

void AppendVarint(uint64_t value, std::string& out) {
  uint8_t bytes[10];
  const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out.append(reinterpret_cast<const char*>(bytes), end - bytes);
}

// Tag and length of a field; its bytes follow.
void AppendHead(int field, size_t size, std::string& out) {
  AppendVarint(LengthDelimited(field), out);
  AppendVarint(size, out);
}

size_t HeadSize(int field, size_t size) {
  return CodedOutputStream::VarintSize32(LengthDelimited(field)) + CodedOutputStream::VarintSize64(size);
}

// An initializer as fields of TensorProto: `head` has all but raw_data.
struct Part {
  std::string head;
  const Tensor* raw = nullptr;  // nullptr: strings, which are in the head

  size_t raw_size() const { return raw == nullptr ? 0 : raw->byte_size(); }
  size_t size() const {
    return head.size() +
           (raw == nullptr ? 0 : HeadSize(onnx::TensorProto::kRawDataFieldNumber, raw_size()) + raw_size());
  }
};

}  // namespace

absl::StatusOr<std::string> Serialize(onnx::ModelProto& model,
                                      const std::vector<NodeWriter::Initializer>& initializers) {
  constexpr int kGraph = onnx::ModelProto::kGraphFieldNumber;
  constexpr int kInitializer = onnx::GraphProto::kInitializerFieldNumber;
  std::vector<Part> parts;
  const auto& graph = model.graph();
  size_t graph_size = graph.ByteSizeLong();
  for (const NodeWriter::Initializer& initializer : initializers) {
    const bool strings = initializer.value.type() == DataType::kString;
    parts.push_back(
        {TensorHead(initializer.value, initializer.name).SerializeAsString(), strings ? nullptr : &initializer.value});
    graph_size += HeadSize(kInitializer, parts.back().size()) + parts.back().size();
  }
  constexpr size_t kLimit = std::numeric_limits<int32_t>::max();
  if (graph_size > kLimit) {
    return absl::ResourceExhaustedError(
        Concat("the ONNX file would have ", graph_size, " bytes; the format holds ", kLimit));
  }
  const std::string graph_bytes = graph.SerializeAsString();
  model.clear_graph();
  std::string result = model.SerializeAsString();
  const size_t total = result.size() + HeadSize(kGraph, graph_size) + graph_size;
  if (total > kLimit)
    return absl::ResourceExhaustedError(
        Concat("the ONNX file would have ", total, " bytes; the format holds ", kLimit));
  result.reserve(total);
  AppendHead(kGraph, graph_size, result);
  result += graph_bytes;
  for (const Part& part : parts) {
    AppendHead(kInitializer, part.size(), result);
    result += part.head;
    if (part.raw == nullptr) continue;
    AppendHead(onnx::TensorProto::kRawDataFieldNumber, part.raw_size(), result);
    result.append(reinterpret_cast<const char*>(part.raw->raw()), part.raw_size());
  }
  return result;
}

}  // namespace halftone::onnx_format
