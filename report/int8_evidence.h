// SPDX-License-Identifier: Apache-2.0
// Evidence about an int8 variant as text: int16 saturation, quantization configurations, per-layer sensitivity.
#ifndef HALFTONE_REPORT_INT8_EVIDENCE_H_
#define HALFTONE_REPORT_INT8_EVIDENCE_H_

#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// "int16 saturation: 52 safe, 1 may saturate; on CPUs without VNNI 1 run in fp32". "" without checks.
std::string SaturationNote(const v1::Variant& variant, const v1::Environment& environment);

// One line per check: its result, the node, the smallest and the largest sum. "" without checks.
std::string SaturationTable(const v1::Variant& variant);

// The accuracy of each configuration that the search for the accuracy goal tried. "" where it tried only the user's own.
std::string ConfigTable(const v1::Report& report);

// "40.2 dB", "exact".
std::string Decibels(double sqnr_db);

// The `top` most sensitive nodes, worst first. "" where sensitivity was not measured.
std::string SensitivityTable(const v1::Report& report, int top);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_INT8_EVIDENCE_H_
