// SPDX-License-Identifier: Apache-2.0
// A NodeDef of TensorFlow's ops on quantized tensors while it becomes a chain of nodes, of which the last has its name:
//
//   QuantizedConv2DWithBiasAndReluAndRequantize(x, w, b, ranges)
//       =>  quantize(relu(conv(dequantize(x), dequantize(w), b)))
//
// 8-bit values are integers here, too. 32-bit values, the sums of matmuls and convolutions, are f32: only a
// requantization or dequantization reads them, so that their ranges need not be known. 8-bit values whose range is
// computed at run time are f32, too, rounded to its steps (quantized_run_ranges.cc). Where another range is not
// constant, the op is not imported: UNIMPLEMENTED. Inside this folder only.
#ifndef HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_CHAIN_H_
#define HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_CHAIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/tensorflow/node_import.h"
#include "formats/tensorflow/quantized_ranges.h"

namespace halftone::graphdef {

// The meaning of the integers depends on the op:
//   scaled   q * m / 255 of u8, q * m / 127 of s8, where m is the larger magnitude of both ends: kernels of oneDNN
//   affine   (q - zero) * (high - low) / 255, where zero is the step next to 0: TensorFlow's own kernels, which have
//            weights of u8
// (mkl_quantized_conv_ops.h, mkl_requantize_per_channel_op.cc, quantization_utils.h, quantize_op.cc.)
enum class Reading { kScaled, kAffine };

// Of one tensor, or of channels.
struct Steps {
  std::vector<float> scales;
  std::vector<int32_t> zeros;
};

// A 32-bit input is the f32 value itself, so that its range does not matter.
inline constexpr EndsOfRange kAnyRange{-1, 1};

// Whether an op's name contains this part.
bool Says(const RuleInput& input, std::string_view word);

class Chain {
 public:
  static constexpr int kPrevious = 1'000'000;  // the input that is the step before

  Chain(const RuleInput& input, ConvertedNode& result);

  // Where the steps are added.
  ConvertedNode& result() { return result_; }
  // The NodeDef's, as those of the canonical op.
  const Attributes& attributes() const { return attributes_; }
  Attributes& attributes() { return attributes_; }
  DataType out_type() const { return out_type_; }
  bool IsReal(int k) const { return input_.context.input_type(k) == DataType::kFloat32; }
  bool IsU8(int k) const { return result_.input_types[k] == DataType::kUInt8; }

  // Whether one of the ends by inputs `low` and `high` is computed at run time.
  bool FindsEnds(int low, int high) const {
    return input_.context.constant(low) == nullptr || input_.context.constant(high) == nullptr;
  }
  // Whether input `k` has 8 bits in the file and is f32 here, because its range is computed at run time.
  bool IsRounded(int k) const {
    return IsReal(k) && (result_.input_types[k] == DataType::kUInt8 || result_.input_types[k] == DataType::kInt8);
  }
  // The ends of the range by inputs `low` and `high`.
  absl::StatusOr<std::vector<EndsOfRange>> Ends(int low, int high) const;
  absl::StatusOr<Steps> StepsOf(const std::vector<EndsOfRange>& ends, DataType type, Reading reading) const;
  // `steps` of input `k`, or those that its integers were made with, where they are the same but for rounding.
  Steps AsMade(int k, Steps steps) const;

  int ScaleOf(const Steps& steps);
  int ZeroOf(const Steps& steps, DataType type);

  // Input `k` as floats. `axis`: of channels.
  int Real(int k, const Steps& steps, int64_t axis = 0);
  absl::StatusOr<int> Real(int k, int low, int high, Reading reading);

  void Then(OpKind op, std::vector<int> inputs, Attributes attributes = {});

  // Floats that the steps read.
  int Number(float number) { return result_.AddConstant(Tensor::Scalar(number)); }
  int Helper(OpKind op, std::vector<int> inputs, Attributes attributes = {}) {
    return result_.AddHelper(op, std::move(inputs), DataType::kFloat32, std::move(attributes));
  }

  // Steps that round floats to those of a range by values `low` and `high` (quantized_run_ranges.cc):
  // with 256 steps for them, of which one is 0 ...
  void RoundAffine(int x, int low, int high);
  // ... of 8 bits, as this reading of the range has it
  void Round(int x, int low, int high, DataType type, Reading reading);

  // The last step makes floats: sums that have 32 bits in the file. `ends`: the ranges that the NodeDef
  // gives beside them, none where it gives none.
  absl::StatusOr<bool> FinishReal(const std::vector<EndsOfRange>& ends) { return Finish(DataType::kFloat32, ends); }
  // ... that have 8 bits in the file, whose range these values are.
  absl::StatusOr<bool> FinishRounded(int low, int high);
  // ... integers of the NodeDef's type, as they are.
  absl::StatusOr<bool> FinishIntegers(const std::vector<EndsOfRange>& ends) { return Finish(out_type_, ends); }
  // ... floats, which are quantized.
  absl::StatusOr<bool> FinishQuantized(const std::vector<EndsOfRange>& ends, Reading reading);
  absl::StatusOr<bool> FinishQuantized(const std::vector<EndsOfRange>& ends, const Steps& steps);

 private:
  absl::StatusOr<bool> Finish(DataType type, const std::vector<EndsOfRange>& ends);

  const RuleInput& input_;
  ConvertedNode& result_;
  Attributes attributes_;
  DataType out_type_;
  std::vector<int> inputs_;  // of the last step
};

// QuantizeV2 and Requantize whose range is computed at run time (quantized_run_ranges.cc).
absl::StatusOr<bool> ReadQuantizeByRun(const RuleInput& input, Chain& chain, std::string_view mode, bool narrow,
                                       int64_t axis);
absl::StatusOr<bool> ReadRequantizeByRun(const RuleInput& input, Chain& chain, Reading reading);

}  // namespace halftone::graphdef

#endif  // HALFTONE_FORMATS_TENSORFLOW_QUANTIZED_CHAIN_H_
