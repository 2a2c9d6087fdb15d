// SPDX-License-Identifier: Apache-2.0
// What the plan and its kernels know of each other. A backend (runtime/cpu) brings kernels; the plan decides where
// values lie, converts them where a kernel asks for another layout, and runs the steps in order.
#ifndef HALFTONE_RUNTIME_PLAN_KERNEL_H_
#define HALFTONE_RUNTIME_PLAN_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph.h"
#include "ir/target.h"
#include "runtime/plan/kernel_row.h"

namespace halftone {

// A layout other than plain; only the backend that made it can read it. Immutable.
class PackedLayout {
 public:
  virtual ~PackedLayout() = default;
};

// How the elements of a value lie in memory.
struct Placement {
  DataType type = DataType::kUnknown;
  std::shared_ptr<const PackedLayout> packed;  // null: plain, which is dense and row-major
  bool plain() const { return packed == nullptr; }
};

// How the channels of an image (a value of rank >= 3) lie where kernels have the choice.
enum class ImageLayout {
  kChannelsLast,
  kChannelBlocks,  // as many as the CPU's vectors hold, next to each other
};

// What a node takes in either layout.
struct LayoutSeconds {
  double channels_last = 0;
  double channel_blocks = 0;
};

class NestedPlans;  // nested_plans.h

// What a profile may know of a step, beside its time.
struct StepFacts {
  int reorders = 0;  // of oneDNN, that one run of it executes
  // Memory of its own that does not change, above all prepacked weights: where it begins, and bytes.
  std::vector<std::pair<const void*, size_t>> constants;

  // What a part of the step says of itself.
  void Add(const StepFacts& part) {
    reorders += part.reorders;
    constants.insert(constants.end(), part.constants.begin(), part.constants.end());
  }
};

// One thing that is done in each run. Not thread-safe.
class Step {
 public:
  virtual ~Step() = default;
  // Where the inputs (in the order of Prepared::inputs), the outputs (of the node) and the scratch memory are. Called
  // before the first run and whenever one of them moves. The step does not write to its inputs unless
  // Prepared::overwrites says so.
  virtual void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) = 0;
  virtual absl::Status Run() = 0;
  // The plans that run inside this step, if any.
  virtual NestedPlans* nested() { return nullptr; }
  virtual StepFacts facts() const { return {}; }
};

// A step wants input `index` of its node to lie in this way.
struct InputNeed {
  int index = 0;
  Placement placement;
};

// What a kernel executes: the name is for people, decisions are made by the other facts.
struct Implementation {
  Implementation() = default;
  Implementation(const char* name) : name(name) {}             // a SIMD loop: "copy"
  Implementation(std::string name) : name(std::move(name)) {}  // the same, with a part that is computed
  Implementation(std::string name, bool slow, int vector_bits = 0)
      : name(std::move(name)), slow(slow), vector_bits(vector_bits) {}

  std::string name;     // "jit:avx512_core_bf16"
  bool slow = false;    // a reference loop, of ours or of oneDNN
  int vector_bits = 0;  // of the instruction set that it is compiled for; 0: not known, or that of the CPU
};

// What a step of a plan does.
enum class StepKind {
  kKernel,
  kConversion,  // of a value's type or layout, between two nodes
  kView,        // nothing: another description of the same memory
  kConstant,    // nothing: computed when the plan was made
  kEmpty,       // nothing: a result of no elements
  kNested,      // control flow; the nested graph's steps follow
};
inline bool DoesWork(StepKind kind) {
  return kind != StepKind::kView && kind != StepKind::kConstant && kind != StepKind::kEmpty;
}

// What a kernel has prepared for one node.
struct Prepared {
  std::unique_ptr<Step> step;      // null: a view; the only output has the memory of inputs[0]
  std::vector<InputNeed> inputs;   // what the step reads at run time; constants that it has packed are not among them
  std::vector<Placement> outputs;  // one per output; the type may differ from the value's: the plan converts
  size_t scratch_bytes = 0;
  int overwrites = -1;  // index in `inputs`: output 0 is written over it; the plan gives memory that nothing else reads
  int may_overwrite = -1;  // the same as an offer: taken where the input dies here
  Implementation kernel;
  // Of a contraction: the type in which it reads its weights, for people.
  DataType weights_type = DataType::kUnknown;
};

