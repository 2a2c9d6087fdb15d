// SPDX-License-Identifier: Apache-2.0
// Sources, identities, and what only looks at a shape.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kDtype[] = {{"dtype"}};
constexpr TypeRow kCastTypes[] = {{"SrcT"}, {"DstT"}};
constexpr TypeRow kRandomTypes[] = {{"dtype"}, {"T"}};

constexpr TypeRow kListT[] = {{"T"}};

constexpr AttrRow kPlaceholderAttrs[] = {{.name = "shape", .form = kOutputShape}};
constexpr AttrRow kConstAttrs[] = {{.name = "value", .form = kTensor, .canonical = "value", .required = true}};
constexpr AttrRow kCheckAttrs[] = {{.name = "message", .form = kKeep, .required = true}};
constexpr AttrRow kEnsureAttrs[] = {{.name = "shape", .form = kKeep, .required = true}};
constexpr AttrRow kCastAttrs[] = {{.name = "Truncate", .form = kMustBe}};

// Ops of one kind: what a node without spelling becomes comes first.
constexpr OpRow kRows[] = {
    {"Placeholder", kInput, "", "dtype", kDtype, kPlaceholderAttrs},
    {"PlaceholderV2", kInput, "", "dtype", kDtype, kPlaceholderAttrs},
    {"Const", kConstant, "", "dtype", kDtype, kConstAttrs},
    {"Identity", kIdentity, "T", "T", kT, kNone},
    {"Snapshot", kIdentity, "T", "T", kT, kNone},
    {"StopGradient", kIdentity, "T", "T", kT, kNone},
    {"PreventGradient", kIdentity, "T", "T", kT, kNone},
    {"CheckNumerics", kIdentity, "T", "T", kT, kCheckAttrs},
    {"EnsureShape", kIdentity, "T", "T", kT, kEnsureAttrs},
    {"DeepCopy", kIdentity, "T", "T", kT, kNone},
    {"IdentityN", kIdentity, "T[]", "T[]", kListT, kNone, "", 0, nullptr, nullptr, "", true},
    {"Cast", kCast, "SrcT", "DstT", kCastTypes, kCastAttrs},
    {"Shape", kShape, "T", "out_type", kShapeTypes, kNone},
    {"ShapeN", kShape, "N*T", "N*out_type", kShapeTypes, kCountedN, "", 0, nullptr, nullptr, "", true},
    {"Size", kSize, "T", "out_type", kShapeTypes, kNone},
    {"Rank", kRank, "T", "s32", kT, kNone},
    {"RandomUniform", kRandomUniform, "T", "dtype", kRandomTypes, kNone, "", 0, ReadRandom},
    {"RandomStandardNormal", kRandomNormal, "T", "dtype", kRandomTypes, kNone, "", 0, ReadRandom},
};

}  // namespace

std::span<const OpRow> BasicRows() { return kRows; }

}  // namespace halftone::graphdef
