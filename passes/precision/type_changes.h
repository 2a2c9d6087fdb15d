// SPDX-License-Identifier: Apache-2.0
// Base of the passes that change the types of values: where the types of a value and its consumer differ afterwards,
// one conversion per (value, type) is inserted.
#ifndef HALFTONE_PASSES_PRECISION_TYPE_CHANGES_H_
#define HALFTONE_PASSES_PRECISION_TYPE_CHANGES_H_

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/editor.h"

namespace halftone {

// Must be constructed before any edit: it remembers the original types of the values, which outputs of the graph and
// unchanged consumers keep. A derived class sets types and then calls FixReaders. Thread-compatible; for one use on one
// graph.
class TypeChanges {
 public:
  // The graph must outlive it.
  explicit TypeChanges(GraphEditor& edit);
  virtual ~TypeChanges() = default;
  TypeChanges(const TypeChanges&) = delete;
  TypeChanges& operator=(const TypeChanges&) = delete;

 protected:
  // The type in which node `id` reads its input `i`, whose value had type `before`; nullopt if any type is allowed.
  virtual std::optional<DataType> Wanted(NodeId id, int i, DataType before) const = 0;

  // `value` in this type: a new cast or a new constant.
  virtual absl::StatusOr<ValueId> MakeConverted(ValueId value, DataType type) = 0;

  // Converts every input of the original nodes to its wanted type, and every output of the graph to its original type.
  // The conversion of an output, or of a value that a nested graph reads by name, takes over the name.
  absl::Status FixReaders();

  // The original type of the value; nullopt if the value is absent or new.
  std::optional<DataType> Before(ValueId value) const;

  // For MakeConverted: a cast of the value, on the device of its producer.
  NodeId AddCast(ValueId value, DataType type);
  // For MakeConverted: a converted copy of the constant's node, including its control inputs (in a loop). The original
  // is removed later if it has no consumers.
  absl::StatusOr<ValueId> CopyConstant(ValueId value, DataType type);

  GraphEditor& edit_;
  const Graph& g_;
  const std::vector<NodeId> nodes_;  // the original nodes

 private:
  absl::Status ReadAs(NodeId id, int i, DataType wanted);
  absl::Status FixOutputs();
  absl::StatusOr<ValueId> Convert(ValueId value, DataType type);
  void MoveNames(ValueId from, ValueId to);

  std::vector<DataType> before_;  // by ValueId::index
  std::map<std::pair<ValueId, DataType>, ValueId> converted_;
  std::set<ValueId> renamed_;  // outputs and captured values whose conversion has their name
};

}  // namespace halftone

#endif  // HALFTONE_PASSES_PRECISION_TYPE_CHANGES_H_
