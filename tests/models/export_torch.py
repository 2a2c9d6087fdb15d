#!/usr/bin/env python3
"""Exports a network of torchvision with seeded random weights as ONNX.

usage: export_torch.py NAME OUT.onnx [--opset 17] [--fold]        e.g. resnet50; needs PyTorch and torchvision

Batch norm gets seeded statistics and stays a node of its own unless --fold. Weights are random: for speed and for comparing
answers, not for accuracy.
"""
import argparse

import torch
import torchvision


def build(name):
    torch.manual_seed(7)
    net = getattr(torchvision.models, name)(weights=None)
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.0)
            torch.nn.init.uniform_(module.bias, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.8, 1.6)
    return net.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("out")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--fold", action="store_true")
    a = parser.parse_args()
    mode = torch.onnx.TrainingMode.EVAL if a.fold else torch.onnx.TrainingMode.PRESERVE
    torch.onnx.export(build(a.name), torch.zeros(1, 3, 224, 224), a.out, input_names=["input"], output_names=["output"],
                      opset_version=a.opset, training=mode, do_constant_folding=a.fold, dynamo=False,
                      dynamic_axes={"input": {0: "N"}, "output": {0: "N"}})


if __name__ == "__main__":
    main()
