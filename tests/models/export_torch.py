#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a network with seeded random weights as ONNX: any classifier of torchvision, or bert_base, gru, lstm, mobilenet_v1, resnet50_v2,
resnet101_v2.

usage: export_torch.py NAME OUT.onnx [--opset 17] [--fold]        e.g. resnet50; needs PyTorch and torchvision

Batch norm stays a node of its own unless --fold. Weights are random: for speed and for comparing outputs, not for accuracy; they
keep activations near variance 1 (seeded_weights.py). The batch dimension is dynamic; for gru and lstm it is 50.
"""
import argparse
import dataclasses
import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bert  # noqa: E402
import mobilenet_v1  # noqa: E402
import resnet_v2  # noqa: E402
from seeded_weights import settle  # noqa: E402

SEED = 7
IMAGE_SIZE = {"inception_v3": 299}  # of a torchvision network; any other: 224
TOKENS = 128
STEPS, SEQUENCES, FEATURES, STATE, DEPTH = 100, 50, 128, 256, 2  # of gru and lstm


@dataclasses.dataclass
class Exported:
    net: torch.nn.Module
    inputs: dict  # by name, with a batch of 1 where the batch is free
    outputs: list
    free_batch: bool = True


def torchvision_net(name):
    import torchvision
    extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    net = getattr(torchvision.models, name)(weights=None, **extra)
    size = IMAGE_SIZE.get(name, 224)
    settle(net, torch.randn(4, 3, size, size))
    return Exported(net, {"input": torch.zeros(1, 3, size, size)}, ["output"])


def bert_base(_):
    ids = torch.randint(0, bert.VOCABULARY, (2, TOKENS))
    net = settle(bert.Bert(), ids, torch.ones_like(ids))
    return Exported(net, {"input_ids": ids[:1], "attention_mask": torch.ones_like(ids[:1])}, ["hidden", "pooled"])


def recurrent(name):
    kind = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[name]
    net = kind(FEATURES, STATE, DEPTH).eval()  # PyTorch's own weights: gates bound every activation
    return Exported(net, {"input": torch.randn(STEPS, SEQUENCES, FEATURES)}, ["output", "h_n", "c_n"][:2 if name == "gru" else 3],
                    free_batch=False)


def image_net(name):
    net = mobilenet_v1.MobileNetV1() if name == "mobilenet_v1" else resnet_v2.ResNetV2(name)
    settle(net, torch.randn(4, 3, 224, 224))
    return Exported(net, {"input": torch.zeros(1, 3, 224, 224)}, ["output"])


OWN = {"bert_base": bert_base, "gru": recurrent, "lstm": recurrent, "mobilenet_v1": image_net,
       **{name: image_net for name in resnet_v2.BLOCKS}}


def export(name, out, opset, fold):
    torch.manual_seed(SEED)
    made = OWN.get(name, torchvision_net)(name)
    free = {key: {0: "N"} for key in [*made.inputs, *made.outputs]} if made.free_batch else None
    mode = torch.onnx.TrainingMode.EVAL if fold else torch.onnx.TrainingMode.PRESERVE
    torch.onnx.export(made.net, tuple(made.inputs.values()), out, input_names=list(made.inputs), output_names=made.outputs,
                      opset_version=opset, training=mode, do_constant_folding=fold, dynamo=False, dynamic_axes=free)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("name")
    parser.add_argument("out")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--fold", action="store_true")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    export(a.name, a.out, a.opset, a.fold)


if __name__ == "__main__":
    main()
