// SPDX-License-Identifier: Apache-2.0
// Functions of a GraphDef's library as nested graphs.
#ifndef HALFTONE_FORMATS_TENSORFLOW_FUNCTION_LIBRARY_H_
#define HALFTONE_FORMATS_TENSORFLOW_FUNCTION_LIBRARY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/importer.h"
#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/graph.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// Not thread-safe. The library must outlive it and have passed CheckFunctions.
class FunctionLibrary {
 public:
  FunctionLibrary(const tf::FunctionDefLibrary& library, const tf::VersionDef& versions, int64_t& repeat_budget);

  // The body: its inputs are the arguments, its outputs the results, each in their order. Every caller gets the same
  // one. nullptr: there is no such function, or it is polymorphic in types, which a graph cannot express.
  absl::StatusOr<std::shared_ptr<const Graph>> Get(const std::string& name);

  // Those that Get has returned.
  std::vector<std::string> names() const;

  int64_t& repeat_budget() { return repeat_budget_; }

 private:
  absl::StatusOr<std::shared_ptr<const Graph>> Import(const tf::FunctionDef& function);

  const tf::VersionDef& versions_;
  int64_t& repeat_budget_;
  std::map<std::string, const tf::FunctionDef*, std::less<>> functions_;
  std::map<std::string, std::shared_ptr<const Graph>, std::less<>> graphs_;
};

// Nodes -> Graph (importer.cc); `def` loses its attributes.
absl::StatusOr<Graph> ImportNodes(tf::GraphDef& def, FunctionLibrary& functions, const GraphDefOptions& options,
                                  bool is_function);

// A function as a graph: a placeholder for each argument, then its nodes, whose inputs are named as a GraphDef names
// them; appends a tensor for each result. INVALID_ARGUMENT: a name that is none, a result that nothing returns.
absl::StatusOr<tf::GraphDef> FunctionAsGraph(const tf::FunctionDef& function, std::vector<std::string>& results);

// The names of an op's outputs, separated by commas; one name stands for all (output_names.cc).
std::string_view OutputNames(std::string_view tf_op);

// What tells a nested graph from a changed one.
std::string NestedGraphHash(const Graph& graph);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_FUNCTION_LIBRARY_H_
