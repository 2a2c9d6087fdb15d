// SPDX-License-Identifier: Apache-2.0
// The options of lstm, gru and rnn, with their defaults filled in, and the sizes that their inputs agree on.
#ifndef HALFTONE_IR_RECURRENT_H_
#define HALFTONE_IR_RECURRENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/attributes.h"
#include "ir/ops.h"
#include "ir/shape.h"

namespace halftone {

struct GateActivation {
  enum class Kind : uint8_t {
    kSigmoid,
    kTanh,
    kRelu,
    kAffine,           // alpha x + beta
    kLeakyRelu,        // alpha: 0.01
    kThresholdedRelu,  // alpha: 1
    kScaledTanh,       // alpha tanh(beta x)
    kHardSigmoid,      // alpha: 0.2, beta: 0.5
    kElu,              // alpha: 1
    kSoftsign,
    kSoftplus,
  };
  Kind kind = Kind::kSigmoid;
  double alpha = 0;
  double beta = 0;

  double operator()(double x) const;
};

// x, w, r, b, sequence_lengths, initial_h, then lstm: initial_c, peepholes; gru: attention. The inputs by their index.
enum RecurrentInput {
  kRecurrentX,
  kRecurrentW,
  kRecurrentR,
  kRecurrentB,
  kRecurrentLengths,
  kRecurrentH,
  kRecurrentC,
  kRecurrentPeepholes,
  kGruAttention = kRecurrentC
};

// How the hidden state is quantized to uint8 before each matmul with r (of gru without linear_before_reset also what the
// reset gate leaves of it): to (q - zero_point) * scale, q = round half to even(h / scale) + zero_point, from 0 to 255.
// The attributes "state_scale" and "state_zero_point", which only graphs that are planned have
// (passes/quantize/recurrent_state.h).
struct StateRounding {
  float scale = 1;
  int32_t zero_point = 0;  // 0 to 255
};

struct RecurrentOptions {
  OpKind op = OpKind::kRnn;
  int gates = 1;              // lstm 4 (i, o, f, c), gru 3 (z, r, h), rnn 1
  std::vector<bool> reverse;  // one a direction
  // One a direction. Of lstm f, g, h: gates, cell input, cell output; of gru f, g; of rnn f.
  std::vector<std::vector<GateActivation>> activations;
  double clip = 0;  // of what goes into the gates; 0: none
  bool input_forget = false;
  bool linear_before_reset = false;
  bool batch_first = false;
  std::optional<StateRounding> state;

  int directions() const { return static_cast<int>(reverse.size()); }
};

// REQUIRES: op is lstm, gru or rnn. Errors: INVALID_ARGUMENT without the node's name.
absl::StatusOr<RecurrentOptions> ResolveRecurrent(OpKind op, const Attributes& attributes);

// Whether no state is beyond -1 and 1, as long as none that is given is.
bool StateIsBounded(const RecurrentOptions& options);

struct RecurrentSizes {
  Dim steps, batch, input, hidden;
};

// What the shapes of the inputs (absent or unknown ones have no rank) and hidden_size say. Errors: shapes that
// contradict each other.
absl::StatusOr<RecurrentSizes> SizesOfRecurrent(const RecurrentOptions& options, const Attributes& attributes,
                                                std::span<const Shape> inputs);

}  // namespace halftone

#endif  // HALFTONE_IR_RECURRENT_H_
