// SPDX-License-Identifier: Apache-2.0
// Which name each node gets in the file that is written.
#ifndef HALFTONE_FORMATS_TENSORFLOW_NAMES_H_
#define HALFTONE_FORMATS_TENSORFLOW_NAMES_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/written_as.h"
#include "ir/graph.h"

namespace halftone::graphdef {

// An Identity or IdentityN to be added, so that "name:k" of the file is values[k] of the graph.
struct OutputAlias {
  std::string name;
  std::vector<ValueId> values;
};

// Nodes keep their names. A node without a name, or with one that is taken or not legal in TensorFlow, gets a new one.
// The tensors that the graph's outputs name are these outputs. Unnamed constants are named when they are first read.
// Thread-compatible.
class NameTable {
 public:
  // INTERNAL: an output cannot have its name, since that is an input's.
  static absl::StatusOr<NameTable> Assign(const Graph& graph, bool quantized_ops);

  // "": an unnamed constant that was not read yet, or what is written with another node.
  const std::string& Of(NodeId id) const { return names_[id.index]; }
  void Set(NodeId id, std::string name) { names_[id.index] = std::move(name); }
  const std::vector<OutputAlias>& aliases() const { return aliases_; }
  const WrittenAs& written() const { return written_; }

  // A legal unused name like `wish`; taken from now on.
  std::string Unique(std::string_view wish);

 private:
  NameTable(const Graph& graph, bool quantized_ops) : written_(graph, quantized_ops) {}
  bool Holds(const std::string& name, ValueId value, int port) const;
  absl::Status FitOutputs(const Graph& graph);
  absl::Status FitOutput(const Graph& graph, const std::string& name, std::vector<ValueId> values,
                         const std::vector<std::string>& wanted);

  WrittenAs written_;
  std::vector<std::string> names_;  // by node
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // where to go on counting for a base name
  std::vector<OutputAlias> aliases_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_NAMES_H_
