# SPDX-License-Identifier: MIT
"""Packed clips of `hindsight render --format pack`, kept on the device; varied batches."""
import concurrent.futures
import glob
import os
import random

import numpy as np
import torch

from . import constants as K
from . import denoise, prepare, tensors
from .pipeline import Frame, encode

PLANES = ('colour', 'motion', 'valid', 'depth', 'jitter', 'reference', 'seen')


def read_clip(path):
    """One packed clip as CPU tensors; colour and reference are exposed, linear, half floats."""
    _, arrays = tensors.read(path)
    take = {k: torch.from_numpy(np.array(v)) for k, v in arrays.items()}
    exposure = take['exposure'].view(-1, 1, 1, 1)

    def exposed(name):
        return (take[name][..., :3].float() * exposure).clamp(0, K.MAX).nan_to_num(0).half()
    guides = {k: take[k][..., :3] for k in denoise.GUIDES if k in take}
    if 'normal' in take and 'roughness' not in take:
        guides['roughness'] = take['normal'][..., 3:]
    return dict(guides, colour=exposed('colour'), reference=exposed('reference'),
                depth=take['depth'][..., 0], motion=take['motion'], jitter=take['jitter'],
                reset=take['reset'] > 0, **{k: take[k].double() for k in (
                    'view', 'proj', 'previous_view', 'previous_proj')})


def prepare_clip(clip, device, camera=True, depth=True, cuts=True):
    """Planes as the pipeline wants them, with or without what some renderers do not give; without
    `cuts` nothing tells where a shot ends."""
    far, jitter = clip['depth'].to(device), clip['jitter'].to(device)
    far = far if depth else torch.full_like(far, np.inf)
    reset = clip['reset'] if cuts else torch.zeros_like(clip['reset'])
    reset = reset.clone()
    reset[0] = True
    reset = reset.to(device)
    rows = None
    if camera:
        rows = torch.from_numpy(prepare.camera_rows(*(clip[k].numpy() for k in (
            'view', 'proj', 'previous_view', 'previous_proj')))).to(device)
    motion, valid, far = prepare.prepare_planes(far, clip['motion'].to(device), jitter, reset, rows)
    return dict(colour=clip['colour'].to(device), reference=clip['reference'].to(device),
                motion=motion, valid=valid.float(), depth=far, jitter=jitter,
                seen=(~reset).float() * float(depth))


def ratio_of(folder):
    """Output over render width of a folder's first clip; 0 without one."""
    paths = sorted(glob.glob(os.path.join(folder, '*.safetensors')))
    if not paths:
        return 0
    _, arrays = tensors.read(paths[0])
    return arrays['reference'].shape[2] / arrays['colour'].shape[2]


class Pool:
    """Clips of one geometry on the device. New files are read by threads and added in between."""

    def __init__(self, folder, device, limit=5000, varied=True):
        self.folder, self.device, self.limit, self.varied = folder, device, limit, varied
        self.known, self.clips, self.pending = set(), [], []
        self.threads = concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1))

    def poll(self, least=0):
        """Takes what has been read, waiting for `least` clips if there are so many files, and
        starts to read what is new."""
        for path in sorted(glob.glob(os.path.join(self.folder, '*.safetensors'))):
            if path not in self.known and len(self.known) < self.limit:
                self.known.add(path)
                self.pending.append(self.threads.submit(read_clip, path))
        missing = max(least - len(self.clips), 0)
        concurrent.futures.wait(self.pending[:missing])
        done = [f for f in self.pending if f.done()]
        self.pending = [f for f in self.pending if f not in done]
        for future in done:
            # Some renderers give no camera, some no depth, and most do not tell cuts.
            luck = random.random() if self.varied else 1
            cuts = not self.varied or random.random() > 0.5
            self.clips.append(prepare_clip(future.result(), self.device, luck > 0.25, luck > 0.06,
                                           cuts))
        return len(self.clips)

    def geometry(self):
        clip = self.clips[0]
        return clip['colour'].shape[:3], clip['reference'].shape[1:3]

    def draw(self, count):
        """Planes [T, B, ...] of random clips."""
        chosen = random.choices(self.clips, k=count)
        return {k: torch.stack([c[k] for c in chosen], 1) for k in PLANES}


