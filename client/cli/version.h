// The version of the command line; the server's is in its capabilities.
#ifndef HALFTONE_CLIENT_CLI_VERSION_H_
#define HALFTONE_CLIENT_CLI_VERSION_H_

namespace halftone::cli {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace halftone::cli

#endif  // HALFTONE_CLIENT_CLI_VERSION_H_
