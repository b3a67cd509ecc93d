# SPDX-License-Identifier: MIT
"""Networks of every kind: sizes, cost, window attention and integers against plain definitions,
cells of render pixels, model files."""
import fractions
import json
import os
import sys
import tempfile
import time

import numpy as np
import torch
from torch.utils import flop_counter

import common
from hindsight_training import constants as K
from hindsight_training import export, goldens, integers, model, ops, pipeline, prepare
from hindsight_training import quantised, tensors, window


def shake(net, seed, strength=0.3):
    """Weights of a size at which every layer matters."""
    noise = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in net.named_parameters():
            if name.startswith('scales.'):
                p.add_(torch.randn((), generator=noise) * 0.8 / quantised.OCTAVES)
            elif p.dim() > 1:
                p.normal_(std=strength * 3 / max(p[0].numel(), 9) ** 0.5, generator=noise)
            else:
                p.normal_(std=0.1, generator=noise)


def check_sizes():
    """Every network takes every size; a fresh one returns zeros; what it costs is what it does."""
    for config in model.CONFIGS:
        torch.manual_seed(1)
        net = model.build(config)
        with torch.no_grad():
            head = net(torch.randn(1, net.inputs, 5, 7))
            assert head.shape == (1, net.outputs, 5, 7) and not head.any(), config
            features = torch.randn(1, net.inputs, 32, 32)
            with flop_counter.FlopCounterMode(display=False) as counter:
                # Products of matrices are counted, fused attention is not everywhere.
                with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
                    net(features)
        counted = counter.get_total_flops() / (4 * 32 * 32)
        assert abs(counted - model.flops_per_pixel(net)) < 1, (config, counted)
    for config in ('quality', 'best'):
        cost = [model.flops_per_pixel(model.build(c)) for c in (config, config + '-window')]
        print('%s: %.0f, with windows %.0f' % (config, *cost))
        assert abs(cost[1] / cost[0] - 1) < 0.01
    assert model.flops_per_pixel(model.build('fast')) < 8000
    assert 45000 < model.flops_per_pixel(model.build('ray')) < 60000


