// SPDX-License-Identifier: Apache-2.0
// The two services of halftone/v1. Handlers, one file each, translate between protos and server/core and hold no state.

#ifndef HALFTONE_SERVER_RPC_SERVICES_H_
#define HALFTONE_SERVER_RPC_SERVICES_H_

#include <grpcpp/grpcpp.h>

#include "halftone/v1/blobs.grpc.pb.h"
#include "halftone/v1/model_optimizer.grpc.pb.h"
#include "server/core/blob_store.h"
#include "server/core/job_runner.h"
#include "server/core/jobs.h"
#include "server/rpc/metrics.h"

namespace halftone::server {

inline constexpr int kMaxMessageBytes = 1 << 20;
inline constexpr int kMaxDataBytes = kMaxMessageBytes - (4 << 10);  // of one WriteRequest or ReadResponse
inline constexpr int kMaxDigests = 10'000;

// Thread-safe. All that it is given must outlive it.
class ModelOptimizerService final : public v1::ModelOptimizer::Service {
 public:
  ModelOptimizerService(Jobs& jobs, BlobStore& blobs, JobRunner& runner, Metrics& metrics)
      : jobs_(jobs), blobs_(blobs), runner_(runner), metrics_(metrics) {}

  grpc::Status GetCapabilities(grpc::ServerContext* context, const v1::GetCapabilitiesRequest* request,
                               v1::Capabilities* response) override;
  grpc::Status CreateJob(grpc::ServerContext* context, const v1::CreateJobRequest* request, v1::Job* response) override;
  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request, v1::Job* response) override;
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override;
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::JobEvent>* writer) override;
  grpc::Status CancelJob(grpc::ServerContext* context, const v1::CancelJobRequest* request, v1::Job* response) override;

 private:
  Jobs& jobs_;
  BlobStore& blobs_;
  JobRunner& runner_;
  Metrics& metrics_;
};

// Thread-safe. All that it is given must outlive it.
class BlobsService final : public v1::Blobs::Service {
 public:
  BlobsService(BlobStore& blobs, Metrics& metrics) : blobs_(blobs), metrics_(metrics) {}

  grpc::Status FindMissingBlobs(grpc::ServerContext* context, const v1::FindMissingBlobsRequest* request,
                                v1::FindMissingBlobsResponse* response) override;
  grpc::Status Write(grpc::ServerContext* context, grpc::ServerReader<v1::WriteRequest>* reader,
                     v1::WriteResponse* response) override;
  grpc::Status QueryWrite(grpc::ServerContext* context, const v1::QueryWriteRequest* request,
                          v1::QueryWriteResponse* response) override;
  grpc::Status Read(grpc::ServerContext* context, const v1::ReadRequest* request,
                    grpc::ServerWriter<v1::ReadResponse>* writer) override;

 private:
  BlobStore& blobs_;
  Metrics& metrics_;
};

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_RPC_SERVICES_H_
