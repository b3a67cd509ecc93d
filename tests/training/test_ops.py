# SPDX-License-Identifier: MIT
"""Fused operations against the plain twin, values and gradients: in a build for the CPU, or with
the argument `cuda` on a GPU, where features, head and their gradients are bfloat16."""
import os
import sys
import tempfile

import torch

import common
from hindsight_training import constants as K
from hindsight_training import ops, pipeline, prepare


def close(name, got, want, bound):
    """Sums run in another order, so values differ by some units in the last place; where samples
    are all alike their deviation is rounding only, so single values may differ by more."""
    scale = max(float(want.abs().max()), 1e-3)
    difference = (got - want).abs() / scale
    off = float((difference > bound).float().mean())
    print('%-24s worst %.1e of %.1e, %.3f %% above %.0e' % (name, float(difference.max()), scale,
                                                         100 * off, bound))
    assert off <= 5e-3 and float(difference.max()) < 0.3, name


def plain(history, tokens, frame):
    moved = pipeline.reproject(history, frame)
    out = pipeline.features(moved, frame)
    return moved, out, pipeline.resolve(moved, frame, pipeline.from_tokens(
        tokens, K.HEAD if frame.levels is None else K.RAY_HEAD))


def fused(history, tokens, frame):
    moved, out = ops.Reproject.apply(history, frame)
    return moved, out, ops.Resolve.apply(moved, tokens, frame)


def batch_frame(seed, width, height, levels=False):
    """Two clips' second frames as one batch."""
    frames = []
    for k in range(2):
        clip = common.random_clip(seed + k, 2)
        frames.append(prepare.prepare(clip, width, height)[0][1])
    values = [torch.cat([getattr(f, n) for f in frames]).contiguous()
              for n in ('colour', 'motion', 'valid', 'depth', 'jitter', 'ratio')]
    values.append(torch.tensor([1.0, 0.0]))
    if not levels:
        return pipeline.Frame(*values, width, height)
    # Of two samples that are both the least, either may take the gradient: none are equal.
    colour = values[0] = values[0] + 0.02 * torch.rand_like(values[0])
    more = torch.cat([colour, colour], -1) + 0.3 * torch.randn(*colour.shape[:3], 6)
    # In a part of the picture the passes leave everything as it is.
    more[:, :, :9] = torch.cat([colour, colour], -1)[:, :, :9]
    return pipeline.Frame(*values, width, height, more.clamp(0, K.RANGE),
                          torch.rand(*colour.shape[:3], K.GUIDES))


def check(seed, width, height, strength, device, levels=False):
    torch.manual_seed(seed)
    frame = batch_frame(seed, width, height, levels)
    features, outputs = ((K.RAY_FEATURES, K.RAY_OUTPUTS) if levels else (K.FEATURES, K.OUTPUTS))
    history = torch.cat([torch.rand(2, height, width, 3) * 0.9,
                         torch.rand(2, height, width, 1) * 6], -1)
    # A part of history close to the picture, so that rectification lets it pass.
    close_by = pipeline.nearest_colour(frame) + 0.02 * torch.rand(2, height, width, 3)
    history[:, :, : width // 2, :3] = close_by[:, :, : width // 2].clamp(0, 0.95)
    tokens = torch.randn(2, height // 2, width // 2, outputs) * strength
    g_out, g_next = torch.randn(2, height // 2, width // 2, features), torch.randn_like(history)
    results, bounds = [], (1e-5, 1e-4, 1e-4, 1e-3, 1e-3)
    if device == 'cuda':
        tokens, g_out = tokens.bfloat16().float(), g_out.bfloat16().float()
        bounds = (1e-5, 8e-3, 1e-3, 8e-3, 8e-3)
    frame, history = frame.map(lambda v: v.to(device)), history.to(device)
    tokens, g_out, g_next = (v.to(device) for v in (tokens, g_out, g_next))
    for function in (plain, fused):
        io = ops.io_type(history) if function is fused else torch.float32
        h, o = history.clone().requires_grad_(), tokens.to(io, copy=True).requires_grad_()
        moved, out, after = function(h, o, frame)
        torch.autograd.backward([out, after], [g_out.to(io), g_next])
        results.append((moved, out, after, h.grad, o.grad))
    for name, a, b, bound in zip(('moved', 'features', 'resolved', 'history gradient',
                                  'head gradient'), results[1], results[0], bounds):
        close('%dx%d %s%s' % (width, height, 'levels ' if levels else '', name),
              a.detach().float(), b.detach(), bound)
    if levels:
        # Each of the new values by itself: the others' gradients are larger.
        for c in (K.LEVEL_M, K.LEVEL_A):
            got, want = (r[4][..., 4 * c:4 * c + 4].float() for r in results[::-1])
            close('%dx%d gradient of value %d' % (width, height, c), got, want, bounds[4])
            assert float(want.abs().max()) > 1e-2


def check_cells(seed, width, height, device):
    """What networks on render pixels see where those are not tokens of 2x2 output pixels."""
    torch.manual_seed(seed)
    frame = batch_frame(seed, width, height).map(lambda v: v.to(device))
    history = torch.rand(2, height, width, 4, device=device) * 0.8 + 0.1
    rows, columns = frame.colour.shape[1:3]
    g_out = torch.randn(2, rows, columns, K.FEATURES, device=device)
    g_moved = torch.randn_like(history)
    results, bounds = [], (1e-5, 1e-4, 1e-3)
    if device == 'cuda':
        g_out, bounds = g_out.bfloat16().float(), (1e-5, 8e-3, 8e-3)
    for fused_ones in (False, True):
        h = history.clone().requires_grad_()
        if fused_ones:
            moved = ops.Move.apply(h, frame)
            out = ops.Features.apply(pipeline.to_cells(moved, frame), pipeline.cells_of(frame))
            out = pipeline.with_scale(out, frame)
        else:
            moved = pipeline.reproject(h, frame)
            out = pipeline.cell_features(moved, frame)
        torch.autograd.backward([out, moved], [g_out.to(out.dtype), g_moved])
        results.append((moved, out, h.grad))
    for name, a, b, bound in zip(('moved', 'features', 'gradient'), results[1], results[0],
                                 bounds):
        close('%dx%d cells %s' % (width, height, name), a.detach().float(), b.detach(), bound)


def main():
    device = 'cuda' if 'cuda' in sys.argv[1:] else 'cpu'
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault('HINDSIGHT_OPS', folder)
        check(1, 56, 40, 1.0, device)
        check(3, 56, 40, 0.0, device)
        check(5, 42, 60, 3.0, device)
        check(11, 56, 40, 1.0, device, levels=True)
        check(13, 56, 40, 0.0, device, levels=True)
        check(15, 42, 60, 3.0, device, levels=True)
        check_cells(7, 84, 60, device)
        check_cells(9, 42, 50, device)
    print('fused operations agree with the plain ones on', device)
    return 0


if __name__ == '__main__':
    sys.exit(main())
