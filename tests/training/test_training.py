# SPDX-License-Identifier: MIT
"""Networks, augmentation, training, checkpoints and model files, small and on the CPU."""
import json
import os
import random
import sys
import tempfile
from dataclasses import replace

import numpy as np
import torch

import common
from hindsight_training import constants as K
from hindsight_training import data, evaluate, export, goldens, model, pipeline, prepare
from hindsight_training import tensors, train


def write_pack(path, seed, frames=5, noisy=False):
    """A clip as `hindsight render --format pack` writes it; `noisy`: path-traced, with guides."""
    clip = common.random_clip(seed, frames, 16, 16)
    torch.manual_seed(seed)
    arrays = dict(
        depth=clip['depth'].unsqueeze(-1), motion=clip['motion'].nan_to_num(0.5),
        jitter=clip['jitter'], exposure=clip['exposure'], reset=clip['reset'],
        **{k: clip[k] for k in ('view', 'proj', 'previous_view', 'previous_proj')})
    arrays = {k: v.float().numpy() for k, v in arrays.items()}
    one = torch.ones(frames, 16, 16, 1)
    colour = torch.cat([clip['colour'], one], -1)
    noise = 1 - 0.9 * torch.rand(frames, 16, 16, 1)
    arrays['colour'] = torch.cat([clip['colour'] * -noise.log() if noisy else clip['colour'], one],
                                 -1).half().numpy()
    if noisy:
        normal = torch.where(clip['depth'].isfinite().unsqueeze(-1),
                             torch.tensor([0.6, 0.0, 0.8]), 0)
        guides = dict(diffuse_albedo=torch.cat([colour[..., :3].clamp(0.1, 0.9), one], -1),
                      specular_albedo=torch.cat([0.04 * one.expand(-1, -1, -1, 3), one], -1),
                      normal=torch.cat([normal, 0.5 * one], -1))
        arrays.update({k: v.half().numpy() for k, v in guides.items()})
    large = colour.repeat_interleave(2, 1).repeat_interleave(2, 2)
    arrays['reference'] = large.half().numpy()
    tensors.write(path, arrays, dict(format='hindsight-clip'))


def check_untrained():
    """A fresh network leaves taau as it is; fused and plain steps agree once it is not fresh."""
    torch.manual_seed(1)
    frames, _ = prepare.prepare(common.random_clip(2, 3), 56, 40)
    nets = [model.Upscaler('tiny', fused) for fused in (True, False)]
    nets[1].load_state_dict(nets[0].state_dict())
    zero = torch.zeros(1, 40, 56, 27)
    history = plain = torch.zeros(1, 40, 56, 4)
    for frame in frames:
        history = nets[0](history, frame)
        plain = pipeline.resolve(pipeline.reproject(plain, frame), frame, zero)
    # Flat places magnify rounding, see test_ops.
    assert float(((history - plain).abs() > 1e-3).float().mean()) < 5e-3
    for net in nets:
        net.net.head.weight.data.normal_(std=0.2, generator=torch.Generator().manual_seed(3))
    results = [net(history, frames[2]) for net in nets]
    assert float((results[0] - results[1]).abs().mean()) < 1e-4
    assert float((results[0] - plain).abs().mean()) > 1e-3


def check_cuts(folder):
    """A cut that nobody tells leaves history in place, one that is told takes it all away."""
    clip = data.read_clip(os.path.join(folder, 'clip-1.safetensors'))
    clip['reset'][2] = True
    told, untold = data.prepare_clip(clip, 'cpu'), data.prepare_clip(clip, 'cpu', cuts=False)
    assert not told['valid'][2].any() and untold['valid'][2].any()
    assert told['seen'][2] == 0 and untold['seen'][2] == 1
    assert not untold['valid'][0].any() and clip['reset'][2]


