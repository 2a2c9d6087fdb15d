# SPDX-License-Identifier: Apache-2.0
"""Models, scenarios and targets of dev bench. All of it is data.

A target is a speed-up over ONNX Runtime fp32 in the same scenario. Its limit is the speed-up that oneDNN 3.7.2's primitives alone reach on the
reference machine (AMD EPYC Zen 4, AVX512_BF16), computed from the sum of their times there. The reference times of ONNX Runtime 1.21 are from
the same machine: on that CPU a result is INVALID where ONNX Runtime is slower than its reference time by more than REFERENCE_SLACK.
"""

import dataclasses
import os
import pathlib

TWO_THREADS_SHARE = 0.95  # of the targets for one thread
REFERENCE_SLACK = 0.10
REFERENCE_CPU = {"vendor_id": "AuthenticAMD", "cpu family": "25"}  # and a flag: Zen 3 has the family too
REFERENCE_FLAG = "avx512_bf16"
FP32_SQNR_DB = 90.0  # our fp32 outputs against ONNX Runtime's, at least


@dataclasses.dataclass(frozen=True)
class Input:
    """Seeded random numbers: normal, or, with `below`, integers from 0 (`fill` is in their place a constant)."""
    name: str
    dims: tuple  # "N": the batch
    below: int = 0
    fill: int | None = None


@dataclasses.dataclass(frozen=True)
class Target:
    fp32: float
    bf16: float
    fp32_limit: float | None = None
    bf16_limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    inputs: tuple
    bf16_sqnr_db: float  # of the worst output, at least: about 5 dB below what rounding alone makes of these weights
    target: Target
    reference_ms: dict  # {(batch, threads): ONNX Runtime on the reference machine}
    batch16: Target | None = None
    file: str = ""  # in the folder of shared data; empty: exported by tests/models/export_torch.py


def image(size=224, name="input", first="N"):
    return (Input(name, (first, 3, size, size)),)


SEQUENCE = (Input("input", (100, 50, 128)),)
TOKENS = (Input("input_ids", ("N", 128), below=30522), Input("attention_mask", ("N", 128), fill=1))
REAL = "models/imagenet/"

MODELS = {m.name: m for m in [
    Model("resnet50", image(), 36, Target(1.03, 2.0, 1.08, 2.13), {(1, 1): 74.7, (1, 2): 37.7, (16, 1): 1190},
          batch16=Target(1.02, 1.95, 1.04, 2.08)),
    Model("mobilenet_v2", image(), 32, Target(1.08, 1.85, 1.16, 2.0), {(1, 1): 6.8, (1, 2): 3.8, (16, 1): 120},
          batch16=Target(1.03, 1.95, 1.09, 2.11)),
    Model("efficientnet_b0", image(), 33, Target(1.6, 2.6, 1.63, 2.4), {(1, 1): 16.1, (1, 2): 14.5}),
    Model("densenet121", image(), 31, Target(1.05, 2.0, 1.13, 2.2), {(1, 1): 57.0, (1, 2): 57.3}),
    Model("inception_v3", image(299), 24, Target(1.02, 2.0, 1.07, 2.1), {(1, 1): 102.6, (1, 2): 62.7}),
    Model("googlenet", image(), 25, Target(1.02, 1.9, 1.08, 2.0), {(1, 1): 27.1, (1, 2): 14.6}),
    Model("shufflenet_v2_x1_0", image(), 32, Target(1.25, 2.3, 1.35, 2.4), {(1, 1): 4.24, (1, 2): 3.10}),
    Model("vgg16", image(), 36, Target(0.96, 1.9, 0.99, 2.0), {(1, 1): 285, (1, 2): 146}),
    Model("bert_base", TOKENS, 33, Target(1.07, 2.1, 1.13, 2.24), {(1, 1): 225, (1, 2): 119}),
    Model("gru", SEQUENCE, 40, Target(1.2, 2.1, 1.29, 2.3), {(1, 1): 93, (1, 2): 70}),
    Model("lstm", SEQUENCE, 35, Target(1.05, 1.9, 1.11, 2.04), {(1, 1): 98, (1, 2): 51}),
    Model("squeezenet", image(name="data_0", first=1), 32, Target(0.98, 1.85, 1.02, 1.98), {(1, 1): 6.4},
          file=REAL + "squeezenet_fp32_from_fp16.onnx"),
    Model("tiny_darknet", image(name="image"), 20, Target(1.0, 1.9, 1.04, 2.0), {(1, 1): 9.0}, file=REAL + "tiny_darknet_imagenet.onnx"),
]}


@dataclasses.dataclass(frozen=True)
class Scenario:
    model: Model
    batch: int = 1
    threads: int = 1

    @property
    def name(self):
        return f"{self.model.name}-b{self.batch}-t{self.threads}"

    @property
    def setting(self):
        return describe(self.batch, self.threads)

    @property
    def target(self):
        """None where the setting has no target."""
        target = {1: self.model.target, 16: self.model.batch16}.get(self.batch)
        if target is None or self.threads not in (1, 2):
            return None
        if self.threads == 1:
            return target
        return Target(TWO_THREADS_SHARE * target.fp32, TWO_THREADS_SHARE * target.bf16)

    @property
    def reference_ms(self):
        return self.model.reference_ms.get((self.batch, self.threads))

    def shapes(self):
        for i in self.model.inputs:
            yield i, tuple(self.batch if d == "N" else d for d in i.dims)


def describe(batch, threads):
    return f"batch {batch}, {'one thread' if threads == 1 else f'{threads} threads'}"


def all_scenarios(models=None):
    """All scenarios with a target, the most informative first."""
    chosen = [m for m in MODELS.values() if not models or m.name in models]
    return [Scenario(m, batch, threads) for threads in (1, 2) for batch in (1, 16) for m in chosen
            if Scenario(m, batch, threads).target is not None]


def shared_file(model):
    """Where a model of the folder of shared data lies; None without it."""
    folder = os.environ.get("HALFTONE_SHARED", "")
    path = pathlib.Path(folder, "data", model.file) if folder else None
    return path if path and path.exists() else None
