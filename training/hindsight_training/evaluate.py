# SPDX-License-Identifier: MIT
"""Measures networks, taau, atrous and bicubic: python -m hindsight_training.evaluate --help."""
import argparse
import glob
import json
import os
import struct
import zlib

import numpy as np
import torch

from . import data, denoise, losses, model, pipeline, prepare

SKIP = 4  # frames at a sequence's start that the means leave out


def load_sequence(path):
    """An .npz of convert.py or a packed clip, as CPU tensors."""
    if path.endswith('.npz'):
        with np.load(path) as file:
            clip = {k: torch.from_numpy(file[k]) for k in file.files}
        clip['reference_frames'] = clip['reference_frames'].tolist()
    else:
        clip = data.read_clip(path)
        clip['reset'][0] = True
        clip['exposure'] = torch.ones(len(clip['colour']))
        clip['reference_frames'] = list(range(len(clip['colour'])))
    return clip


def bicubic(frames):
    """Jitter-aware, on x / (1 + x): [T, H, W, 3] linear."""
    out = []
    for frame in frames:
        window = pipeline.Window(frame)
        share = (window.cubic.unsqueeze(-1) * window.taps.square()).sum(0).clamp(0, 0.99999)
        out.append((share / (1 - share))[0])
    return torch.stack(out)


def run(net, frames):
    history = net.start(1, frames[0].height, frames[0].width, frames[0].colour.device)
    out = []
    with torch.no_grad(), torch.autocast('cuda', torch.bfloat16, enabled=history.is_cuda):
        for frame in frames:
            history = net(history, frame.map(torch.Tensor.contiguous))
            out.append(pipeline.decode(history[0, ..., :3]))
    return torch.stack(out)


def measure(clip, pictures):
    """Means over the frames with a reference after the first SKIP; pictures are linear."""
    reference = losses.tone(clip['reference'].float())
    values = dict(psnr=[], ssim=[], flicker=[])
    last = before = None
    for i, t in enumerate(clip['reference_frames']):
        out = losses.tone(pictures[t])
        if t >= SKIP:
            values['psnr'].append(float(losses.psnr(out, reference[i])))
            values['ssim'].append(float(losses.ssim(out[None], reference[i][None])))
            if last == t - 1:
                height = out.shape[0] // clip['motion'].shape[1]
                if height * clip['motion'].shape[1] == out.shape[0]:
                    motion = clip['motion'][t].nan_to_num(0) * height
                    motion = motion.repeat_interleave(height, 0).repeat_interleave(height, 1)
                    values['flicker'].append(losses.flicker(
                        out, before, reference[i], reference[i - 1], motion))
        last, before = t, out
    return {k: sum(v) / len(v) if v else None for k, v in values.items()}


def write_png(path, picture):
    """[H, W, 3] in 0..1."""
    rows = (picture.clamp(0, 1) * 255 + 0.5).byte().cpu().numpy()
    height, width = rows.shape[:2]
    raw = b''.join(b'\0' + row.tobytes() for row in rows)

    def chunk(kind, body):
        return (struct.pack('>I', len(body)) + kind + body
                + struct.pack('>I', zlib.crc32(kind + body)))
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack(
            '>IIBBBBB', width, height, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(raw, 9))
            + chunk(b'IEND', b''))


def sheet(clip, results, path, size=80, rows=3, zoom=3):
    """Crops of the last frame with a reference where detail is densest; a column a method, the
    reference last."""
    t = clip['reference_frames'][-1]
    columns = [losses.tone(pictures[t]) for pictures in results] + [
        losses.tone(clip['reference'][-1].float())]
    luma = columns[-1].mean(-1)
    detail = (luma[1:, 1:] - luma[:-1, 1:]).abs() + (luma[1:, 1:] - luma[1:, :-1]).abs()
    sums = torch.nn.functional.avg_pool2d(detail[None, None], size)[0, 0]
    lines = []
    for place in sums.flatten().topk(min(rows, sums.numel())).indices.tolist():
        y, x = place // sums.shape[1] * size, place % sums.shape[1] * size
        crops = [c[y:y + size, x:x + size] for c in columns]
        lines.append(torch.cat(crops, 1))
    picture = torch.cat(lines, 0).repeat_interleave(zoom, 0).repeat_interleave(zoom, 1)
    write_png(path, picture)


def load_network(path, device):
    """The averaged weights of a checkpoint of train.py."""
    saved = torch.load(path, map_location=device, weights_only=True)
    net = model.Upscaler(saved['config']).to(device).eval()
    net.load_state_dict(saved['ema'])
    return net


def methods(options, device):
    """Name -> module that prepares frames, function of those. What sees levels is measured beside
    `atrous`, which is the same with a head of zeros."""
    nets = {'taau': model.Upscaler('tiny').to(device)}
    for item in options.net:
        name, _, path = item.rpartition('=')
        net = load_network(path, device)
        if net.levels:
            nets.setdefault('atrous', model.Upscaler('tiny-ray').to(device))
        nets[name or net.config] = net
    found = {'bicubic': (prepare, bicubic)}
    for name, net in nets.items():
        found[name] = (denoise if net.levels else prepare,
                       lambda frames, net=net: run(net, frames))
    return found


def to_device(clip, device):
    return {k: v.to(device) if torch.is_tensor(v) else v for k, v in clip.items()}


def evaluate(paths, tests, device, sheets=None):
    """Mean measures of each method over the sequences, by name."""
    total = {name: [] for name in tests}
    for path in paths:
        clip = to_device(load_sequence(path), device)
        height, width = clip['reference'].shape[1:3]
        made = {front: front.prepare(clip, width, height)
                for front in {front for front, _ in tests.values()}}
        results = []
        for name, (front, function) in tests.items():
            frames, exposure = made[front]
            pictures = function(frames) / exposure.view(-1, 1, 1, 1)
            results.append(pictures)
            total[name].append(measure(clip, pictures))
        if sheets:
            label = os.path.splitext(os.path.basename(path))[0]
            sheet(clip, results, os.path.join(sheets, label + '.png'))

    def mean(rows, key):
        values = [r[key] for r in rows if r[key] is not None]
        return sum(values) / len(values) if values else None
    return {name: {k: mean(rows, k) for k in ('psnr', 'ssim', 'flicker')}
            for name, rows in total.items()}


def table(title, results):
    print(title)
    for name, r in results.items():
        print('  %-10s PSNR %6.2f  SSIM %.4f  flicker %s' % (
            name, r['psnr'], r['ssim'], '-' if r['flicker'] is None else '%.5f' % r['flicker']))


def main(text=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sequences', nargs='+', help='.npz of convert.py, or folders of packs')
    parser.add_argument('--net', action='append', default=[], help='[NAME=]CHECKPOINT')
    parser.add_argument('--json', help='results to write')
    parser.add_argument('--sheets', help='folder for pictures of crops of .npz sequences')
    options = parser.parse_args(text)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    tests, results = methods(options, device), {}
    for path in options.sequences:
        folder = os.path.isdir(path)
        files = sorted(glob.glob(os.path.join(path, '*.safetensors'))) if folder else [path]
        label = os.path.basename(path.rstrip('/'))
        label = 'validation %sx' % label if folder else os.path.splitext(label)[0]
        results[label] = evaluate(files, tests, device, None if folder else options.sheets)
        table('%s (%d)' % (label, len(files)), results[label])
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(results, file, indent=1)


if __name__ == '__main__':
    main()
