# SPDX-License-Identifier: MIT
"""The passes around the network in plain PyTorch: readable truth for ops.cu, twin of the shaders.

Opaque colour only (alpha 1), kept in the working range sqrt(c / (1 + c)) throughout. Tensors are
[B, rows, columns, channels]; history is [B, H, W, 4]: RGB and weight. Signs and units are those of
docs/conventions.md. Planes that shaders store as half floats stay float here.
"""
from dataclasses import dataclass, fields, replace

import torch

from . import constants as K


@dataclass
class Frame:
    """Prepared planes of one frame at render size, and the output size."""
    colour: torch.Tensor  # [B, h, w, 3] working range
    motion: torch.Tensor  # [B, h, w, 2] current to previous, render px
    valid: torch.Tensor   # [B, h, w]
    depth: torch.Tensor   # [B, h, w]
    jitter: torch.Tensor  # [B, 2]
    ratio: torch.Tensor   # [B] exposure over the previous frame's
    seen: torch.Tensor    # [B] 1: this frame and the previous one have depth
    width: int
    height: int
    # Of networks that see levels, behind the passes of denoise.py; `colour` is level D.
    levels: torch.Tensor = None  # [B, h, w, 6] M and A, working range
    guides: torch.Tensor = None  # [B, h, w, 10] features 70..79

    @property
    def scale(self):
        """Render over output size, x and y."""
        return self.colour.shape[2] / self.width, self.colour.shape[1] / self.height

    def map(self, function):
        """The frame with `function` applied to its tensors."""
        values = (getattr(self, f.name) for f in fields(self))
        return Frame(*[function(v) if torch.is_tensor(v) else v for v in values])


def encode(colour):
    return (colour / (1 + colour)).sqrt()


def decode(work):
    square = work.clamp(0, K.RANGE).square()
    return (square / (1 - square)).clamp(max=K.MAX)


def rescale(work, ratio):
    """Working range of colour * ratio."""
    return work * (ratio / (1 + (ratio - 1) * work.square())).sqrt()


def cubic(f, a):
    """Weights of the taps at -1, 0, 1, 2, stacked in front."""
    g = 1 - f
    return torch.stack([a * f * g * g, ((a + 2) * f - (a + 3)) * f * f + 1,
                        ((a + 2) * g - (a + 3)) * g * g + 1, a * g * f * f])


def soft(x, limit):
    return limit * torch.tanh(x / limit)


def opponent(c):
    r, g, b = c.unbind(-1)
    return torch.stack([0.25 * r + 0.5 * g + 0.25 * b, r - b, g - 0.5 * (r + b)], -1)


def fetch(plane, y, x):
    """Texels at clamped integer places; y and x broadcast to [B, rows, columns]."""
    batch, height, width = plane.shape[:3]
    y, x = torch.broadcast_tensors(y.clamp(0, height - 1), x.clamp(0, width - 1))
    rows = torch.arange(batch, device=plane.device).view(batch, 1, 1)
    return plane[rows, y, x]


def centres(count, device):
    return torch.arange(count, device=device, dtype=torch.float32) + 0.5


def places(frame):
    """Output pixel centres in render px: [1, 1, W] and [1, H, 1]."""
    sx, sy = frame.scale
    device = frame.colour.device
    return ((centres(frame.width, device) * sx).view(1, 1, -1),
            (centres(frame.height, device) * sy).view(1, -1, 1))


def jitters(frame):
    return frame.jitter[:, 0].view(-1, 1, 1), frame.jitter[:, 1].view(-1, 1, 1)


def pick_sample(frame):
    """Rows and columns of the samples whose motion the output pixels follow."""
    height, width = frame.depth.shape[1:3]
    u, v = places(frame)
    jx, jy = jitters(frame)
    x, y = torch.broadcast_tensors((u - jx).floor().long().clamp(0, width - 1),
                                   (v - jy).floor().long().clamp(0, height - 1))
    base_x, base_y = (u - jx - 0.5).floor().long(), (v - jy - 0.5).floor().long()
    nearest = fetch(frame.depth, y, x)
    for j in range(2):
        for i in range(2):
            dx, dy = base_x + i + 0.5 + jx - u, base_y + j + 0.5 + jy - v
            sx = (base_x + i).clamp(0, width - 1)
            sy = (base_y + j).clamp(0, height - 1)
            depth = fetch(frame.depth, sy, sx)
            better = ((torch.maximum(dx.abs(), dy.abs()) < K.DILATE)
                      & (depth < nearest * (1 - K.DILATE_DEPTH)))
            nearest = torch.where(better, depth, nearest)
            x, y = torch.where(better, sx, x), torch.where(better, sy, y)
    return y, x