// What a kernel may ask while it prepares one node. Inputs were placed already.
class NodeContext {
 public:
  virtual ~NodeContext() = default;
  virtual const Graph& graph() const = 0;
  virtual NodeId id() const = 0;
  virtual int threads() const = 0;
  // Where input i lies now. REQUIRES: present
  virtual Placement InputPlacement(int i) const = 0;
  // Whether nothing reads input i's memory after this node, so that it may be written.
  virtual bool DiesHere(int i) const = 0;
  // The layout of images that the plan has chosen for this node; a kernel that cannot have it takes what it can.
  virtual std::optional<ImageLayout> chosen_layout() const { return std::nullopt; }
  // The input's tensor if it never changes, else nullptr.
  virtual const Tensor* Constant(int i) const = 0;

  const Node& node() const { return graph().node(id()); }
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  bool HasInput(int i) const { return graph().input(id(), i).valid(); }
  DataType InputType(int i) const { return graph().type(graph().input(id(), i)); }
  DataType OutputType(int i = 0) const { return graph().type(graph().output(id(), i)); }
  // REQUIRES: present. The plan knows all shapes before it asks a kernel.
  virtual std::vector<int64_t> InputDims(int i) const = 0;
  virtual std::vector<int64_t> OutputDims(int i = 0) const = 0;
  // Whether output i has consumers.
  bool OutputUsed(int i) const;
  // A type that holds all numbers of input i: bf16 where a value of f32 was cast from bf16, or is a constant of such
  // numbers; else its own.
  virtual DataType ExactType(int i) const { return InputType(i); }
  // Nothing will be run: only whether there is a kernel is wanted, and no weights need to be packed.
  virtual bool only_asks() const { return false; }
  // The elements of a constant integer input; nullopt where it is absent or not constant.
  std::optional<std::vector<int64_t>> ConstantInts(int i) const;
  // The single element of a constant input; nullopt where it is absent, not constant or not single.
  std::optional<double> ConstantScalar(int i) const;
};

// Thread-safe: const and without side effects. Asked only about nodes that its row allows (kernel_row.h): the type of
// input 0, the instructions of the CPU and quantized values are checked there.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // UNIMPLEMENTED with a reason in a few words: ask the next kernel. Other errors end the compilation.
  virtual absl::StatusOr<Prepared> Prepare(const NodeContext& context) const = 0;

  // What a Target asks (ir/target.h) before there is a plan, of the op's rows that say so.
  //
  // `parts`, which KernelFacts::fuses covers, beside what the node has; else UNIMPLEMENTED with the reason.
  virtual absl::Status SupportsFused(const Graph& /*graph*/, NodeId /*node*/, const FusedParts& /*parts*/) const {
    return absl::OkStatus();
  }
  // A new node that reads `inputs`, in the place of several nodes.
  virtual absl::Status SupportsInputs(const Graph& /*graph*/, std::span<const ValueId> /*inputs*/) const {
    return absl::OkStatus();
  }
  // Whether a result of another type than the operands' is written by the kernel itself, and not slowly.
  virtual bool WritesType(const Graph& /*graph*/, NodeId /*node*/, DataType /*operand*/, DataType /*result*/) const {
    return false;
  }
};

// For Kernel::SupportsInputs: OK if all are f32, bf16, f16, or of a type that is not known yet.
absl::Status CheckFloatInputs(const Graph& graph, std::span<const ValueId> inputs);

// A source of kernels and conversions. Thread-safe: const and without side effects but UseThreads.
class Backend {
 public:
  virtual ~Backend() = default;
  // In order of preference, the reference function last; empty if the op cannot run.
  virtual std::span<const KernelRow> Kernels(OpKind op) const = 0;
  // A step that copies a tensor of these dimensions from one placement to another, in type and layout. inputs and
  // outputs of the result are empty but for one need of index 0 and one output.
  virtual absl::StatusOr<Prepared> Convert(std::span<const int64_t> dims, const Placement& from,
                                           const Placement& to) const = 0;
  virtual bool Same(std::span<const int64_t> dims, const Placement& a, const Placement& b) const = 0;
  virtual size_t Bytes(std::span<const int64_t> dims, const Placement& placement) const = 0;
  // The same layout for elements of another type; plain where that cannot be said.
  virtual Placement WithType(std::span<const int64_t> dims, const Placement& placement, DataType type) const = 0;
  // What each of these convolutions takes with its images in either layout; nullopt: there is no choice. Asked before
  // anything is placed.
  virtual std::vector<std::optional<LayoutSeconds>> SecondsByLayout(std::span<const NodeContext* const> convs) const {
    return std::vector<std::optional<LayoutSeconds>>(convs.size());
  }
  // Of the largest cache.
  virtual size_t CacheBytes() const { return size_t{32} << 20; }
  // What it takes to convert a value of so many bytes from one layout to another.
  virtual double ReorderSeconds(size_t) const { return 0; }
  // Steps prepared and run by the calling thread use this many threads from now on.
  virtual void UseThreads(int threads) const = 0;
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_KERNEL_H_
