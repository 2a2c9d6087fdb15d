// SPDX-License-Identifier: Apache-2.0
// Calibration needs as much memory for 1000 samples as for 10.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "gtest/gtest.h"
#include "ir/text.h"
#include "runtime/calibrate/calibration.h"

namespace halftone {
namespace {

constexpr char kNet[] = R"(graph (x: f32[1,3,96,96]) {
  w1 = const f32[32,3,3,3]  w2 = const f32[64,32,3,3]  w3 = const f32[64,64,1,1]
  c1 = conv(x, w1) {pads=[1,1,1,1], strides=[2,2], activation="relu"}
  c2 = conv(c1, w2) {pads=[1,1,1,1], activation="relu"}
  c3 = conv(c2, w3) {activation="relu"}
  a = add(c2, c3)
  return a
})";

// Calibrates with so many different samples and computes ranges by every method. Returns the peak memory of the process
// in KB, or -1 after an error.
long PeakMemoryKb(int samples) {
  const absl::StatusOr<Graph> graph = ParseGraph(kNet);
  if (!graph.ok()) return -1;
  int next = 0;
  const CalibrationSource source = [&]() -> absl::StatusOr<std::optional<CalibrationBatch>> {
    if (next == samples) return std::nullopt;
    Tensor x(DataType::kFloat32, {1, 3, 96, 96});
    uint32_t state = 1 + next++;
    for (float& number : x.mutable_data<float>()) {
      state = state * 1664525 + 1013904223;
      number = static_cast<float>(state >> 8) * 0x1p-23f - 1 + 0.001f * static_cast<float>(next);
    }
    return CalibrationBatch{{x}};
  };
  const absl::StatusOr<Calibration> calibration = Calibration::Collect(*graph, source);
  if (!calibration.ok() || calibration->samples() != samples) return -1;
  for (int calibrator = 0; calibrator < static_cast<int>(Calibrator::kLog); ++calibrator) {
    if (!calibration->Ranges({static_cast<Calibrator>(calibrator)}).ok()) return -1;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// The same in a child process.
long PeakMemoryKbOfChild(int samples) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const long peak = PeakMemoryKb(samples);
    const bool written = write(ends[1], &peak, sizeof(peak)) == sizeof(peak);
    _exit(written ? 0 : 1);
  }
  long peak = -1;
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0 && read(ends[0], &peak, sizeof(peak)) != sizeof(peak)) peak = -1;
  close(ends[0]);
  close(ends[1]);
  return peak;
}

TEST(CalibrationMemory, DoesNotGrowWithSamples) {
  const long few = PeakMemoryKbOfChild(10), many = PeakMemoryKbOfChild(1000);
  std::printf("peak of 10 samples %ld KB, of 1000 samples %ld KB\n", few, many);
  ASSERT_GT(few, 0);
  ASSERT_GT(many, 0);
  EXPECT_LE(many, few * 1.05);
  EXPECT_GE(many, few * 0.95);
}

}  // namespace
}  // namespace halftone
