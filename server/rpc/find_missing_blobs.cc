// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/core/errors.h"
#include "server/core/spec.h"
#include "server/rpc/rpc_scope.h"
#include "server/rpc/services.h"

namespace halftone::server {

grpc::Status BlobsService::FindMissingBlobs(grpc::ServerContext* context, const v1::FindMissingBlobsRequest* request,
                                            v1::FindMissingBlobsResponse* response) {
  RpcScope rpc("FindMissingBlobs", *context, metrics_);
  rpc.Received(*request);
  if (request->digests_size() > kMaxDigests) {
    return rpc.Finish(
        InvalidField("digests", absl::StrCat("has ", request->digests_size(), ": ", kMaxDigests, " are allowed")));
  }
  std::vector<FieldViolation> violations;
  for (int i = 0; i < request->digests_size(); ++i) {
    std::string problem = DigestProblem(request->digests(i));
    if (!problem.empty()) violations.push_back({absl::StrCat("digests[", i, "]"), std::move(problem)});
  }
  if (!violations.empty()) return rpc.Finish(InvalidFields(violations));
  std::set<std::string> seen;
  for (const v1::Digest& digest : request->digests()) {
    if (seen.insert(BlobName(digest)).second && !blobs_.Contains(digest)) *response->add_missing() = digest;
  }
  return rpc.Finish(absl::OkStatus(), *response);
}

}  // namespace halftone::server
