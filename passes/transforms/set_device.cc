// SPDX-License-Identifier: Apache-2.0
// Sets the device of every node; with if_default only of nodes without one. remove_device sets the empty device.
// Outputs do not change. ONNX nodes have no device, and get none: the format cannot store it.

#include <utility>

#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class SetDevice final : public Pass {
 public:
  SetDevice(std::string device, bool if_default) : device_(std::move(device)), if_default_(if_default) {}
  std::string_view name() const override { return device_.empty() ? "remove_device" : "set_device"; }

  absl::Status Run(GraphEditor& edit, PassContext& context) const override {
    if (context.file != nullptr && !context.file->has(FileFeature::kDevices)) return absl::OkStatus();
    for (const NodeId id : edit.graph().nodes()) {
      if (!if_default_ || edit.graph().node(id).device.empty()) edit.SetDevice(id, device_);
    }
    return absl::OkStatus();
  }

 private:
  std::string device_;
  bool if_default_;
};

}  // namespace

std::unique_ptr<Pass> MakeSetDevice(std::string device, bool if_default) {
  return std::make_unique<SetDevice>(std::move(device), if_default);
}

}  // namespace halftone
