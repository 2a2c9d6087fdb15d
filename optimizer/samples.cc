#include "optimizer/samples.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/strings.h"
#include "formats/npz/npz.h"
#include "ir/reference/reference.h"

namespace halftone {
namespace {

constexpr std::string_view kLabels = "labels";

// One of the archives, with where its arrays go.
struct Archive {
  std::string label;
  std::unique_ptr<NpzReader> reader;
  std::vector<int> arrays;  // by graph input
  int labels = -1;
  int64_t samples = 0;
  int64_t batches = 0;
};

struct WantedInput {
  std::string name;
  DataType type;
  std::vector<int64_t> dims;
  bool whole = false;  // fed whole in every batch: rank 0
};

// The tensor with its first dimension brought to `rows` by repeating its last row.
Tensor PadRows(const Tensor& tensor, int64_t rows) {
  if (tensor.dims()[0] == rows) return tensor;
  std::vector<int64_t> dims = tensor.dims();
  const size_t row_bytes = tensor.byte_size() / static_cast<size_t>(dims[0]);
  const int64_t have = dims[0];
  dims[0] = rows;
  Tensor padded(tensor.type(), dims);
  std::copy_n(tensor.raw(), tensor.byte_size(), padded.mutable_raw());
  for (int64_t i = have; i < rows; ++i) {
    std::copy_n(tensor.raw() + (have - 1) * row_bytes, row_bytes, padded.mutable_raw() + i * row_bytes);
  }
  return padded;
}

class NpzSamples final : public SampleSource {
 public:
  explicit NpzSamples(std::vector<Archive> archives) : archives_(std::move(archives)) {}

  InputDims dims() const override {
    InputDims result;
    for (const NpzArray& array : archives_[0].reader->arrays()) result[array.name] = array.dims;
    return result;
  }

  absl::Status Bind(const Graph& graph) override {
    inputs_.clear();
    batch_ = 0;
    for (const NodeId id : graph.inputs()) {
      const ValueId value = graph.output(id);
      inputs_.push_back(
          {graph.Label(id), graph.type(value), graph.shape(value).values(), graph.shape(value).rank() == 0});
      if (!inputs_.back().whole && batch_ == 0) batch_ = inputs_.back().dims[0];
    }
    batch_ = std::max<int64_t>(batch_, 1);
    for (Archive& archive : archives_) HALFTONE_RETURN_IF_ERROR(BindArchive(archive));
    return absl::OkStatus();
  }

  int64_t num_samples() const override {
    int64_t sum = 0;
    for (const Archive& archive : archives_) sum += archive.samples;
    return sum;
  }

  int64_t num_batches() const override {
    int64_t sum = 0;
    for (const Archive& archive : archives_) sum += archive.batches;
    return sum;
  }

  absl::StatusOr<Batch> Read(int64_t index) override {
    size_t a = 0;
    while (index >= archives_[a].batches) index -= archives_[a++].batches;
    Archive& archive = archives_[a];
    Batch batch;
    const int64_t first = index * batch_;
    batch.rows = std::min(batch_, archive.samples - first);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, ReadInput(archive, inputs_[i], archive.arrays[i], first, batch.rows));
      batch.inputs.push_back(std::move(tensor));
    }
    if (archive.labels >= 0) {
      HALFTONE_ASSIGN_OR_RETURN(const Tensor labels, archive.reader->ReadRows(archive.labels, first, batch.rows));
      batch.labels = labels.ToInts();
    }
    return batch;
  }

  std::vector<std::string> unused_arrays() const override {
    std::set<std::string> names;
    for (const Archive& archive : archives_) {
      for (const NpzArray& array : archive.reader->arrays()) names.insert(array.name);
    }
    names.erase(std::string(kLabels));
    for (const WantedInput& input : inputs_) names.erase(input.name);
    return {names.begin(), names.end()};
  }

 private:
  absl::Status BindArchive(Archive& archive) {
    archive.arrays.clear();
    archive.samples = -1;
    for (const WantedInput& input : inputs_) {
      const int index = archive.reader->Find(input.name);
      if (index < 0) return Missing(archive, input.name);
      const NpzArray& array = archive.reader->arrays()[index];
      HALFTONE_RETURN_IF_ERROR(CheckDims(archive, array, input));
      if (!IsFloatingPoint(input.type) && IsFloatingPoint(array.type)) {
        return Bad(archive, Concat("array '", array.name, "' is ", DataTypeName(array.type), " where the input is ",
                                   DataTypeName(input.type)));
      }
      if (!input.whole) HALFTONE_RETURN_IF_ERROR(CountSamples(archive, array));
      archive.arrays.push_back(index);
    }
    if (archive.samples < 0) archive.samples = 1;  // every input is fed whole
    if (archive.labels >= 0) {
      const NpzArray& labels = archive.reader->arrays()[archive.labels];
      if (!IsInteger(labels.type) || labels.dims.size() != 1 || labels.dims[0] != archive.samples) {
        return Bad(archive, Concat("'labels' must be integers of shape [", archive.samples, "], one a sample, not ",
                                   DataTypeName(labels.type), Shape::Of(labels.dims).ToString()));
      }
    }
    archive.batches = (archive.samples + batch_ - 1) / batch_;
    if (archive.batches == 0) return Bad(archive, "holds no samples");
    return absl::OkStatus();
  }

