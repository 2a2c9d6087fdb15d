// SPDX-License-Identifier: Apache-2.0
// halftone capabilities: what a server can do and where its limits are.

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "client/cli/commands.h"
#include "client/cli/console.h"
#include "client/cli/flags.h"
#include "client/cli/session.h"
#include "report/json.h"
#include "report/names.h"

namespace halftone::cli {
namespace {

constexpr char kExample[] = R"(Example:
  halftone capabilities --json | jq .environment.native_bf16)";

struct Flags {
  ServerFlags server;
  bool json = false;
};

std::string AsText(const v1::Capabilities& c) {
  const v1::Environment& env = c.environment();
  const v1::Limits& limits = c.limits();
  return report::Printable(absl::StrCat("server      ", c.version())) + "\n" +
         absl::StrCat("formats     ", absl::StrJoin(c.formats(), ", "), "\n",     //
                      "precisions  ", absl::StrJoin(c.precisions(), ", "), "\n",  //
                      "planners    ", absl::StrJoin(c.planners(), ", "), "\n",    //
                      "cpu         ", env.cpu(), ", ", env.cores(), " cores\n",   //
                      "isa         ", env.isa(), ", bf16 is ", env.native_bf16() ? "native" : "emulated", ", int8 ",
                      env.native_int8() ? "by VNNI" : "without VNNI", "\n", "oneDNN      ", env.onednn_version(),
                      "\n",  //
                      "limits      blob ", limits.max_blob_bytes(), " bytes, message ", limits.max_message_bytes(),
                      " bytes\n",  //
                      "ops         ", c.ops_size(), ": ", absl::StrJoin(c.ops(), ", "), "\n");
}

absl::Status Capabilities(const Flags& flags, Interrupts& interrupts) {
  HALFTONE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(flags.server, interrupts));
  HALFTONE_ASSIGN_OR_RETURN(const v1::Capabilities capabilities, session->client().GetCapabilities());
  return PrintResult(flags.json ? report::MessageToJson(capabilities) : AsText(capabilities));
}

}  // namespace

void AddCapabilities(CLI::App& app, Action* action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand("capabilities", "show what a server supports");
  command.footer(kExample);
  command.add_flag("--json", flags->json, "as JSON");
  AddServerFlags(command, &flags->server);
  command.callback(
      [flags, action] { *action = [flags](Interrupts& interrupts) { return Capabilities(*flags, interrupts); }; });
}

}  // namespace halftone::cli
