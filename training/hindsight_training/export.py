# SPDX-License-Identifier: MIT
"""Checkpoints of train.py to model files (docs/model-format.md) and back:
python -m hindsight_training.export CHECKPOINT OUT.safetensors [--set KEY=VALUE ...]."""
import argparse
import json

import numpy as np
import torch

from . import constants as K
from . import model, tensors

FORMAT = '1'


def layer_table(net):
    """What a reader needs to run the network, in order."""
    rows = []
    kinds = {'to1': 'down', 'to2': 'down', 'from1': 'up', 'from2': 'up'}
    sums = {'from2.conv': 'level1', 'from1.conv': 'level0'}
    for name, conv in model.layers(net):
        part, last = name.split('.')[0], name.split('.')[-1]
        rows.append(dict(
            name=name, kind=kinds.get(part, 'conv'), size=conv.kernel_size[0],
            stride=conv.stride[0], inputs=conv.in_channels, outputs=conv.out_channels,
            level=model.level_of(name), add='block' if last == 'b' else sums.get(name),
            relu=part in ('enter', *kinds) or last == 'a'))
    return rows


def metadata(net, config, extra=None):
    values = dict(
        format='hindsight-model', format_version=FORMAT, architecture='taau-unet', preset=config,
        layers=json.dumps(layer_table(net), separators=(',', ':')),
        features=str(K.FEATURES), outputs=str(K.OUTPUTS), head=str(K.HEAD),
        flops_per_output_pixel='%.0f' % model.flops_per_pixel(net), licence='MIT')
    values.update(extra or {})
    return values


def save(net, config, path, extra=None):
    """Weights as half floats, biases as floats."""
    arrays = {}
    for name, conv in model.layers(net):
        arrays[name + '.weight'] = conv.weight.detach().cpu().float().numpy().astype(np.float16)
        arrays[name + '.bias'] = conv.bias.detach().cpu().float().numpy()
    if not all(np.isfinite(a).all() for a in arrays.values()):
        raise ValueError('weights that are not finite')
    tensors.write(path, arrays, metadata(net, config, extra))


def load(path, fused=True):
    """The network of a model file, with exactly the weights that the file holds."""
    about, arrays = tensors.read(path)
    if about.get('format') != 'hindsight-model' or about.get('format_version') != FORMAT:
        raise ValueError('%s: not a model of this version' % path)
    net = model.Upscaler(about['preset'], fused)
    for name, conv in model.layers(net.net):
        with torch.no_grad():
            conv.weight.copy_(torch.from_numpy(arrays[name + '.weight'].astype(np.float32)))
            conv.bias.copy_(torch.from_numpy(np.array(arrays[name + '.bias'])))
    return net.eval()


def main(text=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('checkpoint')
    parser.add_argument('output')
    parser.add_argument('--set', action='append', default=[], metavar='KEY=VALUE',
                        help='metadata: commit, data, licence')
    options = parser.parse_args(text)
    saved = torch.load(options.checkpoint, map_location='cpu', weights_only=True)
    net = model.Upscaler(saved['config'])
    net.load_state_dict(saved['ema'])
    extra = dict(steps=str(saved['steps']), minutes='%.1f' % saved['minutes'])
    extra.update(item.split('=', 1) for item in options.set)
    save(net.net, saved['config'], options.output, extra)


if __name__ == '__main__':
    main()
