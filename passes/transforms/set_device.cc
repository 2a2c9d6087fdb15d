// Every node stands on `device`; with if_default only those that stood on none. remove_device is the empty device.
// Answers stay. In ONNX no node has a device, and none gets one: the format has no place for it.

#include <utility>

#include "passes/transforms/passes.h"

namespace halftone {
namespace {

class SetDevice final : public Pass {
 public:
  SetDevice(std::string device, bool if_default) : device_(std::move(device)), if_default_(if_default) {}
  std::string_view name() const override { return device_.empty() ? "remove_device" : "set_device"; }

  absl::Status Run(GraphEditor& edit, PassContext&) const override {
    if (edit.graph().format() == GraphFormat::kOnnx) return absl::OkStatus();
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
