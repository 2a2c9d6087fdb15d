"""What takes turns in a scenario. A side runs one round in a fresh process and gives the round's times and what spoilt it."""

import json
import sys

from intervals import median
from programs import HERE, program, run

ORT, FP32, BF16 = "ONNX Runtime fp32", "Halftone fp32", "Halftone bf16"
SLOW_MS, SLOW_FACTOR = 300, 3  # where an inference takes longer than that, a round is so many times as long


class Side:
    """`command` times `model`; called with SAMPLES and the settings of a round, it prints JSON."""

    def __init__(self, name, command, model):
        self.name, self.command, self.model = name, [*command, model], model
        self.version = ""

    def round(self, scenario, samples, seconds):
        """(median of the inferences in ms, how many there were, reasons not to believe them)"""
        out = json.loads(run([*self.command, samples, "--seconds", seconds, "--batch", scenario.batch, "--threads", scenario.threads],
                             f"{self.name}, {scenario.name}"))
        self.version = out.get("version", "")
        return median(out["samples_ms"]), len(out["samples_ms"]), out["noise"]


def onnx_runtime(model):
    return Side(ORT, [sys.executable, HERE / "onnxruntime_round.py"], model)


def halftone(name, model):
    return Side(name, [program("halftone_round")], model)