def check_shared(folder):
    """Packs that share a reference train like packs of their own, and hold it once."""
    own = os.path.join(folder, 'clip-1.safetensors')
    about, arrays = tensors.read(own)
    with tempfile.TemporaryDirectory() as place:
        os.makedirs(os.path.join(place, 'inputs', '2', 'a'))
        target = {k: v for k, v in arrays.items() if k == 'reference'}
        tensors.write(os.path.join(place, 'r.safetensors'), target, about)
        rest = {k: v for k, v in arrays.items() if k != 'reference'}
        about = dict(about, reference='../../../r.safetensors')
        inner = os.path.join(place, 'inputs', '2')
        for name in ('a/clip', 'a/other'):
            tensors.write(os.path.join(inner, name + '.safetensors'), rest, about)
        assert data.ratio_of(inner) == 2
        pools = train.pools_of(os.path.join(place, 'inputs'), 'cpu', varied=False)
        assert [pool.poll(least=9) for pool in pools] == [2]
        first, second = pools[0].clips
        assert first['reference'] is second['reference']
        alone = data.prepare_clip(data.read_clip(own), 'cpu')
        assert torch.equal(first['reference'], alone['reference'])
        assert torch.equal(first['colour'], alone['colour'])


def check_flips(folder):
    """A mirrored or transposed clip gives the mirrored or transposed picture."""
    pool = data.Pool(folder, 'cpu', varied=False)
    pool.poll(least=9)
    random.seed(1)
    planes = pool.draw(2)
    pictures = []
    for choice in ((False, False, False), (True, False, False), (False, True, True)):
        turned = data.flip(planes, *choice)
        turned.update(data.colours(turned, False))
        history = torch.zeros(2, 32, 32, 4)
        for frame in data.frames_of(turned):
            moved = pipeline.reproject(history, frame)
            history = pipeline.resolve(moved, frame, torch.zeros(2, 32, 32, 27))
        pictures.append((history, choice))
    for picture, (across, down, swap) in pictures[1:]:
        picture = picture.transpose(1, 2) if swap else picture
        picture = picture.flip(([2] if across else []) + ([1] if down else []))
        off = (picture - pictures[0][0]).abs().amax(-1) > 1e-3
        # Where two surfaces are equally near, the order of the samples decides.
        print('flips differ in %.2f %% of the pixels' % (100 * off.float().mean()))
        assert float(off.float().mean()) < 0.03


def check_training(folder):
    """Loss falls on one batch; a checkpoint goes on where it was; the model file is the net."""
    path = os.path.join(folder, 'tiny.pt')
    text = ['--data', folder, '--validation', folder, '--config', 'tiny', '--batch', '2',
            '--output', path, '--rate', '0.01', '--steps', '2', '--minutes', '5']
    torch.manual_seed(1)
    random.seed(1)
    options = train.arguments(text)
    training = train.Training(options)
    pool = data.Pool(folder, 'cpu', varied=False)
    pool.poll(least=9)
    planes = data.batch(pool, 2, varied=False)
    segment = train.Segment(training.net, planes, 5, options)
    history, losses = torch.zeros_like(segment.history), []
    for _ in range(8):
        training.steps += 20  # past the slow start
        losses.append(float(training.step(segment, planes, history, 0.3)[0]))
    print('loss', losses[0], 'to', losses[-1])
    assert losses[-1] < 0.95 * losses[0]
    training.save()
    train.main(text + ['--resume', path, '--json', path + '.json'])
    again = torch.load(path, weights_only=True)
    assert again['steps'] == training.steps + 2 and len(again['curve']) >= 1

    file = os.path.join(folder, 'tiny.model')
    export.main([path, file, '--set', 'commit=test'])
    net = export.load(file)
    for a, b in zip(net.parameters(), model_of(path).parameters()):
        assert float((a - b).abs().max()) <= 1e-3 * float(b.abs().max()) + 1e-7
    clip = evaluate.load_sequence(os.path.join(folder, 'clip-1.safetensors'))
    arrays = goldens.dump(net, clip, 2)
    assert arrays['1.head'].shape == (1, 16, 16, 112) and np.abs(arrays['1.head']).max() > 0
    about, _ = tensors.read(file)
    assert about['commit'] == 'test' and about['preset'] == 'tiny'


def model_of(path):
    return evaluate.load_network(path, 'cpu')


