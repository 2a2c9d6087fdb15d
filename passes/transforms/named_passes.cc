// SPDX-License-Identifier: Apache-2.0
// The table of named passes, in alphabetical order. A new pass is one row here and one file in this folder.

#include "passes/transforms/named_passes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/strings.h"
#include "passes/core/rule_pass.h"
#include "passes/simplify/passes.h"
#include "passes/simplify/rules.h"
#include "passes/transforms/pass_sequence.h"
#include "passes/transforms/passes.h"

namespace halftone {
namespace {

using Made = absl::StatusOr<std::unique_ptr<Pass>>;
using enum ArgumentKind;

constexpr std::span<const ArgumentSpec> kNoArguments;

// --- Arguments.
constexpr ArgumentSpec kOfOp{"op", kText, false, "*", "only nodes of this op"};
constexpr ArgumentSpec kQuantizeArguments[] = {
    {"minimum_size", kCount, false, "1024", "smaller constants stay unchanged"}};
constexpr ArgumentSpec kRemoveAttributeArguments[] = {{"name", kText, true, "", "the attribute"}, kOfOp};
constexpr ArgumentSpec kRemoveNodesArguments[] = {
    {"op", kTexts, true, "", "an op whose nodes are removed; their consumers read its input"}};
constexpr ArgumentSpec kRenameAttributeArguments[] = {
    {"old", kText, true, "", "its name"}, {"new", kText, true, "", "its new name"}, kOfOp};
constexpr ArgumentSpec kRenameArguments[] = {{"old", kText, true, "", "its name"},
                                             {"new", kText, true, "", "its new name"}};
constexpr ArgumentSpec kRoundArguments[] = {
    {"num_steps", kCount, false, "256", "maximum number of distinct values of a weight"},
    {"minimum_size", kCount, false, "16", "smaller constants stay unchanged"}};
constexpr ArgumentSpec kSetDeviceArguments[] = {{"device", kText, true, "", "\"/device:CPU:0\""},
                                                {"if_default", kFlag, false, "false", "only nodes without a device"}};
constexpr ArgumentSpec kStripArguments[] = {
    {"name", kTexts, false, "", "a node that becomes an input"},
    {"type", kText, false, "", "the type of all of them (for example f32; default: unchanged)"},
    {"shape", kText, false, "", "the shape of all of them (\"1,224,224,3\"; -1: any size; default: unchanged)"},
    {"type_for_name", kTexts, false, "", "its type (f32); as many as names, or none"},
    {"shape_for_name", kTexts, false, "", "its shape (\"1,224,224,3\"; -1: any size); as many as names, or none"}};

// --- Factories.
Made MakeFlattenAtrousConv(const PassArguments&) {
  return MakeFoldingSequence("flatten_atrous_conv", {"fuse-dilated-conv"});
}

Made MakeFoldBatchNorms(const PassArguments&) {
  return MakeFoldingSequence("fold_batch_norms", {"fold-scale", "fold-offset"});
}

Made MakeFoldOldBatchNorms(const PassArguments&) {
  return MakeFoldingSequence(
      "fold_old_batch_norms",
      {"fold-batch-norm-into-conv", "fold-batch-norm-into-conv-transpose", "fold-batch-norm-into-matmul"});
}

Made MakeFuseConvolutions(const PassArguments&) { return MakeFoldingSequence("fuse_convolutions", {"fuse-pad-conv"}); }

Made MakeFoldAllConstants(const PassArguments&) { return MakeFoldingSequence("fold_constants", {}); }

Made MakeInlineCalls(const PassArguments&) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<RulePass>(MakeInlineCall()));
  return std::make_unique<PassSequence>("inline_partitionedcall", std::move(passes), /*repeat=*/true);
}

Made MakeSort(const PassArguments&) {
  return std::make_unique<PassSequence>("sort_by_execution_order", std::vector<std::unique_ptr<Pass>>(),
                                        /*repeat=*/false);
}

Made MakeMergeDuplicateNodes(const PassArguments&) {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<MergeDuplicates>());
  return std::make_unique<PassSequence>("merge_duplicate_nodes", std::move(passes), /*repeat=*/true);
}

absl::StatusOr<DataType> TypeOf(std::string_view argument, const std::string& text) {
  const std::optional<DataType> type = DataTypeFromName(text);
  if (type.has_value()) return *type;
  return absl::InvalidArgumentError(Concat(argument, " is '", text, "'; it must be a type, such as f32"));
}

absl::StatusOr<Shape> ShapeOf(std::string_view argument, const std::string& text) {
  std::vector<int64_t> dims;
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(word, &dim) || dim < -1)
      return absl::InvalidArgumentError(
          Concat(argument, " is '", text, "'; it must be numbers, such as \"1,224,224,3\""));
    dims.push_back(dim);
  }
  return Shape::Of(dims);
}

