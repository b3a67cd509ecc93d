# SPDX-License-Identifier: MIT
"""Packed clips of `hindsight render --format pack`, kept on the device; varied batches."""
import concurrent.futures
import glob
import os
import random
import weakref

import numpy as np
import torch

from . import constants as K
from . import denoise, prepare, tensors
from .pipeline import Frame, encode

PLANES = ('colour', 'motion', 'valid', 'depth', 'jitter', 'reference', 'seen')
# Also of clips for networks that see levels: M and A, linear; what denoise.front() returns.
LEVEL_PLANES = PLANES + ('levels', 'given')
TOGETHER = 16  # clips that go through denoise.front() at once


def paths_of(folder):
    """Packed clips in a folder and in folders within."""
    return sorted(glob.glob(os.path.join(folder, '**', '*.safetensors'), recursive=True))


def read_pack(path):
    """Arrays of a packed clip, and the file that its reference is in: several may share one."""
    about, arrays = tensors.read(path)
    if 'reference' in about:
        path = os.path.normpath(os.path.join(os.path.dirname(path), about['reference']))
        arrays['reference'] = tensors.read(path)[1]['reference']
    return arrays, os.path.abspath(path)


def read_clip(path):
    """One packed clip as CPU tensors; colour and reference are exposed, linear, half floats."""
    arrays, source = read_pack(path)
    take = {k: torch.from_numpy(np.array(v)) for k, v in arrays.items()}
    exposure = take['exposure'].view(-1, 1, 1, 1)

    def exposed(name):
        return (take[name][..., :3].float() * exposure).clamp(0, K.MAX).nan_to_num(0).half()
    guides = {k: take[k][..., :3] for k in denoise.GUIDES if k in take}
    if 'normal' in take and 'roughness' not in take:
        guides['roughness'] = take['normal'][..., 3:]
    return dict(guides, colour=exposed('colour'), reference=exposed('reference'),
                depth=take['depth'][..., 0], motion=take['motion'], jitter=take['jitter'],
                reset=take['reset'] > 0, source=source, **{k: take[k].double() for k in (
                    'view', 'proj', 'previous_view', 'previous_proj')})


def damage(clip):
    """A clip as other renderers write it: guides missing, samples that are far too bright."""
    bare = random.random() < 0.04
    lost = [k for k in denoise.GUIDES
            if bare or random.random() < (0.5 if k == 'hit_distance' else 0.06)]
    clip = {k: v for k, v in clip.items() if k not in lost}
    if random.random() < 0.15:
        colour = clip['colour'].float()
        hit = torch.rand(colour.shape[:-1]) < 10 ** random.uniform(-4.5, -3)
        by = 10 ** (1 + torch.rand(colour.shape[:-1]))
        colour = colour * torch.where(hit, by, 1).unsqueeze(-1)
        clip['colour'] = colour.clamp(max=K.MAX).half()
    return clip


def add_levels(clips, device):
    """Runs the passes of denoise.py over prepared clips of one size, which keep `rows` and guides
    for it."""
    planes = {k: torch.stack([c[k] for c in clips], 1)
              for k in ('colour', 'depth', 'motion', 'valid', 'jitter')}
    planes['ratio'] = torch.ones_like(planes['jitter'][..., 0])
    guides = [denoise.guides_of(c) for c in clips]
    guides = {k: torch.stack([g[k].to(device).float() for g in guides], 1) for k in denoise.GUIDES}
    known = torch.stack([(c['depth'] < K.DEPTH_FAR).any() for c in clips])
    camera = torch.tensor([c['rows'] is not None for c in clips], device=device)
    none = torch.zeros(len(planes['depth']), 3, 4, device=device)
    rows = torch.stack([none if c['rows'] is None else c['rows'] for c in clips], 1)
    full, middle, least, given = denoise.front(planes, guides, known, rows, camera)
    levels = torch.cat([middle, least], -1).half()
    for b, clip in enumerate(clips):
        clip.update(colour=full[:, b].half(), levels=levels[:, b].clone(),
                    given=given[:, b].half())
        for name in ('rows', *denoise.GUIDES):
            clip.pop(name, None)


shared = weakref.WeakValueDictionary()  # references on devices, by file


def on_device(clip, device):
    """The reference, which clips that share one have once."""
    key = clip.get('source'), str(device)
    reference = shared.get(key) if key[0] else None
    if reference is None:
        reference = clip['reference'].to(device)
        if key[0]:
            shared[key] = reference
    return reference


def prepare_clip(clip, device, camera=True, depth=True, cuts=True, levels=False):
    """Planes as the pipeline wants them, with or without what some renderers do not give; without
    `cuts` nothing tells where a shot ends. With `levels`, add_levels() has to follow."""
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
    more = dict({k: clip[k] for k in denoise.GUIDES if k in clip}, rows=rows) if levels else {}
    return dict(more, colour=clip['colour'].to(device), reference=on_device(clip, device),
                motion=motion, valid=valid.float(), depth=far, jitter=jitter,
                seen=(~reset).float() * float(depth))


def ratio_of(folder):
    """Output over render width of a folder's first clip; 0 without one."""
    paths = paths_of(folder)
    if not paths:
        return 0
    arrays, _ = read_pack(paths[0])
    return arrays['reference'].shape[2] / arrays['colour'].shape[2]


