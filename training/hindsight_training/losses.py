# SPDX-License-Identifier: MIT
"""Loss in the working range, and the measures of docs: PSNR, SSIM, flicker."""
import torch
from torch.nn import functional as F


def sequence_loss(out, reference, fresh, temporal=0.25, structure=0.25, square=0.0):
    """`out`, `reference` [T, B, H, W, 3] working range; `fresh`: weight of the first frame.

    L1, mean square (square), L1 of neighbour differences (structure) and of the error's change
    (temporal).
    """
    error = out - reference
    count = len(error)
    share = error.new_ones(count)
    share[0] = fresh
    each = error.abs() + square * error.square() if square else error.abs()
    loss = (each.mean((1, 2, 3, 4)) * share).sum() / share.sum()
    if structure:
        across = (error[:, :, :, 1:] - error[:, :, :, :-1]).abs().mean((1, 2, 3, 4))
        down = (error[:, :, 1:] - error[:, :, :-1]).abs().mean((1, 2, 3, 4))
        loss = loss + structure * ((across + down) * share).sum() / share.sum()
    if temporal:
        loss = loss + temporal * (error[1:] - error[:-1]).abs().mean()
    return loss


def tone(linear):
    """The curve in which pictures are compared."""
    linear = linear.clamp(min=0)
    return (linear / (1 + linear)) ** (1 / 2.2)


def psnr(a, b):
    """Of [..., H, W, 3], peak 1: one value a picture."""
    return -10 * (a - b).square().mean((-3, -2, -1)).clamp(min=1e-12).log10()


def ssim(a, b):
    """Gaussian window, sigma 1.5, 11x11, mean over channels: [N, H, W, 3] -> [N]."""
    x = torch.arange(11.0, device=a.device) - 5
    kernel = torch.exp(-x * x / 4.5)
    kernel = kernel / kernel.sum()

    def smooth(v):
        v = F.conv2d(v, kernel.view(1, 1, 1, -1))
        return F.conv2d(v, kernel.view(1, 1, -1, 1))
    n, height, width, channels = a.shape
    a, b = (v.permute(0, 3, 1, 2).reshape(-1, 1, height, width) for v in (a, b))
    ma, mb = smooth(a), smooth(b)
    va, vb, ab = smooth(a * a) - ma * ma, smooth(b * b) - mb * mb, smooth(a * b) - ma * mb
    value = ((2 * ma * mb + 1e-4) * (2 * ab + 9e-4)
             / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4)))
    return value.mean((1, 2, 3)).view(n, channels).mean(1)


def warp(picture, motion):
    """[H, W, 3] at pixel + motion, bilinear, and where that lies inside."""
    height, width = picture.shape[:2]
    y, x = torch.meshgrid(torch.arange(height, device=picture.device, dtype=torch.float32),
                          torch.arange(width, device=picture.device, dtype=torch.float32),
                          indexing='ij')
    x, y = x + motion[..., 0], y + motion[..., 1]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    grid = torch.stack([2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1], -1)
    out = F.grid_sample(picture.permute(2, 0, 1)[None], grid[None], align_corners=True,
                        padding_mode='border')
    return out[0].permute(1, 2, 0), inside


def flicker(out, before, reference, reference_before, motion):
    """Mean of |(out - warped out before) - (ref - warped ref before)|."""
    moved, inside = warp(before, motion)
    reference_moved, _ = warp(reference_before, motion)
    change = (out - moved) - (reference - reference_moved)
    return float(change.abs()[inside].mean())