  absl::Status CheckDims(const Archive& archive, const NpzArray& array, const WantedInput& input) const {
    if (array.dims.size() != input.dims.size() ||
        (!input.whole && !std::equal(array.dims.begin() + 1, array.dims.end(), input.dims.begin() + 1))) {
      std::vector<int64_t> wanted = input.dims;
      if (!wanted.empty()) wanted[0] = -1;
      return Bad(archive,
                 Concat("array '", array.name, "' has shape ", Shape::Of(array.dims).ToString(), "; the input wants ",
                        Shape::Of(wanted).ToString(), " with samples along the first axis"));
    }
    if (!input.whole && input.dims[0] != batch_) {
      return Bad(archive,
                 Concat("input '", input.name, "' has first dimension ", input.dims[0], " where another has ", batch_));
    }
    return absl::OkStatus();
  }

  absl::Status CountSamples(Archive& archive, const NpzArray& array) const {
    if (archive.samples >= 0 && archive.samples != array.dims[0]) {
      return Bad(archive, Concat("array '", array.name, "' has ", array.dims[0], " samples where another has ",
                                 archive.samples));
    }
    archive.samples = array.dims[0];
    return absl::OkStatus();
  }

  absl::Status Missing(const Archive& archive, const std::string& name) const {
    std::vector<std::string> names;
    for (const NpzArray& array : archive.reader->arrays()) names.push_back(Concat("'", array.name, "'"));
    return Bad(archive,
               Concat("no array for input '", name, "'; it has ", names.empty() ? "none" : absl::StrJoin(names, ", ")));
  }

  static absl::Status Bad(const Archive& archive, std::string_view what) {
    return absl::InvalidArgumentError(Concat("samples '", archive.label, "': ", what));
  }

  absl::StatusOr<Tensor> ReadInput(Archive& archive, const WantedInput& input, int array, int64_t first,
                                   int64_t rows) const {
    if (input.whole) {
      HALFTONE_ASSIGN_OR_RETURN(const Tensor scalar, archive.reader->ReadAll(array));
      return scalar.ConvertTo(input.type);
    }
    HALFTONE_ASSIGN_OR_RETURN(const Tensor tensor, archive.reader->ReadRows(array, first, rows));
    HALFTONE_ASSIGN_OR_RETURN(const Tensor converted, tensor.ConvertTo(input.type));
    return PadRows(converted, batch_);
  }

  std::vector<Archive> archives_;
  std::vector<WantedInput> inputs_;
  int64_t batch_ = 1;
};

class SeededSamples final : public SampleSource {
 public:
  SeededSamples(uint64_t seed, int64_t batches) : seed_(seed), batches_(batches) {}

  InputDims dims() const override { return {}; }
  absl::Status Bind(const Graph& graph) override {
    graph_ = graph;
    return absl::OkStatus();
  }
  int64_t num_samples() const override { return 0; }
  int64_t num_batches() const override { return batches_; }
  absl::StatusOr<Batch> Read(int64_t index) override {
    Batch batch;
    batch.inputs = reference::RandomInputs(graph_, seed_ + static_cast<uint64_t>(index));
    batch.rows = batch.inputs.empty() || batch.inputs[0].rank() == 0 ? 1 : batch.inputs[0].dims()[0];
    return batch;
  }
  std::vector<std::string> unused_arrays() const override { return {}; }

 private:
  const uint64_t seed_;
  const int64_t batches_;
  Graph graph_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SampleSource>> OpenSamples(const std::vector<SampleFile>& files) {
  if (files.empty()) return absl::InvalidArgumentError("no sample files");
  std::vector<Archive> archives;
  for (const SampleFile& file : files) {
    Archive archive;
    archive.label = file.label;
    HALFTONE_ASSIGN_OR_RETURN(archive.reader, NpzReader::Open(file.path, file.label));
    archive.labels = archive.reader->Find(kLabels);
    archives.push_back(std::move(archive));
  }
  return std::make_unique<NpzSamples>(std::move(archives));
}

std::unique_ptr<SampleSource> RandomSamples(uint64_t seed, int64_t batches) {
  return std::make_unique<SeededSamples>(seed, batches);
}

}  // namespace halftone
