# SPDX-License-Identifier: Apache-2.0
"""Accuracy, precision, recall and F1 of predicted classes. Pure.

Precision, recall and F1 are macro averages over the classes that occur among labels or predictions, with zero_division=0 as scikit-learn
calls it: a class that is never predicted has precision 0, a class without labels has recall 0.
"""

import collections
import dataclasses


@dataclasses.dataclass(frozen=True)
class Scores:
    accuracy: float
    precision: float
    recall: float
    f1: float


def share(part, whole):
    return part / whole if whole else 0.0


def harmonic(a, b):
    return 2 * a * b / (a + b) if a + b else 0.0


def scores(labels, predictions):
    """Both are lists of classes, one per sample. ValueError where their lengths differ."""
    if len(labels) != len(predictions) or not labels:
        raise ValueError(f"{len(predictions)} predictions for {len(labels)} labels")
    labelled, predicted = collections.Counter(labels), collections.Counter(predictions)
    correct = collections.Counter(label for label, prediction in zip(labels, predictions) if label == prediction)
    classes = sorted(set(labelled) | set(predicted))
    precisions = [share(correct[c], predicted[c]) for c in classes]
    recalls = [share(correct[c], labelled[c]) for c in classes]
    f1s = [harmonic(p, r) for p, r in zip(precisions, recalls)]
    count = len(classes)
    return Scores(sum(correct.values()) / len(labels), sum(precisions) / count, sum(recalls) / count, sum(f1s) / count)


def changed(before, after):
    """The number of samples whose class differs."""
    if len(before) != len(after):
        raise ValueError(f"{len(after)} predictions against {len(before)}")
    return sum(a != b for a, b in zip(before, after))
