#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Status and page of dev bench --fusions."""

import dataclasses
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from evaluation import has_bf16  # noqa: E402
from fusions import FUSIONS, Row, document, page, slow  # noqa: E402
from harness import case, main  # noqa: E402


def row(fused, unfused, kernel="brgemm:avx512_core"):
    return Row(FUSIONS[0], "f32", {"us": sorted(fused)[len(fused) // 2], "turns_us": fused, "steps": [f"conv+bias {kernel}"]},
               {"us": sorted(unfused)[len(unfused) // 2], "turns_us": unfused, "steps": ["conv x", "add y"]})


FASTER, EVEN, SLOWER = row([10.0] * 5, [15.0] * 5), row([10.0] * 5, [10.1] * 5), row([10.0] * 5, [9.0] * 5)
UNSURE = row([10.0, 10.0, 10.0, 10.0, 10.0], [9.0, 9.5, 9.7, 10.4, 12.0])


@case("the status depends on the whole interval")
def _(t):
    t.equal([r.status() for r in (FASTER, EVEN, SLOWER, UNSURE)], ["PASS", "EVEN", "SLOW", "SLOW?"])
    t.equal(slow([FASTER, EVEN, SLOWER, UNSURE]), [SLOWER])


@case("a fusion that the target refuses is kept, however slow it would be")
def _(t):
    refused = dataclasses.replace(SLOWER, fuses=False)
    t.equal(refused.status(), "kept")
    t.equal(slow([refused]), [])


@case("times are compared within turns: a slow minute cancels")
def _(t):
    t.equal(row([10.0, 40.0, 10.0, 20.0], [15.0, 60.0, 15.0, 30.0]).ratio(), (1.5, 1.5, 1.5))


@case("the page has a line per row, counts them, and lists what was left out")
def _(t):
    text = page(document([FASTER, EVEN, SLOWER, UNSURE], "./dev bench --fusions", "CPU: X", 3))
    t.check("4 rows: 1 faster, 1 within 2%, 1 possibly slower (the interval contains 2%), 1 slower, 0 kept." in text, text)
    t.check("3 rows of bfloat16 were left out" in text, text)
    t.check("| f32 | 0.0100 | 0.0150 | 1.50 (1.50 .. 1.50) | PASS | brgemm:avx512_core |" in text, text)
    t.check("left out" not in page(document([FASTER], "./dev bench --fusions", "CPU: X", 0)), "nothing was left out")


@case("bfloat16 by the kernel's flags")
def _(t):
    t.equal([has_bf16({"flags": flags}) for flags in ("fpu avx2", "fpu avx512_bf16", "amx_bf16", "")], [False, True, True, False])


main()
