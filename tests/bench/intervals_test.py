#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statistics of dev bench."""

import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from harness import case, main  # noqa: E402
from intervals import median, ratio_of_rounds  # noqa: E402


@case("the median of an odd and an even number of values")
def _(t):
    t.equal(median([5, 1, 3]), 3)
    t.equal(median([4, 1, 3, 2]), 2.5)


@case("a constant ratio has an interval without width, whatever the rounds have in common")
def _(t):
    below = [10.0, 20.0, 12.0, 40.0, 11.0]
    t.equal(ratio_of_rounds([2 * b for b in below], below, seed=1), (2.0, 2.0, 2.0))


@case("fewer than 3 rounds have no interval; rounds that are no pairs are refused")
def _(t):
    t.equal(ratio_of_rounds([2.0, 4.0], [1.0, 2.0], seed=1), (2.0, None, None))
    try:
        ratio_of_rounds([1.0], [1.0, 2.0], seed=1)
    except ValueError:
        return
    t.check(False, "1 round against 2 was accepted")


@case("the interval depends only on rounds and seed")
def _(t):
    above, below = [1.1, 1.3, 1.2, 1.25, 1.05], [1.0, 1.02, 0.99, 1.0, 1.01]
    t.equal(ratio_of_rounds(above, below, seed=5), ratio_of_rounds(above, below, seed=5))


@case("the interval holds the true ratio in about 95 of 100 benchmarks")
def _(t):
    generator, hits, trials = random.Random(3), 0, 60
    for trial in range(trials):
        below = [generator.lognormvariate(0, 0.05) for _ in range(11)]
        above = [1.5 * b * generator.lognormvariate(0, 0.02) for b in below]
        _, low, high = ratio_of_rounds(above, below, seed=trial)
        hits += low <= 1.5 <= high
    t.check(hits >= 52, f"{hits} of {trials}")


main()
