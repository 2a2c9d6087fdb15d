// SPDX-License-Identifier: Apache-2.0
// The variables of a SavedModel: variables.index, a LevelDB table of BundleEntryProto by key (tensor_bundle.cc and
// lib/io/table of TensorFlow), and variables.data-00000-of-00001, ..., the bytes.
#ifndef HALFTONE_FORMATS_TENSORFLOW_VARIABLES_H_
#define HALFTONE_FORMATS_TENSORFLOW_VARIABLES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/tensorflow/proto/saved_model.pb.h"

namespace halftone::graphdef {

namespace tf = ::halftone::tensorflow;

// Thread-compatible. Views into the files, which must outlive it.
class Variables {
 public:
  // `shards`: the files of data in their order. INVALID_ARGUMENT: damaged, a checksum that does not fit, another
  // number of shards, numbers of the other byte order.
  static absl::StatusOr<Variables> Read(std::string_view index, std::vector<std::string_view> shards);

  bool Has(const std::string& key) const { return entries_.contains(key); }
  // The value as a constant has it. NOT_FOUND: no such key; INVALID_ARGUMENT: its bytes are damaged or missing;
  // UNIMPLEMENTED: in parts, or strings.
  absl::Status Get(const std::string& key, tf::TensorProto& tensor) const;

 private:
  absl::Status ReadTable(std::string_view index);
  absl::Status AddEntry(const std::string& key, std::string_view value);

  std::map<std::string, tf::BundleEntryProto> entries_;
  std::vector<std::string_view> shards_;
};

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_VARIABLES_H_
