# SPDX-License-Identifier: MIT
"""Twin of the passes of `atrous` ahead of upscaling, over whole clips: 12_demodulate,
14_accumulate, 16_filter. No gradients.

Tensors are [N, ...] with N = T * B frames, frame t of clip b at t * B + b; planes are channels
first in here. Guides are canonical: directional specular albedo, normals in world space, perceptual
roughness. guides_of() fills in those that a clip lacks.
"""
import torch
from torch.nn import functional as F

from . import constants as K
from . import prepare as before
from .pipeline import Frame, encode

GUIDES = ('diffuse_albedo', 'specular_albedo', 'normal', 'roughness', 'hit_distance')
SPLINE = (0.375, 0.25, 0.0625)
REACH = 2 << (K.ATROUS_PASSES - 1)  # of the filter's widest taps, px


def guides_of(clip):
    """All guides of a clip [T, h, w, .]; one that nobody gave is what the engine makes of it."""
    depth = clip['depth']

    def absent(name):
        channels = 1 if name in ('roughness', 'hit_distance') else 3
        return depth.new_full((*depth.shape, channels), float(name == 'roughness'))
    return {k: clip[k] if k in clip else absent(k) for k in GUIDES}


def luminance(c):
    return 0.2126 * c[:, 0] + 0.7152 * c[:, 1] + 0.0722 * c[:, 2]


def demodulate(colour, depth, known, guides):
    """Signal and albedo [N, 3, h, w], surface [N, 4, h, w]: normal and roughness, traits: specular
    share (below 0: background) and hit distance [N, h, w]. `known` [N]: whether there is depth."""
    def reflectance(name):
        a = guides[name].movedim(-1, 1).float()
        return torch.where(a.isfinite(), a, 0).clamp(0, K.ATROUS_ALBEDO_MAX)
    specular = reflectance('specular_albedo')
    total = reflectance('diffuse_albedo') + specular
    far = (depth >= K.DEPTH_FAR) & known.view(-1, 1, 1)
    reflects = (total.amax(1) >= K.ATROUS_BLACK) & ~far
    share = torch.where(reflects, luminance(specular) / luminance(total).clamp(min=1e-9), 0)
    albedo = torch.where(reflects.unsqueeze(1), total.clamp(min=K.ATROUS_FLOOR), 1)
    normal = guides['normal'].movedim(-1, 1).float()
    length = normal.square().sum(1, keepdim=True).sqrt()
    some = length.isfinite() & (length > K.ATROUS_NORMAL_MIN)
    normal = torch.where(some, normal / length, 0)
    rough = guides['roughness'][..., 0].float()
    rough = torch.where(rough.isfinite(), rough, 0).clamp(0, 1)
    hit = guides['hit_distance'][..., 0].float().nan_to_num(0, K.MAX, 0).clamp(0, K.MAX)
    signal = (colour.movedim(-1, 1) / albedo).clamp(max=K.MAX)
    share = torch.where(far, K.ATROUS_BACKGROUND, share)
    return signal, albedo, torch.cat([normal, rough.unsqueeze(1)], 1), share, hit


def inverse_depth(depth):
    return torch.where(depth < K.DEPTH_FAR, 1 / depth, 0)


def smaller(a, b):
    return torch.where(a.abs() < b.abs(), a, b)


def slopes(inverse):
    """What the inverse depth gains in a pixel, across and down."""
    wide = F.pad(inverse.unsqueeze(1), (1, 1, 1, 1), mode='replicate')[:, 0]
    return (smaller(wide[:, 1:-1, 2:] - inverse, inverse - wide[:, 1:-1, :-2]),
            smaller(wide[:, 2:, 1:-1] - inverse, inverse - wide[:, :-2, 1:-1]))


def pad(planes):
    return F.pad(planes, (REACH, REACH, REACH, REACH))