def check_teacher(folder):
    """A network of integers learns from clips and from another network's pictures."""
    path, teacher = (os.path.join(folder, n) for n in ('int8.pt', 'tiny.pt'))
    text = ['--data', folder, '--validation', folder, '--config', 'tiny-int8', '--batch', '2',
            '--output', path, '--rate', '0.005', '--steps', '2', '--minutes', '5',
            '--teacher', teacher, '--teach', '0.25']
    torch.manual_seed(1)
    random.seed(1)
    options = train.arguments(text)
    training, pool = train.Training(options), data.Pool(folder, 'cpu', varied=False)
    pool.poll(least=9)
    before = {k: float(v) for k, v in training.net.net.scales.items()}
    training.calibrate(pool)
    assert all(before[k] != float(v) for k, v in training.ema.net.scales.items())
    planes = data.batch(pool, 2, varied=False)
    segment = train.Segment(training.net, planes, 5, options, training.teacher)
    history, losses = torch.zeros_like(segment.history), []
    assert history.shape[-1] == 8
    loss, after = segment.run(planes, history, 1.0)
    taught, alone = segment.pictures(training.teacher, history[..., 4:])
    assert torch.equal(after[..., 4:], alone) and not torch.equal(after[..., :4], alone)
    with torch.no_grad():
        out, _ = segment.pictures(training.net, history[..., :4])
        want = segment.loss(out, planes['reference']) + 0.25 * segment.loss(out, taught)
    assert abs(float(loss - want)) < 1e-6 and float(segment.loss(out, taught)) > 1e-4
    for _ in range(12):
        training.steps += 20
        losses.append(float(training.step(segment, planes, history, 0.3)[0]))
    print('loss of integers with a teacher', losses[0], 'to', losses[-1])
    assert losses[-1] < 0.97 * losses[0]
    assert all(p.grad is not None and p.grad.isfinite().all()
               for p in training.net.parameters())
    training.save()
    train.main(text + ['--resume', path])
    assert torch.load(path, weights_only=True)['steps'] == training.steps + 2
    file = os.path.join(folder, 'int8.model')
    export.main([path, file])
    features = torch.randn(1, 8, 8, 64) * 0.3
    with torch.no_grad():
        a, b = (net.tokens(features) for net in (export.load(file), model_of(path)))
    assert torch.equal(a, b) and float(a.abs().max()) > 0


def turned_alike(planes, choice):
    """The picture of atrous of turned planes, turned back."""
    across, down, swap = choice
    turned = data.flip(planes, *choice)
    turned.update(data.colours(turned, False))
    history = torch.zeros(2, 32, 32, 4)
    for frame in data.frames_of(turned):
        head = torch.zeros(2, 32, 32, K.RAY_HEAD)
        head[..., K.LEVEL_A] = 0.5
        history = pipeline.resolve(pipeline.reproject(history, frame), frame, head)
    history = history.transpose(1, 2) if swap else history
    return history.flip(([2] if across else []) + ([1] if down else []))


def check_noisy(folder):
    """Clips with guides go through the denoiser's passes; their variants agree with each other."""
    random.seed(1)
    torch.manual_seed(1)
    clip = data.read_clip(os.path.join(folder, 'clip-1.safetensors'))
    assert clip['roughness'].shape == (5, 16, 16, 1) and clip['normal'].shape[-1] == 3
    seen = [set(data.damage(clip)) & set(data.denoise.GUIDES) for _ in range(200)]
    assert set() in seen and {'diffuse_albedo', 'specular_albedo', 'normal', 'roughness'} in seen
    bright = [int((data.damage(clip)['colour'] > 9 * clip['colour']).any(-1).sum())
              for _ in range(400)]
    assert 5 <= sum(b > 0 for b in bright) <= 80 and max(bright) < 12

    pool = data.Pool(folder, 'cpu', varied=False, levels=True)
    assert pool.poll(least=9) == 2 and set(pool.clips[0]) == set(data.LEVEL_PLANES)
    planes = pool.draw(2)
    pictures = [turned_alike(planes, c) for c in ((False,) * 3, (True, False, False),
                                                  (False, True, True))]
    for other in pictures[1:]:
        assert float(((other - pictures[0]).abs().amax(-1) > 1e-3).float().mean()) < 0.03
    frames, _ = data.denoise.prepare(dict(clip, exposure=torch.ones(5), reset=torch.arange(5) == 0),
                                     32, 32)
    made = data.together(pool.clips)
    made.update(data.colours(made, False))
    assert float((frames[4].levels[0] - made['levels'][4, 0]).abs().max()) < 1e-3
    assert float((frames[4].guides[0] - made['guides'][4, 0]).abs().max()) < 2e-3
    varied = data.batch(pool, 2)
    assert 'given' not in varied and all(v.isfinite().all() for v in varied.values())
    normal = varied['guides'][..., 5:8].norm(dim=-1)
    assert bool(((normal < 1e-3) | ((normal - 1).abs() < 1e-2)).all())
    pool = data.Pool(folder, 'cpu', varied=True, levels=True)
    pool.poll(least=9)
    # Where a cut is not told and so on, what networks are given still is finite.
    assert all(v.isfinite().all() for v in data.batch(pool, 4).values())


