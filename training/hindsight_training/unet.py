# SPDX-License-Identifier: MIT
"""The U-Net of all networks: three levels, at 1/1, 1/2 and 1/4 of the tokens' size.

3x3 convolutions pad with zeros, the whole picture is filled up to multiples of 4 tokens by
repeating the last features. No normalisation.
"""
import math

from torch import nn
from torch.nn import functional as F

from . import constants as K

# Stacks of blocks with their levels, in the order in which they run.
STACKS = {'down0': 0, 'down1': 1, 'bottom': 2, 'up1': 1, 'up0': 0}


class Block(nn.Module):
    """Convolutions of x + b(relu(a(x)))."""

    def __init__(self, channels, conv=nn.Conv2d):
        super().__init__()
        self.a = conv(channels, channels, 3, padding=1)
        self.b = conv(channels, channels, 3, padding=1)
        nn.init.normal_(self.b.weight, std=0.02 / math.sqrt(channels))
        nn.init.zeros_(self.b.bias)


class Up(nn.Module):
    """1x1 convolution to four times the channels, channel 4 c + s goes to pixel s = x + 2 y."""

    def __init__(self, inputs, outputs, conv=nn.Conv2d):
        super().__init__()
        self.conv = conv(inputs, 4 * outputs, 1)


def shuffle(x):
    """As F.pixel_shuffle, but channels stay last in memory."""
    x = x.permute(0, 2, 3, 1)
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height, width, channels // 4, 2, 2).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(batch, 2 * height, 2 * width, channels // 4).permute(0, 3, 1, 2)


class Network(nn.Module):
    """Features [B, inputs, h, w] -> head [B, outputs, h, w]; a fresh one returns zeros."""
    inputs, outputs = K.FEATURES, K.OUTPUTS
    conv = nn.Conv2d

    def __init__(self, channels, blocks):
        super().__init__()
        c0, c1, c2 = channels
        conv, made = self.conv, {}

        def stack(name):
            level, count = STACKS[name], blocks[list(STACKS).index(name)]
            before = sum(len(s) for n, s in made.items() if STACKS[n] == level)
            made[name] = nn.Sequential(*(self.make_block(channels[level], before + k)
                                         for k in range(count)))
            return made[name]
        self.enter = conv(self.inputs, c0, 1)
        self.down0, self.to1 = stack('down0'), conv(c0, c1, 2, 2)
        self.down1, self.to2 = stack('down1'), conv(c1, c2, 2, 2)
        self.bottom, self.from2 = stack('bottom'), Up(c2, c1, conv)
        self.up1, self.from1 = stack('up1'), Up(c1, c0, conv)
        self.up0, self.head = stack('up0'), conv(c0, self.outputs, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def make_block(self, channels, place):
        """A block, the place-th of its level in the order in which they run."""
        return Block(channels, self.conv)

    def step(self, conv, x, add=None, relu=True, up=False):
        """A convolution with what comes after it; `up`: to the next finer level."""
        x = shuffle(conv(x)) if up else conv(x)
        x = x if add is None else x + add
        return F.relu(x) if relu else x

    def run_block(self, block, x):
        return self.step(block.b, self.step(block.a, x), add=x, relu=False)

    def run_stack(self, stack, x):
        for block in stack:
            x = self.run_block(block, x)
        return x

    def forward(self, x):
        height, width = x.shape[-2:]
        if height % 4 or width % 4:
            x = F.pad(x, (0, -width % 4, 0, -height % 4), mode='replicate')
        level0 = self.run_stack(self.down0, self.step(self.enter, x))
        level1 = self.run_stack(self.down1, self.step(self.to1, level0))
        level2 = self.run_stack(self.bottom, self.step(self.to2, level1))
        level1 = self.run_stack(self.up1, self.step(self.from2.conv, level2, level1, up=True))
        level0 = self.run_stack(self.up0, self.step(self.from1.conv, level1, level0, up=True))
        return self.step(self.head, level0, relu=False)[..., :height, :width]


class RayNetwork(Network):
    """One that sees and steers levels of noisy frames."""
    inputs, outputs = K.RAY_FEATURES, K.RAY_OUTPUTS
