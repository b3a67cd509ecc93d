# SPDX-License-Identifier: MIT
"""EXR sequences as Blender writes them into one .npz each, for machines without OpenEXR:
python -m hindsight_training.convert INPUT REFERENCE OUT.npz (folders; needs OpenImageIO)."""
import glob
import json
import os
import re
import sys

import numpy as np
import OpenImageIO


def read_exr(path):
    """A function from channel names (their ends) to planes."""
    file = OpenImageIO.ImageInput.open(path)
    if file is None:
        raise OSError(OpenImageIO.geterror())
    spec = file.spec()
    pixels = file.read_image('float').reshape(spec.height, spec.width, spec.nchannels)
    names = list(spec.channelnames)

    def pick(*wanted):
        found = [next(i for i, n in enumerate(names) if n == w or n.endswith('.' + w))
                 for w in wanted]
        return pixels[..., found]
    return pick


def numbered(folder):
    return {int(re.findall(r'\d+', os.path.basename(p))[-1]): p
            for p in glob.glob(os.path.join(folder, '*.exr'))}


def read_colour(pick):
    try:
        return pick('Combined.R', 'Combined.G', 'Combined.B')
    except StopIteration:
        return pick('R', 'G', 'B')


# Passes and channels that hold guides, the first one that is there.
GUIDES = dict(diffuse_albedo=(('DiffCol', 'RGB'), ('Denoising Albedo', 'RGB')),
              specular_albedo=(('GlossCol', 'RGB'),), normal=(('Normal', 'XYZ'),),
              roughness=(('Roughness', 'X'), ('Roughness', 'V')))


def read_guides(pick):
    """Guides of a frame by name."""
    found = {}
    for guide, choices in GUIDES.items():
        for name, axes in choices:
            try:
                found.setdefault(guide, pick(*('%s.%s' % (name, a) for a in axes)))
            except StopIteration:
                continue
    return {k: v.astype(np.float16) for k, v in found.items()}


def read_sequence(folder, reference_folder):
    """Arrays by name; motion is canonical, NaN where nobody wrote it."""
    with open(os.path.join(folder, 'frames.json')) as file:
        about = {f['frame']: f for f in json.load(file)['frames']}
    paths = numbered(folder)
    numbers = sorted(set(about) & set(paths))
    out = {k: [] for k in ('colour', 'depth', 'motion', 'jitter', 'view', 'proj')}
    for n in numbers:
        pick = read_exr(paths[n])
        depth, motion = pick('Depth.Z')[..., 0], pick('Vector.X', 'Vector.Y') * [1, -1]
        depth = np.where(depth >= 1e9, np.inf, depth)
        motion[np.isinf(depth) & (motion == 0).all(-1)] = np.nan
        out['colour'].append(read_colour(pick).astype(np.float16))
        out['depth'].append(depth.astype(np.float32))
        out['motion'].append(motion.astype(np.float32))
        for name, value in read_guides(pick).items():
            out.setdefault(name, []).append(value)
        for name in ('jitter', 'view', 'proj'):
            out[name].append(about[n][name])
    out = {k: np.stack(v) for k, v in out.items()}
    for name in ('view', 'proj'):
        out['previous_' + name] = np.concatenate([out[name][:1], out[name][:-1]])
    out['reset'] = np.arange(len(numbers)) == 0
    references = numbered(reference_folder)
    found = [n for n in numbers if n in references]
    out['reference'] = np.stack([read_colour(read_exr(references[n])) for n in found]).astype('f2')
    out['reference_frames'] = np.array([numbers.index(n) for n in found])
    return out


if __name__ == '__main__':
    arrays = read_sequence(sys.argv[1], sys.argv[2])
    # Files are carried to other machines. Half floats cost motion less than 0.01 pixels; eight
    # significant bits of the reference, a thousandth of each value at most, pack well.
    arrays.update({k: arrays[k].astype(np.float16) for k in ('depth', 'motion')})
    bits = arrays['reference'].view(np.uint16)
    arrays['reference'] = ((bits + 4) & 0xfff8).astype(np.uint16).view(np.float16)
    np.savez_compressed(sys.argv[3], **arrays)