def attention_by_hand(block, x):
    """The first half of a window block, token by token: x [h, w, C] in double."""
    def matrix(m, v):
        return m.weight.detach().double().numpy() @ v + m.bias.detach().double().numpy()
    height, width, channels = x.shape
    position, out = block.position.detach().double().numpy(), np.zeros_like(x)
    norm = x / np.sqrt((x * x).mean(-1, keepdims=True) + window.EPSILON)
    parts = np.array([[matrix(block.qkv, norm[r, c]) for c in range(width)]
                      for r in range(height)]).reshape(height, width, 3, block.heads, 16)
    for r in range(height):
        for c in range(width):
            first = [(n + block.shift) // 8 * 8 - block.shift for n in (r, c)]
            keys = [(y, z) for y in range(max(first[0], 0), min(first[0] + 8, height))
                    for z in range(max(first[1], 0), min(first[1] + 8, width))]
            got = []
            for h in range(block.heads):
                score = np.array([parts[r, c, 0, h] @ parts[y, z, 1, h] / 4
                                  + position[h, r - y + 7, c - z + 7] for y, z in keys])
                share = np.exp(score - score.max())
                values = np.array([parts[y, z, 2, h] for y, z in keys])
                got.append(share @ values / share.sum())
            out[r, c] = x[r, c] + matrix(block.out, np.concatenate(got))
    norm = out / np.sqrt((out * out).mean(-1, keepdims=True) + window.EPSILON)
    for r in range(height):
        for c in range(width):
            out[r, c] += matrix(block.b, np.maximum(matrix(block.a, norm[r, c]), 0))
    return out


def check_windows():
    for shift, (height, width) in ((0, (16, 8)), (4, (16, 8)), (0, (9, 13)), (4, (9, 13)),
                                   (4, (3, 2))):
        block = window.Block(32, shift)
        shake(block, height + shift, 0.6)
        x = torch.randn(2, 32, height, width, generator=torch.Generator().manual_seed(shift))
        with torch.no_grad():
            got = block(x).permute(0, 2, 3, 1).numpy()
        for b in range(2):
            want = attention_by_hand(block, x[b].permute(1, 2, 0).double().numpy())
            worst = np.abs(got[b] - want).max() / np.abs(want).max()
            assert worst < 1e-5, (shift, height, width, worst)
    print('window attention is what its definition says')


def check_rounding():
    """The shift with its half against exact fractions, at the ends of what may come."""
    rng = np.random.default_rng(1)
    for shift in range(1, 27):
        bound = quantised.TOTAL_LIMIT
        assert bound * 255 + (1 << 25) < 1 << 31 and bound < 1 << 24
        total = np.concatenate([rng.integers(-bound, bound, 50), [bound, -bound, 0],
                                [-1 << (shift - 1), (1 << (shift - 1)) - 1]])
        total = total.clip(-bound, bound)
        multiplier = int(rng.integers(128, 256))
        got = integers.scaled_down(total, np.int64(multiplier), np.int64(shift))
        for t, g in zip(total.tolist(), got.tolist()):
            exact = fractions.Fraction(t * multiplier, 1 << shift) + fractions.Fraction(1, 2)
            assert g == exact.__floor__()


def extremes(net, seed):
    """Channels that saturate, channels of nothing, large biases, coarse and fine scales."""
    shake(net, seed)
    with torch.no_grad():
        for k, (_, conv) in enumerate(model.layers(net)):
            conv.weight[0] = 0
            conv.weight[1] = 50 if k % 2 else -50
            conv.weight[2] *= 1e-4
            conv.weight[5], conv.bias[5] = 1, 1e9
            conv.bias[3] = 1e4
            conv.bias[4] = -3
        for k, p in enumerate(net.scales.values()):
            p.add_((-6.0, 0.0, 4.8)[(k + seed) % 3] / quantised.OCTAVES)


def check_integers(folder):
    """The simulation equals the integers of the model file bit for bit, layer by layer."""
    path = os.path.join(folder, 'integers.model')
    saturated, values, largest = 0, 0, 0
    for seed, (config, height, width, change) in enumerate((
            ('tiny-int8', 8, 12, shake), ('tiny-int8', 7, 9, extremes), ('fast', 16, 20, shake),
            ('tiny-int8', 6, 5, extremes), ('fast', 5, 11, extremes))):  # 576 products a sum
        torch.manual_seed(seed)
        net = model.Upscaler(config, fused=False)
        change(net.net, seed)
        features = torch.randn(1, height, width, K.FEATURES) * 0.4
        export.save(net.net, config, path)
        about, arrays = tensors.read(path)
        assert about['architecture'] == 'taau-int8'
        for name in (row['name'] for row in json.loads(about['layers'])):
            size = np.abs(arrays[name + '.weight'].astype(np.int64)).sum((1, 2, 3)) * 127
            size = size + np.abs(arrays[name + '.bias'].astype(np.int64))
            assert size.max() <= quantised.TOTAL_LIMIT, name
            largest = max(largest, size.max())
        x = integers.rounded_features(features[0].numpy(),
                                      json.loads(about['feature_multipliers']))
        head, made = integers.network(json.loads(about['layers']), arrays, x)
        again = export.load(path, fused=False)
        for twin in (net, again):
            seen = {}
            for name, layer in model.layers(twin.net):
                layer.register_forward_hook(
                    lambda module, given, value, name=name: seen.update({name: value}))
            with torch.no_grad():
                got = twin.tokens(features)
            for name, want in made.items():
                layer = seen[name][0].permute(1, 2, 0).numpy()
                assert np.array_equal(layer.astype(want.dtype), want), (config, seed, name)
                if name != 'head':
                    saturated += (np.abs(want) == 127).sum()
                    values += (np.abs(want) > 0).sum()
            assert np.array_equal(got[0].numpy().view(np.uint32), head.view(np.uint32))
        assert np.abs(head).max() > 0
    print('integers: %d values that are not 0, %d at a limit, sums up to %d' % (values, saturated,
                                                                               largest))
    assert largest > 0.9 * quantised.TOTAL_LIMIT, 'the limit of sums was not tried'
    assert 100 < saturated < values / 2


def check_scales():
    """Scales follow what was seen, and then what lowers the loss."""
    torch.manual_seed(2)
    net = model.build('tiny-int8')
    shake(net, 2)
    features = torch.randn(1, K.FEATURES, 16, 16) * 0.3
    exact = {}

    def run():
        exact['head'] = net(features)
    net.calibrate(run)
    with torch.no_grad():
        before = net(features)
        error = float((before - exact['head']).abs().mean() / exact['head'].abs().mean())
        print('rounding to 8 bits changes the head by %.1f %%' % (100 * error))
        assert 0 < error < 0.1
        for p in net.scales.values():
            p.sub_(3 / quantised.OCTAVES)  # an eighth of the range: most saturates
    optimizer, losses = torch.optim.Adam(net.scales.parameters(), 0.005), []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (net(features) - exact['head']).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    print('scales learn: %.4f to %.4f' % (losses[0], losses[-1]))
    assert losses[-1] < 0.3 * losses[0]


def step_gradient(net, history, frame, weights):
    history = history.clone().requires_grad_()
    out = net(history, frame)
    (out * weights).sum().backward()
    return out.detach(), history.grad


def check_steps():
    """Zero heads are taau at every ratio; fused and plain steps agree with their gradients."""
    for config, sizes in (('tiny-window', [(56, 40)]),
                          ('tiny-int8', [(56, 40), (84, 60), (42, 30)])):
        for width, height in sizes:
            torch.manual_seed(width)
            frames, _ = prepare.prepare(common.random_clip(2, 3), width, height)
            nets = [model.Upscaler(config, fused) for fused in (True, False)]
            history = torch.zeros(1, height, width, 4)
            for frame in frames:
                plain = pipeline.resolve(pipeline.reproject(history, frame), frame,
                                         torch.zeros(1, height, width, K.HEAD))
                history = nets[1](history, frame).detach()
                assert torch.equal(history, plain), (config, width)
            if config == 'tiny-int8':
                # Something smooth: a feature that rounds to another integer changes everything.
                for net in nets:
                    net.net = torch.nn.Conv2d(K.FEATURES, K.SHORT_OUTPUTS, 1)
            shake(nets[0].net, 3)
            nets[1].load_state_dict(nets[0].state_dict())
            # Away from flat places, which magnify rounding: see test_ops.
            history = (history + 0.05 * torch.rand_like(history)).clamp(0, 0.9)
            weights = torch.randn_like(history)
            (a, ga), (b, gb) = (step_gradient(n, history, frames[2], weights) for n in nets)
            assert float((a - plain).abs().mean()) > 1e-4, 'the head does nothing'
            off = [float((p - q).abs().mean() / q.abs().mean()) for p, q in ((a, b), (ga, gb))]
            print('%-12s %dx%d: picture off by %.1e, gradient by %.1e' % (config, width, height,
                                                                        *off))
            assert off[0] < 2e-3 and off[1] < 4e-2


def check_cells():
    """Cells are quarters of render pixels, whatever the ratio."""
    frame = prepare.prepare(common.random_clip(1, 1), 56, 40)[0][0]
    values = torch.rand(1, 40, 56, 3)
    assert torch.equal(pipeline.to_cells(values, frame), values)
    assert torch.equal(pipeline.from_cells(values, frame), values)
    for width, height in ((84, 60), (42, 60), (28, 20), (50, 44)):
        frame = prepare.prepare(common.random_clip(1, 1), width, height)[0][0]
        ys = torch.arange(40).view(1, 40, 1, 1).expand(1, 40, 56, 1)
        xs = torch.arange(56).view(1, 1, 56, 1).expand(1, 40, 56, 1)
        cell = pipeline.from_cells(torch.cat([ys, xs], -1), frame)[0]
        want = [[[int((y + 0.5) * 40 / height), int((x + 0.5) * 56 / width)]
                 for x in range(width)] for y in range(height)]
        assert cell.tolist() == want
        moved, net = torch.rand(1, height, width, 4), model.Upscaler('tiny-int8')
        plain = pipeline.cell_features(moved, frame)
        assert plain.shape == (1, 20, 28, K.FEATURES)
        assert plain[0, 3, 3, 62] == 28 / width and plain[0, 3, 3, 63] == 20 / height
        fused = ops.Features.apply(pipeline.to_cells(moved, frame), pipeline.cells_of(frame))
        off = (pipeline.with_scale(fused, frame) - plain).abs() > 1e-4
        assert float(off.float().mean()) < 5e-3
        assert net.see(moved, frame)[1].shape == plain.shape
    head = torch.arange(float(K.SHORT_OUTPUTS)).expand(1, 20, 28, -1)
    full = pipeline.from_tokens(pipeline.spread(head, prepare.prepare(
        common.random_clip(1, 1), 56, 40)[0][0]), K.HEAD)[0, 0, 0]
    chosen = [0, 1, 2] + list(range(K.MIX, K.HEAD))
    assert full[chosen].tolist() == [4 * c for c in range(K.SHORT_HEAD)]
    assert float(full.sum()) == float(full[chosen].sum())


def check_files(folder):
    """A model file gives the network back that it was made of."""
    clip = common.random_clip(4, 2)
    clip['reference'] = torch.zeros(2, 40, 56, 3)
    for config, bound in (('tiny', 2e-2), ('tiny-window', 2e-2), ('tiny-int8', 0)):
        path = os.path.join(folder, config + '.model')
        torch.manual_seed(5)
        net = model.Upscaler(config, fused=False)
        shake(net.net, 5)
        export.save(net.net, config, path, dict(commit='test'))
        again = export.load(path, fused=False)
        features = torch.randn(1, 12, 8, K.FEATURES) * 0.3
        with torch.no_grad():
            a, b = net.tokens(features), again.tokens(features)
        assert float((a - b).abs().max()) <= bound * float(a.abs().max()), config
        about, arrays = tensors.read(path)
        kind = dict(tiny='unet').get(config, config.partition('-')[2])
        assert about['architecture'] == 'taau-' + kind and about['commit'] == 'test'
        names = [row['name'] for row in json.loads(about['layers'])]
        assert [n for n in names if not any(t.startswith(n + '.') for t in arrays)] == []
        dumped = goldens.dump(again, dict(clip), 2)
        assert dumped['1.head'].shape == (1, 20, 28, int(about['outputs']))
        assert all('1.' + name in dumped for name in names) and np.abs(dumped['1.head']).max() > 0
        tensors.write(path + '.other', arrays, dict(about, architecture='taau-other'))
        try:
            export.load(path + '.other')
        except ValueError as error:
            assert 'architecture' in str(error)
        else:
            raise AssertionError('a file of another architecture was read')


def timed(check, *arguments):
    began = time.process_time()
    check(*arguments)
    print('%s: %.1f s' % (check.__name__, time.process_time() - began), flush=True)


def main():
    torch.set_num_threads(1)  # pictures are small
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault('HINDSIGHT_OPS', folder)
        timed(check_sizes)
        timed(check_windows)
        timed(check_rounding)
        timed(check_integers, folder)
        timed(check_scales)
        timed(check_cells)
        timed(check_steps)
        timed(check_files, folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
