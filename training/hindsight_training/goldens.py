# SPDX-License-Identifier: MIT
"""What a model computes, layer by layer: python -m hindsight_training.goldens MODEL CLIP OUT.

MODEL as export.py writes it, CLIP a packed clip, OUT a safetensors file: the frames' inputs in
canonical form, and for each frame t `t.moved`, `t.features`, `t.<layer>`, `t.head` [1, h, w, 112,
128 or 48] and `t.history`, in float32, rows first, channels last. `t.<layer>` is what a
convolution makes before ReLU and sums, what a window block returns, or what a layer of integers
returns. Of a network that sees levels also `t.levels` and `t.guides`; `t.colour` is level D, and
the clip's guides are there under their names, its exposed colour as `noisy`.
"""
import argparse

import numpy as np
import torch

from . import denoise, export, model, pipeline, prepare, tensors
from .evaluate import load_sequence


def dump(net, clip, count):
    """Arrays by name of the first `count` frames."""
    net.fused = False
    height, width = clip['reference'].shape[1:3]
    front = denoise if net.levels else prepare
    frames, exposure = front.prepare(clip, width, height)
    frames, out, layers = frames[:count], {}, {}
    for name, layer in model.layers(net.net):
        layer.register_forward_hook(
            lambda module, given, value, name=name: layers.update({name: value}))
    history = net.start(1, height, width, 'cpu')
    with torch.no_grad():
        for t, frame in enumerate(frames):
            moved, features = net.see(history, frame)
            head = net.tokens(features)
            steered = pipeline.from_tokens(net.steer(head, frame), net.values)
            history = pipeline.resolve(moved, frame, steered)
            values = dict(colour=frame.colour, motion=frame.motion, valid=frame.valid,
                          depth=frame.depth, moved=moved, features=features, history=history)
            if net.levels:
                values.update(levels=frame.levels, guides=frame.guides)
            values.update({k: v.permute(0, 2, 3, 1) for k, v in layers.items()})
            values['head'] = head
            out.update({'%d.%s' % (t, k): v.float().numpy() for k, v in values.items()})
    if net.levels:
        out.update({k: clip[k].float().numpy()[:count] for k in denoise.GUIDES if k in clip})
        out['noisy'] = clip['colour'].float().numpy()[:count]
    out['jitter'], out['exposure'] = clip['jitter'].numpy()[:count], exposure.numpy()[:count]
    return {k: np.ascontiguousarray(v, np.float32) for k, v in out.items()}


def main(text=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('model')
    parser.add_argument('clip')
    parser.add_argument('output')
    parser.add_argument('--frames', type=int, default=2)
    options = parser.parse_args(text)
    net = export.load(options.model, fused=False)
    arrays = dump(net, load_sequence(options.clip), options.frames)
    tensors.write(options.output, arrays, dict(format='hindsight-golden', frames=str(
        options.frames)))


if __name__ == '__main__':
    main()
