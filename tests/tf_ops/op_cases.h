// SPDX-License-Identifier: Apache-2.0
// Cases of one TensorFlow op each, from text. The format (written by make_cases.py and make_integer_cases.py):
//
//   case NAME                      op OP                       types f32,bf16
//   in TYPE FILL DIMS              a placeholder with the values of Fill(); TYPE may be $T
//   const TYPE DIMS | VALUES       a constant
//   attr NAME KIND VALUE
//   expect DIMS | VALUES           one line per output
#ifndef HALFTONE_TESTS_TF_OPS_OP_CASES_H_
#define HALFTONE_TESTS_TF_OPS_OP_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tensorflow/proto/graph.pb.h"
#include "ir/tensor.h"

namespace halftone::testing {

struct OpCase {
  struct Input {
    bool is_constant = false;
    std::string type, fill;
    std::vector<int64_t> dims;
    std::vector<double> values;
  };
  struct Attr {
    std::string name, kind, value;
  };
  struct Expected {
    std::vector<int64_t> dims;
    std::vector<double> values;
  };

  std::string file;
  int line = 0;
  std::string name, op;
  std::vector<std::string> types;
  std::vector<Input> inputs;
  std::vector<Attr> attrs;
  std::vector<Expected> expected;
};

// The cases of cases.txt and integer_cases.txt. Malformed lines are test failures.
std::vector<OpCase> ReadCases();

Tensor Convert(const std::vector<double>& values, const std::vector<int64_t>& dims, DataType type);

// The file of one case, whose node is "y"; `fed` gets the tensors of its placeholders.
tensorflow::GraphDef FileOf(const OpCase& c, DataType type, std::vector<Tensor>& fed);

}  // namespace halftone::testing

#endif  // HALFTONE_TESTS_TF_OPS_OP_CASES_H_
