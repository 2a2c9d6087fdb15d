// SPDX-License-Identifier: Apache-2.0
// What of a child's words may be shown to a client: no local paths, no control characters, not too much.

#ifndef HALFTONE_SERVER_CORE_SANITIZE_H_
#define HALFTONE_SERVER_CORE_SANITIZE_H_

#include <map>
#include <string>
#include <string_view>

namespace halftone::server {

// Local path -> what the client calls it. A longer path is replaced before a shorter one that it begins with.
using PathNames = std::map<std::string, std::string>;

// `text` with known local paths by their clients' names; valid UTF-8 without control characters but newline.
std::string HidePaths(std::string_view text, const PathNames& names);

// The last lines of a crashed program's stderr, as HidePaths; other absolute paths are cut to their last component.
std::string LastLines(std::string_view text, const PathNames& names);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_SANITIZE_H_
