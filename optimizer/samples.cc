// SPDX-License-Identifier: Apache-2.0
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
constexpr char kSamplesPayload[] = "halftone/samples";

// How an input is fed from its array.
enum class Feed {
  kRows,     // run k takes rows [k * rows, (k + 1) * rows)
  kStacked,  // the array has one dimension more than the input: run k takes slice k
  kWhole,    // the whole array in every run
};

struct Column {
  int array = -1;
  Feed feed = Feed::kWhole;
  int64_t rows = 1;  // kRows: that a run takes
  int64_t runs = 1;  // that the array is enough for
};

// One of the archives, with where its arrays go.
struct Archive {
  std::string label;
  std::unique_ptr<NpzReader> reader;
  std::vector<Column> columns;  // by graph input
  int labels = -1;
  int64_t samples = 0;
  int64_t rows = 1;  // samples of one run
  int64_t batches = 0;
};

struct WantedInput {
  std::string name;
  DataType type;
  std::vector<int64_t> dims;  // -1: any
};

// Whether an array's dimensions from `first` on are those of the input from `input_first` on.
bool SameFrom(const std::vector<int64_t>& array, size_t first, const std::vector<int64_t>& input, size_t input_first) {
  return std::equal(array.begin() + first, array.end(), input.begin() + input_first, input.end(),
                    [](int64_t dim, int64_t wanted) { return wanted < 0 || dim == wanted; });
}

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
    for (const Archive& archive : archives_) {
      for (const NpzArray& array : archive.reader->arrays()) {
        const auto it = result.find(array.name);
        if (it == result.end() || it->second.size() != array.dims.size()) continue;
        for (size_t i = 1; i < array.dims.size(); ++i) {
          if (it->second[i] != array.dims[i]) it->second[i] = -1;
        }
      }
    }
    return result;
  }

  absl::Status Bind(const Graph& graph) override {
    inputs_.clear();
    for (const NodeId id : graph.inputs()) {
      const ValueId value = graph.output(id);
      inputs_.push_back({graph.Label(id), graph.type(value), graph.shape(value).values()});
    }
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

  std::string LabelOf(int64_t index) const override { return archives_[PlaceOf(index).archive].label; }

  absl::StatusOr<Batch> Read(int64_t index) override {
    const Place place = PlaceOf(index);
    Archive& archive = archives_[place.archive];
    const int64_t first = place.batch * archive.rows;
    Batch batch;
    batch.rows = std::min(archive.rows, archive.samples - first);
    batch.capacity = archive.rows;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      HALFTONE_ASSIGN_OR_RETURN(Tensor tensor, ReadInput(archive, archive.columns[i], place.batch));
      HALFTONE_ASSIGN_OR_RETURN(tensor, tensor.ConvertTo(inputs_[i].type));
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
  // A batch within its archive.
  struct Place {
    size_t archive = 0;
    int64_t batch = 0;
  };
  Place PlaceOf(int64_t index) const {
    Place place{.batch = index};
    while (place.batch >= archives_[place.archive].batches) place.batch -= archives_[place.archive++].batches;
    return place;
  }

  absl::Status BindArchive(Archive& archive) {
    archive.columns.clear();
    for (const WantedInput& input : inputs_) {
      const int index = archive.reader->Find(input.name);
      if (index < 0) return Missing(archive, input.name);
      const NpzArray& array = archive.reader->arrays()[index];
      if (IsFloatingPoint(input.type) != IsFloatingPoint(array.type)) {  // integers are data before preprocessing
        return Bad(archive, Concat("array '", array.name, "' is ", DataTypeName(array.type), " where the input is ",
                                   DataTypeName(input.type)));
      }
      HALFTONE_ASSIGN_OR_RETURN(Column column, ColumnOf(archive, array, input));
      column.array = index;
      archive.columns.push_back(column);
    }
    HALFTONE_RETURN_IF_ERROR(CountRuns(archive));
    if (archive.labels >= 0) {
      const NpzArray& labels = archive.reader->arrays()[archive.labels];
      if (!IsInteger(labels.type) || labels.dims.size() != 1 || labels.dims[0] != archive.samples) {
        return Bad(archive, Concat("'labels' must be integers of shape [", archive.samples, "], one per sample, not ",
                                   DataTypeName(labels.type), Shape::Of(labels.dims).ToString()));
      }
    }
    if (archive.batches == 0) return Bad(archive, "holds no samples");
    return absl::OkStatus();
  }

  static absl::StatusOr<Column> ColumnOf(const Archive& archive, const NpzArray& array, const WantedInput& input) {
    const size_t rank = input.dims.size();
    if (array.dims.size() == rank + 1 && SameFrom(array.dims, 1, input.dims, 0))
      return Column{.feed = Feed::kStacked, .runs = array.dims[0]};
    if (array.dims.size() == rank && rank == 0) return Column{};
    if (array.dims.size() == rank && SameFrom(array.dims, 1, input.dims, 1)) {
      const int64_t rows = input.dims[0] < 0 ? array.dims[0] : input.dims[0];
      if (rows > 0) return Column{.feed = Feed::kRows, .rows = rows, .runs = (array.dims[0] + rows - 1) / rows};
      if (array.dims[0] == 0) return Column{};
    }
    std::vector<int64_t> wanted = input.dims;
    if (!wanted.empty()) wanted[0] = -1;
    return Bad(archive,
               Concat("array '", array.name, "' has shape ", Shape::Of(array.dims).ToString(), "; the input needs ",
                      Shape::Of(wanted).ToString(), wanted.empty() ? "" : " with samples along the first axis"));
  }

  // How many runs the arrays are for. One that is enough for a single run is fed whole in each; the others agree.
  static absl::Status CountRuns(Archive& archive) {
    const Column* first = nullptr;  // the array that has most
    for (const Column& column : archive.columns) {
      if (column.feed != Feed::kWhole && (first == nullptr || column.runs > first->runs)) first = &column;
    }
    archive.samples = archive.rows = archive.batches = 1;  // every input is fed whole
    if (first == nullptr) return absl::OkStatus();
    const auto array = [&](const Column& column) -> const NpzArray& { return archive.reader->arrays()[column.array]; };
    archive.batches = first->runs;
    archive.rows = first->feed == Feed::kRows ? first->rows : 1;
    archive.samples = array(*first).dims[0];
    for (Column& column : archive.columns) {
      if (column.feed == Feed::kWhole || &column == first) continue;
      const int64_t count = array(column).dims[0];
      const bool is_whole = column.feed == Feed::kRows && count == column.rows;
      // Both padded alike, or both without padding.
      const bool agrees =
          column.runs == first->runs &&
          (column.rows == archive.rows ? count == archive.samples
                                       : count % column.rows == 0 && archive.samples % archive.rows == 0);
      if (agrees) continue;
      if (!is_whole) {
        return Bad(archive, Concat("array '", array(column).name, "' of shape ",
                                   Shape::Of(array(column).dims).ToString(), " is for ", column.runs, " runs, '",
                                   array(*first).name, "' of shape ", Shape::Of(array(*first).dims).ToString(), " for ",
                                   first->runs, ": they must have the same number of samples along the first axis"));
      }
      column.feed = Feed::kWhole;
    }
    return absl::OkStatus();
  }

  absl::Status Missing(const Archive& archive, const std::string& name) const {
    std::vector<std::string> names;
    for (const NpzArray& array : archive.reader->arrays()) names.push_back(Concat("'", array.name, "'"));
    return Bad(archive,
               Concat("no array for input '", name, "'; it has ", names.empty() ? "none" : absl::StrJoin(names, ", ")));
  }

  static absl::Status Bad(const Archive& archive, std::string_view what) {
    return SamplesError(absl::InvalidArgumentError(Concat("samples '", archive.label, "': ", what)));
  }

  static absl::StatusOr<Tensor> ReadInput(Archive& archive, const Column& column, int64_t run) {
    if (column.feed == Feed::kWhole) return archive.reader->ReadAll(column.array);
    const std::vector<int64_t>& dims = archive.reader->arrays()[column.array].dims;
    const int64_t first = run * column.rows;
    HALFTONE_ASSIGN_OR_RETURN(const Tensor rows,
                              archive.reader->ReadRows(column.array, first, std::min(column.rows, dims[0] - first)));
    if (column.feed == Feed::kStacked) return rows.WithDims({dims.begin() + 1, dims.end()});
    return PadRows(rows, column.rows);
  }

  std::vector<Archive> archives_;
  std::vector<WantedInput> inputs_;
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
  std::string LabelOf(int64_t) const override { return ""; }
  absl::StatusOr<Batch> Read(int64_t index) override {
    Batch batch;
    batch.inputs = reference::RandomInputs(graph_, seed_ + static_cast<uint64_t>(index));
    batch.rows = batch.inputs.empty() || batch.inputs[0].rank() == 0 ? 1 : batch.inputs[0].dims()[0];
    batch.capacity = batch.rows;
    return batch;
  }
  std::vector<std::string> unused_arrays() const override { return {}; }

 private:
  const uint64_t seed_;
  const int64_t batches_;
  Graph graph_;
};

}  // namespace

