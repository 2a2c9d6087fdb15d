# SPDX-License-Identifier: Apache-2.0
"""ResNet v2, written out (He et al., Identity Mappings in Deep Residual Networks, 2016): batch norm and relu before each convolution.

Like TensorFlow's official models: the stride is in the 3 x 3 convolution of a stage's first block, whose shortcut is a convolution of the
output of the first batch norm and relu; one more batch norm and relu precede the pooling.
"""
from torch import nn

BLOCKS = {"resnet50_v2": (3, 4, 6, 3), "resnet101_v2": (3, 4, 23, 3)}
WIDTHS = (64, 128, 256, 512)
EXPANSION = 4
CLASSES = 1000


def normed(channels):
    return nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU())


class Block(nn.Module):
    def __init__(self, channels, width, stride, first):
        super().__init__()
        out = EXPANSION * width
        self.before = normed(channels)
        self.shortcut = nn.Conv2d(channels, out, 1, stride, bias=False) if first else None
        self.body = nn.Sequential(nn.Conv2d(channels, width, 1, bias=False), normed(width),
                                  nn.Conv2d(width, width, 3, stride, padding=1, bias=False), normed(width),
                                  nn.Conv2d(width, out, 1, bias=False))

    def forward(self, x):
        y = self.before(x)
        return self.body(y) + (x if self.shortcut is None else self.shortcut(y))


class ResNetV2(nn.Module):
    def __init__(self, name):
        super().__init__()
        layers, channels = [nn.Conv2d(3, WIDTHS[0], 7, 2, padding=3, bias=False), nn.MaxPool2d(3, 2, padding=1)], WIDTHS[0]
        for stage, (count, width) in enumerate(zip(BLOCKS[name], WIDTHS)):
            for i in range(count):
                layers.append(Block(channels, width, 2 if i == 0 and stage > 0 else 1, first=i == 0))
                channels = EXPANSION * width
        self.features = nn.Sequential(*layers, normed(channels))
        self.pool, self.classify = nn.AdaptiveAvgPool2d(1), nn.Linear(channels, CLASSES)

    def forward(self, x):
        return self.classify(self.pool(self.features(x)).flatten(1))
