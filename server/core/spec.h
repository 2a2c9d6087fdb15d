// SPDX-License-Identifier: Apache-2.0
// Checks the form of a JobSpec, and lists the blobs that it names. Whether a file is a model, the child finds out.
// Thread-safe: functions of their arguments.

#ifndef HALFTONE_SERVER_CORE_SPEC_H_
#define HALFTONE_SERVER_CORE_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "halftone/v1/jobs.pb.h"
#include "server/core/errors.h"

namespace halftone::server {

// Every field that is wrong, with paths that begin with "spec". Empty: the spec is well-formed.
std::vector<FieldViolation> CheckSpec(const v1::JobSpec& spec);

// What is wrong with a digest; empty: nothing.
std::string DigestProblem(const v1::Digest& digest);

// What is wrong with a file name (see File.path); empty: nothing.
std::string FileNameProblem(std::string_view path);

// All files that the job reads, in the spec's order. Two may be the same blob.
std::vector<v1::File> FilesOf(const v1::JobSpec& spec);

// "optimize", "inspect", "run", "bench" or "profile"; "none" for an empty spec.
std::string_view KindOf(const v1::JobSpec& spec);

// "jobs/" and 32 lower-case hexadecimal digits.
bool IsJobName(std::string_view name);
std::string NewJobName();

bool IsFinal(v1::JobState state);

// "running": for logs and metrics.
std::string StateName(v1::JobState state);

}  // namespace halftone::server

#endif  // HALFTONE_SERVER_CORE_SPEC_H_
