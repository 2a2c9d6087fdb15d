// SPDX-License-Identifier: Apache-2.0
// Types, shapes, tensors and attribute values of the text form.
#ifndef HALFTONE_IR_TEXT_VALUES_INTERNAL_H_
#define HALFTONE_IR_TEXT_VALUES_INTERNAL_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/graph.h"
#include "ir/text_internal.h"

namespace halftone::text_internal {

// Reads values where the lexer stands. `depth` counts the graphs around. The lexer must outlive it. Not thread-safe.
class ValueParser {
 public:
  // `weights`: the bytes that "at=" refers to; nullptr: there are none.
  ValueParser(Lexer& lexer, int depth, std::shared_ptr<const Buffer> weights)
      : lexer_(lexer), depth_(depth), weights_(std::move(weights)) {}

  absl::StatusOr<std::string> ParseAnyName();  // a word or a quoted string
  absl::StatusOr<DataType> ParseType();
  absl::StatusOr<Shape> ParseShape();
  // {scale, zero point}, {[scales], zero point, axis=1} or {[scales], [zero points], axis=1}.
  absl::StatusOr<Quantization> ParseQuantization();
  absl::StatusOr<Tensor> ParseLiteral();
  // `name` seeds a constant without data.
  absl::StatusOr<Tensor> ParseTensor(std::string_view name);
  absl::StatusOr<Attributes> ParseAttributes();

 private:
  absl::StatusOr<double> ParseNumber();
  absl::StatusOr<int64_t> ParseInt();
  absl::StatusOr<std::string> ParseBase64();
  absl::StatusOr<Tensor> ParseStored(DataType type, std::vector<int64_t> dims);
  absl::StatusOr<Tensor> ParseElements(DataType type, std::vector<int64_t> dims);
  absl::StatusOr<Tensor> MakeRandom(std::string_view name, DataType type, std::vector<int64_t> dims, double low,
                                    double high);
  absl::StatusOr<AttributeValue> ParseValue();
  absl::StatusOr<AttributeValue> ParseList(std::string_view kind);

  Lexer& lexer_;
  const int depth_;
  const std::shared_ptr<const Buffer> weights_;
};

// A graph in an attribute; defined by the graph's parser.
absl::StatusOr<Graph> ParseNestedGraph(Lexer& lexer, int depth, const std::shared_ptr<const Buffer>& weights);

}  // namespace halftone::text_internal

#endif  // HALFTONE_IR_TEXT_VALUES_INTERNAL_H_
