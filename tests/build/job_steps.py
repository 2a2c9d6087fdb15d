#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no step of a job includes a later one.

    job_steps.py FOLDER ORDER     FOLDER: optimizer/; ORDER: its headers in order (job_steps.txt), without ".h"

A file may include its own header and headers before it; tests may include all. Prints one line per violation, and one for a header
that ORDER lacks or that does not exist. Exit code 1 if there is any.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "optimizer/(\w+)\.h"', re.M)


def main():
    folder = pathlib.Path(sys.argv[1])
    order = [line.strip() for line in pathlib.Path(sys.argv[2]).read_text().splitlines() if line.strip() and not line.startswith("#")]
    place = {name: i for i, name in enumerate(order)}
    headers = {path.stem for path in folder.glob("*.h")}
    lines = [f"{name}.h: has no place in {sys.argv[2]}" for name in sorted(headers - set(order))]
    lines += [f"{name}.h: does not exist" for name in order if name not in headers]
    for path in sorted([*folder.glob("*.h"), *folder.glob("*.cc")]):
        if path.stem.endswith("_test") or path.stem not in place:
            continue
        for included in INCLUDE.findall(path.read_text()):
            if place.get(included, len(order)) > place[path.stem]:
                lines.append(f"{path.name}: includes the later {included}.h")
    print("\n".join(lines) or f"{len(order)} headers in order")
    sys.exit(1 if lines else 0)


main()
