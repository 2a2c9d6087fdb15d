// SPDX-License-Identifier: Apache-2.0
// Where a written model comes from: what made it, by which policy and planner, for which CPU.
//
// Kept among what the file says about itself: rows of Graph::header() "metadata_keys" and "metadata_values", whose keys
// begin with "halftone.". ONNX files hold them in metadata_props; GraphDefs, which have no such place, in a function of
// their library that is never called (formats/tensorflow/provenance.h). Passes keep the header, so they stay with the
// graph.
#ifndef HALFTONE_IR_PROVENANCE_H_
#define HALFTONE_IR_PROVENANCE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/editor.h"
#include "ir/graph.h"

namespace halftone {

struct Provenance {
  std::string version;        // of the tool: "0.6.0"                               halftone.version
  std::string policy_sha256;  // of the canonical text of the policy, hexadecimal   halftone.policy_sha256
  std::string planner;        // "lists", "placement"; "" where nothing was planned halftone.planner
  std::string calibration;    // what the ranges of int8 are of; "" where there are none    halftone.calibration
  std::string cpu;            // model name and instruction sets                    halftone.cpu

  bool operator==(const Provenance&) const = default;
};

inline constexpr std::string_view kProvenancePrefix = "halftone.";

// Writes the fields that are not empty, in this order, after all other metadata; what an earlier run wrote is removed.
void SetProvenance(GraphEditor& edit, const Provenance& provenance);

// The fields as the graph has them; all empty where it has none.
Provenance ProvenanceOf(const Graph& graph);

// (key, value) of every row whose key begins with "halftone.", those of later versions included.
std::vector<std::pair<std::string, std::string>> ProvenanceRows(const Graph& graph);

// Appends a row to the graph's metadata (importers).
void AddMetadata(GraphEditor& edit, std::string key, std::string value);

}  // namespace halftone

#endif  // HALFTONE_IR_PROVENANCE_H_