Made MakeStrip(const PassArguments& arguments) {
  const std::vector<std::string>& names = arguments.Texts("name");
  const std::vector<std::string>& types = arguments.Texts("type_for_name");
  const std::vector<std::string>& shapes = arguments.Texts("shape_for_name");
  for (const auto* list : {&types, &shapes}) {
    if (!list->empty() && list->size() != names.size())
      return absl::InvalidArgumentError(Concat("there are ", names.size(), " arguments 'name', but ", types.size(),
                                               " 'type_for_name' and ", shapes.size(), " 'shape_for_name'"));
  }
  CutAt like;
  if (const std::string& type = arguments.Text("type"); !type.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(like.type, TypeOf("type", type));
  }
  if (const std::string& shape = arguments.Text("shape"); !shape.empty()) {
    HALFTONE_ASSIGN_OR_RETURN(like.shape, ShapeOf("shape", shape));
  }
  std::vector<CutAt> cuts;
  for (size_t i = 0; i < names.size(); ++i) {
    CutAt cut = like;
    cut.node = names[i];
    if (!types.empty()) {
      HALFTONE_ASSIGN_OR_RETURN(cut.type, TypeOf("type_for_name", types[i]));
    }
    if (!shapes.empty()) {
      HALFTONE_ASSIGN_OR_RETURN(cut.shape, ShapeOf("shape_for_name", shapes[i]));
    }
    cuts.push_back(std::move(cut));
  }
  return WithShapes(MakeStripUnusedNodes(std::move(cuts)));
}

constexpr NamedPass kPasses[] = {
    {"add_default_attributes", "writes out absent attributes with their defaults", kNoArguments,
     [](const PassArguments&) -> Made { return MakeAddDefaultAttributes(); }},
    {"flatten_atrous_conv", "replaces space_to_batch, conv, batch_to_space by one conv with dilations", kNoArguments,
     MakeFlattenAtrousConv},
    {"fold_batch_norms", "folds a multiplication or addition of constants after conv or matmul into its weights",
     kNoArguments, MakeFoldBatchNorms},
    {"fold_constants", "computes values that depend only on constants", kNoArguments, MakeFoldAllConstants},
    {"fold_old_batch_norms", "folds batch norms (also BatchNormWithGlobalNormalization) into weights and bias",
     kNoArguments, MakeFoldOldBatchNorms},
    {"fuse_convolutions", "fuses zero padding into the following convolution", kNoArguments, MakeFuseConvolutions},
    {"inline_partitionedcall", "inlines calls of functions", kNoArguments, MakeInlineCalls},
    {"merge_duplicate_nodes", "merges nodes that compute the same", kNoArguments, MakeMergeDuplicateNodes},
    {"obfuscate_names", "gives all nodes and values except inputs and outputs short names", kNoArguments,
     [](const PassArguments&) -> Made { return MakeObfuscateNames(); }},
    {"quantize_weights", "stores f32 weights in 8 bits and dequantizes them before use", kQuantizeArguments,
     [](const PassArguments& a) -> Made { return MakeQuantizeWeights(a.Count("minimum_size")); }},
    {"remove_attribute", "removes an attribute, which restores its default", kRemoveAttributeArguments,
     [](const PassArguments& a) -> Made { return MakeRemoveAttribute(a.Text("name"), a.Text("op")); }},
    {"remove_control_dependencies", "removes all control edges", kNoArguments,
     [](const PassArguments&) -> Made { return MakeRemoveControlDependencies(); }},
    {"remove_device", "removes the devices of all nodes", kNoArguments,
     [](const PassArguments&) -> Made { return MakeSetDevice("", /*if_default=*/false); }},
    {"remove_nodes", "removes nodes with one input and one output", kRemoveNodesArguments,
     [](const PassArguments& a) -> Made { return MakeRemoveNodes(a.Texts("op")); }},
    {"rename_attribute", "renames an attribute", kRenameAttributeArguments,
     [](const PassArguments& a) -> Made { return MakeRenameAttribute(a.Text("old"), a.Text("new"), a.Text("op")); }},
    {"rename_node", "renames a node", kRenameArguments,
     [](const PassArguments& a) -> Made { return MakeRenameNode(a.Text("old"), a.Text("new")); }},
    {"rename_op", "changes the op of nodes", kRenameArguments,
     [](const PassArguments& a) -> Made { return WithShapes(MakeRenameOp(a.Text("old"), a.Text("new"))); }},
    {"round_weights", "rounds f32 weights to few values, so that the file compresses better", kRoundArguments,
     [](const PassArguments& a) -> Made {
       if (a.Count("num_steps") < 2) return absl::InvalidArgumentError("num_steps is 1; it must be at least 2");
       return MakeRoundWeights(a.Count("num_steps"), a.Count("minimum_size"));
     }},
    {"set_device", "sets the device of every node", kSetDeviceArguments,
     [](const PassArguments& a) -> Made { return MakeSetDevice(a.Text("device"), a.Flag("if_default")); }},
    {"sort_by_execution_order", "does nothing: every file is written in execution order", kNoArguments, MakeSort},
    {"strip_unused_nodes", "removes nodes on which no output depends; named nodes become inputs first", kStripArguments,
     MakeStrip},
};

