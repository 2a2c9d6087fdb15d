# SPDX-License-Identifier: Apache-2.0
"""The nets of the headline table, and what Paddle and TensorFlow publish about them. All of it is data."""

import dataclasses

from scenarios import SEQUENCE, Model, image

# Weights are random, but of a size that keeps activations near variance 1: bf16 must stay as near as for other such nets.
NETS = {m.name: m for m in [
    Model("resnet50", image(), 36, None, {}),
    Model("resnet101", image(), 33, None, {}),
    Model("resnet50_v2", image(), 30, None, {}),
    Model("resnet101_v2", image(), 27, None, {}),
    Model("mobilenet_v1", image(), 30, None, {}),
    Model("mobilenet_v2", image(), 32, None, {}),
    Model("googlenet", image(), 25, None, {}),
    Model("gru", SEQUENCE, 40, None, {}),
]}
TITLES = {"resnet50": "ResNet50 v1.5", "resnet101": "ResNet101 v1.5", "resnet50_v2": "ResNet50 v2", "resnet101_v2": "ResNet101 v2",
          "mobilenet_v1": "MobileNetV1", "mobilenet_v2": "MobileNetV2", "googlenet": "GoogLeNet", "gru": "GRU"}
OWN_BATCH = {"gru": 50}  # the fixed batch of the exported net
BATCHES, THREADS = (1, 128), (1, 2)


@dataclasses.dataclass(frozen=True)
class Claim:
    net: str      # a title
    who: str
    ratio: float  # speed in bf16 / in fp32
    conditions: str
    accuracy: str = ""
    batch: int = 1
    threads: int | None = None  # None: theirs are not ours, all of a socket
    fps: tuple = ()             # fp32, bf16

    def fits(self, batch, threads):
        """Whether a measurement has its batch and, where they are published, its threads."""
        return batch == self.batch and self.threads in (None, threads)

    def ratio_text(self):
        return f"{self.ratio:.2f}" + (f" ({self.fps[0]} -> {self.fps[1]} fps)" if self.fps else "")


PADDLE, PADDLE_ONE, PADDLE_GRU = "Paddle", "Xeon 8371HC, 1 thread, batch 1", "Xeon 8371HC, {}, batch 50"
TENSORFLOW, FIXED, COOPER_LAKE = "TensorFlow 2.4", "TensorFlow PR 43613", "Cooper Lake, batch 128"
CLAIMS = [
    Claim("ResNet50 v1.5", PADDLE, 1.85, PADDLE_ONE, "falls by 0.00091", threads=1),
    Claim("GoogLeNet", PADDLE, 1.61, PADDLE_ONE, "falls by 0.00014", threads=1),
    Claim("MobileNetV1", PADDLE, 1.71, PADDLE_ONE, "falls by 0.00099", threads=1),
    Claim("MobileNetV2", PADDLE, 1.52, PADDLE_ONE, "falls by 0.00264", threads=1),
    Claim("GRU", PADDLE, 1.56, PADDLE_GRU.format("1 thread"), "F1 0.89326 -> 0.89341", batch=50, threads=1),
    Claim("GRU", PADDLE, 1.30, PADDLE_GRU.format("4 threads"), "F1 0.89326 -> 0.89341", batch=50, threads=4),
    Claim("ResNet50 v2", TENSORFLOW, 1.70, COOPER_LAKE, batch=128, fps=(1313, 2239)),
    Claim("ResNet101 v2", TENSORFLOW, 1.78, COOPER_LAKE, batch=128, fps=(710, 1265)),
    Claim("ResNet50 v2", FIXED, 1.58, "the same net", "top-1 0.6964 -> 0.6985", batch=128),
    Claim("ResNet101 v2", FIXED, 1.773, "the same net", "top-1 0.7187 -> 0.7205", batch=128),
]


def claim_text(claim):
    return f"{claim.who} {claim.ratio:.2f}"
