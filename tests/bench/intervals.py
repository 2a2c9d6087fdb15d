# SPDX-License-Identifier: Apache-2.0
"""Medians, and the confidence interval of a ratio of paired rounds. The same method as runtime/measure/statistics.h."""

import random

RESAMPLES = 10000
CONFIDENCE = 0.95


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ratio_of_rounds(above, below, seed):
    """Median over rounds of above / below, with its percentile bootstrap interval: (ratio, low, high).

    Both hold one number per round, of the same rounds. Rounds are resampled, not samples: a slow minute is in both numbers of its
    round and cancels in the ratio. With fewer than 3 rounds low and high are None.
    """
    if len(above) != len(below) or not above:
        raise ValueError(f"{len(above)} rounds against {len(below)}")
    ratios = [a / b for a, b in zip(above, below)]
    if len(ratios) < 3:
        return median(ratios), None, None
    generator = random.Random(seed)
    resampled = sorted(median(generator.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return median(ratios), resampled[tail], resampled[RESAMPLES - 1 - tail]
