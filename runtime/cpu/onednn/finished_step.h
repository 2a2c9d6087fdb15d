// A product with something of ours behind it, in one step: the second reads and overwrites the result of the first.
#ifndef HALFTONE_RUNTIME_CPU_ONEDNN_FINISHED_STEP_H_
#define HALFTONE_RUNTIME_CPU_ONEDNN_FINISHED_STEP_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/plan/kernel.h"

namespace halftone::onednn {

class FinishedStep final : public Step {
 public:
  // `finish` has the result as its first input and its output, and where residual >= 0 this input of the product as its
  // second.
  FinishedStep(std::unique_ptr<Step> product, std::unique_ptr<Step> finish, int residual)
      : product_(std::move(product)), finish_(std::move(finish)), residual_(residual) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    product_->Bind(inputs, outputs, scratch);
    std::vector<std::byte*> read = {outputs[0]};
    if (residual_ >= 0) read.push_back(inputs[residual_]);
    finish_->Bind(read, outputs.first(1), nullptr);
  }
  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(product_->Run());
    return finish_->Run();
  }
  StepFacts facts() const override { return product_->facts(); }

 private:
  const std::unique_ptr<Step> product_, finish_;
  const int residual_;
};

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_FINISHED_STEP_H_
