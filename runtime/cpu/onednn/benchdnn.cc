// SPDX-License-Identifier: Apache-2.0
// A line of oneDNN's verbose output as a command line of benchdnn, oneDNN's own benchmark program. Its problem
// descriptors are the verbose ones; types, layouts, post-ops and algorithms have flags.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/primitive_line.h"

namespace halftone::onednn {
namespace {

struct Driver {
  std::string_view primitive;
  std::string_view name;
  std::string_view roles;  // of the tensors that --dt, --stag, --wtag, --dtag speak of: s, w, d
  bool direction;          // has --dir
};
constexpr Driver kDrivers[] = {
    {"convolution", "conv", "swd", true},
    {"deconvolution", "deconv", "swd", true},
    {"inner_product", "ip", "swd", true},
    {"matmul", "matmul", "swd", false},
    {"eltwise", "eltwise", "s", true},
    {"softmax", "softmax", "sd", true},
    {"layer_normalization", "lnorm", "sd", true},
    {"batch_normalization", "bnorm", "s", true},
    {"pooling", "pool", "sd", true},
    {"resampling", "resampling", "sd", true},
    {"reduction", "reduction", "sd", false},
    {"reorder", "reorder", "sd", false},
};

// "eltwise_relu" => "relu", "binary_add:f32:14:acdb" => "add:f32:14:acdb"
std::string WithoutFamily(std::string_view name) {
  for (const std::string_view family : {"eltwise_", "binary_", "pooling_", "reduction_", "resampling_", "softmax_"}) {
    if (name.starts_with(family)) return std::string(name.substr(family.size()));
  }
  return std::string(name);
}

std::string PostOps(const std::string& text) {
  std::vector<std::string> ops;
  for (const absl::string_view op : absl::StrSplit(text, '+')) ops.push_back(WithoutFamily(StdView(op)));
  return absl::StrJoin(ops, "+");
}

std::string Algorithm(const PrimitiveLine& line) {
  const std::string name = WithoutFamily(line.setting("alg"));
  if (line.primitive == "pooling") {
    if (name == "avg_include_padding") return "avg_p";
    if (name == "avg_exclude_padding") return "avg_np";
  }
  if (line.primitive == "softmax") return name == "log" ? "LOGSOFTMAX" : "SOFTMAX";
  return name;
}

const LineTensor& TensorFor(const PrimitiveLine& line, char role) {
  if (role == 'w') return line.tensor("wei");
  const LineTensor& named = line.tensor(role == 's' ? "src" : "dst");
  return named.present() ? named : line.tensor("data");
}

// Attributes are called alike but for post-ops; null where one cannot be said.
bool AddAttributes(const PrimitiveLine& line, std::string& command) {
  for (const auto& [name, value] : line.attributes) {
    if (name == "post-ops") {
      command += Concat(" --attr-post-ops=", PostOps(value));
    } else if (name == "scratchpad") {
      command += Concat(" --attr-scratchpad=", value);
    } else {
      return false;
    }
  }
  return true;
}

std::string OfSeveral(const PrimitiveLine& line) {
  std::vector<std::string> types, tags;
  for (const LineTensor& tensor : line.tensors) {
    if (tensor.role != "src") continue;
    types.push_back(tensor.type);
    tags.push_back(tensor.tag);
  }
  const LineTensor& dst = line.tensor("dst");
  std::string command = "benchdnn --mode=P ";
  if (line.primitive == "binary") {
    command += Concat("--binary --alg=", Algorithm(line), " --sdt=", absl::StrJoin(types, ":"), " --ddt=", dst.type,
                      " --stag=", absl::StrJoin(tags, ":"), " --dtag=", dst.tag);
  } else if (line.primitive == "concat") {
    command += Concat("--concat --sdt=", types.empty() ? "" : types[0], " --ddt=", dst.type,
                      " --stag=", absl::StrJoin(tags, ":"), " --dtag=", dst.tag, " --axis=", line.setting("axis"));
  } else {
    return "";
  }
  return AddAttributes(line, command) ? Concat(command, " ", line.problem) : "";
}

}  // namespace

std::string BenchdnnCommand(const PrimitiveLine& line) {
  const bool strided = std::any_of(line.tensors.begin(), line.tensors.end(),
                                   [](const LineTensor& tensor) { return !tensor.strides.empty(); });
  const auto driver = std::find_if(std::begin(kDrivers), std::end(kDrivers),
                                   [&](const Driver& one) { return one.primitive == line.primitive; });
  if (driver == std::end(kDrivers)) return strided ? "" : OfSeveral(line);
  if (strided && line.primitive != "matmul") return "";

  const bool has_bias = line.tensor("bia").present();
  std::string command = Concat("benchdnn --mode=P --", driver->name);
  if (driver->direction) command += has_bias ? " --dir=FWD_B" : " --dir=FWD_I";
  std::vector<std::string> types, strides;
  std::string tags;
  for (const char role : driver->roles) {
    const LineTensor& tensor = TensorFor(line, role);
    types.push_back(tensor.type);
    strides.push_back(absl::StrJoin(tensor.strides, "x"));
    const std::string flag = driver->roles == "s" ? "tag" : Concat(std::string(1, role), "tag");
    tags += Concat(" --", flag, "=", tensor.any && role == 'w' ? "any" : tensor.tag);
  }
  if (line.primitive == "reorder") {
    command += Concat(" --sdt=", types[0], " --ddt=", types[1]);
  } else if (line.primitive == "reduction") {
    command += Concat(" --sdt=", types[0], " --ddt=", types[1]);
  } else {
    command += Concat(" --dt=", absl::StrJoin(types, ":"));
  }
  command += strided ? Concat(" --strides=", absl::StrJoin(strides, ":")) : tags;
  if (line.primitive == "matmul" && has_bias) {
    const std::string& flags = line.tensor("bia").rest;
    const size_t mask = flags.find("_mask");
    command += Concat(" --bia-dt=", line.tensor("bia").type,
                      mask == std::string::npos ? "" : Concat(" --bia_mask=", flags.substr(mask + 5)));
  }
  const bool is_conv = line.primitive == "convolution" || line.primitive == "deconvolution";
  if (line.settings.contains("alg") && !is_conv) command += Concat(" --alg=", Algorithm(line));
  for (const std::string name : {"alpha", "beta", "axis", "p", "eps", "flags"}) {
    if (!line.setting(name).empty()) command += Concat(" --", name, "=", line.setting(name));
  }
  return AddAttributes(line, command) ? Concat(command, " ", line.problem) : "";
}

}  // namespace halftone::onednn
