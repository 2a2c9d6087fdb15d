#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the small residual CNN of the demo and writes it as ONNX and as TensorFlow GraphDef, with held-out samples.

usage: train.py OUT_DIR [--epochs N]        needs PyTorch, scikit-learn, numpy, protobuf and protoc

Data: scikit-learn's handwritten digits (1797 images of 8 x 8), enlarged to 32 x 32; 500 of them are never trained on and
become digits_nchw.npz and digits_nhwc.npz. Network: 3 x 3 convolutions, batch norm, three residual blocks, about 54 MFLOP an
image. Batch norm is left unfolded on purpose: folding it is Halftone's work. The seed is fixed.
"""
import argparse
import importlib
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WIDTHS = (24, 48, 96)
HELD_OUT = 500


class Block(nn.Module):
    """relu(x' + bn(conv(relu(bn(conv(x)))))), where x' is x or its 1 x 1 projection."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.project = None
        if stride != 1 or before != after:
            self.project = nn.Conv2d(before, after, 1, stride, bias=False)
            self.bn3 = nn.BatchNorm2d(after)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        side = x if self.project is None else self.bn3(self.project(x))
        return torch.relu(y + side)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, WIDTHS[0], 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(WIDTHS[0])
        self.block1 = Block(WIDTHS[0], WIDTHS[0], 1)
        self.block2 = Block(WIDTHS[0], WIDTHS[1], 2)
        self.block3 = Block(WIDTHS[1], WIDTHS[2], 2)
        self.fc = nn.Linear(WIDTHS[2], 10)

    def forward(self, x):
        y = torch.relu(self.bn(self.conv(x)))
        y = self.block3(self.block2(self.block1(y)))
        return self.fc(y.mean((2, 3)))


def load_data():
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32)[:, None]
    images = nn.functional.interpolate(images, size=(32, 32), mode="bilinear", align_corners=False)
    images = torch.round(images * 64) / 64  # few distinct values: the samples compress well
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(labels))
    return images[order], labels[order]


