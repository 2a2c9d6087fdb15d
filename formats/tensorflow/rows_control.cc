// SPDX-License-Identifier: Apache-2.0
// Control flow as frozen graphs write it, TensorArrays, and calls of functions.

#include "formats/tensorflow/row_parts.h"

namespace halftone::graphdef {
namespace {

using enum OpKind;
using enum AttrForm;

constexpr TypeRow kDtype[] = {{"dtype"}};

constexpr AttrRow kEnterAttrs[] = {{.name = "frame_name", .form = kKeep, .required = true}};
constexpr AttrRow kArrayAttrs[] = {{.name = "dtype", .form = kKeep, .required = true}};

constexpr OpRow kRows[] = {
    {"Enter", kEnter, "T", "T", kT, kEnterAttrs},
    {"Exit", kExit, "T", "T", kT, kNone},
    {"Merge", kMerge, "N*T", "T,s32", kT, kCountedN},
    {"Switch", kSwitch, "T,bool", "T,T", kT, kNone},
    {"NextIteration", kNextIteration, "T", "T", kT, kNone},
    {"LoopCond", kLoopCond, "bool", "bool", kNoTypes, kNone},
    {"NoOp", kNoOp, "", "", kNoTypes, kNone},
    {"TensorArrayV3", kTensorArray, "s32", "resource,f32", kNoTypes, kArrayAttrs},
    {"TensorArrayWriteV3", kTensorArrayWrite, "resource,s32,T,f32", "f32", kT, kNone},
    {"TensorArrayReadV3", kTensorArrayRead, "resource,s32,f32", "dtype", kDtype, kNone},
    {"TensorArrayGatherV3", kTensorArrayGather, "resource,s32,f32", "dtype", kDtype, kNone},
    {"TensorArrayScatterV3", kTensorArrayScatter, "resource,s32,T,f32", "f32", kT, kNone},
    {"TensorArraySizeV3", kTensorArraySize, "resource,f32", "s32", kNoTypes, kNone},
    {"TensorArrayConcatV3", kTensorArrayConcat, "resource,f32", "dtype,s64", kDtype, kNone},
    {"TensorArraySplitV3", kTensorArraySplit, "resource,T,s64,f32", "f32", kT, kNone},
};

}  // namespace

std::span<const OpRow> ControlRows() { return kRows; }

}  // namespace halftone::graphdef
