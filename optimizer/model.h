// A model file as the optimizer sees it: loaded by the ordinary importer, made ready to run by the ordinary pipeline.
#ifndef HALFTONE_OPTIMIZER_MODEL_H_
#define HALFTONE_OPTIMIZER_MODEL_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/formats.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "optimizer/dim_sizes.h"

namespace halftone {

struct ModelSource {
  std::string path;                   // local file
  std::string name;                   // as its owner calls it, for messages and for the extension; empty: path
  std::optional<ModelFormat> format;  // unset: by the extension
  std::vector<std::string> outputs;   // GraphDef: names of the wanted outputs; empty: every node that nobody reads

  const std::string& label() const { return name.empty() ? path : name; }
};

// Bytes -> Graph. Errors: INVALID_ARGUMENT (names file and node or field), NOT_FOUND, UNIMPLEMENTED.
absl::StatusOr<Graph> LoadModel(const ModelSource& source);

// The same error, naming the model's file if it does not yet.
absl::Status NameModel(absl::Status status, const ModelSource& source);

// Writes the graph in the format it came from (a GraphDef as text where the path ends in .pbtxt). The file appears
// complete or not at all.
absl::Status SaveModel(const Graph& graph, const std::string& path, ExportOptions options = {});

// Dimensions of arrays for a model's inputs by name, e.g. from samples. The first one is the number of samples, or,
// where the array has a dimension more than the input, the number of inputs. -1: not the same in all of them.
using InputDims = std::map<std::string, std::vector<int64_t>>;

// Binds the dynamic dimensions of the inputs and infers all shapes. A dimension that `sizes` names has that size. Another
// dynamic first dimension becomes the batch, or, where its array has another length than that of the first such input, that
// length: it is no batch. Others are those of `samples`; those that differ from sample to sample stay dynamic. Errors:
// INVALID_ARGUMENT names the inputs and dimensions that are still dynamic and says how to give them, a batch other than
// that of inputs whose first dimension is static, or a name that no input has.
absl::Status BindShapes(Graph& graph, const DimSizes& sizes, const InputDims& samples);

// BindShapes, and where `fuse` is set the optimize pipeline: what a Plan is made of.
absl::Status PrepareToRun(Graph& graph, const DimSizes& sizes, const InputDims& samples, bool fuse,
                          const Target& target);

// Whether a node of this op can be run: it is neither opaque nor TensorFlow's control flow as written.
bool CanRun(const Node& node);

// "LSTM (3)" for each type of opaque or control-flow node that keeps the graph from running.
std::vector<std::string> OpsThatCannotRun(const Graph& graph);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_MODEL_H_
