// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/backend_tests.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/files.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/onnx/element_types.h"
#include "formats/onnx/tensors.h"
#include "formats/onnx/validator.h"

namespace halftone {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

// A number such as "rtol" of a data.json: {"atol": 1e-07, "rtol": 0.001, ...}. `otherwise` if it is missing.
float NumberIn(const std::string& json, const std::string& field, float otherwise) {
  const size_t at = json.find(Concat("\"", field, "\""));
  if (at == std::string::npos) return otherwise;
  return std::strtof(json.c_str() + json.find(':', at) + 1, nullptr);
}

void FindFolders(const fs::path& root, const std::string& category, std::vector<BackendTest>& tests) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / category, ignored)) {
    BackendTest test;
    test.name = Concat(category, "/", entry.path().filename().string());
    test.model = (entry.path() / "model.onnx").string();
    if (!fs::exists(test.model)) continue;
    for (const fs::directory_entry& set : fs::directory_iterator(entry.path())) {
      if (set.is_directory() && set.path().filename().string().starts_with("test_data_set_"))
        test.sets.push_back(set.path().string());
    }
    std::sort(test.sets.begin(), test.sets.end());
    tests.push_back(std::move(test));
  }
}

// light/light_NAME.onnx, with its tolerances in real/test_NAME/data.json.
void FindLightModels(const fs::path& root, std::vector<BackendTest>& tests) {
  constexpr std::string_view kPrefix = "light_";
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "light", ignored)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".onnx" || !stem.starts_with(kPrefix)) continue;
    BackendTest test;
    const std::string net = stem.substr(kPrefix.size());
    test.name = Concat("light/", net);
    test.model = entry.path().string();
    const absl::StatusOr<std::string> json = ReadFile((root / "real" / ("test_" + net) / "data.json").string());
    if (json.ok()) {
      test.relative = NumberIn(*json, "rtol", test.relative);
      test.absolute = NumberIn(*json, "atol", test.absolute);
    }
    tests.push_back(std::move(test));
  }
}

absl::StatusOr<Tensor> ReadTensor(const std::string& path) {
  HALFTONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const std::string file = fs::path(path).filename().string();
  onnx::TensorProto proto;
  if (!onnx_format::ParseMessage(bytes, proto))
    return absl::InvalidArgumentError(Concat(file, " is not a TensorProto"));
  HALFTONE_RETURN_IF_ERROR(onnx_format::ValidateTensor(proto, file));
  if (onnx_format::FromOnnxType(proto.data_type()) == DataType::kUnknown) {
    return absl::UnimplementedError(Concat(file, " is of type ", onnx::TensorProto::DataType_Name(proto.data_type())));
  }
  return onnx_format::TakeTensor(proto);
}

absl::StatusOr<std::vector<Tensor>> ReadTensors(const fs::path& folder, const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = (folder / Concat(prefix, i, ".pb")).string();
    if (!fs::exists(path)) return tensors;
    HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(path));
    tensors.push_back(std::move(tensor));
  }
}

std::string KindOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "a sequence";
    case onnx::TypeProto::kOptionalType:
      return "an optional";
    case onnx::TypeProto::kMapType:
      return "a map";
    case onnx::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<std::vector<BackendTest>> FindTests(const std::string& root) {
  std::vector<BackendTest> tests;
  for (const char* category : kFolders) FindFolders(root, category, tests);
  FindLightModels(root, tests);
  if (tests.empty()) return absl::NotFoundError(Concat("no backend tests below '", root, "'"));
  std::sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tests;
}

ModelFacts FactsOf(const std::string& path) {
  ModelFacts facts;
  onnx::ModelProto model;
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok() || !onnx_format::ParseMessage(*bytes, model)) return facts;
  std::set<std::string> seen;
  for (const onnx::NodeProto& node : model.graph().node()) {
    const bool plain = node.domain().empty() || node.domain() == "ai.onnx";
    const std::string op = plain ? node.op_type() : Concat(node.domain(), ".", node.op_type());
    if (seen.insert(op).second) facts.ops.push_back(op);
  }
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) initialized.insert(tensor.name());
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    const std::string kind = KindOf(input.type());
    if (!kind.empty()) facts.unsupported = Concat("input '", input.name(), "' is ", kind);
    if (initialized.contains(input.name())) continue;
    std::vector<int64_t> dims;
    for (const auto& dim : input.type().tensor_type().shape().dim())
      dims.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
    facts.input_dims.push_back(std::move(dims));
  }
  for (const onnx::ValueInfoProto& output : model.graph().output()) {
    const std::string kind = KindOf(output.type());
    if (!kind.empty()) facts.unsupported = Concat("output '", output.name(), "' is ", kind);
  }
  return facts;
}

absl::StatusOr<TestData> ReadSet(const std::string& folder) {
  TestData data;
  HALFTONE_ASSIGN_OR_RETURN(data.inputs, ReadTensors(folder, "input_"));
  HALFTONE_ASSIGN_OR_RETURN(data.outputs, ReadTensors(folder, "output_"));
  return data;
}

absl::StatusOr<TestData> LightData(const BackendTest& test, const ModelFacts& facts) {
  TestData data;
  for (const std::vector<int64_t>& dims : facts.input_dims) {
    Tensor input(DataType::kFloat32, dims);
    const std::span<float> elements = input.mutable_data<float>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(elements.size()));
    data.inputs.push_back(std::move(input));
  }
  const fs::path model(test.model);
  HALFTONE_ASSIGN_OR_RETURN(data.outputs, ReadTensors(model.parent_path(), model.stem().string() + "_output_"));
  return data;
}

}  // namespace halftone
