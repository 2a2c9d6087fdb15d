# SPDX-License-Identifier: Apache-2.0
"""Compares --int8 results with their targets: speed from rounds, accuracy from predicted classes. Pure."""

from int8_models import INT8_SHARE, LEAST_SQNR_DB, MOST_DIFFERENT_CLASSES, OVER_ORT_INT8
from intervals import median, ratio_of_rounds
from evaluation import DISTURBED_SHARE, is_invalid, status
from sides import ORT

ORT_INT8, INT8 = "ONNX Runtime int8", "Halftone int8"
DIFFERENT_CLASSES = "different classes in ONNX Runtime"


def evaluate_speed(net, times, sqnr_db, seed, facts, disturbed_rounds=0):
    """{"fp32": {...}, "int8": {...}}: our int8 file against ONNX Runtime's fp32 and against its fastest int8 file.

    `times`: {side: [ms per round]}. `sqnr_db`: our outputs against ONNX Runtime's in fp32. It is ignored for trained nets, whose accuracy
    int8_accuracy.py measures.
    """
    invalid = is_invalid(net.scenario, median(times[ORT]), facts)
    disturbed = disturbed_rounds > DISTURBED_SHARE * len(times[ORT])
    accurate = net.trained or sqnr_db >= LEAST_SQNR_DB
    result = {}
    for key, side, target, limit in (("fp32", ORT, net.speed.fp32, net.speed.limit), ("int8", ORT_INT8, OVER_ORT_INT8, None)):
        ratio = ratio_of_rounds(times[side], times[INT8], seed)
        result[key] = {"speed": ratio[0], "low": ratio[1], "high": ratio[2], "target": target, "limit": limit,
                       "status": status(ratio, target, accurate, invalid, disturbed)}
    return result


def correct_predictions(labels, classes):
    return sum(label == predicted for label, predicted in zip(labels, classes, strict=True))


def agreement(reference, classes):
    """The share of samples with the same class."""
    return sum(a == b for a, b in zip(reference, classes, strict=True)) / len(reference)


def at_least(what, value, target):
    return {"what": what, "value": value, "target": target, "met": value is not None and value >= target - 1e-9}


def at_most(what, value, target):
    return {"what": what, "value": value, "target": target, "met": value is not None and value <= target + 1e-9}


def evaluate_accuracy(net, found):
    """[{"what", "value", "target", "met"}] for a net. `found` is what int8_accuracy.py measured: labels and predicted classes of fp32,
    engine (our int8 file in our engine), onnxruntime (our int8 file in ONNX Runtime; None: it did not run), the same two for the file with
    --target-runtime onnxruntime, peers {method: classes}; and int8_share. What was not measured is not met."""
    samples, labels = len(found["labels"]), found["labels"]
    lost = correct_predictions(labels, found["fp32"]) - correct_predictions(labels, found["engine"])
    checks = [at_most("correct predictions lost", lost, int(net.top1_drop * samples + 1e-9))]
    if net.beat_quantizer:
        best = max(agreement(found["fp32"], classes) for classes in found["peers"].values())
        checks.append(at_least("agreement with fp32", agreement(found["fp32"], found["engine"]), best))
    # A file that stayed fp32 has no accuracy loss: the targets count only for a file that computes in int8.
    checks.append(at_least("MACs in int8", found["int8_share"], INT8_SHARE))
    for file, engine, onnxruntime in (("", found["engine"], found["onnxruntime"]),
                                      (", --target-runtime onnxruntime", found["engine_for_runtime"], found["onnxruntime_for_runtime"])):
        different = None if onnxruntime is None else sum(a != b for a, b in zip(engine, onnxruntime, strict=True))
        checks.append(at_most(f"{DIFFERENT_CLASSES}{file}", different, int(MOST_DIFFERENT_CLASSES * samples + 1e-9)))
    return checks


def counted(checks):
    """(met, all)"""
    return sum(v["met"] for v in checks), len(checks)
