# SPDX-License-Identifier: MIT
"""Checkpoints of train.py to model files (docs/model-format.md) and back:
python -m hindsight_training.export CHECKPOINT OUT.safetensors [--set KEY=VALUE ...]."""
import argparse
import json

import numpy as np
import torch

from . import constants as K
from . import model, quantised, tensors, window

FORMAT = '1'
ARCHITECTURES = dict(conv='taau-unet', ray='taau-ray', window='taau-window', int8='taau-int8')
HEADS = dict(conv=K.HEAD, ray=K.RAY_HEAD, window=K.HEAD, int8=K.SHORT_HEAD)
SUMS = {'from2.conv': 'level1', 'from1.conv': 'level0'}
KINDS = {'to1': 'down', 'to2': 'down', 'from1': 'up', 'from2': 'up'}
MATRICES = ('qkv', 'out', 'a', 'b')


def layer_row(name, layer):
    """What a reader needs to run a layer."""
    if isinstance(layer, window.Block):
        return dict(name=name, kind='window', size=window.SIDE, shift=layer.shift,
                    heads=layer.heads, inputs=layer.channels, outputs=layer.channels,
                    hidden=layer.a.out_features, level=model.level_of(name))
    part, last = name.split('.')[0], name.split('.')[-1]
    row = dict(name=name, kind=KINDS.get(part, 'conv'), size=layer.kernel_size[0],
               stride=layer.stride[0], inputs=layer.in_channels, outputs=layer.out_channels,
               level=model.level_of(name), add='block' if last == 'b' else SUMS.get(name),
               relu=part in ('enter', *KINDS) or last == 'a')
    if isinstance(layer, quantised.Convolution):
        row['scale'] = layer.made
    return row


def layer_table(net):
    return [layer_row(name, layer) for name, layer in model.layers(net)]


def metadata(net, config, extra=None):
    kind = model.kind_of(config)
    values = dict(
        format='hindsight-model', format_version=FORMAT, architecture=ARCHITECTURES[kind],
        preset=config, layers=json.dumps(layer_table(net), separators=(',', ':')),
        features=str(net.inputs), outputs=str(net.outputs),
        head=str(HEADS[kind]),
        flops_per_output_pixel='%.0f' % model.flops_per_pixel(net), licence='MIT')
    if kind == 'int8':
        scales = {name: float(quantised.scale_of(net.scales, name)) for name in net.scales}
        values.update(feature_multipliers=json.dumps(quantised.FEATURE_MULTIPLIERS),
                      scales=json.dumps(scales))
    values.update(extra or {})
    return values


def floats(module, name):
    """A convolution or a matrix: weights as half floats, biases as floats."""
    return {name + '.weight': module.weight.detach().cpu().float().numpy().astype(np.float16),
            name + '.bias': module.bias.detach().cpu().float().numpy()}


def integer_arrays(net, name, conv):
    """What a layer of integers computes with, and no more."""
    with torch.no_grad():
        weight, bias, factor = (v.cpu() for v in conv.integers(net.scales))
    arrays = {name + '.weight': weight.numpy().astype(np.int8),
              name + '.bias': bias.numpy().astype(np.int32)}
    if conv.made is None:
        arrays[name + '.scale'] = factor.float().numpy()
        return arrays
    fraction, exponent = np.frexp(factor.double().numpy())
    arrays[name + '.multiplier'] = (fraction * 256).astype(np.int32)
    arrays[name + '.shift'] = (8 - exponent).astype(np.int32)
    return arrays


def layer_arrays(net, name, layer):
    if isinstance(layer, quantised.Convolution):
        return integer_arrays(net, name, layer)
    if not isinstance(layer, window.Block):
        return floats(layer, name)
    arrays = {name + '.position': layer.position.detach().cpu().float().numpy()}
    for part in MATRICES:
        arrays.update(floats(getattr(layer, part), '%s.%s' % (name, part)))
    return arrays


def save(net, config, path, extra=None):
    arrays = {}
    for name, layer in model.layers(net):
        arrays.update(layer_arrays(net, name, layer))
    if not all(np.isfinite(a).all() for a in arrays.values()):
        raise ValueError('weights that are not finite')
    tensors.write(path, arrays, metadata(net, config, extra))


def load_layer(layer, name, arrays):
    def tensor(key):
        return torch.from_numpy(np.array(arrays['%s.%s' % (name, key)]).astype(np.float32))
    if isinstance(layer, quantised.Convolution):
        if layer.made is None:
            factor = tensor('scale')
        else:
            factor = tensor('multiplier') * quantised.power(-tensor('shift'))
        layer.frozen = tensor('weight'), tensor('bias'), factor
        return
    parts = [''] if isinstance(layer, torch.nn.Conv2d) else [part + '.' for part in MATRICES]
    with torch.no_grad():
        for part in parts:
            module = getattr(layer, part[:-1]) if part else layer
            module.weight.copy_(tensor(part + 'weight'))
            module.bias.copy_(tensor(part + 'bias'))
        if isinstance(layer, window.Block):
            layer.position.copy_(tensor('position'))


def load(path, fused=True):
    """The network of a model file, with exactly the weights that the file holds."""
    about, arrays = tensors.read(path)
    if about.get('format') != 'hindsight-model' or about.get('format_version') != FORMAT:
        raise ValueError('%s: not a model of this version' % path)
    net = model.Upscaler(about['preset'], fused)
    if about.get('architecture') != ARCHITECTURES[model.kind_of(about['preset'])]:
        raise ValueError('%s: not the architecture of its preset' % path)
    for name, layer in model.layers(net.net):
        load_layer(layer, name, arrays)
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
