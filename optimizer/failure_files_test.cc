// SPDX-License-Identifier: Apache-2.0
#include "optimizer/failure_files.h"

#include "base/status.h"
#include "gtest/gtest.h"
#include "passes/core/reproducer.h"

namespace halftone {
namespace {

TEST(FailureFiles, AReproducerOnItsWayThroughTheJob) {
  absl::Status failure = absl::InternalError("pass 'fuse-x': changed an output");
  EXPECT_TRUE(FilesOfFailure(failure).empty());
  AttachReproducer(failure, "# pipeline: optimize\ngraph () {}");
  const std::vector<FailureFile> files = FilesOfFailure(Annotate(failure, "'model.onnx'"));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "failure.graph");
  EXPECT_EQ(files[0].text, "# pipeline: optimize\ngraph () {}");
}

}  // namespace
}  // namespace halftone
