// What is known of an int8 variant beside its answers: saturation certificates, configs, and what each node costs alone.
#ifndef HALFTONE_REPORT_INT8_EVIDENCE_H_
#define HALFTONE_REPORT_INT8_EVIDENCE_H_

#include <string>

#include "halftone/v1/report.pb.h"

namespace halftone::report {

// "saturation: 52 layers proved, 1 with 7 bits; ...", and what that means on this CPU. "" without certificates.
std::string SaturationNote(const v1::Variant& variant, const v1::Environment& environment);

// A line for each certificate: its name, the node, the smallest and the largest sum. "" without certificates.
std::string SaturationText(const v1::Variant& variant);

// What each config of the search after an accuracy goal came to. "" where it tried none but the user's own.
std::string ConfigTable(const v1::Report& report);

// "40.2 dB", "exact".
std::string Decibels(double sqnr_db);

// The SQNR of the `top` nodes that cost most alone, worst first. "" where it was not measured.
std::string SensitivityTable(const v1::Report& report, int top);

}  // namespace halftone::report

#endif  // HALFTONE_REPORT_INT8_EVIDENCE_H_
