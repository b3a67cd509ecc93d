#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the same frame takes in PyTorch, as a yardstick for the engine: reproject and features, the
network in half floats with channels last, resolve; the fused operations of the training package
around it. Prepare, exposure and the conversion of the output are left out, in PyTorch's favour.

    yardstick.py OUT.json [--sizes 720p,4k] [--presets quality,best] [--seconds S] [--compile S]

Ways: `eager` with a CUDA graph over the whole frame, `compiled` the same with torch.compile for the
network where that finishes in the time given. Without a GPU it runs small sizes on the processor,
in floats, to show that it works.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../training'))
from hindsight_training import model, ops, pipeline  # noqa: E402

SIZES = {'tiny': ((32, 24), (64, 48)), '720p': ((640, 360), (1280, 720)),
         '1440p': ((1280, 720), (2560, 1440)), '4k': ((1920, 1080), (3840, 2160)),
         '1x': ((1920, 1080), (1920, 1080)), '3x': ((1280, 720), (3840, 2160))}


def made_frame(render, output, device):
    """A moving pattern, as `hindsight bench` makes it."""
    width, height = render
    x = torch.arange(width, device=device).float().view(1, 1, -1)
    y = torch.arange(height, device=device).float().view(1, -1, 1)
    tile = ((x / 13).floor() + (y / 11).floor()) % 2 > 0
    colour = torch.stack(torch.broadcast_tensors(
        0.5 + 0.5 * torch.sin(0.05 * x), torch.where(tile, 0.8, 0.1),
        0.5 + 0.5 * torch.cos(0.31 * y)), -1)
    motion = torch.tensor([1.5, -0.75], device=device).expand(1, height, width, 2)
    ones = torch.ones(1, device=device)
    return pipeline.Frame(
        colour=pipeline.encode(colour).contiguous(), motion=motion.contiguous(),
        valid=torch.ones(1, height, width, device=device),
        depth=torch.where(tile, 5.0, 8.0).contiguous(),
        jitter=torch.tensor([[0.25, -0.125]], device=device), ratio=ones, seen=ones.clone(),
        width=output[0], height=output[1])


def make_step(net, frame, kind):
    """One frame, from history to history."""
    def step(history):
        moved, features = ops.Reproject.apply(history, frame)
        head = net(features.permute(0, 3, 1, 2).to(kind, memory_format=torch.channels_last))
        head = head.permute(0, 2, 3, 1).to(features.dtype).contiguous()
        return ops.Resolve.apply(moved, head, frame)
    return step


class Graph:
    """A step as a CUDA graph, or as it is where there is no GPU."""

    def __init__(self, step, history):
        self.history, self.graph, self.step = history.clone(), None, step
        if not history.is_cuda:
            return
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step(self.history)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = step(self.history)
            self.history.copy_(self.result)

    def run(self):
        if self.graph:
            self.graph.replay()
        else:
            self.history = self.step(self.history)


def median_ms(graph, frames, cuda):
    times = []
    for _ in range(frames):
        if cuda:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.run()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        else:
            start = time.perf_counter()
            graph.run()
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[len(times) // 4:])


def measure(size, preset, kind, device, frames, compiled):
    render, output = SIZES[size]
    torch.manual_seed(1)
    net = model.Upscaler(preset).net.to(device, kind).to(memory_format=torch.channels_last)
    if compiled:
        net = torch.compile(net, dynamic=False)
    frame = made_frame(render, output, device)
    history = torch.zeros(1, output[1], output[0], 4, device=device)
    with torch.no_grad():
        graph = Graph(make_step(net, frame, kind), history)
        ms = median_ms(graph, frames, device == 'cuda')
        finite = bool(graph.history.isfinite().all()) and float(graph.history[..., 3].max()) > 0
    return ms, finite


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('out')
    parser.add_argument('--sizes')
    parser.add_argument('--presets', default='quality,best')
    parser.add_argument('--frames', type=int, default=60)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--compile', type=float, default=25, help='seconds left to begin one')
    options = parser.parse_args()
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    kind = torch.float16 if device == 'cuda' else torch.float32
    sizes = (options.sizes or ('4k,720p,1440p' if device == 'cuda' else 'tiny')).split(',')
    torch.backends.cudnn.benchmark = True
    end, rows = time.monotonic() + options.seconds, []
    for compiled in (False, True):
        for preset in options.presets.split(','):
            for size in sizes:
                if time.monotonic() > end - (options.compile if compiled else 0):
                    continue
                name = 'compiled' if compiled else 'eager'
                row = dict(size=size, preset=preset, way=name, device=device, kind=str(kind)[6:])
                try:
                    row['ms'], row['finite'] = measure(size, preset, kind, device,
                                                       options.frames, compiled)
                except Exception as error:  # what fails is told, the rest goes on
                    row['error'] = ' '.join(str(error).split())[:200]
                rows.append(row)
                print('%-6s %-8s %-9s %s' % (size, preset, name,
                                             '%9.4f ms%s' % (row['ms'], '' if row['finite']
                                                             else ', NOT FINITE')
                                             if 'ms' in row else row['error']), flush=True)
                with open(options.out, 'w') as file:
                    json.dump(dict(torch=torch.__version__, rows=rows), file, indent=1)
    return 0 if any(row.get('finite') for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
