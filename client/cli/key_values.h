// SPDX-License-Identifier: Apache-2.0
// Flags of the form --FLAG KEY=VALUE that set one number of a message: --accuracy-goal top1-drop=0.01.
#ifndef HALFTONE_CLIENT_CLI_KEY_VALUES_H_
#define HALFTONE_CLIENT_CLI_KEY_VALUES_H_

#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace halftone::cli {

// Sets the optional double field KEY ("top1-drop" is the field top1_drop) of `message`. Usage errors: no KEY=VALUE, an
// unknown key, a key that is set already, a value that is no finite number.
absl::Status SetKeyValue(const std::string& flag, const std::string& text, google::protobuf::Message* message);

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_KEY_VALUES_H_
