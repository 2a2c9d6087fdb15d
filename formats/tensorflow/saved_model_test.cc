// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/saved_model.h"

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/crc/crc32c.h"
#include "base/files.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/saved_model.pb.h"
#include "formats/tensorflow/snappy.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace halftone {
namespace {

using ::testing::HasSubstr;

// y = a x + b in a function that a function calls, restored as TensorFlow 2 does: keys are not the variables' names.
constexpr char kModel[] = R"pb(
  meta_graphs {
    meta_info_def { tags: "serve" }
    saver_def { restore_op_name: "restore" }
    signature_def {
      key: "serving_default"
      value {
        inputs { key: "x" value { name: "serving_default_x:0" dtype: DT_FLOAT tensor_shape { dim { size: -1 } } } }
        outputs { key: "y" value { name: "call:0" dtype: DT_FLOAT } }
      }
    }
    signature_def { key: "__saved_model_init_op" value {} }
    graph_def {
      node { name: "serving_default_x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "a" op: "VarHandleOp" }
      node { name: "b" op: "VarHandleOp" }
      node { name: "file" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
      node {
        name: "call" op: "StatefulPartitionedCall" input: "serving_default_x" input: "a" input: "b"
        attr { key: "f" value { func { name: "outer" } } }
      }
      node {
        name: "restore" op: "StatefulPartitionedCall" input: "file" input: "a" input: "b"
        attr { key: "f" value { func { name: "load" } } }
      }
      library {
        function {
          signature {
            name: "outer"
            input_arg { name: "x" type: DT_FLOAT } input_arg { name: "v" type: DT_RESOURCE }
            input_arg { name: "w" type: DT_RESOURCE } output_arg { name: "out" type: DT_FLOAT }
          }
          node_def {
            name: "inside" op: "StatefulPartitionedCall" input: "x" input: "v" input: "w"
            attr { key: "f" value { func { name: "inner" } } }
          }
          node_def {
            name: "Identity" op: "Identity" input: "inside:output:0" input: "^inside"
            attr { key: "T" value { type: DT_FLOAT } }
          }
          ret { key: "out" value: "Identity:output:0" }
        }
        function {
          signature {
            name: "inner"
            input_arg { name: "x" type: DT_FLOAT } input_arg { name: "v" type: DT_RESOURCE }
            input_arg { name: "w" type: DT_RESOURCE } output_arg { name: "out" type: DT_FLOAT }
          }
          node_def { name: "pass" op: "Identity" input: "v" attr { key: "T" value { type: DT_RESOURCE } } }
          node_def { name: "read_a" op: "ReadVariableOp" input: "pass:output:0" }
          node_def { name: "read_b" op: "ReadVariableOp" input: "w" }
          node_def {
            name: "mul" op: "Mul" input: "read_a:value:0" input: "x" attr { key: "T" value { type: DT_FLOAT } }
          }
          node_def {
            name: "add" op: "AddV2" input: "mul:z:0" input: "read_b:value:0" attr { key: "T" value { type: DT_FLOAT } }
          }
          ret { key: "out" value: "add:z:0" }
        }
        function {
          signature {
            name: "load"
            input_arg { name: "file" type: DT_STRING } input_arg { name: "v" type: DT_RESOURCE }
            input_arg { name: "w" type: DT_RESOURCE } output_arg { name: "out" type: DT_STRING }
          }
          node_def {
            name: "names" op: "Const"
            attr { key: "dtype" value { type: DT_STRING } }
            attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: "first" string_val: "second" } } }
          }
          node_def { name: "load" op: "RestoreV2" input: "file" input: "names:output:0" input: "names:output:0" }
          node_def { name: "id" op: "Identity" input: "load:tensors:1" attr { key: "T" value { type: DT_FLOAT } } }
          node_def { name: "set_v" op: "AssignVariableOp" input: "v" input: "id:output:0" }
          node_def { name: "set_w" op: "AssignVariableOp" input: "w" input: "load:tensors:0" }
          ret { key: "out" value: "file" }
        }
      }
    }
  }
)pb";

