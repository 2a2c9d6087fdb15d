// SPDX-License-Identifier: Apache-2.0
// A primitive followed by a step of our own, in one step: the second reads and overwrites the result of the first.
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
  // `finish` has the result as its first input and its output, and where residual >= 0 this input of the compute as its
  // second.
  FinishedStep(std::unique_ptr<Step> compute, std::unique_ptr<Step> finish, int residual)
      : compute_(std::move(compute)), finish_(std::move(finish)), residual_(residual) {}

  void Bind(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte* scratch) override {
    compute_->Bind(inputs, outputs, scratch);
    std::vector<std::byte*> read = {outputs[0]};
    if (residual_ >= 0) read.push_back(inputs[residual_]);
    finish_->Bind(read, outputs.first(1), nullptr);
  }
  absl::Status Run() override {
    HALFTONE_RETURN_IF_ERROR(compute_->Run());
    return finish_->Run();
  }
  StepFacts facts() const override { return compute_->facts(); }

 private:
  const std::unique_ptr<Step> compute_, finish_;
  const int residual_;
};

}  // namespace halftone::onednn

#endif  // HALFTONE_RUNTIME_CPU_ONEDNN_FINISHED_STEP_H_
