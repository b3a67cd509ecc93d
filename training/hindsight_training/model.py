# SPDX-License-Identifier: MIT
"""The network: a U-Net of residual convolutions over tokens of 2x2 output pixels.

Levels at 1/2, 1/4 and 1/8 of the output size. 3x3 convolutions pad with zeros, the whole picture is
padded to a multiple of 8 output pixels by repeating the last features. No normalisation.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from . import constants as K
from . import ops, pipeline

# Channels of the levels; residual blocks: down 0, down 1, bottom, up 1, up 0.
CONFIGS = {
    'tiny': dict(channels=(16, 16, 16), blocks=(0, 1, 1, 1, 1)),
    'quality': dict(channels=(32, 48, 64), blocks=(0, 1, 2, 1, 1)),
    'best': dict(channels=(48, 80, 112), blocks=(1, 1, 2, 1, 2)),
}


class Block(nn.Module):
    """x + conv(relu(conv(x)))."""

    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1)
        self.b = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.normal_(self.b.weight, std=0.02 / math.sqrt(channels))
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))


class Up(nn.Module):
    """1x1 convolution to four times the channels, channel 4 c + s goes to pixel s = x + 2 y."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, 4 * outputs, 1)

    def forward(self, x):
        # As F.pixel_shuffle, but channels stay last in memory.
        x = self.conv(x).permute(0, 2, 3, 1)
        batch, height, width, channels = x.shape
        x = x.reshape(batch, height, width, channels // 4, 2, 2).permute(0, 1, 4, 2, 5, 3)
        return x.reshape(batch, 2 * height, 2 * width, channels // 4).permute(0, 3, 1, 2)


class Network(nn.Module):
    """Features [B, 64, h, w] -> head [B, 112, h, w]; a fresh one returns zeros."""

    def __init__(self, channels, blocks):
        super().__init__()
        c0, c1, c2 = channels

        def stack(width, count):
            return nn.Sequential(*(Block(width) for _ in range(count)))
        self.enter = nn.Conv2d(K.FEATURES, c0, 1)
        self.down0, self.to1 = stack(c0, blocks[0]), nn.Conv2d(c0, c1, 2, 2)
        self.down1, self.to2 = stack(c1, blocks[1]), nn.Conv2d(c1, c2, 2, 2)
        self.bottom, self.from2 = stack(c2, blocks[2]), Up(c2, c1)
        self.up1, self.from1 = stack(c1, blocks[3]), Up(c1, c0)
        self.up0, self.head = stack(c0, blocks[4]), nn.Conv2d(c0, K.OUTPUTS, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        height, width = x.shape[-2:]
        if height % 4 or width % 4:
            x = F.pad(x, (0, -width % 4, 0, -height % 4), mode='replicate')
        level0 = self.down0(F.relu(self.enter(x)))
        level1 = self.down1(F.relu(self.to1(level0)))
        level2 = self.bottom(F.relu(self.to2(level1)))
        level1 = self.up1(F.relu(level1 + self.from2(level2)))
        level0 = self.up0(F.relu(level0 + self.from1(level1)))
        return self.head(level0)[..., :height, :width]


class Upscaler(nn.Module):
    """One recurrent step: (history, frame) -> next history, whose colour is the picture."""

    def __init__(self, config, fused=True):
        super().__init__()
        self.config = config
        self.net = Network(**CONFIGS[config])
        self.fused = fused

    def start(self, batch, height, width, device):
        return torch.zeros(batch, height, width, 4, device=device)

    def tokens(self, features):
        """The network on [B, h, w, 64], in its own precision."""
        head = self.net(features.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return head.to(features.dtype).contiguous()

    def forward(self, history, frame):
        if self.fused:
            moved, features = ops.Reproject.apply(history, frame)
            return ops.Resolve.apply(moved, self.tokens(features), frame)
        moved = pipeline.reproject(history, frame)
        head = self.tokens(pipeline.features(moved, frame))
        return pipeline.resolve(moved, frame, pipeline.from_tokens(head, K.HEAD))


def layers(net):
    """Convolutions in the order of a forward pass: name, module."""
    order = ['enter', 'down0', 'to1', 'down1', 'to2', 'bottom', 'from2', 'up1', 'from1', 'up0',
             'head']
    return [(name, m) for part in order for name, m in net.named_modules()
            if isinstance(m, nn.Conv2d) and name.split('.')[0] == part]


def level_of(name):
    """Level at whose resolution a convolution's outputs are computed."""
    return {'enter': 0, 'down0': 0, 'to1': 1, 'down1': 1, 'to2': 2, 'bottom': 2, 'from2': 2,
            'up1': 1, 'from1': 1, 'up0': 0, 'head': 0}[name.split('.')[0]]


def flops_per_pixel(net):
    """Multiply-adds times two of the convolutions, per output pixel."""
    return sum(2 * m.weight.numel() / 4 ** (level_of(name) + 1) for name, m in layers(net))
