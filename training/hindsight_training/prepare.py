# SPDX-License-Identifier: MIT
"""Twin of the passes before reproject, over whole clips: exposure and prepare. No gradients."""
import numpy as np
import torch

from . import constants as K
from .pipeline import Frame, encode


def automatic_exposure(colour, reset):
    """Exposure of every frame of [T, h, w, 3], measured as the engine does."""
    log_mean, valid, since, exposures = 0.0, False, 0, []
    for frame, cut in zip(colour, reset):
        since = 0 if cut else since
        if since % 2 == 0:
            luma = frame.float() @ frame.new_tensor([0.2126, 0.7152, 0.0722]).float()
            luma = luma[(luma > 1e-6) & luma.isfinite()]
            if len(luma):
                mean = float(luma.log2().mean())
                blend = K.EXPOSURE_BLEND if valid and not cut else 1.0
                log_mean, valid = log_mean * (1 - blend) + mean * blend, True
        exposures.append(K.EXPOSURE_KEY * 2.0 ** -log_mean)
        since += 1
    return torch.tensor(exposures, device=colour.device)


def camera_rows(view, proj, previous_view, previous_proj):
    """Rows x, y, w of (ndc x, ndc y, 1 / depth, 1) -> previous clip space: [T, 3, 4]."""
    view, proj, before, clip = (np.asarray(m, np.float64)
                                for m in (view, proj, previous_view, previous_proj))
    unproject = np.zeros_like(proj)
    unproject[:, 0, 0], unproject[:, 0, 3] = 1 / proj[:, 0, 0], proj[:, 0, 2] / proj[:, 0, 0]
    unproject[:, 1, 1], unproject[:, 1, 3] = 1 / proj[:, 1, 1], proj[:, 1, 2] / proj[:, 1, 1]
    unproject[:, 2, 3] = -1
    unproject[:, 3, 2] = 1
    rows = clip @ before @ np.linalg.inv(view) @ unproject
    return rows[:, [0, 1, 3]].astype(np.float32)


def clean(colour):
    """No negative values, none that are not finite: those take their neighbours' mean."""
    finite = colour.isfinite().all(-1, keepdim=True)
    colour = torch.where(finite, colour, torch.zeros_like(colour)).clamp(min=0)
    if bool(finite.all()):
        return colour
    planes = torch.cat([colour, finite.to(colour)], -1).permute(0, 3, 1, 2)
    planes = torch.nn.functional.pad(planes, (1, 1, 1, 1), mode='replicate')
    sums = torch.nn.functional.avg_pool2d(planes, 3, 1).permute(0, 2, 3, 1) * 9
    mean = torch.where(sums[..., 3:] > 0.5, sums[..., :3] / sums[..., 3:].clamp(min=1), 0)
    return torch.where(finite, colour, mean)


def camera_motion(depth, jitter, rows):
    """Motion of standing points in render px, their previous depth, and whether they were seen."""
    height, width = depth.shape[1:]
    x = torch.arange(width, device=depth.device) + 0.5 + jitter[:, :1]
    y = torch.arange(height, device=depth.device) + 0.5 + jitter[:, 1:]
    x, y = torch.broadcast_tensors(x[:, None, :], y[:, :, None])
    near = torch.where(depth < K.DEPTH_FAR, 1 / depth, torch.zeros_like(depth))
    ndc = torch.stack([2 * x / width - 1, 1 - 2 * y / height, near, torch.ones_like(near)], -1)
    # Sums, not a product of matrices: GPUs may round factors of those to eleven bits.
    clip = torch.stack([(ndc * rows[:, None, None, r]).sum(-1) for r in range(3)], -1)
    seen = clip[..., 2] > 1e-6
    w = torch.where(seen, clip[..., 2], torch.ones_like(near))
    motion = torch.stack([(clip[..., 0] / w * 0.5 + 0.5) * width - x,
                          (0.5 - clip[..., 1] / w * 0.5) * height - y], -1)
    expected = torch.where(seen & (depth < K.DEPTH_FAR), depth * w, depth)
    return torch.where(seen.unsqueeze(-1), motion, torch.zeros_like(motion)), expected, seen


def shifted_step(depth, axis):
    """The smaller step of depth to the two neighbours along an axis."""
    size = depth.shape[axis]
    index = torch.arange(size, device=depth.device)
    low = depth.index_select(axis, (index - 1).clamp(min=0))
    high = depth.index_select(axis, (index + 1).clamp(max=size - 1))
    return torch.minimum((low - depth).abs(), (high - depth).abs())


