#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports small networks, one for each construct that PyTorch exports in its own way, as ONNX.

usage: torch_nets.py FOLDER      writes FOLDER/NAME.OPSET.onnx and FOLDER/NAME.OPSET.npz (inputs, and PyTorch's outputs as "out/I")

Every network is exported as it is (batch norm stays, nothing is folded) and folded, so that half of the table sees each way.
"""
import pathlib
import sys
import warnings

import numpy
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    """forward(net, *inputs) of the table, with its layers as attributes."""

    def __init__(self, forward, layers):
        super().__init__()
        self.function = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def conv(i, o, k=3, **more):
    return nn.Conv2d(i, o, k, **more)


def inplace(n, x):
    y = n.c(x)
    return F.relu_(y.add_(1)) * y.shape[1]


IMAGE = (2, 3, 8, 9)
# name, opset, shapes of the inputs, dynamic axes of the first input, layers, forward
NETS = [
    ("conv1d", 13, [(2, 3, 17)], {}, {"c": nn.Conv1d(3, 5, 3, padding=1, dilation=2), "b": nn.BatchNorm1d(5)}, lambda n, x: F.relu(n.b(n.c(x)))),
    ("conv3d", 17, [(1, 2, 6, 7, 9)], {}, {"c": nn.Conv3d(2, 4, (3, 2, 3), padding=(1, 0, 1)), "b": nn.BatchNorm3d(4)},
     lambda n, x: F.max_pool3d(F.relu(n.b(n.c(x))), 2)),
    ("dilated_grouped", 11, [(2, 6, 15, 11)], {}, {"c": conv(6, 9, groups=3, dilation=(2, 3)), "d": conv(9, 18, groups=9, stride=(2, 1))},
     lambda n, x: n.d(F.relu6(n.c(x)))),
    ("pad_constant", 9, [IMAGE], {}, {"c": conv(3, 4, stride=2)}, lambda n, x: F.relu(n.c(F.pad(x, (0, 1, 2, 1))))),
    ("pad_value", 11, [IMAGE], {}, {"c": conv(3, 4)}, lambda n, x: n.c(F.pad(x, (1, 1, 1, 1), value=0.5))),
    ("pad_computed", 17, [IMAGE], {0: "N"}, {"c": conv(3, 4)}, lambda n, x: F.relu(n.c(F.pad(x, (0, 1, 2, 1))))),
    ("pad_reflect", 17, [IMAGE], {}, {"c": conv(3, 4)}, lambda n, x: n.c(F.pad(x, (1, 2, 3, 1), mode="reflect"))),
    ("pad_negative", 13, [IMAGE], {}, {"c": conv(3, 4)}, lambda n, x: n.c(F.pad(x, (-1, 2, 0, -2)))),
    ("max_pools", 17, [(1, 3, 10, 12)], {}, {},
     lambda n, x: (F.max_pool2d(x, 3, 2, ceil_mode=True), F.max_pool2d(x, (3, 5), 2, (1, 2)), F.max_pool2d(x, 3, 1, dilation=2))),
    ("average_pools", 17, [(1, 3, 10, 12)], {}, {},
     lambda n, x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                   F.avg_pool2d(x, 3, 2, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False))),
    ("adaptive_pools", 13, [(2, 3, 10, 12)], {}, {"l": nn.Linear(3, 5)},
     lambda n, x: (F.adaptive_avg_pool2d(x, (5, 4)), n.l(F.adaptive_avg_pool2d(x, 1).flatten(1)))),
    ("residual_with_two_users", 17, [(2, 4, 8, 9)], {0: "N"}, {"a": conv(4, 4, padding=1), "b": conv(4, 4, padding=1), "m": nn.BatchNorm2d(4)},
     lambda n, x: (F.relu(n.m(n.b(F.relu(n.a(x)))) + F.relu(n.a(x))), F.relu(n.a(x)) * 2)),
    ("two_convs_added", 9, [(1, 4, 8, 9)], {}, {"a": conv(4, 6, padding=1), "b": conv(4, 6, 1), "m": nn.BatchNorm2d(6)},
     lambda n, x: F.relu(n.m(n.a(x)) + n.b(x))),
    ("conv_plus_itself", 17, [(1, 4, 8, 9)], {}, {"a": conv(4, 4, padding=1)}, lambda n, x: (lambda y: F.relu(y + y))(n.a(x))),
    ("conv_is_an_output", 13, [IMAGE], {}, {"c": conv(3, 6), "m": nn.BatchNorm2d(6)}, lambda n, x: (lambda y: (y, F.relu(n.m(y))))(n.c(x))),
    ("conv_and_vectors", 17, [IMAGE], {}, {"c": conv(3, 6), "v": nn.ParameterList([torch.randn(1, 6, 1, 1), torch.randn(7), torch.randn(6, 7)])},
     lambda n, x: (n.c(x) + n.v[0], n.c(x) * n.v[0], n.c(x) + n.v[1], n.c(x) * n.v[1], n.v[0] - n.c(x), n.v[2] + n.c(x), 3 - n.c(x) / 4)),
    ("activations", 13, [IMAGE], {}, {"c": conv(3, 4, bias=False), "m": nn.BatchNorm2d(4)},
     lambda n, x: (lambda y: (F.relu6(y), F.elu(y, 0.7), F.leaky_relu(y, 0.2), torch.tanh(y), torch.sigmoid(y), F.silu(y), F.softplus(y), y.clamp(-0.3)))(
         n.m(n.c(x)))),
    ("gelu_and_mish", 11, [(3, 7)], {}, {"l": nn.Linear(7, 5)}, lambda n, x: (F.gelu(n.l(x)), F.mish(n.l(x)))),
    ("clips", 9, [IMAGE], {}, {"c": conv(3, 4)}, lambda n, x: (n.c(x).clamp(max=0.5), F.hardtanh(n.c(x), -0.3, 0.8), F.relu(F.relu(n.c(x))).clamp(max=6))),
    ("matmuls_and_bias", 17, [(5, 7), (2, 5, 7)], {}, {"l": nn.Linear(7, 4), "b": nn.Parameter(torch.randn(4)), "m": nn.Parameter(torch.randn(7, 4))},
     lambda n, x, y: (F.relu(n.l(x)), F.relu(n.l(y)), x @ n.m + n.b, torch.tanh(y @ n.m + n.b), y @ n.m + 1.0, (x @ n.m).t() @ x)),
    ("linear_and_norm", 11, [(4, 7)], {0: "N"}, {"a": nn.Linear(7, 5), "m": nn.BatchNorm1d(5), "b": nn.Linear(5, 3, bias=False), "o": nn.BatchNorm1d(3)},
     lambda n, x: n.o(n.b(F.relu(n.m(n.a(x)))))),
    ("shared_weights", 17, [(1, 4, 8, 9)], {}, {"c": conv(4, 4, padding=1), "m": nn.BatchNorm2d(4), "o": nn.BatchNorm2d(4)},
     lambda n, x: n.o(n.c(F.relu(n.m(n.c(x))))) + n.c(x)),
    ("softmaxes", 9, [(2, 3, 4, 5)], {}, {}, lambda n, x: (x.softmax(0), x.softmax(1), x.softmax(2), x.softmax(-1))),
    ("shapes", 17, [(2, 3, 4, 5)], {0: "N", 2: "H"}, {},
     lambda n, x: (x.view(x.shape[0], 3, -1).transpose(1, 2), x.permute(0, 2, 3, 1).reshape(x.shape[0] * x.shape[2], -1), torch.cat([x, x * 2], 1),
                   x[:, 1:, ::2], x[:, -1], torch.stack([x, x], 2), x[:, [2, 0]], x.mean((2, 3)), x.view(-1, 5))),
    ("upsamplings", 11, [(1, 3, 5, 7)], {}, {},
     lambda n, x: (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(9, 11)), F.interpolate(x, scale_factor=2, mode="bilinear"),
                   F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), F.interpolate(x, size=(3, 4), mode="bilinear"))),
    ("upsampling_to_the_input", 13, [IMAGE], {0: "N", 2: "H", 3: "W"}, {"c": conv(3, 4, stride=2, padding=1)},
     lambda n, x: F.interpolate(n.c(x), size=x.shape[2:])),
    ("attention", 13, [(2, 5, 8)], {0: "N", 1: "T"}, {"q": nn.Linear(8, 8), "k": nn.Linear(8, 8), "o": nn.LayerNorm(8)},
     lambda n, x: n.o(x + (n.q(x) @ n.k(x).transpose(1, 2) / 2.0).softmax(-1) @ x)),
    ("squeeze_and_excite", 17, [(2, 4, 5, 6)], {}, {"a": conv(4, 2, 1), "b": conv(2, 4, 1), "c": conv(4, 4, padding=1)},
     lambda n, x: (lambda y: y * torch.sigmoid(n.b(F.relu(n.a(y.mean((2, 3), keepdim=True))))))(F.silu(n.c(x)))),
    ("an_output_is_an_input", 17, [(2, 3), (2, 3)], {}, {}, lambda n, x, y: (x + y, x, x * y)),
    ("an_output_is_a_constant", 17, [(2, 3)], {}, {"k": nn.Parameter(torch.randn(3, 2))}, lambda n, x: (x * 2, n.k @ n.k.t())),
    ("dropout", 17, [IMAGE], {}, {"c": conv(3, 4), "d": nn.Dropout()}, lambda n, x: n.d(F.relu(n.c(x)))),
    ("in_place", 13, [IMAGE], {}, {"c": conv(3, 4)}, inplace),
    ("inception_block", 17, [(1, 3, 9, 9)], {}, {"a": conv(3, 4, 1), "b": conv(3, 4, (1, 3), padding=(0, 1)), "m": nn.BatchNorm2d(11)},
     lambda n, x: n.m(torch.cat([F.relu(n.a(x)), F.relu6(n.b(x)), F.avg_pool2d(x, 3, 1, 1)], 1))),
    ("lstm", 14, [(7, 3, 5)], {}, {"l": nn.LSTM(5, 6, 2), "o": nn.Linear(6, 4)}, lambda n, x: (lambda y: (n.o(y[0]), y[1][1]))(n.l(x))),
    ("lstm_both_ways", 17, [(3, 7, 5)], {0: "N", 1: "T"}, {"l": nn.LSTM(5, 6, 2, bidirectional=True, batch_first=True)}, lambda n, x: n.l(x)[0]),
    ("gru", 11, [(7, 3, 5), (2, 3, 6)], {}, {"l": nn.GRU(5, 6, 2)}, lambda n, x, h: n.l(x, h)),
    ("gru_both_ways", 17, [(7, 3, 5)], {1: "N"}, {"l": nn.GRU(5, 6, bidirectional=True, bias=False)}, lambda n, x: n.l(x)[1]),
    ("rnn_relu", 13, [(3, 7, 5)], {}, {"l": nn.RNN(5, 6, 2, nonlinearity="relu", batch_first=True)}, lambda n, x: n.l(x)[0]),
    ("einsums", 17, [(2, 5, 3, 4), (2, 6, 3, 4)], {0: "N"}, {"w": nn.Parameter(torch.randn(3, 4, 7))},
     lambda n, x, y: (torch.einsum("bqhd,bkhd->bhqk", x, y), torch.einsum("bqhd,hdm->bqm", x, n.w), torch.einsum("bqhd->qd", x))),
]


def seed_norms(net):
    for module in net.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.3, 0.3)
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(3)
    folder = pathlib.Path(sys.argv[1])
    for i, (name, opset, shapes, free, layers, forward) in enumerate(NETS):
        net = Net(forward, layers)
        seed_norms(net)
        net.eval()
        inputs = tuple(torch.randn(*shape) for shape in shapes)
        names = [f"in{j}" for j in range(len(inputs))]
        fold = i % 2 == 1
        mode = torch.onnx.TrainingMode.EVAL if fold else torch.onnx.TrainingMode.PRESERVE
        torch.onnx.export(net, inputs, folder / f"{name}.onnx", input_names=names, opset_version=opset, training=mode,
                          do_constant_folding=fold, dynamic_axes={"in0": free} if free else None, dynamo=False)
        with torch.no_grad():
            outputs = net(*(x.clone() for x in inputs))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        arrays = {key: value.numpy() for key, value in zip(names, inputs)}
        arrays.update({f"out/{j}": value.detach().numpy() for j, value in enumerate(outputs)})
        numpy.savez(folder / f"{name}.npz", **arrays)


main()
