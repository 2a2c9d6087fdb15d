// SPDX-License-Identifier: Apache-2.0
#include "ir/einsum.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"

namespace halftone {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(Concat(parts...));
}

constexpr char kEllipsis = '.';

// One operand or the result: its letters, with kEllipsis where "..." stood.
absl::StatusOr<std::string> ReadTerm(std::string_view text, std::string_view equation) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (result.find(kEllipsis) != std::string::npos) return Error("two ellipses in one term of '", equation, "'");
      result += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      result += text[i];
    } else {
      return Error("character '", text.substr(i, 1), "' in equation '", equation, "', need letters, ... , and ->");
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<EinsumPlan> ParseEinsum(std::string_view equation, std::span<const int> ranks) {
  const size_t arrow = equation.find("->");
  std::vector<std::string> terms;
  std::string_view rest = equation.substr(0, arrow);
  while (true) {
    const size_t comma = rest.find(',');
    HALFTONE_ASSIGN_OR_RETURN(terms.emplace_back(), ReadTerm(rest.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (terms.size() != ranks.size()) {
    return Error("equation '", equation, "' is for ", terms.size(), " operands, there are ", ranks.size());
  }
  // Indices of an ellipsis are numbered from its last dimension.
  std::map<char, int> letters;
  std::vector<int> of_ellipsis;
  EinsumPlan plan;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find(kEllipsis) != std::string::npos;
    const int named = static_cast<int>(terms[i].size()) - (open ? 1 : 0);
    const int hidden = ranks[i] - named;
    if (hidden < 0 || (hidden > 0 && !open)) {
      return Error("operand ", i, " has rank ", ranks[i], ", equation '", equation, "' has ", named, " indices for it");
    }
    while (static_cast<int>(of_ellipsis.size()) < hidden) of_ellipsis.push_back(plan.num_indices++);
    std::vector<int>& indices = plan.inputs.emplace_back();
    for (const char c : terms[i]) {
      if (c == kEllipsis) {
        for (int k = hidden; k-- > 0;) indices.push_back(of_ellipsis[k]);
      } else {
        const auto [it, added] = letters.emplace(c, plan.num_indices);
        if (added) ++plan.num_indices;
        indices.push_back(it->second);
      }
    }
  }
  std::string result;
  if (arrow == std::string_view::npos) {
    result = kEllipsis;
    for (const auto& [letter, index] : letters) {
      int count = 0;
      for (const std::string& term : terms) count += static_cast<int>(std::count(term.begin(), term.end(), letter));
      if (count == 1) result += letter;
    }
  } else {
    HALFTONE_ASSIGN_OR_RETURN(result, ReadTerm(equation.substr(arrow + 2), equation));
  }
  for (const char c : result) {
    if (c == kEllipsis) {
      plan.output.insert(plan.output.end(), of_ellipsis.rbegin(), of_ellipsis.rend());
    } else if (!letters.contains(c)) {
      return Error("index ", std::string(1, c), " of the result of '", equation, "' is in no operand");
    } else if (std::count(result.begin(), result.end(), c) != 1) {
      return Error("index ", std::string(1, c), " stands twice in the result of '", equation, "'");
    } else {
      plan.output.push_back(letters[c]);
    }
  }
  return plan;
}

absl::StatusOr<std::vector<Dim>> EinsumSizes(const EinsumPlan& plan, std::span<const Shape> inputs) {
  std::vector<std::optional<Dim>> sizes(plan.num_indices);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int d = 0; d < inputs[i].rank(); ++d) {
      const Dim& dim = inputs[i].dim(d);
      std::optional<Dim>& size = sizes[plan.inputs[i][d]];
      if (!size.has_value() || *size == Dim::Of(1)) {
        size = dim;
      } else if (dim.known() && size->known()) {
        if (dim.value != size->value && dim.value != 1) {
          return Error("dimension ", d, " of operand ", i, " is ", dim.value, ", its index has ", size->value,
                       " elsewhere");
        }
      } else if (dim.known() && dim.value != 1) {
        size = dim;  // the unknown one is this or 1
      } else if (!dim.known() && !size->known() && size->symbol != dim.symbol) {
        size = Dim::Unknown();
      }
    }
  }
  std::vector<Dim> result;
  for (const std::optional<Dim>& size : sizes) result.push_back(size.value_or(Dim::Of(1)));
  return result;
}

}  // namespace halftone