constexpr AbsentPass kAbsent[] = {
    {"backport_concatv2", "files are written in the version of the op that the model had; no older one is made"},
    {"backport_tensor_array_v3", "files are written in the version of the op that the model had; no older one is made"},
    {"compare_graphs", "print both models with `halftone inspect --text` and compare the texts"},
    {"freeze_requantization_ranges",
     "nothing is frozen into the graph; its log is read as calibration ranges: `--ranges` with `--precision int8`"},
    {"insert_logging",
     "there is no printing op; `halftone profile` shows the nodes of a run, dumps of HALFTONE_DEBUG those of a pass"},
    {"quantize_nodes", "int8 is not a graph transform: it needs calibration; use `--precision int8`"},
    {"sparsify_gather",
     "its hash tables are resources with an initializer, which a graph that only computes does not have"},
    {"summarize_graph", "`halftone inspect` lists inputs, outputs, ops and weights of a model"},
};

std::string_view NameIn(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = std::min(text.find_first_of(" \t(", begin), text.size());
  return text.substr(begin, end - begin);
}

template <typename Row>
const Row* Find(std::span<const Row> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

// The text between the brackets; nullopt if they are not closed or text follows them.
std::optional<std::string_view> BetweenBrackets(std::string_view text) {
  const size_t begin = text.find('(');
  if (begin == std::string_view::npos)
    return text.find_first_not_of(" \t", text.find(NameIn(text)) + NameIn(text).size()) == std::string_view::npos
               ? std::optional(std::string_view())
               : std::nullopt;
  const size_t end = text.rfind(')');
  if (end == std::string_view::npos || text.find_first_not_of(" \t", end + 1) != std::string_view::npos)
    return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::span<const NamedPass> NamedPasses() { return kPasses; }
std::span<const AbsentPass> AbsentPasses() { return kAbsent; }

bool IsNamedPass(std::string_view text) {
  const std::string_view name = NameIn(text);
  return Find(NamedPasses(), name) != nullptr || Find(AbsentPasses(), name) != nullptr;
}

absl::StatusOr<std::unique_ptr<Pass>> ParseNamedPass(std::string_view text) {
  const std::string_view name = NameIn(text);
  if (const AbsentPass* absent = Find(AbsentPasses(), name); absent != nullptr)
    return absl::UnimplementedError(Concat("no pass '", name, "': ", absent->reason));
  const NamedPass* pass = Find(NamedPasses(), name);
  if (pass == nullptr) {
    std::string known;
    for (const NamedPass& other : kPasses) known += Concat(known.empty() ? "" : ", ", other.name);
    return absl::InvalidArgumentError(Concat("no pass '", name, "'; there are: ", known));
  }
  const std::optional<std::string_view> inside = BetweenBrackets(text);
  if (!inside.has_value())
    return absl::InvalidArgumentError(Concat("'", text, "' must be ", name, "(argument=value, ...)"));
  absl::StatusOr<PassArguments> arguments = PassArguments::Parse(pass->arguments, *inside);
  if (!arguments.ok()) return Annotate(arguments.status(), AbslView(Concat("pass '", name, "'")));
  Made made = pass->make(*arguments);
  if (!made.ok()) return Annotate(made.status(), AbslView(Concat("pass '", name, "'")));
  return made;
}

std::vector<std::string> SplitPassList(std::string_view text) { return SplitOutsideBrackets(text); }

std::string NamedPassesHelp() {
  std::string help = "Passes by name, with arguments as name(argument=value, ...):\n";
  for (const NamedPass& pass : kPasses) {
    help += Concat("  ", pass.name, ": ", pass.help, "\n");
    for (const ArgumentSpec& spec : pass.arguments) {
      const std::string more = spec.kind == kTexts ? " (may be repeated)" : "";
      const std::string otherwise = spec.required         ? " (required)"
                                    : spec.kind == kTexts ? ""
                                                          : Concat(" = ", spec.otherwise);
      help += Concat("      ", spec.name, otherwise, more, ": ", spec.help, "\n");
    }
  }
  help += "Transforms of TensorFlow's Graph Transform Tool that are not passes here:\n";
  for (const AbsentPass& absent : kAbsent) help += Concat("  ", absent.name, ": ", absent.reason, "\n");
  return help;
}

}  // namespace halftone
