# SPDX-License-Identifier: MIT
"""Random networks, clips and what PyTorch makes of them, then the C program that compares:
make.py PROGRAM [CASE ...]. Seeds are fixed."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROOT = os.environ['HS_SOURCE_ROOT']
sys.path[:0] = [os.path.join(ROOT, 'training'), os.path.join(ROOT, 'tests', 'training')]

import common  # noqa: E402
from test_denoise import noisy_clip  # noqa: E402
from hindsight_training import constants as K  # noqa: E402
from hindsight_training import export, goldens, model, tensors  # noqa: E402

FRAMES = 16
# Name: preset, render size, output size, whether there are a camera and a given exposure.
CASES = {
    'two times': ('tiny', (28, 20), (56, 40), True),
    'filled up, unequal ratios': ('tiny', (30, 19), (44, 50), True),
    'no camera, three times': ('tiny', (20, 16), (60, 48), False),
    'quality': ('quality', (21, 17), (42, 34), True),
    'best': ('best', (16, 16), (26, 30), True),
    'integers, two times': ('tiny-int8', (28, 20), (56, 40), True),
    'integers, unequal ratios': ('tiny-int8', (30, 19), (44, 50), False),
    'fast': ('fast', (21, 17), (42, 34), True),
    # Of the size of noisy_clip().
    'ray': ('ray', (28, 20), (56, 40), True),
    'ray, no camera': ('tiny-ray', (28, 20), (42, 60), False),
}


def network(preset, seed):
    """Weights of a size at which every value of the head matters; a fresh head is zero."""
    torch.manual_seed(seed)
    net = model.Upscaler(preset, fused=False)
    with torch.no_grad():
        for name, conv in model.layers(net.net):
            if name.endswith('.b'):
                conv.weight.normal_(std=0.3 / (9 * conv.in_channels) ** 0.5)
            conv.bias.normal_(std=0.1)
        integers = model.kind_of(preset) == 'int8'
        # A feature that is rounded to another integer changes a head of integers all around.
        net.net.head.weight.normal_(std=(0.03 if integers else 0.7)
                                    / net.net.head.in_channels ** 0.5)
    if integers:
        features = torch.randn(1, K.FEATURES, 16, 16) * 0.3
        net.net.calibrate(lambda: net.net(features))
    return net


def make(folder, seed, preset, render, output, camera):
    model_path = os.path.join(folder, 'model.safetensors')
    export.save(network(preset, seed).net, preset, model_path)
    # As read: weights are half floats in the file.
    net = export.load(model_path, fused=False)
    make_clip = noisy_clip if net.levels else common.random_clip
    clip = make_clip(seed, FRAMES, *([] if net.levels else [render[1], render[0]]))
    if not camera:
        clip.update(view=None, proj=None, exposure=None)
    # Deviations of flat places are differences of nearly equal numbers, which magnify rounding.
    rng = np.random.default_rng(seed)
    grain = torch.from_numpy(rng.uniform(0.2, 1.8, (2, *clip['colour'].shape)).astype(np.float32))
    clip['colour'] = clip['colour'] * grain[0] + 0.2 * grain[1]
    clip['reset'][9] = 1
    if camera:  # A cut has no camera before it.
        for name in ('view', 'proj'):
            cuts = clip['reset'] != 0
            clip['previous_' + name][cuts] = clip[name][cuts]
    clip['reference'] = torch.zeros(FRAMES, output[1], output[0], 3)
    # Both sides see the cameras as floats.
    for name in ('view', 'proj', 'previous_view', 'previous_proj'):
        if clip.get(name) is not None:
            clip[name] = clip[name].float().double()
    with np.errstate(over='ignore'):
        arrays = goldens.dump(net, clip, FRAMES)
    for name, value in clip.items():
        if value is not None and name != 'reference':
            arrays['clip.' + name] = value.numpy().astype(np.float32)
    golden_path = os.path.join(folder, 'golden.safetensors')
    tensors.write(golden_path, arrays, dict(format='hindsight-golden', frames=str(FRAMES)))
    return model_path, golden_path


def main():
    chosen = sys.argv[2:] or list(CASES)
    failed = []
    for seed, (name, case) in enumerate(CASES.items(), 1):
        if name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(name, flush=True)
            if subprocess.run([sys.argv[1], *make(folder, seed, *case)]).returncode:
                failed.append(name)
    print('failed: %s' % ', '.join(failed) if failed else '%d cases' % len(chosen))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