def check_ray(folder):
    """A network that sees levels: a fresh one is atrous, it learns, its model file is the net."""
    path = os.path.join(folder, 'ray.pt')
    text = ['--data', folder, '--validation', folder, '--config', 'tiny-ray', '--batch', '2',
            '--output', path, '--rate', '0.01', '--steps', '2', '--minutes', '5',
            '--watch', os.path.join(folder, 'clip-1.safetensors')]
    torch.manual_seed(1)
    random.seed(1)
    options = train.arguments(text)
    training, pool = train.Training(options), data.Pool(folder, 'cpu', varied=False, levels=True)
    pool.poll(least=9)
    planes = data.batch(pool, 2, varied=False)
    frame = data.frames_of(planes)[0]
    history = torch.zeros(2, 32, 32, 4)
    plain = model.Upscaler('tiny')(history, replace(frame, levels=None, guides=None))
    assert float((training.net(history, frame) - plain).abs().max()) < 1e-5
    segment, losses = train.Segment(training.net, planes, 5, options), []
    for _ in range(8):
        training.steps += 20
        losses.append(float(training.step(segment, planes, torch.zeros_like(segment.history),
                                          0.3)[0]))
    print('loss of levels', losses[0], 'to', losses[-1])
    assert losses[-1] < 0.95 * losses[0]
    used = training.net.net.head.weight.grad[4 * K.LEVEL_M:4 * K.RAY_HEAD]
    assert float(used.abs().max()) > 0
    training.save()
    train.main(text + ['--resume', path])
    file = os.path.join(folder, 'ray.model')
    export.main([path, file])
    about, _ = tensors.read(file)
    wanted = dict(architecture='taau-ray', features='80', outputs='128', head='29')
    assert {k: about[k] for k in wanted} == wanted
    clip = evaluate.load_sequence(os.path.join(folder, 'clip-1.safetensors'))
    arrays = goldens.dump(export.load(file), clip, 2)
    assert arrays['1.head'].shape == (1, 16, 16, 128) and arrays['1.guides'].shape[-1] == 10
    evaluate.main([folder, '--net', path, '--json', file + '.json'])
    with open(file + '.json') as results:
        assert set(list(json.load(results).values())[0]) == {'bicubic', 'taau', 'atrous',
                                                             'tiny-ray'}


def check_choice(folder):
    """--arch picks the variant; a preset for one ratio takes clips of that ratio only."""
    path = os.path.join(folder, 'window.pt')
    text = ['--data', folder, '--validation', folder, '--batch', '2', '--output', path,
            '--steps', '1', '--minutes', '5']
    train.main(text + ['--config', 'tiny', '--arch', 'window'])
    assert torch.load(path, weights_only=True)['config'] == 'tiny-window'
    assert data.ratio_of(folder) == 2
    assert len(train.pools_of(folder, 'cpu', ratio=2)) == 1
    try:
        train.main(text + ['--config', 'ultra'])
    except SystemExit as error:
        assert '3x' in str(error)
    else:
        raise AssertionError('ultra was trained on 2x')


def main():
    torch.set_num_threads(1)  # pictures are small
    with tempfile.TemporaryDirectory() as folder:
        os.environ['HINDSIGHT_OPS'] = folder
        for seed in (1, 2):
            write_pack(os.path.join(folder, 'clip-%d.safetensors' % seed), seed)
        check_untrained()
        check_cuts(folder)
        check_shared(folder)
        check_flips(folder)
        check_training(folder)
        check_teacher(folder)
        check_choice(folder)
        noisy = os.path.join(folder, 'noisy')
        os.mkdir(noisy)
        for seed in (1, 2):
            write_pack(os.path.join(noisy, 'clip-%d.safetensors' % seed), seed, noisy=True)
        check_noisy(noisy)
        check_ray(noisy)
    return 0


if __name__ == '__main__':
    sys.exit(main())
