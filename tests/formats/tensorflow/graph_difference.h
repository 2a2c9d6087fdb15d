// SPDX-License-Identifier: Apache-2.0
// Two GraphDefs, compared.
#ifndef HALFTONE_TESTS_FORMATS_TENSORFLOW_GRAPH_DIFFERENCE_H_
#define HALFTONE_TESTS_FORMATS_TENSORFLOW_GRAPH_DIFFERENCE_H_

#include <string>

#include "formats/tensorflow/proto/graph.pb.h"
#include "google/protobuf/util/message_differencer.h"

namespace halftone {

namespace tf = ::halftone::tensorflow;

// "" if both hold the same nodes, whatever their order and that of their attributes.
inline std::string Difference(const tf::GraphDef& before, const tf::GraphDef& after) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  differencer.TreatAsMap(tf::GraphDef::descriptor()->FindFieldByName("node"),
                         tf::NodeDef::descriptor()->FindFieldByName("name"));
  differencer.TreatAsMap(tf::NodeDef::descriptor()->FindFieldByName("attr"),
                         tf::AttrEntry::descriptor()->FindFieldByName("key"));
  return differencer.Compare(before, after) ? "" : report.substr(0, 2000);
}

}  // namespace halftone

#endif  // HALFTONE_TESTS_FORMATS_TENSORFLOW_GRAPH_DIFFERENCE_H_
