// SPDX-License-Identifier: Apache-2.0
// Passes that a policy or graph_opt requests by name and with arguments, as in TensorFlow's Graph Transform Tool:
// `round_weights(num_steps=64)`, `rename_op(old=Relu, new=Relu6)`, `remove_device`. named_passes.cc is the table.
//
// They run only on request. Most of them edit what the optimizer must not edit: names, devices, or the outputs
// themselves.
#ifndef HALFTONE_PASSES_TRANSFORMS_NAMED_PASSES_H_
#define HALFTONE_PASSES_TRANSFORMS_NAMED_PASSES_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/core/pass.h"
#include "passes/transforms/pass_arguments.h"

namespace halftone {

struct NamedPass {
  std::string_view name;
  std::string_view help;  // one line
  std::span<const ArgumentSpec> arguments;
  // REQUIRES: the arguments were parsed by `arguments`. INVALID_ARGUMENT if they contradict each other.
  absl::StatusOr<std::unique_ptr<Pass>> (*make)(const PassArguments& arguments);
};

// A transform of the Graph Transform Tool that is not a pass here, and the reason or the replacement.
struct AbsentPass {
  std::string_view name;
  std::string_view reason;
};

// In alphabetical order.
std::span<const NamedPass> NamedPasses();
std::span<const AbsentPass> AbsentPasses();

// Whether the text begins with a name of either kind, so that ParseNamedPass should parse it.
bool IsNamedPass(std::string_view text);

// `name` or `name(argument=value, ...)`. Values with commas or brackets are in double quotes; an argument with several
// values is repeated. INVALID_ARGUMENT names the error and lists the valid names; UNIMPLEMENTED: an absent pass, with
// its reason.
absl::StatusOr<std::unique_ptr<Pass>> ParseNamedPass(std::string_view text);

// "a,b(c=1,d=2),e" -> "a", "b(c=1,d=2)", "e": the commas outside of brackets and quotes.
std::vector<std::string> SplitPassList(std::string_view text);

// One pass per line, with its arguments and their defaults; then the absent ones.
std::string NamedPassesHelp();

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_NAMED_PASSES_H_
