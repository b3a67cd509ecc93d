# SPDX-License-Identifier: MIT
"""Trains one network for a number of minutes: python -m hindsight_training.train --help."""
import argparse
import copy
import json
import math
import os
import random
import time

import torch

from . import data, denoise, evaluate, losses, model, prepare, quantised


def pools_of(folder, device, varied=True, ratio=None, levels=False):
    """A pool for the folder or, if it has folders, for each of those; only of clips whose output
    is `ratio` times as large, if that is given."""
    inner = sorted(e.path for e in os.scandir(folder) if e.is_dir()) or [folder]
    if ratio:
        inner = [path for path in inner if abs(data.ratio_of(path) - ratio) < 0.1]
    # Levels and guides take twice the room.
    limit = 2500 if levels else 5000
    return [data.Pool(path, device, limit, varied, levels) for path in inner]


class Segment:
    """Forward and backward over some frames of one geometry, as a CUDA graph after a warm-up.
    With a teacher, the history's last four channels are the teacher's."""
    memory = None

    def __init__(self, net, planes, count, options, teacher=None):
        self.net, self.options, self.teacher = net, options, teacher
        self.planes = {k: torch.empty_like(v[:count], memory_format=torch.contiguous_format)
                       for k, v in planes.items()}
        self.fresh = torch.ones((), device=planes['jitter'].device)
        batch, height, width = self.planes['reference'].shape[1:4]
        self.history = net.start(batch, height, width, self.fresh.device)
        if teacher:
            self.history = torch.cat([self.history, self.history], -1)
        self.graph, self.runs = None, 0

    def pictures(self, net, history):
        """What a network makes of the frames, and its history after the last."""
        history, out = history.contiguous(), []
        with torch.autocast('cuda', torch.bfloat16, enabled=history.is_cuda, cache_enabled=False):
            for frame in data.frames_of(self.planes):
                history = net(history, frame)
                out.append(history[..., :3])
        return torch.stack(out), history.detach()

    def loss(self, out, wanted):
        return losses.sequence_loss(out, wanted, self.fresh, self.options.temporal,
                                    self.options.structure, self.options.square)

    def compute(self):
        out, history = self.pictures(self.net, self.history[..., :4])
        loss = self.loss(out, self.planes['reference'])
        if self.teacher:
            with torch.no_grad():
                taught, after = self.pictures(self.teacher, self.history[..., 4:])
            loss = loss + self.options.teach * self.loss(out, taught)
            history = torch.cat([history, after], -1)
        loss.backward()
        return loss.detach(), history

    def capture(self):
        parameters = list(self.net.parameters())
        for p in parameters:
            p.grad = None
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # Nothing is read of another geometry's graph after this one runs: they share memory.
        if Segment.memory is None:
            Segment.memory = torch.cuda.graph_pool_handle()
        with torch.cuda.graph(graph, pool=Segment.memory):
            self.result = self.compute()
        self.gradients = [p.grad for p in parameters]
        self.graph = graph

    def run(self, planes, history, fresh):
        """Loss and history after the last frame; gradients are left in the parameters."""
        for name, buffer in self.planes.items():
            buffer.copy_(planes[name])
        self.history.copy_(history)
        self.fresh.fill_(fresh)
        self.runs += 1
        if self.graph is None:
            self.net.zero_grad(set_to_none=True)
            result = self.compute()
            if self.runs == 3 and self.history.is_cuda and self.options.graphs:
                loss, after = (t.clone() for t in result)
                gradients = [p.grad for p in self.net.parameters()]
                try:
                    self.capture()
                except RuntimeError as error:
                    print('no CUDA graph: %s' % error, flush=True)
                    self.options.graphs = False
                for p, g in zip(self.net.parameters(), gradients):
                    p.grad = g
                return loss, after
            return result
        self.graph.replay()
        for p, g in zip(self.net.parameters(), self.gradients):
            p.grad = g
        return self.result


def validate(net, pools, count):
    """Mean PSNR of the frames after the fourth, and of the first, over unvaried clips."""
    late, first = [], []
    with torch.no_grad(), torch.autocast('cuda', torch.bfloat16, enabled=next(
            net.parameters()).is_cuda):
        for pool in pools:
            for start in range(0, len(pool.clips), count):
                planes = data.together(pool.clips[start:start + count])
                planes.update(data.colours(planes, False))
                reference = planes['reference']
                history = net.start(reference.shape[1], *reference.shape[2:4], reference.device)
                for t, frame in enumerate(data.frames_of(planes)):
                    history = net(history, frame.map(torch.Tensor.contiguous))
                    value = losses.psnr(history[..., :3] ** (1 / 1.1), reference[t] ** (1 / 1.1))
                    (late if t >= 4 else first if t == 0 else []).append(value)
    return float(torch.cat(late).mean()), float(torch.cat(first).mean())