class Edges:
    """How much the pixels around lie on the surface of a pixel."""

    def __init__(self, depth, surface, share, hit):
        self.inverse = inverse_depth(depth)
        self.across, self.down = slopes(self.inverse)
        self.height, self.width = depth.shape[1:]
        normal = surface[:, :3]
        some = (normal.square().sum(1, keepdim=True) > 0.25).float()
        # A fourth axis for pixels without a normal: their cosine is 1 to each other, 0 to others.
        # The background and what is outside have no axis at all.
        self.normal = torch.cat([normal * some, 1 - some], 1)
        self.rough = surface[:, 3]
        self.mirror = share.clamp(min=0) * (1 - self.rough)
        self.hit = hit if bool((hit > 0).any()) else None
        taps = [self.normal * (share >= 0).unsqueeze(1), self.inverse.unsqueeze(1),
                self.rough.unsqueeze(1)] + ([] if self.hit is None else [hit.unsqueeze(1)])
        self.taps = pad(torch.cat(taps, 1))

    def shifted(self, planes, dx, dy):
        """Of padded planes, those at (x + dx, y + dy)."""
        return planes[..., REACH + dy:REACH + dy + self.height,
                      REACH + dx:REACH + dx + self.width]

    def weight(self, dx, dy):
        tap = self.shifted(self.taps, dx, dy)
        cosine = (self.normal * tap[:, :4]).sum(1).clamp(0, 1)
        off = (tap[:, 4] - (self.inverse + self.across * dx + self.down * dy)).abs()
        change = (self.across * dx).abs() + (self.down * dy).abs()
        slack = K.ATROUS_DEPTH * self.inverse + K.ATROUS_SLOPE * change
        power = off / slack.clamp(min=1e-12) + K.ATROUS_ROUGHNESS * (self.rough - tap[:, 5]).abs()
        if self.hit is not None:
            relative = (self.hit - tap[:, 6]).abs() / (self.hit + tap[:, 6]).clamp(min=1e-3)
            power = power + K.ATROUS_HIT * self.mirror * relative
        return torch.exp(-power) * cosine ** K.ATROUS_NORMAL_POWER


class Around:
    """Sums over the 5x5 pixels around each, and the pixels cut to what is around them."""

    def __init__(self, signal, edges):
        luma = luminance(signal).unsqueeze(1)
        values = torch.cat([signal, luma], 1)
        taps, total, first, second = pad(values), 0, 0, 0
        for n in range(25):
            dx, dy = n % 5 - 2, n // 5 - 2
            if dx or dy:
                w = edges.weight(dx, dy).unsqueeze(1)
                c = edges.shifted(taps, dx, dy)
                total, first, second = total + w, first + w * c, second + w * c * c
        safe = total.clamp(min=1e-9)
        mean = first[:, 3:] / safe
        spread = (second[:, 3:] / safe - mean * mean).clamp(min=0)
        top = mean + K.ATROUS_FIREFLY * spread.sqrt()
        by = torch.where(total > 1, (top / luma.clamp(min=1e-9)).clamp(max=1), 1)
        self.signal = signal * by
        values = values * by
        total, first, second = total + 1, first + values, second + values * values
        mean = first / total
        square = (second / total - mean * mean).clamp(min=0)
        self.centre, self.deviation = mean[:, :3], square[:, :3].sqrt()
        self.luma, self.variance = values[:, 3], square[:, 3]