class Pool:
    """Clips of one geometry on the device. New files are read by threads and added in between.
    `levels`: they are noisy, and go through the denoiser's passes first."""

    def __init__(self, folder, device, limit=5000, varied=True, levels=False):
        self.folder, self.device, self.limit, self.varied = folder, device, limit, varied
        self.levels = levels
        self.known, self.clips, self.pending = set(), [], []
        self.threads = concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1))

    def poll(self, least=0):
        """Takes what has been read, waiting for `least` clips if there are so many files, and
        starts to read what is new."""
        for path in paths_of(self.folder):
            if path not in self.known and len(self.known) < self.limit:
                self.known.add(path)
                self.pending.append(self.threads.submit(read_clip, path))
        missing = max(least - len(self.clips), 0)
        concurrent.futures.wait(self.pending[:missing])
        # Not so many at once that training waits long.
        done = [f for f in self.pending if f.done()][:max(missing, 4 * TOGETHER)]
        self.pending = [f for f in self.pending if f not in done]
        for at in range(0, len(done), TOGETHER):
            self.take([future.result() for future in done[at:at + TOGETHER]])
        return len(self.clips)

    def take(self, clips):
        made = []
        for clip in clips:
            # Some renderers give no camera, some no depth, and most do not tell cuts.
            luck = random.random() if self.varied else 1
            cuts = not self.varied or random.random() > 0.5
            if self.levels and self.varied:
                clip = damage(clip)
            made.append(prepare_clip(clip, self.device, luck > 0.25, luck > 0.06, cuts,
                                     self.levels))
        if self.levels and made:
            add_levels(made, self.device)
        self.clips += made

    def geometry(self):
        clip = self.clips[0]
        return clip['colour'].shape[:3], clip['reference'].shape[1:3]

    def draw(self, count):
        """Planes [T, B, ...] of random clips."""
        return together(random.choices(self.clips, k=count))


def together(clips):
    """Planes [T, B, ...] of clips."""
    names = LEVEL_PLANES if 'levels' in clips[0] else PLANES
    return {k: torch.stack([c[k] for c in clips], 1) for k in names}


def flip(planes, across, down, swap):
    """Mirrors and transposes planes [T, B, rows, columns, ...] with motion and jitter."""
    out = dict(planes)
    sign = out['motion'].new_tensor([-1.0 if across else 1.0, -1.0 if down else 1.0])
    axes = ([3] if across else []) + ([2] if down else [])
    names = ('colour', 'reference', 'motion', 'valid', 'depth', 'levels', 'given')
    for name in [n for n in names if n in out]:
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


def reordered(colour, order):
    """Channels [T, B, ..., C], three by three, in the order [B, 3]."""
    order = torch.cat([order + k for k in range(0, colour.shape[-1], 3)], 1)
    return colour.gather(-1, order.view(1, len(order), 1, 1, -1).expand_as(colour))


def turn_normals(given):
    """Normals of `given` [T, B, h, w, 11] in another world: axes swapped, some mirrored. Renderers
    do not agree on them."""
    batch, device = given.shape[1], given.device
    normal = reordered(given[..., 6:9], torch.rand(batch, 3, device=device).argsort(1))
    sign = torch.randint(0, 2, (1, batch, 1, 1, 3), device=device) * 2 - 1
    return torch.cat([given[..., :6], normal * sign, given[..., 9:]], -1)


def colours(planes, varied):
    """Exposure, its drift, order of the channels and noise; then colour, reference and, if there
    are, levels in the working range, features of guides, and ratio, by name."""
    frames, batch = planes['jitter'].shape[:2]
    device, noisy = planes['jitter'].device, 'levels' in planes
    gain = torch.ones(frames, batch, device=device)
    names = ('colour', 'reference') + (('levels', 'given') if noisy else ())
    made = {k: planes[k].float() for k in names}
    if varied:
        drift = torch.randn(frames, batch, device=device).cumsum(0) * 0.1
        drift = drift * (torch.rand(batch, device=device) < 0.15)
        gain = 2 ** (0.8 * torch.randn(batch, device=device).clamp(-2.5, 2.5) + drift)
        order = torch.rand(batch, 3, device=device).argsort(1)
        order = torch.where((torch.rand(batch, 1, device=device) < 0.5), order,
                            torch.arange(3, device=device))
        for name in names[:3]:
            made[name] = reordered(made[name], order)
        if noisy:
            given = turn_normals(made['given'])
            made['given'] = torch.cat([given[..., :3], reordered(given[..., 3:6], order),
                                       given[..., 6:]], -1)
        else:
            made['colour'] = grain(made['colour'], planes['depth'])
    factor = gain.view(frames, batch, 1, 1, 1)
    out = {k: encode((made[k] * factor).clamp(0, K.MAX)) for k in names[:3]}
    if noisy:
        out['guides'] = denoise.seen_guides(made['given'], factor)
    out['ratio'] = torch.cat([torch.ones_like(gain[:1]), gain[1:] / gain[:-1]])
    return out


def batch(pool, count, varied=True):
    """Planes of `count` clips as [T, B, ...] tensors in the working range."""
    planes = pool.draw(count)
    if varied:
        height, width = planes['depth'].shape[2:]
        sizes = planes['reference'].shape[2:4]
        square = height == width and sizes[0] == sizes[1]
        planes = flip(planes, random.random() < 0.5, random.random() < 0.5,
                      square and random.random() < 0.5)
    planes.update(colours(planes, varied))
    planes.pop('given', None)
    return planes


def frames_of(planes):
    """Frames of a batch, views of its tensors."""
    height, width = planes['reference'].shape[2:4]
    names = ('colour', 'motion', 'valid', 'depth', 'jitter', 'ratio', 'seen')
    levels = ('levels', 'guides') if 'levels' in planes else ()
    return [Frame(*(planes[n][t] for n in names), width, height, *(planes[n][t] for n in levels))
            for t in range(len(planes['colour']))]