uint32_t Masked(const std::string& bytes) {
  const auto crc = static_cast<uint32_t>(absl::ComputeCrc32c(bytes));
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::string Fixed(uint32_t number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

// A table of one block; all numbers are below 128 but the offsets.
std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

std::string Block(const std::map<std::string, std::string>& entries) {
  std::string block;
  for (const auto& [key, value] : entries)
    block += Varint(0) + Varint(key.size()) + Varint(value.size()) + key + value;
  return block + Fixed(0) + Fixed(1);
}

std::string Table(const std::string& entries) {
  std::string table;
  const auto append = [&table](const std::string& block) {
    const std::string handle = Varint(table.size()) + Varint(block.size());
    const std::string checked = block + '\0';
    table += checked + Fixed(Masked(checked));
    return handle;
  };
  const std::string data = append(entries);
  const std::string list = append(Block({{"~", data}}));
  std::string footer = Varint(0) + Varint(0) + list;
  footer.resize(40);
  return table + footer + Fixed(0x8b80fb57u) + Fixed(0xdb477524u);
}
std::string Table(const std::map<std::string, std::string>& entries) { return Table(Block(entries)); }

// Some bytes changed, left out or put in.
std::string Damaged(std::string bytes, std::mt19937& random) {
  for (size_t times = random() % 3 + 1; times > 0; --times) {
    const size_t at = random() % (bytes.size() + 1);
    const char byte = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    if (at == bytes.size() || random() % 8 == 0) {
      bytes.insert(at, 1, byte);
    } else if (random() % 8 == 0) {
      bytes.erase(at, random() % 5 + 1);
    } else {
      bytes[at] = byte;
    }
  }
  return bytes;
}

class SavedModelTest : public ::testing::Test {
 protected:
  SavedModelTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kModel, &model_));
    for (const auto& [key, number] : std::map<std::string, float>{{"first", 3.0f}, {"second", 0.5f}}) {
      tensorflow::BundleEntryProto entry;
      entry.set_dtype(tensorflow::DT_FLOAT);
      entry.mutable_shape();
      entry.set_offset(static_cast<int64_t>(data_.size()));
      entry.set_size(sizeof(number));
      std::string bytes(sizeof(number), '\0');
      std::memcpy(bytes.data(), &number, sizeof(number));
      entry.set_crc32c(Masked(bytes));
      data_ += bytes;
      entries_[key] = entry.SerializeAsString();
    }
    tensorflow::BundleHeaderProto header;
    header.set_num_shards(1);
    entries_[""] = header.SerializeAsString();
  }

  absl::StatusOr<Graph> Freeze(const std::string& signature = "") {
    const std::map<std::string, std::string> files = {{"saved_model.pb", bytes_.value_or(model_.SerializeAsString())},
                                                      {"variables/variables.index", index_.value_or(Table(entries_))},
                                                      {"variables/variables.data-00000-of-00001", data_}};
    std::vector<SavedModelFile> paths;
    for (const auto& [name, bytes] : files) {
      const std::string path = folder_->path() + "/" + std::to_string(paths.size());
      EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
      paths.push_back({name, path});
    }
    const absl::StatusOr<std::string> frozen = FreezeSavedModel(paths, signature);
    if (!frozen.ok()) return frozen.status();
    return ImportGraphDef(*frozen, /*is_text=*/false);
  }

  void ExpectError(const absl::Status& status, const char* text) {
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  absl::StatusOr<TempDir> folder_ = TempDir::Create();
  tensorflow::SavedModel model_;
  std::map<std::string, std::string> entries_;
  std::optional<std::string> bytes_, index_;
  std::string data_;
};

TEST_F(SavedModelTest, FunctionsAndVariablesAreGone) {
  const absl::StatusOr<Graph> graph = Freeze();
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::map<std::string, float> constants;
  std::vector<std::string> others;
  for (const NodeId id : graph->nodes()) {
    if (const Tensor* tensor = graph->ConstantTensor(graph->output(id)); tensor != nullptr) {
      constants[graph->node(id).name] = tensor->ToFloats()[0];
    } else {
      others.push_back(graph->node(id).name);
    }
  }
  EXPECT_THAT(constants, ::testing::ElementsAre(::testing::Pair("a", 0.5f), ::testing::Pair("b", 3.0f)));
  EXPECT_THAT(others, ::testing::UnorderedElementsAre("x", "call/inside/mul", "call/inside/add", "call/Identity", "y"));
}

TEST_F(SavedModelTest, SignaturesByName) {
  auto& signature = *model_.mutable_meta_graphs(0)->mutable_signature_def(0);
  ExpectError(Freeze("other").status(), "no signature 'other': it has serving_default");
  signature.set_key("only");
  EXPECT_TRUE(Freeze().ok());
  EXPECT_TRUE(Freeze("only").ok());
  signature.mutable_value()->mutable_outputs(0)->mutable_value()->set_name("missing:0");
  ExpectError(Freeze().status(), "nothing computes 'missing:0'");
  signature.mutable_value()->clear_outputs();
  ExpectError(Freeze().status(), "computes nothing");
}

TEST_F(SavedModelTest, WhatIsMissingOrDamagedIsNamed) {
  entries_.erase("second");
  ExpectError(Freeze().status(), "have no 'second'");
  data_[0] ^= 1;
  entries_["second"] = entries_["first"];
  ExpectError(Freeze().status(), "checksum");
  data_.resize(2);
  ExpectError(Freeze().status(), "lies outside of its file");
  index_ = Table(entries_);
  (*index_)[5] ^= 1;
  ExpectError(Freeze().status(), "'variables/variables.index': the index of the variables is damaged");
  for (size_t size = 0; size < index_->size(); ++size) {  // cut off anywhere: an error, nothing worse
    index_ = Table(entries_).substr(0, size);
    EXPECT_FALSE(Freeze().ok());
  }
}