def look_back(past, x, y, normal, depths, slack):
    """Bilinear sums of the previous frame's planes at (x, y) over taps of the same surface, and
    their weight. `past`: planes, normals [B, ., h, w], depth [B, h, w], jitter [B, 2] of it;
    `depths`: the two that a tap may have, or None."""
    planes, normals, depth, jitter = past
    batch, height, width = depth.shape
    u, v = x - jitter[:, 0].view(-1, 1, 1) - 0.5, y - jitter[:, 1].view(-1, 1, 1) - 0.5
    # What is far outside has no taps wherever it is.
    u, v = u.clamp(-9, width + 9), v.clamp(-9, height + 9)
    bx, by = u.floor(), v.floor()
    fx, fy = u - bx, v - by
    some = normal.square().sum(1) > 0.25
    clips = torch.arange(batch, device=depth.device).view(-1, 1, 1)
    total, sums = 0, 0
    for n in range(4):
        i, j = n & 1, n >> 1
        tx, ty = bx.long() + i, by.long() + j
        w = (fx if i else 1 - fx) * (fy if j else 1 - fy)
        w = w * ((tx >= 0) & (ty >= 0) & (tx < width) & (ty < height))
        tx, ty = tx.clamp(0, width - 1), ty.clamp(0, height - 1)
        if depths is not None:
            d = depth[clips, ty, tx]
            off = torch.minimum((d - depths[0]).abs(), (d - depths[1]).abs())
            w = w * (off <= K.ATROUS_SAME_DEPTH * d + slack)
        cosine = (normals[clips, :, ty, tx].movedim(-1, 1) * normal).sum(1)
        w = w * (~some | (cosine >= K.ATROUS_SAME_NORMAL))
        total = total + w
        sums = sums + w.unsqueeze(1) * planes[clips, :, ty, tx].movedim(-1, 1)
    return sums, total


def blend(own, seen, share):
    """Means of both, weighted; and whether there is any."""
    (a, wa), (b, wb) = own, seen
    sa = torch.where(wa > 0.01, (1 - share) / wa.clamp(min=1e-9), 0)
    sb = torch.where(wb > 0.01, share / wb.clamp(min=1e-9), 0)
    w = sa * wa + sb * wb
    mean = (sa.unsqueeze(1) * a + sb.unsqueeze(1) * b) / w.clamp(min=1e-9).unsqueeze(1)
    return mean * (w > 0).unsqueeze(1), w > 0


def find_history(frame, past):
    """Mean of the previous frame's signal and moments [B, 6, h, w] where a pixel was, and where
    there is any. `frame`: a dictionary of [B, ...], see accumulate()."""
    depth, jitter, motion = frame['depth'], frame['jitter'], frame['motion']
    height, width = depth.shape[1:]
    device = depth.device
    x = (torch.arange(width, device=device) + 0.5).view(1, 1, -1) + jitter[:, 0].view(-1, 1, 1)
    y = (torch.arange(height, device=device) + 0.5).view(1, -1, 1) + jitter[:, 1].view(-1, 1, 1)
    normal, expected = frame['surface'][:, :3], depth
    camera, rows = frame['camera'].view(-1, 1, 1), frame['rows']
    if bool(camera.any()):
        _, expected, _ = before.camera_motion(depth, jitter, rows)
        expected = torch.where(camera, expected, depth)
    near = depth < K.DEPTH_FAR
    slack = torch.where(near, frame['slope'] * torch.where(near, depth, 0).square(), 0)
    own = look_back(past, x + motion[..., 0], y + motion[..., 1], normal, (depth, expected), slack)
    mirror = frame['share'] * (1 - frame['surface'][:, 3] / K.ATROUS_MIRROR).clamp(0, 1)
    seen = (mirror > 0) & (frame['hit'] > 0) & near & camera
    if not bool(seen.any()):
        return blend(own, own, 0)
    moved, _, ahead = before.camera_motion(depth + torch.where(near, frame['hit'], 0), jitter,
                                             rows)
    sums, weight = look_back(past, x + moved[..., 0], y + moved[..., 1], normal, None, None)
    weight = weight * (seen & ahead)
    return blend(own, (sums, weight), torch.where(weight > 0.01, mirror, 0))


