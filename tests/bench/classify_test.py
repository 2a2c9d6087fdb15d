#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Precision, recall and F1 against numbers worked out by hand."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from classify import changed, scores  # noqa: E402
from harness import case, main  # noqa: E402


def near(t, actual, expected):
    t.check(abs(actual - expected) < 1e-12, f"{actual} instead of {expected}")


@case("all correct: everything is 1")
def _(t):
    s = scores([3, 1, 2, 1], [3, 1, 2, 1])
    t.equal((s.accuracy, s.precision, s.recall, s.f1), (1, 1, 1, 1))


@case("three classes of different sizes, by hand")
def _(t):
    # 0: 4 labels, 3 correct, predicted 4 times. 1: 2 labels, 1 correct, predicted twice. 2: 2 labels, 1 correct, predicted twice.
    s = scores([0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2, 2, 0])
    near(t, s.accuracy, 5 / 8)
    near(t, s.precision, (3 / 4 + 1 / 2 + 1 / 2) / 3)
    near(t, s.recall, (3 / 4 + 1 / 2 + 1 / 2) / 3)
    near(t, s.f1, (3 / 4 + 1 / 2 + 1 / 2) / 3)


@case("precision and recall are not mixed up, and F1 is computed per class before the average")
def _(t):
    # 0: precision 1 of 3, recall 1. 1: precision 1, recall 1 of 3.
    s = scores([0, 1, 1, 1], [0, 0, 0, 1])
    near(t, s.precision, (1 / 3 + 1) / 2)
    near(t, s.recall, (1 + 1 / 3) / 2)
    near(t, s.f1, 0.5)


@case("classes that are never predicted, and classes without labels, count as 0")
def _(t):
    s = scores([0, 0, 1], [0, 0, 7])
    near(t, s.accuracy, 2 / 3)
    near(t, s.precision, 1 / 3)
    near(t, s.recall, 1 / 3)
    near(t, s.f1, 1 / 3)


@case("lists of different lengths are refused")
def _(t):
    for labels, predictions in (([1], []), ([], []), ([1, 2], [1])):
        try:
            scores(labels, predictions)
        except ValueError as error:
            t.contains(str(error), "predictions for")
        else:
            t.check(False, f"{labels} {predictions}")


@case("changed counts places")
def _(t):
    t.equal(changed([1, 2, 3], [1, 3, 2]), 2)
    t.equal(changed([], []), 0)
    try:
        changed([1], [1, 2])
    except ValueError:
        return
    t.check(False, "lists of different lengths")


main()
