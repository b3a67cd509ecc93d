# SPDX-License-Identifier: MIT
"""Attention within windows of 8x8 tokens.

The grid of windows begins at the picture's corner or, shifted, four tokens above and left of it.
Tokens of a window that lie outside the picture do not exist: nobody attends to them. Everything
that a window's result needs is in the window, so that one dispatch can compute a block.
"""
import functools
import math

import torch
from torch import nn
from torch.nn import functional as F

from . import unet

SIDE = 8
TOKENS = SIDE * SIDE
HEAD_WIDTH = 16   # channels of an attention head
WIDEN = 2         # hidden channels over channels
EPSILON = 1e-5    # added to the mean square
ABSENT = -1e4     # added to scores of tokens that are not there


def normalised(x):
    """Each token over the root of its mean square. A gain would be one with the matrix behind."""
    # Not the mean of squares of x.float(), which would be kept for the gradient.
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
    return x * torch.rsqrt(length.square() / x.shape[-1] + EPSILON).to(x.dtype)


def differences(device):
    """Index into 15x15 differences of rows and columns, query token major: [64 * 64]."""
    place = torch.arange(TOKENS, device=device)
    row, column = place // SIDE, place % SIDE
    across = column[:, None] - column[None] + SIDE - 1
    return ((row[:, None] - row[None] + SIDE - 1) * (2 * SIDE - 1) + across).flatten()


@functools.lru_cache(maxsize=64)
def absence(height, width, shift, device):
    """[windows, 64, 64], ABSENT where key and query do not share a window of the picture, or None
    where all do. Of a grid that wraps around, as windows() makes it."""
    rows, columns = (-(-n // SIDE) * SIDE for n in (height, width))
    if not shift and (rows, columns) == (height, width):
        return None

    def part(count, size):
        rolled = torch.arange(count, device=device)
        there = (rolled + shift) % count < size
        return (rolled >= count - shift).long(), there
    (wrapped_y, in_y), (wrapped_x, in_x) = part(rows, height), part(columns, width)
    label = 2 * wrapped_y[:, None] + wrapped_x[None]
    label = torch.where(in_y[:, None] & in_x[None], label, 4)
    label = label.view(1, rows, columns, 1)
    label = windows(label, 0).view(-1, TOKENS)
    return (label[:, :, None] != label[:, None]).float() * ABSENT


def windows(x, shift):
    """[B, rows, columns, C] -> [B, windows, 64, C]; sizes are multiples of 8."""
    if shift:
        x = x.roll((-shift, -shift), (1, 2))
    batch, rows, columns, channels = x.shape
    x = x.reshape(batch, rows // SIDE, SIDE, columns // SIDE, SIDE, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(batch, -1, TOKENS, channels)


def picture(x, rows, columns, shift):
    """What windows() took apart."""
    batch, _, _, channels = x.shape
    x = x.view(batch, rows // SIDE, columns // SIDE, SIDE, SIDE, channels)
    x = x.permute(0, 1, 3, 2, 4, 5).reshape(batch, rows, columns, channels)
    return x.roll((shift, shift), (1, 2)) if shift else x


class Block(nn.Module):
    """x + out(attention(normalised x)), then x + b(relu(a(normalised x)))."""

    def __init__(self, channels, shift):
        super().__init__()
        self.channels, self.shift, self.heads = channels, shift, channels // HEAD_WIDTH
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.a = nn.Linear(channels, WIDEN * channels)
        self.b = nn.Linear(WIDEN * channels, channels)
        self.position = nn.Parameter(torch.zeros(self.heads, 2 * SIDE - 1, 2 * SIDE - 1))
        for last in (self.out, self.b):
            nn.init.normal_(last.weight, std=0.02 / math.sqrt(channels))
            nn.init.zeros_(last.bias)

    def bias(self):
        """Of each head, query and key, by their distance: [heads, 64, 64]."""
        index = differences(self.position.device)
        return self.position.flatten(1).index_select(1, index).view(-1, TOKENS, TOKENS)

    def attend(self, x, absent):
        """[B, windows, 64, C] -> the same."""
        batch, count = x.shape[:2]
        parts = self.qkv(normalised(x)).view(batch, count, TOKENS, 3, self.heads, HEAD_WIDTH)
        query, key, value = parts.permute(3, 0, 1, 4, 2, 5).flatten(2, 3)
        bias = self.bias()
        if absent is None:
            query, key, value = (v.view(batch * count, self.heads, TOKENS, HEAD_WIDTH)
                                 for v in (query, key, value))
        else:
            bias = (bias + absent.unsqueeze(1)).flatten(0, 1)
        got = F.scaled_dot_product_attention(query, key, value, bias.unsqueeze(0).to(query.dtype))
        got = got.reshape(batch, count, self.heads, TOKENS, HEAD_WIDTH).transpose(2, 3)
        return self.out(got.flatten(3))

    def forward(self, x):
        """[B, C, h, w] -> the same."""
        x = x.permute(0, 2, 3, 1)
        height, width = x.shape[1:3]
        absent = absence(height, width, self.shift, x.device)
        x = F.pad(x, (0, 0, 0, -width % SIDE, 0, -height % SIDE))
        rows, columns = x.shape[1:3]
        x = windows(x, self.shift)
        x = x + self.attend(x, absent)
        x = x + self.b(F.relu(self.a(normalised(x))))
        return picture(x, rows, columns, self.shift)[:, :height, :width].permute(0, 3, 1, 2)

    def multiply_adds(self):
        """Of a token: the four matrices, and its products with the window's keys and values."""
        matrices = (self.qkv, self.out, self.a, self.b)
        return sum(m.weight.numel() for m in matrices) + 2 * TOKENS * self.channels


class Network(unet.Network):
    """Window attention instead of 3x3 convolutions; every other block of a level is shifted."""

    def make_block(self, channels, place):
        return Block(channels, place % 2 * SIDE // 2)

    def run_block(self, block, x):
        return block(x)
