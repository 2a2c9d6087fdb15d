// Passes that a policy or graph_opt asks for by name and with arguments, as TensorFlow's Graph Transform Tool named
// its own: `round_weights(num_steps=64)`, `rename_op(old=Relu, new=Relu6)`, `remove_device`. named_passes.cc is the
// table.
//
// Nothing of this runs unless it is asked for. Most of them edit what the optimizer must not: names, devices, outputs
// that are wrong on purpose.
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
  // REQUIRES: the arguments were read along `arguments`. INVALID_ARGUMENT where they contradict each other.
  absl::StatusOr<std::unique_ptr<Pass>> (*make)(const PassArguments& arguments);
};

// A name of the Graph Transform Tool's for which there is no pass, and why, or what does it instead.
struct AbsentPass {
  std::string_view name;
  std::string_view reason;
};

// In the order of their names.
std::span<const NamedPass> NamedPasses();
std::span<const AbsentPass> AbsentPasses();

// Whether the text begins with the name of one of either kind, so that ParseNamedPass is the one to ask.
bool IsNamedPass(std::string_view text);

// `name` or `name(argument=value, ...)`. Values with commas or brackets stand in double quotes; an argument that may
// come several times is written several times. INVALID_ARGUMENT names what is wrong and lists what there is;
// UNIMPLEMENTED: an absent one, with its reason.
absl::StatusOr<std::unique_ptr<Pass>> ParseNamedPass(std::string_view text);

// "a,b(c=1,d=2),e" -> "a", "b(c=1,d=2)", "e": the commas outside of brackets and quotes.
std::vector<std::string> SplitPassList(std::string_view text);

// One pass a line, with its arguments and their defaults; then those that are absent.
std::string NamedPassesHelp();

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_NAMED_PASSES_H_
