// SPDX-License-Identifier: Apache-2.0
#include "server/worker/repeat_primitive.h"

#include <cstdio>
#include <cstring>

#include "absl/strings/numbers.h"
#include "base/strings.h"
#include "runtime/cpu/onednn/repeat.h"

namespace halftone::worker {

int RepeatPrimitiveMain(int argc, char** argv) {
  std::string line;
  int threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--repeat-primitive") == 0) line = argv[i + 1];
    if (std::strcmp(argv[i], "--threads") == 0 && (!absl::SimpleAtoi(argv[i + 1], &threads) || threads < 1)) {
      std::fprintf(stderr, "halftone-worker: --threads %s: a number from 1 on is wanted\n", argv[i + 1]);
      return 2;
    }
  }
  const absl::StatusOr<RepeatedPrimitive> result = RepeatPrimitive(line, threads);
  if (!result.ok()) {
    std::fprintf(stderr, "halftone-worker: %s\n", std::string(result.status().message()).c_str());
    return absl::IsUnimplemented(result.status()) ? 3 : 2;
  }
  std::printf("%s: best %.2f us, median %.2f us of %d runs (the line: %.2f us)\n", result->kernel.c_str(),
              result->best_us, result->median_us, result->runs, result->line_us);
  if (result->kernel != result->wanted)
    std::printf("note: the line is of %s, which cannot be had for it here\n", result->wanted.c_str());
  return 0;
}

std::string RepeatCommand(const std::string& line, int threads) {
  if (!CanRepeat(line).ok()) return "";
  return Concat("halftone-worker --threads ", threads, " --repeat-primitive '", line, "'");
}

}  // namespace halftone::worker
