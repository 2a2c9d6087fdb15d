// SPDX-License-Identifier: Apache-2.0
// halftone-worker --repeat-primitive LINE [--threads N]: for people who look into one line of a profile.
#ifndef HALFTONE_SERVER_WORKER_REPEAT_PRIMITIVE_H_
#define HALFTONE_SERVER_WORKER_REPEAT_PRIMITIVE_H_

#include <string>

namespace halftone::worker {

// Prints what came out to stdout, or what is wrong to stderr. An exit code: 0, 2 for a line that is none, 3 for one
// that is not covered.
int RepeatPrimitiveMain(int argc, char** argv);

// The command that does it; empty where the line is not covered.
std::string RepeatCommand(const std::string& line, int threads);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_REPEAT_PRIMITIVE_H_