absl::Status SamplesError(absl::Status status) {
  if (!status.ok()) status.SetPayload(kSamplesPayload, absl::Cord());
  return status;
}

bool IsSamplesError(const absl::Status& status) { return status.GetPayload(kSamplesPayload).has_value(); }

absl::StatusOr<std::unique_ptr<SampleSource>> OpenSamples(const std::vector<SampleFile>& files) {
  if (files.empty()) return SamplesError(absl::InvalidArgumentError("no sample files"));
  std::vector<Archive> archives;
  for (const SampleFile& file : files) {
    Archive archive;
    archive.label = file.label;
    absl::StatusOr<std::unique_ptr<NpzReader>> reader = NpzReader::Open(file.path, file.label);
    if (!reader.ok()) return SamplesError(reader.status());
    archive.reader = *std::move(reader);
    archive.labels = archive.reader->Find(kLabels);
    archives.push_back(std::move(archive));
  }
  return std::make_unique<NpzSamples>(std::move(archives));
}

std::unique_ptr<SampleSource> RandomSamples(uint64_t seed, int64_t batches) {
  return std::make_unique<SeededSamples>(seed, batches);
}

absl::StatusOr<std::unique_ptr<SampleSource>> OpenSamplesOrRandom(const std::vector<SampleFile>& files, uint64_t seed) {
  constexpr int64_t kRandomBatches = 16;
  if (files.empty()) return RandomSamples(seed, kRandomBatches);
  return OpenSamples(files);
}

}  // namespace halftone