def history_places(frame):
    """Where the output pixels were, output px, and the validity of what is found there."""
    y, x = pick_sample(frame)
    sx, sy = frame.scale
    motion = fetch(frame.motion, y, x)
    device = frame.colour.device
    hx = centres(frame.width, device).view(1, 1, -1) + motion[..., 0] / sx
    hy = centres(frame.height, device).view(1, -1, 1) + motion[..., 1] / sy
    inside = (hx > 0) & (hy > 0) & (hx < frame.width) & (hy < frame.height)
    return hx, hy, fetch(frame.valid, y, x) * inside, motion


def nearest_colour(frame):
    u, v = places(frame)
    jx, jy = jitters(frame)
    return fetch(frame.colour, (v - jy).floor().long(), (u - jx).floor().long())


def blur(fx, fy):
    return 2 * (fx * (1 - fx) + fy * (1 - fy))


def reproject(history, frame):
    """History at this frame's output pixels: [B, H, W, 4]."""
    hx, hy, valid, _ = history_places(frame)
    base_x, base_y = (hx - 0.5).floor(), (hy - 0.5).floor()
    fx, fy = hx - 0.5 - base_x, hy - 0.5 - base_y
    base_x, base_y = base_x.long(), base_y.long()
    wx, wy = cubic(fx, K.CUBIC_HISTORY), cubic(fy, K.CUBIC_HISTORY)
    ratio = frame.ratio.view(-1, 1, 1, 1)
    total, weight, taps = 0, 0, []
    for j in range(4):
        for i in range(4):
            texel = fetch(history, base_y + j - 1, base_x + i - 1)
            taps.append(rescale(texel[..., :3], ratio))
            total = total + (wx[i] * wy[j]).unsqueeze(-1) * taps[-1]
            if i in (1, 2) and j in (1, 2):
                share = (fx if i == 2 else 1 - fx) * (fy if j == 2 else 1 - fy)
                weight = weight + share * texel[..., 3]
    taps = torch.stack(taps)
    colour = torch.minimum(torch.maximum(total, taps.amin(0)), taps.amax(0))
    weight = weight * (1 - K.DECAY * blur(fx, fy)) * valid
    colour = torch.where((weight > 0).unsqueeze(-1), colour, nearest_colour(frame))
    return torch.cat([colour, weight.unsqueeze(-1)], -1)


