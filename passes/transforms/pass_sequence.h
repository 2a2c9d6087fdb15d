// SPDX-License-Identifier: Apache-2.0
// Several passes under one name: run once in order, or repeated until none of them edits.
#ifndef HALFTONE_PASSES_TRANSFORMS_PASS_SEQUENCE_H_
#define HALFTONE_PASSES_TRANSFORMS_PASS_SEQUENCE_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/core/pass.h"

namespace halftone {

class PassSequence final : public Pass {
 public:
  PassSequence(std::string name, std::vector<std::unique_ptr<Pass>> passes, bool repeat)
      : name_(std::move(name)), passes_(std::move(passes)), repeat_(repeat) {}

  std::string_view name() const override { return name_; }
  bool enters_nested() const override { return false; }  // each of its passes decides
  float tolerance() const override;                      // the largest of its passes
  absl::Status Run(GraphEditor& edit, PassContext& context) const override;

  static constexpr int kMaxRounds = 64;

 private:
  std::string name_;
  std::vector<std::unique_ptr<Pass>> passes_;
  bool repeat_;
};

// The pass, followed by shape inference if it edited. Has the name of the pass.
std::unique_ptr<Pass> WithShapes(std::unique_ptr<Pass> pass);

// Shape inference and constant folding, then the fusion rules with these names to a fixed point, then removal of dead
// nodes. REQUIRES: rules with these names exist
std::unique_ptr<Pass> MakeFoldingSequence(std::string name, std::initializer_list<std::string_view> rules);

}  // namespace halftone

#endif  // HALFTONE_PASSES_TRANSFORMS_PASS_SEQUENCE_H_
