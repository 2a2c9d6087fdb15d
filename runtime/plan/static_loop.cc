// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/static_loop.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/status.h"

namespace halftone {

StaticLoop::StaticLoop(const NestedForm& form, const std::vector<bool>& invariant, StaticPlan& body, LoopCall& call,
                       int64_t trip)
    : form_(form), body_(body), call_(call), trip_(trip), states_(call.states.size()) {
  PlaceInputs(invariant);
  body_.BindInputs(inputs_);
  FindMoves();
}

void StaticLoop::PlaceInputs(const std::vector<bool>& invariant) {
  if (form_.own_inputs > 0) inputs_.push_back(reinterpret_cast<std::byte*>(&trip_));
  if (form_.own_inputs > 1) inputs_.push_back(reinterpret_cast<std::byte*>(&go_));
  for (size_t i = 0; i < states_.size(); ++i) {
    const Tensor& tensor = call_.states[i];
    State& state = states_[i];
    state.bytes = tensor.byte_size();
    if (invariant[i]) {
      state.data = const_cast<std::byte*>(tensor.raw());  // not given away to the plan, so never written
    } else {
      state.buffer = Buffer::Allocate(state.bytes);
      state.data = state.buffer->mutable_data();
      if (state.bytes > 0) std::memcpy(state.data, tensor.raw(), state.bytes);
    }
    inputs_.push_back(state.data);
  }
  for (const Tensor& sequence : call_.sequences) {
    slices_.push_back(Buffer::Allocate(call_.trips == 0 ? 0 : sequence.byte_size() / static_cast<size_t>(call_.trips)));
    inputs_.push_back(slices_.back()->mutable_data());
  }
  for (const Tensor& captured : call_.captured) inputs_.push_back(const_cast<std::byte*>(captured.raw()));
}

void StaticLoop::FindMoves() {
  for (size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    const std::byte* from = body_.output(form_.own_outputs + i);
    if (state.buffer == nullptr || state.bytes == 0 || from == state.data) continue;
    const bool is_in_the_way = std::any_of(states_.begin(), states_.end(), [&](const State& other) {
      return other.buffer != nullptr && other.data == from;
    });
    moves_.push_back({from, state.data, state.bytes, {}});
    if (is_in_the_way) moves_.back().saved.resize(state.bytes);
  }
}

void StaticLoop::UseCondition(StaticPlan& condition) {
  condition_ = &condition;
  condition.BindInputs(std::span(inputs_).subspan(form_.own_inputs, states_.size()));
}

absl::StatusOr<bool> StaticLoop::AskCondition() {
  HALFTONE_RETURN_IF_ERROR(condition_->RunSteps());
  const DataType type = condition_->graph().type(condition_->graph().outputs()[0].value);
  const std::byte* goes_on = condition_->output(0);
  const size_t bytes = condition_->output_bytes(0);
  if (type == DataType::kBool && bytes == 1) return *goes_on != std::byte{0};
  return IsTrue(Tensor(type, condition_->output_dims(0), Buffer::View(goes_on, bytes, nullptr)));
}

absl::Status StaticLoop::RunBody() {
  for (size_t i = 0; i < slices_.size(); ++i) {
    const int64_t index = call_.sequence_reversed[i] ? call_.trips - 1 - trip_ : trip_;
    CopySlice(call_.sequences[i], call_.sequence_axes[i], index, slices_[i]->mutable_data());
  }
  HALFTONE_RETURN_IF_ERROR(body_.RunSteps());
  goes_on_ = form_.own_outputs == 0 || *body_.output(0) != std::byte{0};
  for (size_t i = 0; i < call_.scanned.size(); ++i) {
    const size_t output = form_.own_outputs + form_.states + i;
    HALFTONE_RETURN_IF_ERROR(call_.scanned[i].Add(body_.output_dims(output), body_.output(output)));
  }
  for (Move& move : moves_) {
    if (!move.saved.empty()) std::memcpy(move.saved.data(), move.from, move.bytes);
  }
  for (Move& move : moves_) std::memcpy(move.to, move.saved.empty() ? move.from : move.saved.data(), move.bytes);
  ++trip_;
  return absl::OkStatus();
}

std::vector<Tensor> StaticLoop::StateViews() const {
  std::vector<Tensor> views;
  for (size_t i = 0; i < states_.size(); ++i) {
    const Tensor& like = call_.states[i];
    views.emplace_back(like.type(), like.dims(), Buffer::View(states_[i].data, states_[i].bytes, nullptr));
  }
  return views;
}

void StaticLoop::TakeStates() {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].buffer == nullptr) continue;
    call_.states[i] = Tensor(call_.states[i].type(), call_.states[i].dims(), std::move(states_[i].buffer));
  }
}

}  // namespace halftone
