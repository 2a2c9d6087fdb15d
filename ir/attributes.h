// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes: name -> typed value.
#ifndef HALFTONE_IR_ATTRIBUTES_H_
#define HALFTONE_IR_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/shape.h"
#include "ir/tensor.h"
#include "ir/types.h"

namespace halftone {

class Graph;

// Verbatim bytes of an attribute in its format's own encoding, for what the types below cannot say (functions, sparse
// tensors, type protos). Only attributes of opaque nodes, extra attributes and the file's header hold one.
struct RawBytes {
  std::string bytes;
  bool operator==(const RawBytes&) const = default;
};

using AttributeValue =
    std::variant<bool, int64_t, float, std::string, DataType, Shape, Tensor, std::shared_ptr<const Graph>, RawBytes,
                 std::vector<bool>, std::vector<int64_t>, std::vector<float>, std::vector<std::string>, std::vector<DataType>,
                 std::vector<Shape>, std::vector<Tensor>, std::vector<std::shared_ptr<const Graph>>>;

// Deep equality; tensors and graphs by content.
bool SameValue(const AttributeValue& a, const AttributeValue& b);

// Ordered by name, so that printing is deterministic. Thread-compatible value type.
class Attributes {
 public:
  bool has(std::string_view name) const { return map_.find(name) != map_.end(); }
  const AttributeValue* find(std::string_view name) const;
  void Set(std::string name, AttributeValue value) { map_.insert_or_assign(std::move(name), std::move(value)); }
  void Erase(std::string_view name);
  bool empty() const { return map_.empty(); }

  // The value if it is there and has this type, else the default.
  bool Bool(std::string_view name, bool otherwise) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  float Float(std::string_view name, float otherwise) const;
  std::string String(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> otherwise = {}) const;
  DataType Type(std::string_view name, DataType otherwise) const;

  auto begin() const { return map_.begin(); }
  auto end() const { return map_.end(); }
  size_t size() const { return map_.size(); }
  bool operator==(const Attributes& other) const;

 private:
  std::map<std::string, AttributeValue, std::less<>> map_;
};

}  // namespace halftone

#endif  // HALFTONE_IR_ATTRIBUTES_H_
