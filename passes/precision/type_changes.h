// What passes that change the types of values share: where a value and its reader differ afterwards, one conversion per
// (value, type) stands between them.
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

// Made before any edit: it remembers the types that values have then, which are those of the graph's outputs and of
// readers that stay as they are. A derived class sets types and then calls FixReaders. Thread-compatible; for one
// graph, and for one use.
class TypeChanges {
 public:
  // The graph must outlive it.
  explicit TypeChanges(GraphEditor& edit);
  virtual ~TypeChanges() = default;
  TypeChanges(const TypeChanges&) = delete;
  TypeChanges& operator=(const TypeChanges&) = delete;

 protected:
  // The type in which node `id` reads its input `i`, whose value was of type `before`; nullopt: in any.
  virtual std::optional<DataType> Wanted(NodeId id, int i, DataType before) const = 0;

  // `value` in this type: a new cast, or another constant.
  virtual absl::StatusOr<ValueId> MakeConverted(ValueId value, DataType type) = 0;

  // Brings every input of the nodes that were there at the beginning to the type that is wanted, and every output of
  // the graph to the type that it had. The conversion of an output, or of what a nested graph reads by name, takes over
  // the names.
  absl::Status FixReaders();

  // The type that the value had; nullopt if there is none, or it was made since.
  std::optional<DataType> Before(ValueId value) const;

  // For MakeConverted: a cast of the value, on the device of its producer.
  NodeId AddCast(ValueId value, DataType type);
  // The same: a copy of the constant's node (in a loop it has control inputs), so that both forms can be read. The old
  // one dies of disuse.
  absl::StatusOr<ValueId> CopyConstant(ValueId value, DataType type);

  GraphEditor& edit_;
  const Graph& g_;
  const std::vector<NodeId> nodes_;  // at the beginning

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