TEST_F(SavedModelTest, HostileGraphs) {
  const tensorflow::SavedModel good = model_;
  const auto graph = [&]() -> tensorflow::GraphDef& { return *model_.mutable_meta_graphs(0)->mutable_graph_def(); };
  const auto node = [&](int function, int i) -> tensorflow::NodeDef& {
    return *graph().mutable_library()->mutable_function(function)->mutable_node_def(i);
  };
  node(1, 1).set_op("Other");
  ExpectError(Freeze().status(), "variable 'a' itself is used");
  model_ = good;
  node(1, 0).set_input(0, "pass:output:0");
  ExpectError(Freeze().status(), "goes round in circles");
  model_ = good;
  graph().mutable_node(4)->clear_input();
  ExpectError(Freeze().status(), "gives no argument");
  model_ = good;
  node(0, 0).mutable_attr(0)->mutable_value()->mutable_func()->set_name("no");
  ExpectError(Freeze().status(), "its function is not there");
}

// Whatever is in the files, under checksums that are right: an error, or a graph that passed all checks.
TEST_F(SavedModelTest, AnyDamageIsRefusedOrHarmless) {
  constexpr int kRounds = 500;
  const auto refused = [&](const std::function<void()>& damage) {
    int count = 0;
    for (int round = 0; round < kRounds; ++round) {
      damage();
      if (!Freeze().ok()) ++count;
      bytes_.reset();
      index_.reset();
    }
    return count;
  };
  std::mt19937 random(1);
  const std::string model = model_.SerializeAsString(), block = Block(entries_), table = Table(entries_);
  EXPECT_GT(refused([&] { bytes_ = Damaged(model, random); }), kRounds / 2);
  EXPECT_GT(refused([&] { index_ = Table(Damaged(block, random)); }), kRounds / 2);
  EXPECT_GT(refused([&] {
              std::map<std::string, std::string> entries = entries_;
              std::string& entry = std::next(entries.begin(), static_cast<int>(random() % entries.size()))->second;
              entry = Damaged(entry, random);
              index_ = Table(entries);
            }),
            kRounds / 4);
  EXPECT_GT(refused([&] { index_ = Damaged(table, random); }), kRounds * 9 / 10);
}

// Each level calls the next twice: 2 to the power of 60 nodes.
TEST_F(SavedModelTest, FunctionsThatMultiplyAreRefused) {
  tensorflow::FunctionDefLibrary& library = *model_.mutable_meta_graphs(0)->mutable_graph_def()->mutable_library();
  const tensorflow::FunctionDef leaf = library.function(1);
  constexpr int kLevels = 60;
  for (int i = 0; i < kLevels; ++i) {
    tensorflow::FunctionDef& level = i == 0 ? *library.mutable_function(1) : *library.add_function();
    level = leaf;
    level.mutable_signature()->set_name(i == 0 ? "inner" : "level" + std::to_string(i));
    if (i + 1 == kLevels) break;
    level.clear_node_def();
    for (const std::string name : {"left", "right"}) {
      tensorflow::NodeDef& call = *level.add_node_def();
      call.set_name(name);
      call.set_op("StatefulPartitionedCall");
      call.add_input(name == "left" ? "x" : "left:output:0");
      call.add_input("v");
      call.add_input("w");
      tensorflow::AttrEntry& attr = *call.add_attr();
      attr.set_key("f");
      attr.mutable_value()->mutable_func()->set_name("level" + std::to_string(i + 1));
    }
    level.mutable_ret(0)->set_value("right:output:0");
  }
  EXPECT_FALSE(Freeze().ok());
}

TEST(SnappyTest, Unpacks) {
  using graphdef::UnpackSnappy;
  const auto unpack = [](std::string_view packed) { return UnpackSnappy(packed, 1000); };
  EXPECT_EQ(*unpack(std::string_view("\x00", 1)), "");
  EXPECT_EQ(*unpack("\x03\x08" "abc"), "abc");
  EXPECT_EQ(*unpack("\x09\x08" "abc" "\x09\x03"), "abcabcabc");                         // 6 bytes, 3 back: over its own end
  EXPECT_EQ(*unpack(std::string_view("\x06\x08" "abc" "\x0a\x03\x00", 8)), "abcabc");   // an offset of two bytes
  for (const std::string_view bad : {"\x03\x08" "ab", "\x04\x08" "abc", "\x02\x08" "abc", "\x06\x08" "abc" "\x09\x04", "\x09", ""})
    EXPECT_FALSE(unpack(bad).ok()) << bad;
  EXPECT_FALSE(UnpackSnappy("\xff\xff\xff\x7f\x08" "abc", 1000).ok());
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const std::string damaged = Damaged(std::string("\x0f\x08" "abc" "\x09\x03\x0a\x03\x00", 10), random);
    EXPECT_LE(unpack(damaged).value_or("").size(), 1000u);
  }
}

}  // namespace
}  // namespace halftone