def train(epochs):
    torch.manual_seed(20)
    torch.set_num_threads(2)
    images, labels = load_data()
    held_x, held_y = images[:HELD_OUT], labels[:HELD_OUT]
    x, y = images[HELD_OUT:], labels[HELD_OUT:]
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
    steps = epochs * ((len(y) + 63) // 64)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(epochs):
        net.train()
        for index in torch.randperm(len(y)).split(64):
            batch = x[index]
            shift = torch.randint(-2, 3, (2,))
            batch = torch.roll(batch, (int(shift[0]), int(shift[1])), (2, 3)) + 0.15 * torch.randn_like(batch)
            loss = nn.functional.cross_entropy(net(batch), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        net.eval()
        with torch.inference_mode():
            accuracy = (net(held_x).argmax(1) == held_y).float().mean().item()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, held-out top-1 {accuracy:.4f}", flush=True)
    return net.eval(), held_x.numpy(), held_y.numpy().astype(np.int64)


def write_onnx(net, path):
    torch.onnx.export(net, torch.zeros(1, 1, 32, 32), str(path), input_names=["image"], output_names=["scores"],
                      opset_version=17, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      dynamic_axes={"image": {0: "N"}, "scores": {0: "N"}}, dynamo=False)


def graph_def_classes():
    """Our own GraphDef messages for Python."""
    protos = sorted((ROOT / "formats/tensorflow/proto").glob("*.proto"))
    out = tempfile.mkdtemp()
    subprocess.run(["protoc", f"-I{ROOT}", f"--python_out={out}", *map(str, protos)], check=True)
    sys.path.insert(0, out)
    sys.modules.pop("formats", None)
    return importlib.import_module("formats.tensorflow.proto.graph_pb2")


class GraphDefWriter:
    """Nodes of a GraphDef, NHWC, one method an op."""

    FLOAT, INT32 = 1, 3  # DataType

    def __init__(self, messages):
        self.graph = messages.GraphDef()
        self.graph.versions.producer = 440

    def node(self, name, op, inputs, **types):
        node = self.graph.node.add(name=name, op=op, input=inputs)
        for key, value in types.items():
            self.attr(node, key).type = value
        return node

    @staticmethod
    def attr(node, key):
        """The attribute's value: our messages hold the map as a list of entries."""
        for entry in node.attr:
            if entry.key == key:
                return entry.value
        return node.attr.add(key=key).value

    def const(self, name, array):
        array = np.asarray(array)
        kind = self.FLOAT if array.dtype == np.float32 else self.INT32
        node = self.node(name, "Const", [], dtype=kind)
        tensor = self.attr(node, "value").tensor
        tensor.dtype = kind
        for size in array.shape:
            tensor.tensor_shape.dim.add(size=size)
        tensor.tensor_content = np.ascontiguousarray(array).tobytes()
        return name

    def placeholder(self, name, dims):
        node = self.node(name, "Placeholder", [], dtype=self.FLOAT)
        for size in dims:
            self.attr(node, "shape").shape.dim.add(size=size)
        return name

    def conv(self, name, x, module):
        weights = module.weight.detach().numpy().transpose(2, 3, 1, 0)
        stride, pad = module.stride[0], module.padding[0]
        same = stride == 1
        if not same and pad > 0:  # TensorFlow's SAME pads a stride of 2 on the other side than PyTorch
            x = self.node(name + "/pad", "Pad", [x, self.const(name + "/paddings", np.array(
                [[0, 0], [pad, pad], [pad, pad], [0, 0]], np.int32))], T=self.FLOAT, Tpaddings=self.INT32).name
        node = self.node(name, "Conv2D", [x, self.const(name + "/weights", weights)], T=self.FLOAT)
        self.attr(node, "strides").list.i.extend([1, stride, stride, 1])
        self.attr(node, "dilations").list.i.extend([1, 1, 1, 1])
        self.attr(node, "padding").s = b"SAME" if same else b"VALID"
        self.attr(node, "data_format").s = b"NHWC"
        return name

    def batch_norm(self, name, x, module):
        parts = {"scale": module.weight, "offset": module.bias, "mean": module.running_mean, "variance": module.running_var}
        names = [self.const(f"{name}/{key}", value.detach().numpy()) for key, value in parts.items()]
        node = self.node(name, "FusedBatchNormV3", [x, *names], T=self.FLOAT, U=self.FLOAT)
        self.attr(node, "epsilon").f = module.eps
        self.attr(node, "is_training").b = False
        self.attr(node, "data_format").s = b"NHWC"
        return name

    def op(self, name, op, *inputs):
        return self.node(name, op, list(inputs), T=self.FLOAT).name

    def block(self, name, x, block):
        y = self.batch_norm(name + "/bn1", self.conv(name + "/conv1", x, block.conv1), block.bn1)
        y = self.op(name + "/relu1", "Relu", y)
        y = self.batch_norm(name + "/bn2", self.conv(name + "/conv2", y, block.conv2), block.bn2)
        if block.project is not None:
            x = self.batch_norm(name + "/bn3", self.conv(name + "/project", x, block.project), block.bn3)
        return self.op(name + "/relu2", "Relu", self.op(name + "/add", "AddV2", y, x))


def write_graph_def(net, path):
    g = GraphDefWriter(graph_def_classes())
    y = g.batch_norm("bn", g.conv("conv", g.placeholder("image", [-1, 32, 32, 1]), net.conv), net.bn)
    y = g.op("relu", "Relu", y)
    for name in ("block1", "block2", "block3"):
        y = g.block(name, y, getattr(net, name))
    mean = g.node("mean", "Mean", [y, g.const("mean/axes", np.array([1, 2], np.int32))], T=g.FLOAT, Tidx=g.INT32)
    g.attr(mean, "keep_dims").b = False
    product = g.node("fc", "MatMul", ["mean", g.const("fc/weights", net.fc.weight.detach().numpy().T)], T=g.FLOAT)
    g.attr(product, "transpose_a").b = g.attr(product, "transpose_b").b = False
    bias = g.node("scores", "BiasAdd", ["fc", g.const("fc/bias", net.fc.bias.detach().numpy())], T=g.FLOAT)
    g.attr(bias, "data_format").s = b"NHWC"
    path.write_bytes(g.graph.SerializeToString(deterministic=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=12)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    net, images, labels = train(arguments.epochs)
    write_onnx(net, arguments.out / "digits.onnx")
    write_graph_def(net, arguments.out / "digits.pb")
    np.savez_compressed(arguments.out / "digits_nchw.npz", image=images, labels=labels)
    np.savez_compressed(arguments.out / "digits_nhwc.npz", image=images.transpose(0, 2, 3, 1), labels=labels)


if __name__ == "__main__":
    main()