def accumulate_frame(frame, old, some, valid):
    """Signal [B, 3, h, w], deviation, and moments [B, 3, h, w] of luminance."""
    some = some & (valid > 0)
    luma = frame['luma']
    frames = torch.where(some, (old[:, 5] * valid + 1).clamp(max=K.ATROUS_LENGTH), 1)
    share, off = 1 / frames, luma - old[:, 3]
    reach = K.ATROUS_CLAMP * frame['deviation']
    kept = torch.minimum(torch.maximum(old[:, :3], frame['centre'] - reach),
                         frame['centre'] + reach)
    mixed = kept + (frame['signal'] - kept) * share.unsqueeze(1)
    signal = torch.where(some.unsqueeze(1), mixed, frame['signal'])
    mean = torch.where(some, old[:, 3] + off * share, luma)
    spread = torch.where(some, (1 - share) * (old[:, 4].square() + share * off * off), 0)
    square = torch.where(some & (frames >= K.ATROUS_TRUSTED), spread,
                         torch.maximum(spread, frame['variance']))
    deviation = (square / frames).sqrt().clamp(max=K.MAX)
    moments = torch.stack([mean, spread.sqrt().clamp(max=K.MAX), frames], 1)
    # The background is left alone.
    back = (frame['share'] < 0).unsqueeze(1)
    signal = torch.where(back, frame['plain'], signal.clamp(max=K.MAX))
    alone = torch.stack([luminance(frame['plain']), torch.zeros_like(mean),
                         torch.ones_like(mean)], 1)
    return (signal, torch.where(back[:, 0], 0, deviation), torch.where(back, alone, moments))


def accumulate(frames, valid, ratio, batch):
    """Signal [N, 3, h, w], deviation, frames [N, h, w]. `frames`: planes and values [N, ...]:
    depth, motion, jitter, camera, rows, surface, slope, share, hit, plain (the signal), and what
    Around holds."""
    out, past = [], None
    for at in range(0, len(valid), batch):
        frame = {k: v[at:at + batch] for k, v in frames.items()}
        if past is None:
            old = frame['signal'].new_zeros(batch, 6, *valid.shape[1:])
            some = old[:, 0] > 0
        else:
            old, some = find_history(frame, past)
            # All but the number of frames is light.
            light = old.new_ones(6)
            light[5] = 0
            factor = ratio[at:at + batch].view(-1, 1)
            old = old * (light * factor + (1 - light)).view(batch, 6, 1, 1)
        signal, deviation, moments = accumulate_frame(frame, old, some, valid[at:at + batch])
        past = (torch.cat([signal, moments], 1), frame['surface'][:, :3], frame['depth'],
                frame['jitter'])
        out.append((signal, deviation, moments[:, 2]))
    return [torch.cat(v) for v in zip(*out)]


def smooth_deviation(deviation):
    """That of the 3x3 pixels around."""
    square = F.pad(deviation.square().unsqueeze(1), (1, 1, 1, 1), mode='replicate')[:, 0]
    square = 0.25 * (square[:, :-2] + square[:, 2:]) + 0.5 * square[:, 1:-1]
    return (0.25 * (square[..., :-2] + square[..., 2:]) + 0.5 * square[..., 1:-1]).sqrt()


def filtered(signal, deviation, edges, back, stride):
    """One pass of the wavelet filter: signal and deviation."""
    luma = luminance(signal)
    reach = K.ATROUS_LUMINANCE * smooth_deviation(deviation) + K.ATROUS_LUMINANCE_MIN
    values = torch.cat([signal, luma.unsqueeze(1), deviation.unsqueeze(1)], 1)
    taps = pad(values)
    centre = SPLINE[0] * SPLINE[0]
    total, sums = centre, centre * signal
    square = (centre * deviation).square()
    for n in range(25):
        i, j = n % 5 - 2, n // 5 - 2
        if i or j:
            tap = edges.shifted(taps, i * stride, j * stride)
            w = (SPLINE[abs(i)] * SPLINE[abs(j)] * edges.weight(i * stride, j * stride)
                 * torch.exp(-(tap[:, 3] - luma).abs() / reach))
            total, sums = total + w, sums + w.unsqueeze(1) * tap[:, :3]
            square = square + (w * tap[:, 4]).square()
    sums, made = sums / total.unsqueeze(1), square.sqrt() / total
    return torch.where(back.unsqueeze(1), signal, sums), torch.where(back, deviation, made)


