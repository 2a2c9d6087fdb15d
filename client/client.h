// SPDX-License-Identifier: Apache-2.0
// The client library: everything a program needs to use a Halftone server.
//
//   HALFTONE_ASSIGN_OR_RETURN(auto client, Client::Connect({.address = "localhost:50051"}));
//   HALFTONE_ASSIGN_OR_RETURN(LocalBlob model, DescribeFile("model.onnx"));
//   HALFTONE_RETURN_IF_ERROR(client->Upload({&model, 1}, {}));
//   HALFTONE_ASSIGN_OR_RETURN(v1::Job job, client->CreateJob(spec, NewRequestId()));
//   HALFTONE_ASSIGN_OR_RETURN(job, client->WatchJob(job.name(), 0, {}));
#ifndef HALFTONE_CLIENT_CLIENT_H_
#define HALFTONE_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/backoff.h"
#include "client/cancellation.h"
#include "client/pending_file.h"
#include "grpcpp/channel.h"
#include "halftone/v1/blobs.grpc.pb.h"
#include "halftone/v1/model_optimizer.grpc.pb.h"

namespace halftone::client {

struct ClientOptions {
  std::string address;  // HOST:PORT or unix:PATH
  absl::Duration connect_timeout = absl::Seconds(10);
  absl::Duration call_timeout = absl::Seconds(30);  // of one attempt of a call that is not a stream
  RetryPolicy retry;
  Cancellation* cancellation = nullptr;  // not owned; must outlive the client
};

// A file of this machine and the name of its bytes.
struct LocalBlob {
  std::string path;
  v1::Digest digest;
};

// Reads the file once, piece by piece. NOT_FOUND, or INVALID_ARGUMENT when it is no regular file.
absl::StatusOr<LocalBlob> DescribeFile(const std::string& path);

// 32 random hexadecimal digits.
std::string NewRequestId();

// Bytes done, bytes in all.
using ByteProgress = std::function<void(int64_t, int64_t)>;
using OnJobEvent = std::function<void(const v1::JobEvent&)>;

bool IsFinal(v1::JobState state);

// Thread-safe: any method from any thread; callbacks run in the calling thread. Calls that may be repeated are repeated
// while the server is UNAVAILABLE, with back-off, until RetryPolicy::give_up_after; cancelled calls return CANCELLED.
class Client {
 public:
  // INVALID_ARGUMENT: not an address. UNAVAILABLE: the server is unreachable.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  const std::string& address() const { return options_.address; }

  absl::StatusOr<v1::Capabilities> GetCapabilities();
  // OK when the whole server is serving, by grpc.health.v1.Health; UNAVAILABLE when it says that it is not.
  absl::Status CheckHealth(absl::Duration timeout);

  // The same id and spec give the same job, also when the first response was lost.
  absl::StatusOr<v1::Job> CreateJob(const v1::JobSpec& spec, const std::string& request_id);
  absl::StatusOr<v1::Job> GetJob(const std::string& name);
  absl::StatusOr<v1::Job> CancelJob(const std::string& name);
  // Newest first, at most `limit`; `state` unspecified: all.
  absl::StatusOr<std::vector<v1::Job>> ListJobs(v1::JobState state, int limit);

  // Calls `on_event` for each event after `after_seq`, each once and in order, and returns the finished job. A stream
  // that breaks is opened again after the last event seen.
  absl::StatusOr<v1::Job> WatchJob(const std::string& name, int64_t after_seq, const OnJobEvent& on_event);

  // Sends what the server does not have, from where the server says.
  absl::Status Upload(std::span<const LocalBlob> blobs, const ByteProgress& progress);

  // Fetches a blob into a file that is not committed yet; its digest was checked (else DATA_LOSS).
  absl::StatusOr<PendingFile> Download(const v1::Digest& digest, const std::string& path, const ByteProgress& progress);

  // A small blob as bytes (RESOURCE_EXHAUSTED when it is larger than `max_bytes`).
  absl::StatusOr<std::string> ReadBlob(const v1::Digest& digest, int64_t max_bytes);

 private:
  explicit Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel);

  absl::Status UploadOne(const LocalBlob& blob, const std::function<void(int64_t)>& on_sent);
  absl::StatusOr<int64_t> WriteFrom(int fd, const LocalBlob& blob, int64_t offset,
                                    const std::function<void(int64_t)>& on_sent);
  absl::Status ReadAll(const v1::Digest& digest, const std::function<absl::Status(absl::string_view)>& sink);

  bool cancelled() const { return options_.cancellation != nullptr && options_.cancellation->cancelled(); }
  // CANCELLED when this side has cancelled, else the status.
  absl::Status WithContext(absl::Status status) const;

  // One call that is not a stream, repeated while the server is UNAVAILABLE.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request);

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::ModelOptimizer::StubInterface> jobs_;
  const std::unique_ptr<v1::Blobs::StubInterface> blobs_;
};

}  // namespace halftone::client

#endif  // HALFTONE_CLIENT_CLIENT_H_
