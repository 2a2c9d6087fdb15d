// SPDX-License-Identifier: Apache-2.0
// A set of enumerators that can be a constant of a table.
#ifndef HALFTONE_RUNTIME_PLAN_ENUM_SET_H_
#define HALFTONE_RUNTIME_PLAN_ENUM_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace halftone {

// Of the enumerators 0 to kCount - 1 of E.
template <typename E, int kCount>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> members) {
    for (const E member : members) words_[Word(member)] |= Bit(member);
  }

  constexpr bool Has(E member) const { return (words_[Word(member)] & Bit(member)) != 0; }
  constexpr EnumSet operator|(const EnumSet& other) const {
    EnumSet result = *this;
    for (size_t i = 0; i < words_.size(); ++i) result.words_[i] |= other.words_[i];
    return result;
  }
  constexpr bool operator==(const EnumSet&) const = default;

 private:
  static constexpr size_t Word(E member) { return static_cast<size_t>(member) / 64; }
  static constexpr uint64_t Bit(E member) { return uint64_t{1} << static_cast<size_t>(member) % 64; }

  std::array<uint64_t, (kCount + 63) / 64> words_{};
};

}  // namespace halftone

#endif  // HALFTONE_RUNTIME_PLAN_ENUM_SET_H_
