"""Accuracy, precision, recall and F1 of classes against labels. Pure.

Precision, recall and F1 are means over the classes that occur among labels or answers, each class alike; a class that is never answered has
precision 0, one that has no label recall 0 (what scikit-learn calls macro, with zero_division=0).
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


def scores(labels, answers):
    """Both are lists of classes, one a sample. ValueError where they do not belong together."""
    if len(labels) != len(answers) or not labels:
        raise ValueError(f"{len(answers)} answers for {len(labels)} labels")
    labelled, answered = collections.Counter(labels), collections.Counter(answers)
    right = collections.Counter(label for label, answer in zip(labels, answers) if label == answer)
    classes = sorted(set(labelled) | set(answered))
    precisions = [share(right[c], answered[c]) for c in classes]
    recalls = [share(right[c], labelled[c]) for c in classes]
    f1s = [harmonic(p, r) for p, r in zip(precisions, recalls)]
    count = len(classes)
    return Scores(sum(right.values()) / len(labels), sum(precisions) / count, sum(recalls) / count, sum(f1s) / count)


def changed(before, after):
    """How many samples have another class."""
    if len(before) != len(after):
        raise ValueError(f"{len(after)} answers against {len(before)}")
    return sum(a != b for a, b in zip(before, after))
