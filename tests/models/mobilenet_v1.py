# SPDX-License-Identifier: Apache-2.0
"""MobileNetV1, written out (Howard et al., 2017): 13 pairs of a depthwise 3 x 3 and a 1 x 1 convolution, each with batch norm and relu."""
from torch import nn

FIRST = 32
# output channels, stride
PAIRS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1)]
CLASSES = 1000


def conv(channels, out, kernel, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(channels, out, kernel, stride, padding=kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out), nn.ReLU())


class MobileNetV1(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [conv(3, FIRST, 3, 2)], FIRST
        for out, stride in PAIRS:
            layers += [conv(channels, channels, 3, stride, groups=channels), conv(channels, out, 1)]
            channels = out
        self.features, self.pool, self.classify = nn.Sequential(*layers), nn.AdaptiveAvgPool2d(1), nn.Linear(channels, CLASSES)

    def forward(self, x):
        return self.classify(self.pool(self.features(x)).flatten(1))