@torch.no_grad()
def front(planes, guides, known, rows=None, camera=None):
    """Levels D, M, A [N, h, w, 3], linear, and guides [N, h, w, 11] of a batch of clips.

    `planes` [T, B, ...]: colour (linear, exposed), depth, motion, valid as prepare_planes() makes
    them, jitter, ratio (of exposures). `guides` [T, B, h, w, .] by name, all of them. `known` [B]:
    there is depth; `rows` [T, B, 3, 4] where `camera` [B]. The guides returned: deviation and luma
    of the accumulated signal, frames / 16, root of the albedo (3), normal (3), roughness, surface.
    """
    count, batch = planes['jitter'].shape[:2]
    flat = {k: v.flatten(0, 1).float() for k, v in planes.items()}
    depth = flat['depth']
    if rows is None:
        rows = depth.new_zeros(count, batch, 3, 4)
        camera = torch.zeros(batch, dtype=torch.bool, device=depth.device)
    signal, albedo, surface, share, hit = demodulate(
        flat['colour'], depth, known.repeat(count),
        {k: v.flatten(0, 1) for k, v in guides.items()})
    edges = Edges(depth, surface, share, hit)
    around = Around(signal, edges)
    back = share < 0
    signal, deviation, frames = accumulate(dict(
        depth=depth, motion=flat['motion'], jitter=flat['jitter'], camera=camera.repeat(count),
        rows=rows.flatten(0, 1), surface=surface, slope=edges.across.abs() + edges.down.abs(),
        share=share, hit=hit, plain=signal, signal=around.signal, luma=around.luma,
        centre=around.centre, deviation=around.deviation, variance=around.variance),
        flat['valid'], flat['ratio'], batch)
    levels = []
    given = torch.cat([torch.stack([deviation, luminance(signal), frames / K.ATROUS_LENGTH], 1),
                       albedo.clamp(max=1).sqrt(), surface, (~back).unsqueeze(1)], 1)
    for i in range(K.ATROUS_PASSES + 1):
        if i in (0, K.ATROUS_MIDDLE, K.ATROUS_PASSES):
            level = (signal * albedo).clamp(max=K.MAX).movedim(1, -1)
            levels.insert(0, level)
        if i < K.ATROUS_PASSES:
            signal, deviation = filtered(signal, deviation, edges, back, 1 << i)
    shape = (count, batch, *depth.shape[1:])
    return [level.reshape(*shape, 3) for level in levels] + [given.movedim(1, -1).reshape(
        *shape, K.GIVEN)]


def seen_guides(given, gain=1):
    """Features 70..79 of what front() returns, after exposure by `gain`."""
    noise = given[..., :1] * gain / (given[..., 1:2] * gain + K.NOISE_MIN)
    return torch.cat([noise.clamp(max=1), given[..., 2:]], -1)


def prepare(clip, width, height):
    """As prepare.prepare(), with levels: the frames of a clip, which may have GUIDES."""
    planes, exposure, rows = before.canonical(clip)
    known = (planes['depth'] < K.DEPTH_FAR).any().view(1)
    full, middle, least, given = front(
        {k: v.unsqueeze(1) for k, v in planes.items()},
        {k: v.unsqueeze(1) for k, v in guides_of(clip).items()}, known,
        None if rows is None else rows.unsqueeze(1), torch.ones_like(known))
    planes['colour'] = encode(full[:, 0].half().float())
    planes['levels'] = torch.cat([encode(middle[:, 0]), encode(least[:, 0])], -1)
    planes['guides'] = seen_guides(given[:, 0])
    names = ('colour', 'motion', 'valid', 'depth', 'jitter', 'ratio', 'seen')
    return [Frame(*(planes[n][t:t + 1] for n in names), width, height,
                  planes['levels'][t:t + 1], planes['guides'][t:t + 1])
            for t in range(len(exposure))], exposure