class Window:
    """The 4x4 samples around every output pixel; tap n is column n % 4, row n // 4."""

    def __init__(self, frame):
        u, v = places(frame)
        jx, jy = jitters(frame)
        px, py = u - jx - 0.5, v - jy - 0.5
        self.x, self.y = px.floor().long(), py.floor().long()
        self.fx, self.fy = torch.broadcast_tensors(px - px.floor(), py - py.floor())
        self.taps = torch.stack([fetch(frame.colour, self.y + n // 4 - 1, self.x + n % 4 - 1)
                                 for n in range(16)])
        self.low, self.high = self.taps.amin(0), self.taps.amax(0)
        wx, wy = cubic(self.fx, K.CUBIC_CURRENT), cubic(self.fy, K.CUBIC_CURRENT)
        self.cubic = torch.stack([wx[n % 4] * wy[n // 4] for n in range(16)])
        sx, sy = frame.scale
        self.kernel = K.KERNEL / (sx * sy)
        near_x, near_y = (torch.minimum(f, 1 - f) for f in (self.fx, self.fy))
        self.gain = torch.exp(-(near_x ** 2 + near_y ** 2) * self.kernel) + K.WEIGHT_MIN

    def offset(self, n):
        return n % 4 - 1 - self.fx, n // 4 - 1 - self.fy

    def gauss(self, n, k):
        dx, dy = self.offset(n)
        return torch.exp(-(dx * dx + dy * dy) * k)

    def mix(self, frame, head):
        """From here on the samples are what the head makes of the levels."""
        by = [torch.tanh(head[..., c]).unsqueeze(-1) for c in (K.LEVEL_M, K.LEVEL_A)]
        taps = []
        for n in range(16):
            levels = fetch(frame.levels, self.y + n // 4 - 1, self.x + n % 4 - 1)
            tap = self.taps[n]
            taps.append((tap + by[0] * (levels[..., :3] - tap) + by[1] * (levels[..., 3:] - tap)
                         ).clamp(0, K.RANGE))
        self.taps = torch.stack(taps)
        self.low, self.high = self.taps.amin(0), self.taps.amax(0)

    def filtered(self, weights):
        colour = (weights.unsqueeze(-1) * self.taps).sum(0)
        return torch.minimum(torch.maximum(colour, self.low), self.high)

    def box(self):
        """Mean colour, mean and deviation in opponent space, of the 3x3 samples around."""
        first_x, first_y = (self.fx >= 0.5), (self.fy >= 0.5)
        # Distances from one of the samples: of nearly equal ones, squares of the values themselves
        # would leave nothing but rounding.
        middle = 5 + first_x + 4 * first_y
        near = opponent(self.taps.gather(0, middle[None, ..., None].expand_as(self.taps[:1]))[0])
        total, mean, square, colour = 0, 0, 0, 0
        for n in range(16):
            i, j = n % 4, n // 4
            in_x = first_x if i == 3 else ~first_x if i == 0 else torch.ones_like(first_x)
            in_y = first_y if j == 3 else ~first_y if j == 0 else torch.ones_like(first_y)
            g = (self.gauss(n, K.BOX_KERNEL) * (in_x & in_y)).unsqueeze(-1)
            o = opponent(self.taps[n]) - near
            total, colour = total + g, colour + g * self.taps[n]
            mean, square = mean + g * o, square + g * o * o
        mean = mean / total
        # The root of 0 has no derivative.
        deviation = (square / total - mean * mean).clamp(min=1e-14).sqrt()
        return colour / total, near + mean, deviation


def box_size(weight, frame):
    """Half width of the box in deviations, with a last axis of 1."""
    seen = frame.seen.view(-1, 1, 1)
    return (seen * (K.BOX + K.BOX_GROW * weight) + (1 - seen) * K.BOX_BLIND).unsqueeze(-1)


def history_at(moved, frame, sample_y, sample_x):
    """Reprojected history at samples, bilinear."""
    sx, sy = frame.scale
    jx, jy = jitters(frame)
    px, py = (sample_x + 0.5 + jx) / sx - 0.5, (sample_y + 0.5 + jy) / sy - 0.5
    bx, by = px.floor().long(), py.floor().long()
    fx, fy = (px - px.floor()).unsqueeze(-1), (py - py.floor()).unsqueeze(-1)
    total = 0
    for j in range(2):
        for i in range(2):
            share = (fx if i else 1 - fx) * (fy if j else 1 - fy)
            total = total + share * fetch(moved, by + j, bx + i)[..., :3]
    return total


def sample_errors(moved, frame, window):
    """Kernel-weighted sum of sample minus history over the four samples around, and its weight."""
    height, width = frame.colour.shape[1:3]
    total, error = 0, 0
    for j in range(2):
        for i in range(2):
            sample_x = (window.x + i).clamp(0, width - 1)
            sample_y = (window.y + j).clamp(0, height - 1)
            n = 4 * (j + 1) + i + 1
            g = window.gauss(n, window.kernel)
            old = history_at(moved, frame, sample_y, sample_x)
            total, error = total + g, error + g.unsqueeze(-1) * (window.taps[n] - old)
    return error, total


def current(window, head):
    """This frame's samples at the output pixels: cubic, drawn towards the head's own kernel."""
    a = K.AXIS * torch.exp(soft(head[..., K.KERNEL_A], K.AXIS_SOFT))
    b = soft(head[..., K.KERNEL_B], K.SHEAR_SOFT)
    c = K.AXIS * torch.exp(soft(head[..., K.KERNEL_C], K.AXIS_SOFT))
    powers = []
    for n in range(16):
        dx, dy = window.offset(n)
        u, v = a * dx + b * dy, c * dy
        powers.append(-0.5 * (u * u + v * v) + soft(head[..., K.LOGITS + n], K.LOGIT_SOFT))
    kernel = torch.softmax(torch.stack(powers), 0)
    mix = torch.tanh(head[..., K.MIX])
    return window.filtered(window.cubic + mix * (kernel - window.cubic))


def resolve(moved, frame, head):
    """Next history, whose colour is the picture. `head`: [B, H, W, 27], or 29 with levels; zero is
    plain taau."""
    window = Window(frame)
    mean, centre, deviation = window.box()
    error, total = sample_errors(moved, frame, window)
    if frame.levels is not None:
        window.mix(frame, head)
    now = current(window, head)
    old, weight = moved[..., :3], moved[..., 3]
    grow = {c: torch.exp(soft(head[..., c], K.LOG_SOFT))
            for c in (K.GAIN, K.WEIGHT, K.BOXES, K.TRUST)}
    gain = window.gain * grow[K.GAIN]

    corrected = old + error * (K.CORRECT_GAIN / total.clamp(min=1e-9)).unsqueeze(-1)
    corrected = torch.minimum(torch.maximum(corrected, torch.minimum(window.low, old)),
                              torch.maximum(window.high, old))

    size = box_size(weight, frame) * grow[K.BOXES].unsqueeze(-1)
    out_by = (opponent(old) - centre).abs() / (deviation * size + K.BOX_MIN)
    keep = 1 / out_by.amax(-1).clamp(min=1)
    old = mean + (old - mean) * keep.unsqueeze(-1)

    weight = weight * keep * keep
    trust = (total / (total + K.CORRECT_KERNEL) * keep * keep
             * weight / (weight + K.CORRECT_WEIGHT))
    trust = trust * grow[K.TRUST] / (1 - trust + trust * grow[K.TRUST])
    weight = weight * grow[K.WEIGHT]
    now = now + (corrected - now) * trust.unsqueeze(-1)
    mixed = (weight.unsqueeze(-1) * old + gain.unsqueeze(-1) * now) / (weight + gain).unsqueeze(-1)
    colour = mixed + K.RESIDUAL_SCALE * torch.tanh(head[..., K.RESIDUAL:K.RESIDUAL + 3])
    weight = (weight + gain).clamp(max=K.WEIGHT_MAX)
    return torch.cat([colour.clamp(0, K.RANGE), weight.unsqueeze(-1)], -1)


def to_tokens(pixels):
    """[B, H, W, C] -> [B, H/2, W/2, 4 C], channel c of pixel s (x + 2 y) at 4 c + s."""
    batch, height, width, channels = pixels.shape
    pixels = pixels.view(batch, height // 2, 2, width // 2, 2, channels)
    return pixels.permute(0, 1, 3, 5, 2, 4).reshape(batch, height // 2, width // 2, 4 * channels)


def from_tokens(tokens, channels):
    batch, rows, columns = tokens.shape[:3]
    tokens = tokens[..., :4 * channels].reshape(batch, rows, columns, channels, 2, 2)
    return tokens.permute(0, 1, 4, 2, 5, 3).reshape(batch, 2 * rows, 2 * columns, channels)


def features(moved, frame):
    """What the network sees, [B, H/2, W/2, 64] or, with levels, 80. Gradients flow through history
    and weight only."""
    window = Window(frame)
    old, weight = moved[..., :3], moved[..., 3]
    fixed = moved.detach()
    has_history = (fixed[..., 3:] > 0)
    mean, centre, deviation = window.box()
    size = box_size(fixed[..., 3], frame)
    out_by = (opponent(fixed[..., :3]) - centre) / (deviation * size + K.BOX_MIN)
    error, total = sample_errors(fixed, frame, window)
    error = (opponent(error) / total.clamp(min=1e-9).unsqueeze(-1))[..., :1]
    pixels = torch.cat([
        window.filtered(window.cubic) - 0.5, old - 0.5, (weight / (1 + weight)).unsqueeze(-1),
        window.gain.unsqueeze(-1), (out_by / 4).clamp(-1, 1) * has_history,
        2 * error * has_history], -1)
    seen = [to_tokens(pixels), token_features(frame)]
    if frame.levels is not None:
        seen.append(level_features(frame))
    return torch.cat(seen, -1)


def token_places(frame):
    """Centres of the tokens, render px, and their nearest samples."""
    u, v = (p[..., ::2] if n == 0 else p[:, ::2] for n, p in enumerate(places(frame)))
    sx, sy = frame.scale
    jx, jy = jitters(frame)
    u, v = u + 0.5 * sx, v + 0.5 * sy
    return u, v, (u - jx).floor().long(), (v - jy).floor().long()


def level_features(frame):
    """What a token's nearest sample has besides its colour D."""
    _, _, x, y = token_places(frame)
    colour, levels = fetch(frame.colour, y, x), fetch(frame.levels, y, x)
    return torch.cat([(levels - torch.cat([colour, colour], -1)).clamp(-1, 1),
                      fetch(frame.guides, y, x)], -1)


def token_features(frame):
    """What all pixels of a token share."""
    u, v, x, y = token_places(frame)
    sx, sy = frame.scale
    jx, jy = jitters(frame)
    offset_x, offset_y = torch.broadcast_tensors(x + 0.5 + jx - u, y + 0.5 + jy - v)
    shape = offset_x.shape
    height, width = frame.depth.shape[1:]
    x, y = x.clamp(0, width - 1), y.clamp(0, height - 1)
    mean, square = 0, 0
    middle = opponent(fetch(frame.colour, y, x))
    depth = frame.depth.clamp(1e-4, 1e9).log2()
    near = far = own = fetch(depth, y, x)
    for j in (-1, 0, 1):
        for i in (-1, 0, 1):
            o = opponent(fetch(frame.colour, y + j, x + i)) - middle
            mean, square = mean + o / 9, square + o * o / 9
            d = fetch(depth, y + j, x + i)
            near, far = torch.minimum(near, d), torch.maximum(far, d)
    deviation = (square - mean * mean).clamp(min=1e-14).sqrt()
    hx, hy, _, motion = (t[:, ::2, ::2] for t in history_places(frame))
    pixels = motion / motion.new_tensor(frame.scale)
    fx, fy = hx - 0.5 - (hx - 0.5).floor(), hy - 0.5 - (hy - 0.5).floor()
    return torch.cat([
        fetch(frame.colour, y, x) - 0.5, offset_x.unsqueeze(-1), offset_y.unsqueeze(-1),
        (4 * deviation).clamp(max=1), fetch(frame.valid, y, x).unsqueeze(-1),
        ((own - near) / 2).clamp(max=1).unsqueeze(-1), ((far - own) / 2).clamp(max=1).unsqueeze(-1),
        pixels / (8 + pixels.abs()), blur(fx, fy).unsqueeze(-1),
        torch.full_like(offset_x, sx).unsqueeze(-1), torch.full_like(offset_x, sy).unsqueeze(-1),
    ], -1).view(*shape, K.TOKEN_FEATURES)


def is_double(frame):
    """Render pixels are tokens of 2x2 output pixels."""
    return 2 * frame.colour.shape[2] == frame.width and 2 * frame.colour.shape[1] == frame.height


def cells_of(frame):
    """The frame for an output of cells, which are quarters of render pixels."""
    height, width = frame.colour.shape[1:3]
    return replace(frame, width=2 * width, height=2 * height)


def select(values, y, x):
    return values.index_select(1, y).index_select(2, x)


def to_cells(values, frame):
    """Values of output pixels at cells: of the pixel in which the cell's centre lies."""
    height, width = frame.colour.shape[1:3]
    device = values.device
    y = (2 * torch.arange(2 * height, device=device) + 1) * frame.height // (4 * height)
    x = (2 * torch.arange(2 * width, device=device) + 1) * frame.width // (4 * width)
    return select(values, y, x)


def from_cells(values, frame):
    """Values of cells at output pixels: of the cell in which the pixel's centre lies."""
    height, width = frame.colour.shape[1:3]
    device = values.device
    y = (2 * torch.arange(frame.height, device=device) + 1) * height // frame.height
    x = (2 * torch.arange(frame.width, device=device) + 1) * width // frame.width
    return select(values, y, x)


def with_scale(tokens, frame):
    """Features of cells with the true render over output size."""
    scale = [torch.full_like(tokens[..., :1], s) for s in frame.scale]
    return torch.cat([tokens[..., :-2], *scale], -1)


def cell_features(moved, frame):
    """What a network on render pixels sees, [B, h, w, 64]."""
    return with_scale(features(to_cells(moved, frame), cells_of(frame)), frame)


def spread(tokens, frame):
    """Short heads of render pixels' cells -> full heads of 2x2 output pixels, without logits."""
    if not is_double(frame):
        tokens = to_tokens(from_cells(from_tokens(tokens, K.SHORT_HEAD), frame))
    zero = tokens.new_zeros(*tokens.shape[:3], 4 * (K.MIX - K.LOGITS))
    cut = 4 * K.LOGITS
    return torch.cat([tokens[..., :cut], zero, tokens[..., cut:4 * K.SHORT_HEAD],
                      zero[..., :K.OUTPUTS - 4 * K.HEAD]], -1).contiguous()