class Training:
    def __init__(self, options):
        self.options, self.began = options, time.time()
        self.device = 'cuda' if torch.cuda.is_available() else 'cpu'
        self.net = model.Upscaler(options.config).to(self.device)
        self.net.net.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=options.rate,
                                           betas=(0.9, 0.99), weight_decay=1e-4)
        self.ema = copy.deepcopy(self.net)
        self.steps, self.before, self.curve, self.segments = 0, 0.0, [], {}
        self.teacher = None
        if options.teacher:
            self.teacher = evaluate.load_network(options.teacher, self.device)
            self.teacher.requires_grad_(False)
        if options.resume:
            self.load(options.resume)

    def watched(self):
        """Measures of the average network on the sequences of --watch."""
        for path in self.options.watch:
            clip = evaluate.to_device(evaluate.load_sequence(path), self.device)
            front = denoise if self.net.levels else prepare
            frames, exposure = front.prepare(clip, *reversed(clip['reference'].shape[1:3]))
            yield evaluate.measure(clip, evaluate.run(self.ema, frames)
                                   / exposure.view(-1, 1, 1, 1))

    def calibrate(self, pool):
        """The first scales of a network of integers, from a batch."""
        if not isinstance(self.net.net, quantised.Network) or self.steps:
            return
        planes = data.batch(pool, self.options.batch)

        def run():
            history = self.net.start(*planes['reference'].shape[1:4], self.device)
            for frame in data.frames_of(planes)[:4]:
                history = self.net(history, frame.map(torch.Tensor.contiguous))
        self.net.net.calibrate(run)
        self.ema.load_state_dict(self.net.state_dict())

    def minutes(self):
        return (time.time() - self.began) / 60

    def load(self, path):
        saved = torch.load(path, map_location='cpu', weights_only=True)
        self.net.load_state_dict(saved['net'])
        self.ema.load_state_dict(saved['ema'])
        self.optimizer.load_state_dict(saved['optimizer'])
        self.steps, self.before, self.curve = saved['steps'], saved['minutes'], saved['curve']

    def save(self):
        path, optimizer = self.options.output, self.optimizer.state_dict()
        # Moments in half the bytes: a checkpoint of `best` stays below 16 MiB.
        optimizer['state'] = {k: {n: v.bfloat16() if n.startswith('exp') else v
                                  for n, v in state.items()}
                              for k, state in optimizer['state'].items()}
        torch.save(dict(config=self.options.config, net=self.net.state_dict(),
                        ema=self.ema.state_dict(), optimizer=optimizer,
                        steps=self.steps, minutes=self.before + self.minutes(),
                        curve=self.curve), path + '.part')
        os.replace(path + '.part', path)

    def rate(self):
        """Cosine over the planned minutes, after a short rise."""
        done = (self.before + self.minutes()) / (self.options.total or self.options.minutes)
        cosine = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(done, 1)))
        return self.options.rate * cosine * min(1, (self.steps + 1) / 200)

    def step(self, segment, planes, history, fresh):
        loss, history = segment.run(planes, history, fresh)
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.options.clip)
        if not math.isfinite(float(norm)):
            return loss, torch.zeros_like(history)
        for group in self.optimizer.param_groups:
            group['lr'] = self.rate()
        self.optimizer.step()
        self.steps += 1
        share = 1 - min(self.options.ema, (self.steps + 1) / (self.steps + 20))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.ema.parameters()), list(self.net.parameters()), share)
        return loss, history

    def clip(self, pool):
        """Trains on one batch of clips, segment by segment."""
        planes = data.batch(pool, self.options.batch)
        count = min(self.options.segment, len(planes['colour']))
        key = planes['colour'].shape, planes['reference'].shape
        if key not in self.segments:
            self.segments[key] = Segment(self.net, planes, count, self.options,
                                         self.teacher)
        segment, total = self.segments[key], 0
        history = torch.zeros_like(segment.history)
        for start in range(0, len(planes['colour']) - count + 1, count):
            part = {k: v[start:start + count] for k, v in planes.items()}
            loss, history = self.step(segment, part, history, 0.3 if start == 0 else 1.0)
            total = total + loss
        return total / (len(planes['colour']) // count)

    def run(self, pools, validation):
        options, smooth, report, began = self.options, None, 0, self.steps
        since, at, polled = self.minutes(), self.steps, self.steps - 32
        plain = model.Upscaler(options.config).to(self.device)
        base = validate(plain, validation, options.batch)
        name = 'atrous' if plain.levels else 'taau'
        print('%s on validation clips: %.2f dB, first frames %.2f' % (name, *base), flush=True)
        while self.minutes() < options.minutes and self.steps - began < options.steps:
            if self.steps >= polled + 32:
                sizes, polled = [pool.poll() for pool in pools], self.steps
            loss = self.clip(random.choices(pools, sizes)[0])
            smooth = loss.clone() if smooth is None else smooth.lerp_(loss, 0.05)
            if self.minutes() >= report:
                took = (self.minutes() - since) * 6e4 / max(self.steps - at, 1)
                value, first = validate(self.ema, validation, options.batch)
                seen = [measure['psnr'] for measure in self.watched()]
                self.curve.append([self.before + self.minutes(), self.steps, float(smooth), value,
                                   *seen])
                print('%5.2f min, step %d, %d ms each, %s clips: loss %.5f, validation %.2f dB '
                      '(%s %+.2f), first frames %.2f; watched %s' % (
                          self.minutes(), self.steps, took, sizes, float(smooth), value,
                          name, value - base[0], first,
                          ' '.join('%.2f' % s for s in seen)), flush=True)
                self.save()
                report = self.minutes() + options.report
                since, at = self.minutes(), self.steps
        value, first = validate(self.ema, validation, options.batch)
        self.curve.append([self.before + self.minutes(), self.steps, float(smooth), value])
        self.save()
        return dict(config=options.config, steps=self.steps, minutes=self.before + self.minutes(),
                    validation=value, validation_first=first, taau=base[0], taau_first=base[1],
                    clips=sizes, curve=self.curve)


def arguments(text=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--data', required=True, help='folder of packed clips, or of such folders')
    parser.add_argument('--validation', required=True, help='likewise, other seeds')
    parser.add_argument('--output', required=True, help='checkpoint to write')
    parser.add_argument('--json', help='results to write')
    parser.add_argument('--watch', action='append', default=[],
                        help='.npz of convert.py to measure at every report; not trained on')
    parser.add_argument('--resume', help='checkpoint to go on from')
    parser.add_argument('--config', default='quality', choices=sorted(model.CONFIGS))
    parser.add_argument('--arch', choices=('conv', 'window'),
                        help='window: the variant of CONFIG with window attention')
    parser.add_argument('--teacher', help='checkpoint whose picture counts beside the reference')
    parser.add_argument('--teach', type=float, default=0.5, help="weight of the teacher's picture")
    parser.add_argument('--minutes', type=float, default=5, help='of this run, with its start')
    parser.add_argument('--total', type=float, help='minutes of all runs, for the learning rate')
    parser.add_argument('--steps', type=int, default=10 ** 9, help='at most')
    parser.add_argument('--batch', type=int, default=16)
    parser.add_argument('--least', type=int, default=128,
                        help='clips of a folder to begin with; more are read meanwhile')
    parser.add_argument('--segment', type=int, default=8, help='frames of backpropagation')
    parser.add_argument('--rate', type=float, default=1e-3)
    parser.add_argument('--clip', type=float, default=0.1, help='limit of the gradient norm')
    parser.add_argument('--ema', type=float, default=0.998)
    parser.add_argument('--temporal', type=float, default=0.1, help='weight in the loss')
    parser.add_argument('--structure', type=float, default=0.0, help='weight in the loss')
    parser.add_argument('--square', type=float, default=20.0, help='weight in the loss')
    parser.add_argument('--report', type=float, default=0.5, help='minutes between reports')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--no-graphs', dest='graphs', action='store_false')
    options = parser.parse_args(text)
    if options.arch == 'window' and not options.config.endswith('-window'):
        options.config += '-window'
        if options.config not in model.CONFIGS:
            parser.error('no %s' % options.config)
    return options


def main(text=None):
    options = arguments(text)
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    torch.set_num_threads(min(4, torch.get_num_threads()))
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if torch.cuda.is_available():
        torch.cuda.set_stream(torch.cuda.Stream())  # graphs are not captured on the default one
    training = Training(options)
    ratio = model.CONFIGS[options.config].get('ratio')
    levels = training.net.levels
    pools = pools_of(options.data, training.device, ratio=ratio, levels=levels)
    validation = pools_of(options.validation, training.device, False, ratio, levels)
    if not pools or not validation:
        raise SystemExit('no clips for %s, which needs %sx' % (options.config, ratio))
    for pool in validation:
        if not pool.poll(least=10 ** 6):
            raise SystemExit('%s: no clips' % pool.folder)
    # Those of some ratios may come later.
    if not sum(pool.poll(least=options.least) for pool in pools):
        raise SystemExit('%s: no clips' % options.data)
    net = training.net.net
    print('%d parameters, %.1f kFLOP per output pixel; %.1f s to load' % (
        sum(p.numel() for p in net.parameters()),
        model.flops_per_pixel(net) / 1e3, 60 * training.minutes()), flush=True)
    training.calibrate(next(pool for pool in pools if pool.clips))
    results = training.run(pools, validation)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(results, file, indent=1)


if __name__ == '__main__':
    main()
