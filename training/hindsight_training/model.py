# SPDX-License-Identifier: MIT
"""Networks and the step around them.

Four kinds: `conv`, residual 3x3 convolutions (unet.py); `ray`, those behind the passes of
denoise.py; `window`, window attention (window.py); `int8`, convolutions of 8-bit integers
(quantised.py). Tokens are 2x2 output pixels, those of `int8` are render pixels.
"""
import torch
from torch import nn

from . import constants as K
from . import ops, pipeline, quantised, unet, window

# Channels of the levels; residual blocks: down 0, down 1, bottom, up 1, up 0. `ratio`: what clips
# a preset is trained on, where it is made for one.
CONFIGS = {
    'tiny': dict(channels=(16, 16, 16), blocks=(0, 1, 1, 1, 1)),
    'quality': dict(channels=(32, 48, 64), blocks=(0, 1, 2, 1, 1)),
    'best': dict(channels=(48, 80, 112), blocks=(1, 1, 2, 1, 2)),
    'ultra': dict(channels=(48, 80, 112), blocks=(1, 2, 2, 2, 2), ratio=3),
    'tiny-ray': dict(kind='ray', channels=(16, 16, 16), blocks=(0, 1, 1, 1, 1)),
    'ray': dict(kind='ray', channels=(48, 64, 96), blocks=(0, 1, 2, 1, 1)),
    'tiny-window': dict(kind='window', channels=(16, 16, 32), blocks=(0, 1, 2, 1, 2)),
    'quality-window': dict(kind='window', channels=(32, 48, 64), blocks=(0, 1, 2, 2, 2)),
    'best-window': dict(kind='window', channels=(48, 80, 112), blocks=(2, 2, 7, 2, 2)),
    'tiny-int8': dict(kind='int8', channels=(16, 16, 32), blocks=(1, 1, 1, 1, 1)),
    'fast': dict(kind='int8', channels=(32, 32, 64), blocks=(0, 0, 1, 1, 0)),
}
KINDS = dict(conv=unet.Network, ray=unet.RayNetwork, window=window.Network, int8=quantised.Network)


def build(config):
    """A fresh network of a name of CONFIGS."""
    about = CONFIGS[config]
    return KINDS[kind_of(config)](about['channels'], about['blocks'])


def kind_of(config):
    return CONFIGS[config].get('kind', 'conv')


class Upscaler(nn.Module):
    """One recurrent step: (history, frame) -> next history, whose colour is the picture."""

    def __init__(self, config, fused=True):
        super().__init__()
        self.config = config
        self.net = build(config)
        self.fused = fused
        self.cells, self.levels = (kind_of(config) == k for k in ('int8', 'ray'))

    def start(self, batch, height, width, device):
        return torch.zeros(batch, height, width, 4, device=device)

    def tokens(self, features):
        """The network on features [B, h, w, .], in its own precision."""
        head = self.net(features.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return head.to(features.dtype).contiguous()

    def see(self, history, frame):
        """Moved history and what the network sees."""
        if not self.cells or pipeline.is_double(frame):
            if self.fused:
                return ops.Reproject.apply(history, frame)
            moved = pipeline.reproject(history, frame)
            return moved, pipeline.features(moved, frame)
        if not self.fused:
            moved = pipeline.reproject(history, frame)
            return moved, pipeline.cell_features(moved, frame)
        moved = ops.Move.apply(history, frame)
        features = ops.Features.apply(pipeline.to_cells(moved, frame), pipeline.cells_of(frame))
        return moved, pipeline.with_scale(features, frame)

    def steer(self, tokens, frame):
        """Head values of tokens of 2x2 output pixels."""
        return pipeline.spread(tokens, frame) if self.cells else tokens

    def forward(self, history, frame):
        moved, features = self.see(history, frame)
        head = self.steer(self.tokens(features), frame)
        if self.fused:
            return ops.Resolve.apply(moved, head, frame)
        return pipeline.resolve(moved, frame, pipeline.from_tokens(head, self.values))

    @property
    def values(self):
        """Head values of an output pixel that resolve takes."""
        return K.RAY_HEAD if self.levels else K.HEAD


def layers(net):
    """Convolutions and window blocks in the order of a forward pass: name, module."""
    order = ['enter', 'down0', 'to1', 'down1', 'to2', 'bottom', 'from2', 'up1', 'from1', 'up0',
             'head']
    return [(name, m) for part in order for name, m in net.named_modules()
            if isinstance(m, (nn.Conv2d, window.Block)) and name.split('.')[0] == part]


def level_of(name):
    """Level at whose resolution a layer's outputs are computed."""
    return {'enter': 0, 'down0': 0, 'to1': 1, 'down1': 1, 'to2': 2, 'bottom': 2, 'from2': 2,
            'up1': 1, 'from1': 1, 'up0': 0, 'head': 0}[name.split('.')[0]]


def flops_per_pixel(net):
    """Multiply-adds times two of convolutions, matrices and attention, per output pixel; of
    networks on render pixels at twice the size."""
    return sum(2 * (m.multiply_adds() if isinstance(m, window.Block) else m.weight.numel())
               / 4 ** (level_of(name) + 1) for name, m in layers(net))