def visibility(previous, px, py, previous_jitter, limit):
    """Share of the previous depth around (px, py) that allows the sample to be there."""
    count, height, width = previous.shape
    u = px - previous_jitter[:, 0, None, None] - 0.5
    v = py - previous_jitter[:, 1, None, None] - 0.5
    bx, by = u.floor(), v.floor()
    fx, fy = u - bx, v - by
    frames = torch.arange(count, device=previous.device).view(-1, 1, 1)
    total = 0
    for j in range(2):
        for i in range(2):
            x, y = (bx.long() + i).clamp(0, width - 1), (by.long() + j).clamp(0, height - 1)
            share = (fx if i else 1 - fx) * (fy if j else 1 - fy)
            total = total + share * (previous[frames, y, x] >= limit)
    return total


def validity(depth, motion, jitter, expected, reset, tolerance):
    """[T, h, w]: how far each sample's history is to be trusted."""
    height, width = depth.shape[1:]
    x = torch.arange(width, device=depth.device) + 0.5
    y = torch.arange(height, device=depth.device) + 0.5
    px = x.view(1, 1, -1) + jitter[:, 0, None, None] + motion[..., 0]
    py = y.view(1, -1, 1) + jitter[:, 1, None, None] + motion[..., 1]
    slope = torch.where(depth < K.DEPTH_FAR, shifted_step(depth, 1) + shifted_step(depth, 2), 0)
    limit = torch.minimum(expected, depth) * (1 - tolerance) - slope
    previous = torch.cat([depth[:1], depth[:-1]])
    previous_jitter = torch.cat([jitter[:1], jitter[:-1]])
    inside = (px >= 0) & (py >= 0) & (px <= width) & (py <= height)
    seen = visibility(previous, torch.where(inside, px, 0), torch.where(inside, py, 0),
                      previous_jitter, limit)
    return seen * inside * ~reset.view(-1, 1, 1)


def prepare_planes(depth, motion, jitter, reset, rows=None):
    """Motion without unwritten values, validity, depth in canonical form.

    `depth` [T, h, w]: background is not finite or huge; where all is background, there is no
    depth. `motion` [T, h, w, 2]: values that are not finite are unwritten. `rows`: camera_rows()
    or None.
    """
    depth = torch.where((depth > 0) & (depth < 1e30), depth, torch.full_like(depth, K.DEPTH_FAR))
    limit = depth.shape[1] + depth.shape[2]
    unwritten = ~motion.isfinite().all(-1)
    lost = ~unwritten & ~(motion.abs() <= limit).all(-1)
    expected = depth
    if rows is not None:
        moved, expected, seen = camera_motion(depth, jitter, rows)
        motion = torch.where(unwritten.unsqueeze(-1), moved, motion)
        lost |= unwritten & (~seen | ~(moved.abs() <= limit).all(-1))
    else:
        lost |= unwritten
    motion = torch.where(lost.unsqueeze(-1), torch.zeros_like(motion), motion)
    tolerance = K.DEPTH_TOLERANCE_FREE if rows is None else K.DEPTH_TOLERANCE
    return motion, validity(depth, motion, jitter, expected, reset, tolerance) * ~lost, depth


def canonical(clip):
    """Planes of a clip [T, ...] by name as the passes after prepare want them: linear exposed
    colour, motion, valid, depth, jitter, ratio, seen; exposure; camera rows or None.

    The clip: colour [T, h, w, 3] linear, depth [T, h, w], motion [T, h, w, 2], jitter [T, 2],
    exposure [T] or None (measured), reset [T]; view, proj and previous_* [T, 4, 4] or None."""
    colour, jitter, reset = clip['colour'].float(), clip['jitter'].float(), clip['reset'].bool()
    exposure = clip.get('exposure')
    if exposure is None:
        exposure = automatic_exposure(colour, reset)
    rows = None
    if clip.get('view') is not None:
        rows = camera_rows(*(clip[k].cpu() for k in
                             ('view', 'proj', 'previous_view', 'previous_proj')))
        rows = torch.from_numpy(rows).to(colour.device)
    colour = (clean(colour) * exposure.view(-1, 1, 1, 1)).clamp(max=K.MAX).half().float()
    motion, valid, depth = prepare_planes(clip['depth'].float(), clip['motion'].float(), jitter,
                                          reset, rows)
    ratio = torch.cat([torch.ones_like(exposure[:1]), exposure[1:] / exposure[:-1]])
    seen = (~reset).float() * float(bool((depth < K.DEPTH_FAR).any()))
    planes = dict(colour=colour, motion=motion, valid=valid.float(), depth=depth, jitter=jitter,
                  ratio=ratio, seen=seen)
    return planes, exposure, rows


def prepare(clip, width, height):
    """Frames of batch 1 of a clip, see canonical(), and its exposure."""
    planes, exposure, _ = canonical(clip)
    planes['colour'] = encode(planes['colour'])
    return [Frame(*(v[t:t + 1] for v in planes.values()), width, height)
            for t in range(len(exposure))], exposure
