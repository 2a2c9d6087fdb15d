# SPDX-License-Identifier: Apache-2.0
"""The sides of a scenario: engine and model file. A side runs one round in a fresh process and returns its times and what disturbed it."""

import json
import sys

from cores import choose
from intervals import median
from programs import HERE, program, run

ORT, FP32, BF16 = "ONNX Runtime fp32", "Halftone fp32", "Halftone bf16"
LEAST_SAMPLES = 3  # of a round, however long an inference takes


class Side:
    """`command` times `model`; called with SAMPLES and the settings of a round, it prints JSON."""

    def __init__(self, name, command, model):
        self.name, self.command, self.model = name, [*command, model], model
        self.facts = {}  # of the last round

    def round(self, scenario, samples, seconds):
        """(median ms, reasons why the round is unreliable). The process also reports facts of the side."""
        out = json.loads(run([*self.command, samples, "--seconds", seconds, "--samples", LEAST_SAMPLES, "--batch", scenario.batch, "--cores",
                              choose(scenario.threads)], f"{self.name}, {scenario.name}"))
        self.facts = out
        return median(out["samples_ms"]), out["noise"]


def onnx_runtime(model):
    return Side(ORT, [sys.executable, HERE / "onnxruntime_round.py"], model)


def halftone(name, model):
    return Side(name, [program("halftone_round")], model)
