// SPDX-License-Identifier: Apache-2.0
// The summary of a model and the rows of a plan, as text and as JSON.
#ifndef HALFTONE_SERVER_WORKER_INSPECT_TEXT_H_
#define HALFTONE_SERVER_WORKER_INSPECT_TEXT_H_

#include <string>
#include <vector>

#include "optimizer/inspect.h"

namespace halftone::worker {

std::string SummaryText(const ModelSummary& summary, const std::string& model);
std::string SummaryJson(const ModelSummary& summary, const std::string& model);
std::string PlanText(const std::vector<PlanRow>& rows, const std::string& summary);
std::string PlanJson(const std::vector<PlanRow>& rows, const std::string& summary);

}  // namespace halftone::worker

#endif  // HALFTONE_SERVER_WORKER_INSPECT_TEXT_H_