def flip(planes, across, down, swap):
    """Mirrors and transposes planes [T, B, rows, columns, ...] with motion and jitter."""
    out = dict(planes)
    sign = out['motion'].new_tensor([-1.0 if across else 1.0, -1.0 if down else 1.0])
    axes = ([3] if across else []) + ([2] if down else [])
    for name in ('colour', 'reference', 'motion', 'valid', 'depth'):
        out[name] = out[name].flip(axes)
        if swap:
            out[name] = out[name].transpose(2, 3)
    out['motion'], out['jitter'] = out['motion'] * sign, out['jitter'] * sign
    if swap:
        out['motion'], out['jitter'] = out['motion'].flip(-1), out['jitter'].flip(-1)
    return out


def grain(colour, depth):
    """The noise that many samples a pixel leave in path-traced colour: a few directions of light
    in colours of their own, gathered in random numbers, more of it where light is indirect, none
    in the sky. In 60 of 100 clips, and weak in most of those."""
    batch, device = colour.shape[1], colour.device

    def each(values, *axes):
        return values.view(1, batch, *axes)
    level = 0.004 * torch.exp(3.9 * torch.rand(batch, device=device))
    level = level * (torch.rand(batch, device=device) < 0.6)
    # Darker surfaces get more of their light after bounces.
    bright = colour.mean((2, 3, 4), keepdim=True)
    indirect = 1 / (0.4 + colour.mean(-1, keepdim=True) / bright.clamp(min=1e-4))
    share = each(level, 1, 1, 1) * indirect * (depth < K.DEPTH_FAR).unsqueeze(-1)
    # Sums of rare strong contributions are skewed: chi-squared rather than normal.
    shape = colour[..., :1].shape
    luma = (torch.randn(shape, device=device) + 0.5 * torch.randn(shape, device=device).square()
            - 0.5) / 1.22
    tint = each(torch.rand(batch, 3, device=device), 1, 1, 3)
    tint = tint / tint.mean(-1, keepdim=True)
    bounced = 0.2 * bright * tint * torch.randn(shape, device=device)
    return (colour + share * (colour * (luma + 0.3 * torch.randn_like(colour)) + bounced)
            ).clamp(min=0)


def colours(planes, varied):
    """Exposure, its drift, order of the channels and noise; then the working range and ratio."""
    frames, batch = planes['jitter'].shape[:2]
    device = planes['jitter'].device
    gain = torch.ones(frames, batch, device=device)
    colour, reference = planes['colour'].float(), planes['reference'].float()
    if varied:
        drift = torch.randn(frames, batch, device=device).cumsum(0) * 0.1
        drift = drift * (torch.rand(batch, device=device) < 0.15)
        gain = 2 ** (0.8 * torch.randn(batch, device=device).clamp(-2.5, 2.5) + drift)
        order = torch.rand(batch, 3, device=device).argsort(1)
        order = torch.where((torch.rand(batch, 1, device=device) < 0.5), order,
                            torch.arange(3, device=device))
        order = order.view(1, batch, 1, 1, 3)
        colour = colour.gather(-1, order.expand_as(colour))
        reference = reference.gather(-1, order.expand_as(reference))
        colour = grain(colour, planes['depth'])
    factor = gain.view(frames, batch, 1, 1, 1)
    ratio = torch.cat([torch.ones_like(gain[:1]), gain[1:] / gain[:-1]])
    work = [encode((c * factor).clamp(0, K.MAX)) for c in (colour, reference)]
    return work[0], work[1], ratio


def batch(pool, count, varied=True):
    """Planes of `count` clips as [T, B, ...] tensors in the working range."""
    planes = pool.draw(count)
    if varied:
        height, width = planes['depth'].shape[2:]
        sizes = planes['reference'].shape[2:4]
        square = height == width and sizes[0] == sizes[1]
        planes = flip(planes, random.random() < 0.5, random.random() < 0.5,
                      square and random.random() < 0.5)
    colour, reference, ratio = colours(planes, varied)
    return dict(colour=colour, reference=reference, ratio=ratio, motion=planes['motion'],
                valid=planes['valid'], depth=planes['depth'], jitter=planes['jitter'],
                seen=planes['seen'])


def frames_of(planes):
    """Frames of a batch, views of its tensors."""
    height, width = planes['reference'].shape[2:4]
    names = ('colour', 'motion', 'valid', 'depth', 'jitter', 'ratio', 'seen')
    return [Frame(*(planes[n][t] for n in names), width, height)
            for t in range(len(planes['colour']))]
