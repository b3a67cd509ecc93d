# SPDX-License-Identifier: MIT
"""Networks of 8-bit integers, simulated with floats that hold the very same integers.

Activations are integers of -127..127 with a scale of each level's state and of each block's inside;
scales are learned (log2 over OCTAVES). Weights are integers of -127..127 with a step of each output
channel. 127 times their absolute sum plus the bias stay below TOTAL_LIMIT, so that 32-bit floats
hold sums of products exactly, in whatever order they are summed. What a layer returns is

    clamp((sum * multiplier + 2^(shift - 1)) >> shift + add, low, 127)

with low 0 behind a ReLU, -127 otherwise, a multiplier of 128..255 and a shift of 1..26 of each
channel: everything fits in 32 bits. The step of the weights is made so that this is exact. The
last layer's sums become floats, times a scale of each channel. integers.py is the definition.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from . import constants as K
from . import unet

LIMIT = 127
SUM_LIMIT = 56000         # of a channel's absolute weights, in steps
BIAS_LIMIT = 1 << 20
TOTAL_LIMIT = 8250000     # with what rounding adds, and such that 255 of it fit in 32 bits
LEAST, MOST = 2.0 ** -19, 64.0  # of multiplier / 2^shift
OCTAVES = 16.0            # of a scale in a unit of its parameter, which learns as weights do:
                          # activations grow, and scales that follow slowly hold them back
HEADROOM = 1.5            # of a scale over what was observed


# What features are multiplied with before they are rounded: 127 over their largest value.
FEATURE_MULTIPLIERS = ([m for m in [254.0] * 6 + [143.0, 121.0] + [127.0] * 4 for _ in range(4)]
                       + [254.0] * 5 + [127.0] * 11)


def power(exponent):
    """Exactly 2^exponent, of an integer tensor."""
    return ((exponent.int() + 127) << 23).view(torch.float32)


def scale_of(scales, name):
    """Of activations; None: of features."""
    return 1 / LIMIT if name is None else torch.exp2(OCTAVES * scales[name])


class Rounded(torch.autograd.Function):
    """floor(x + 0.5) within limits, with the gradient of what lies within them."""

    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x.abs() <= limit)
        return torch.floor(x + 0.5).clamp(-limit, limit)

    @staticmethod
    def backward(ctx, g):
        inside, = ctx.saved_tensors
        return g * inside, None


class Requantised(torch.autograd.Function):
    """clamp(floor(total * factor + 0.5) + add, low, 127), exactly. `scales`: parameters of the
    input's and the output's scale; their gradients are those of a step size that is learned."""

    @staticmethod
    def forward(ctx, total, add, factor, low, given, made):
        real = total.double() * factor.double().view(1, -1, 1, 1)
        out = torch.floor(real + 0.5).float()
        out = out if add is None else out + add
        ctx.save_for_backward((out >= low) & (out <= LIMIT), real.float(), factor)
        ctx.adds, ctx.scaled = add is not None, given is not None
        return out.clamp(low, LIMIT)

    @staticmethod
    def backward(ctx, g):
        inside, real, factor = ctx.saved_tensors
        g = g * inside
        slope = (g * real).sum() * (OCTAVES * math.log(2))
        return (g * factor.view(1, -1, 1, 1), g if ctx.adds else None, None, None,
                slope if ctx.scaled else None, -slope)


class Convolution(nn.Conv2d):
    """Integers in, integers out. `given`, `made`: names of the scales, None: as features, floats.
    `frozen`: the integers of a model file, which count instead of the parameters."""
    given = made = frozen = None

    def integers(self, scales):
        """Weights, bias, and of each channel multiplier / 2^shift or, of the last layer, the scale
        of its values."""
        if self.frozen is not None:
            return [v.to(self.weight.device) for v in self.frozen]
        given = scale_of(scales, self.given)
        size = self.weight.detach().abs().flatten(1)
        step = torch.maximum(size.amax(1) / LIMIT, size.sum(1) / SUM_LIMIT)
        if self.made is None:
            step = step.clamp(min=1e-8)
            factor = step * given
        else:
            ratio = (scale_of(scales, self.made) / given).detach()
            fraction, exponent = torch.frexp((step / ratio).clamp(LEAST, MOST))
            factor = torch.ceil(fraction * 256) * power(exponent - 8)
            step = factor * ratio
        weight = Rounded.apply(self.weight / step.view(-1, 1, 1, 1), LIMIT)
        bias = Rounded.apply(self.bias / (step * given).detach(), BIAS_LIMIT)
        return weight, bias, factor

    def forward(self, x, scales, add=None, low=0, up=False):
        """`scales`: the parameters by name; `up`: to twice the size, where `add` is."""
        weight, bias, factor = self.integers(scales)
        total = F.conv2d(x, weight, bias, self.stride, self.padding)
        if self.made is None:
            return total * factor.view(1, -1, 1, 1)
        if up and add is not None:
            add = F.pixel_unshuffle(add, 2)
        given = None if self.given is None else scales[self.given]
        out = Requantised.apply(total, add, factor, low, given, scales[self.made])
        return unet.shuffle(out) if up else out


class Network(unet.Network):
    """Features [B, 64, h, w] -> short head [B, 48, h, w]. Tokens are render pixels."""
    outputs = K.SHORT_OUTPUTS
    conv = Convolution

    def __init__(self, channels, blocks):
        super().__init__(channels, blocks)
        self.scales, self.observed = nn.ParameterDict(), None
        self.register_buffer('multipliers', torch.tensor(FEATURE_MULTIPLIERS), persistent=False)
        states = dict(enter=(None, 'level0'), to1=('level0', 'level1'), to2=('level1', 'level2'),
                      from2=('level2', 'level1'), from1=('level1', 'level0'),
                      head=('level0', None))
        for name, m in list(self.named_modules()):
            if isinstance(m, Convolution):
                part, state = name.split('.')[0], None
                if part in unet.STACKS:
                    state, inner = 'level%d' % unet.STACKS[part], name[:-2].replace('.', '_')
                m.given, m.made = (states[part] if state is None else
                                   (state, inner) if name.endswith('.a') else (inner, state))
                if m.made and m.made not in self.scales:
                    self.scales[m.made] = nn.Parameter(torch.tensor(math.log2(4 / LIMIT) / OCTAVES))

    def step(self, conv, x, add=None, relu=True, up=False):
        if self.observed is None:
            return conv(x, self.scales, add, 0 if relu else -LIMIT, up)
        out = super().step(lambda v: F.conv2d(v, conv.weight, conv.bias, conv.stride,
                                              conv.padding), x, add, relu, up)
        self.observe(conv.made, out)
        return out

    def forward(self, x):
        with torch.autocast(x.device.type, enabled=False):
            x = Rounded.apply(x.float() * self.multipliers.view(1, -1, 1, 1), LIMIT)
            return super().forward(x if self.observed is None else x / LIMIT)

    def observe(self, name, values):
        if name is not None:
            sample = values.abs().flatten()
            sample = sample[::max(1, len(sample) >> 20)]
            self.observed[name] = max(self.observed.get(name, 0), float(sample.quantile(0.999)))

    def calibrate(self, run):
        """Sets the scales to what the layers return, unrounded, while `run` runs."""
        self.observed = {}
        try:
            with torch.no_grad():
                run()
                for name, value in self.observed.items():
                    scale = max(HEADROOM * value, 1e-2) / LIMIT
                    self.scales[name].fill_(math.log2(scale) / OCTAVES)
        finally:
            self.observed = None
