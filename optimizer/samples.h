// SPDX-License-Identifier: Apache-2.0
// Samples: .npz files with one array per input, cut along the first axis into as many rows as the input takes in one
// run. An array may have a dimension more than its input (one slice a run), or be just enough for one run (fed in every
// run).
#ifndef HALFTONE_OPTIMIZER_SAMPLES_H_
#define HALFTONE_OPTIMIZER_SAMPLES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace halftone {

// Dimensions of arrays for a model's inputs by name, e.g. from samples. The first one is the number of samples, or,
// where the array has a dimension more than the input, the number of inputs. -1: not the same in all of them.
using InputDims = std::map<std::string, std::vector<int64_t>>;

// A .npz file.
struct SampleFile {
  std::string path;   // local
  std::string label;  // as its owner calls it, for messages
};

// One run's worth of inputs.
struct Batch {
  std::vector<Tensor> inputs;   // in the order of graph.inputs(), of their types and shapes
  int64_t rows = 0;             // real samples; the rest of a short last piece is padding and must not be counted
  int64_t capacity = 0;         // samples of a run as the inputs are made; rows or more
  std::vector<int64_t> labels;  // one a real sample, or empty
};

// Where inputs come from: .npz files, or seeded random numbers. Not thread-safe. Arrays are read piece by piece, never
// whole.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Dimensions of the arrays by input name, for BindShapes; -1 where the files differ (but for the first: that of the
  // first file).
  virtual InputDims dims() const = 0;

  // Fits the samples to a graph whose input shapes are known but where the files differ: from now on Read gives its
  // batches.
  // Errors: INVALID_ARGUMENT names file, array and input (missing array, wrong rank, dimensions or type, ragged
  // counts).
  virtual absl::Status Bind(const Graph& graph) = 0;
  virtual int64_t num_samples() const = 0;
  virtual int64_t num_batches() const = 0;
  virtual absl::StatusOr<Batch> Read(int64_t index) = 0;
  // The file that a batch is of, as its owner calls it; empty of random numbers.
  virtual std::string LabelOf(int64_t index) const = 0;
  // Arrays of the files that no input has the name of.
  virtual std::vector<std::string> unused_arrays() const = 0;
};

// Marks an error of the samples, not of the model; it survives Annotate. Samples that are read return marked errors.
absl::Status SamplesError(absl::Status status);
bool IsSamplesError(const absl::Status& status);

// Labels stand under "labels".
absl::StatusOr<std::unique_ptr<SampleSource>> OpenSamples(const std::vector<SampleFile>& files);

// `batches` batches of reference::RandomInputs.
std::unique_ptr<SampleSource> RandomSamples(uint64_t seed, int64_t batches);

// The files, or where there are none 16 random batches.
absl::StatusOr<std::unique_ptr<SampleSource>> OpenSamplesOrRandom(const std::vector<SampleFile>& files, uint64_t seed);

}  // namespace halftone

#endif  // HALFTONE_OPTIMIZER_SAMPLES_H_
