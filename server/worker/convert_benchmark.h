// SPDX-License-Identifier: Apache-2.0
// What was measured, as plain data <-> as messages of the public contract.
#ifndef HALFTONE_SERVER_WORKER_CONVERT_BENCHMARK_H_
#define HALFTONE_SERVER_WORKER_CONVERT_BENCHMARK_H_

#include "halftone/v1/benchmark.pb.h"
#include "halftone/v1/jobs.pb.h"
#include "optimizer/result.h"

namespace halftone::worker {

BenchmarkOptions ToBenchmarkOptions(const v1::BenchmarkSpec& spec);

v1::BenchmarkProcess ToProto(const RoundResult& result);
RoundResult FromProto(const v1::BenchmarkProcess& proto);

// `batch`: that ran.
v1::Benchmark ToProto(const BenchmarkResult& result, int64_t batch);
v1::BenchmarkRun ToProto(const BenchmarkRunResult& run, const std::vector<VariantResult>& variants,
                         const BenchmarkOptions& options);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_CONVERT_BENCHMARK_H_
