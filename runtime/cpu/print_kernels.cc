// SPDX-License-Identifier: Apache-2.0
// Prints docs/reference/kernels.md.
#include <iostream>

#include "runtime/cpu/kernel_table.h"

int main() { std::cout << halftone::KernelsPage(); }
