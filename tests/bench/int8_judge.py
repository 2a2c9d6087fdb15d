"""The verdicts of dev bench --int8: speed from rounds, accuracy from classes. Pure."""

from int8_models import INT8_SHARE, LEAST_SQNR_DB, MOST_CLASSES_ELSEWHERE, OVER_OWN_QUANTIZER
from intervals import median, ratio_of_rounds
from judge import DISTURBED_SHARE, is_void, word
from sides import ORT

ORT_INT8, INT8 = "ONNX Runtime int8", "Halftone int8"
OTHER_CLASSES = "other classes in ONNX Runtime"


def judge_speed(net, times, sqnr_db, seed, facts, disturbed_rounds=0):
    """{"fp32": {...}, "int8": {...}}: our int8 file against ONNX Runtime's fp32 and against its fastest int8 file.

    `times`: {side: [ms of each round]}. `sqnr_db`: our answers against ONNX Runtime's in fp32; where a net is trained the accuracy tables
    judge them instead.
    """
    void = is_void(net.scenario, median(times[ORT]), facts)
    disturbed = disturbed_rounds > DISTURBED_SHARE * len(times[ORT])
    right = net.trained or sqnr_db >= LEAST_SQNR_DB
    result = {}
    for key, side, bar, limit in (("fp32", ORT, net.speed.fp32, net.speed.limit), ("int8", ORT_INT8, OVER_OWN_QUANTIZER, None)):
        ratio = ratio_of_rounds(times[side], times[INT8], seed)
        result[key] = {"speed": ratio[0], "low": ratio[1], "high": ratio[2], "bar": bar, "limit": limit,
                       "word": word(ratio, bar, right, void, disturbed)}
    return result


def right_answers(labels, classes):
    return sum(label == answer for label, answer in zip(labels, classes, strict=True))


def agreement(reference, classes):
    """The share of samples with the same class."""
    return sum(a == b for a, b in zip(reference, classes, strict=True)) / len(reference)


def at_least(what, value, bar):
    return {"what": what, "value": value, "bar": bar, "met": value is not None and value >= bar - 1e-9}


def at_most(what, value, bar):
    return {"what": what, "value": value, "bar": bar, "met": value is not None and value <= bar + 1e-9}


def judge_accuracy(net, found):
    """[{"what", "value", "bar", "met"}] of what int8_accuracy.py has found for a net: labels, fp32, engine, elsewhere (None: ONNX Runtime
    did not run our file), the same two of the file that was made for it, peers {method: classes}, int8_share. What was not measured is not
    met."""
    samples, labels = len(found["labels"]), found["labels"]
    lost = right_answers(labels, found["fp32"]) - right_answers(labels, found["engine"])
    verdicts = [at_most("images lost", lost, int(net.top1_drop * samples + 1e-9))]
    if net.beat_quantizer:
        best = max(agreement(found["fp32"], classes) for classes in found["peers"].values())
        verdicts.append(at_least("agreement with fp32", agreement(found["fp32"], found["engine"]), best))
    # A file that stayed fp32 loses nothing: every bar is about a file that computes in int8.
    verdicts.append(at_least("multiply-adds in int8", found["int8_share"], INT8_SHARE))
    for file, engine, elsewhere in (("", found["engine"], found["elsewhere"]),
                                    (", --target-runtime onnxruntime", found["engine_for_runtime"], found["elsewhere_for_runtime"])):
        others = None if elsewhere is None else sum(a != b for a, b in zip(engine, elsewhere, strict=True))
        verdicts.append(at_most(f"{OTHER_CLASSES}{file}", others, int(MOST_CLASSES_ELSEWHERE * samples + 1e-9)))
    return verdicts


def counted(verdicts):
    """(met, asked)"""
    return sum(v["met"] for v in verdicts), len(verdicts)
