// SPDX-License-Identifier: Apache-2.0
#include "ir/attributes.h"

#include <cstring>

#include "ir/same_graph_internal.h"

namespace halftone {
namespace {

bool SameFloats(const std::vector<float>& a, const std::vector<float>& b) {  // by bits: NaN equals itself
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool SameGraph(const std::shared_ptr<const Graph>& a, const std::shared_ptr<const Graph>& b) {
  return a == b || (a != nullptr && b != nullptr && SameGraphs(*a, *b));
}

template <typename T, typename Same>
bool SameList(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

// The value under `name` if it holds a T.
template <typename T>
const T* Get(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.find(name);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

}  // namespace

bool SameValue(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b]<typename T>(const T& left) {
        const T& right = std::get<T>(b);
        const auto same_tensor = [](const Tensor& x, const Tensor& y) { return x.SameBytes(y); };
        if constexpr (std::is_same_v<T, float>) {
          return std::memcmp(&left, &right, sizeof(float)) == 0;
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          return SameFloats(left, right);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return same_tensor(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          return SameList(left, right, same_tensor);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<const Graph>>) {
          return SameGraph(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<std::shared_ptr<const Graph>>>) {
          return SameList(left, right, SameGraph);
        } else {
          return left == right;
        }
      },
      a);
}

const AttributeValue* Attributes::find(std::string_view name) const {
  const auto it = map_.find(name);
  return it == map_.end() ? nullptr : &it->second;
}

void Attributes::Erase(std::string_view name) {
  const auto it = map_.find(name);
  if (it != map_.end()) map_.erase(it);
}

bool Attributes::Bool(std::string_view name, bool otherwise) const {
  const bool* value = Get<bool>(*this, name);
  return value == nullptr ? otherwise : *value;
}
int64_t Attributes::Int(std::string_view name, int64_t otherwise) const {
  const int64_t* value = Get<int64_t>(*this, name);
  return value == nullptr ? otherwise : *value;
}
float Attributes::Float(std::string_view name, float otherwise) const {
  const float* value = Get<float>(*this, name);
  return value == nullptr ? otherwise : *value;
}
std::string Attributes::String(std::string_view name, std::string_view otherwise) const {
  const std::string* value = Get<std::string>(*this, name);
  return value == nullptr ? std::string(otherwise) : *value;
}
std::vector<int64_t> Attributes::Ints(std::string_view name, std::vector<int64_t> otherwise) const {
  const std::vector<int64_t>* value = Get<std::vector<int64_t>>(*this, name);
  return value == nullptr ? otherwise : *value;
}
DataType Attributes::Type(std::string_view name, DataType otherwise) const {
  const DataType* value = Get<DataType>(*this, name);
  return value == nullptr ? otherwise : *value;
}

bool Attributes::operator==(const Attributes& other) const {
  if (size() != other.size()) return false;
  auto it = other.begin();
  for (const auto& [name, value] : *this) {
    if (name != it->first || !SameValue(value, it->second)) return false;
    ++it;
  }
  return true;
}

}  // namespace halftone
