#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times a bundle's `hindsight bench` over sizes, models, paths and bands, and holds every stage and
every frame against its roofline, computed from the layer table of the model file:

    measure.py BUNDLE OUT [--device N] [--seconds S] [--frames N] [--warmup N] [--only PATTERN]
    measure.py BUNDLE OUT --predict


The floor of a stage is the longer of its FLOP over the matrix units' rate and its bytes over the
memory's: every tensor and plane that it needs, once. Of stages over pixels only the network's
layers count as FLOP. A frame's floor is the sum of its stages' (`staged`), or, with nothing but its
inputs, history and output in memory, the longer of all FLOP and those bytes (`ideal`).
Runs are made in order of what they tell, until time is over; what was left out is said. All goes
to OUT/measure.json and OUT/stages.txt. --yardstick runs yardstick.py afterwards, whose times stand
beside ours in the last table.
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
import time

# NVIDIA H200, by a probe of its own: 16x16x16 half-float matrices with 32-bit sums whose operands
# stay in registers, and how much faster 8-bit integers are; reads and writes of a copy.
FLOPS = 630e12
INTEGERS = 2
BYTES = 4.3e12

HISTORY = 8 + 2    # colour and weight of a pixel, bytes
PREPARED = 8 + 8 + 2 + 4  # colour, motion, validity, depth
INPUT = 8 + 4 + 4  # colour, depth, motion as bench makes them
OUTPUT = 8
# Of noisy frames: guides as bench makes them; what the passes over them keep of a pixel.
GUIDES = 8 + 8 + 8 + 2 + 2
SIGNAL = ALBEDO = SURFACE = MOMENTS = 8
TRAITS = 4
PASSES = 5
GUIDED = ('atrous', 'ray')

PLAIN = ('taau', 'atrous')  # presets without weights
SHOWN = 6  # stage tables that are printed, too

SIZES = {'720p': ((640, 360), (1280, 720)), '1440p': ((1280, 720), (2560, 1440)),
         '4k': ((1920, 1080), (3840, 2160)), '1x': ((1920, 1080), (1920, 1080)),
         '3x': ((1280, 720), (3840, 2160))}


def layer_table(path):
    with open(path, 'rb') as file:
        size = int.from_bytes(file.read(8), 'little')
        return json.loads(json.loads(file.read(size))['__metadata__']['layers'])


def level_pixels(tokens, level):
    """Whole tokens: four of them, either way, are one of the coarsest level."""
    return ((tokens[0] + 3) // 4) * ((tokens[1] + 3) // 4) * 4 ** (2 - level)


def guided_stages(small):
    """Those that take the noise out."""
    kept = SURFACE + SIGNAL + MOMENTS
    return [('demodulate', small * (8 + 4 + GUIDES + SIGNAL + ALBEDO + TRAITS + SURFACE), 0),
            ('accumulate', small * (SIGNAL + SURFACE + TRAITS + PREPARED - 8 + 4 + kept + SIGNAL
                                    + MOMENTS), 0),
            ('filter', small * (PASSES * (2 * SIGNAL + SURFACE + TRAITS + 4) + ALBEDO), 0)]


def stages(layers, render, output, half, guided=False):
    """(name, bytes, FLOP) of every stage of a frame; `layers` may be empty. Operations of integers
    count as many FLOP as take the same time."""
    small, large = render[0] * render[1], output[0] * output[1]
    integers = any('scale' in layer for layer in layers)
    tokens = render if integers else ((output[0] + 1) // 2, (output[1] + 1) // 2)
    each = 1 if integers else 2 if half else 4
    rows = [('prepare', small * (INPUT + 4 + PREPARED), 0),
            ('reproject', large * 2 * HISTORY + small * (PREPARED - 8), 0)]
    rows[1:1] = guided_stages(small) if guided else []
    window = large * HISTORY + small * 8
    # What a network sees of the passes, and the levels that it mixes.
    seen = small * (2 * SIGNAL + ALBEDO + MOMENTS + SURFACE + TRAITS) if guided else 0
    levels = small * (2 * SIGNAL + ALBEDO) if guided else 0
    for layer in layers:
        level, inputs, outputs = layer['level'], layer['inputs'], layer['outputs']
        pixels = level_pixels(tokens, level)
        flop = 2 * pixels * layer['size'] ** 2 * inputs * outputs / (INTEGERS if integers else 1)
        coming = pixels * inputs * each * (layer['stride'] ** 2)
        going = pixels * outputs * each
        if layer['name'] == 'enter':
            rows.append(('enter', window + small * (PREPARED - 8) + seen + going, flop))
        elif layer['name'] == 'head':
            rows.append(('resolve', window + levels + coming + large * (HISTORY + OUTPUT), flop))
        else:
            rows.append((layer['name'], coming + going * (2 if layer['add'] else 1), flop))
    if not layers:
        rows.append(('resolve', window + large * (HISTORY + OUTPUT), 0))
    return rows


def floor_ms(moved, flop, options):
    return 1e3 * max(moved / options.bytes, flop / options.flops)


def frame_floors(rows, render, output, options, guided=False):
    staged = sum(floor_ms(moved, flop, options) for _, moved, flop in rows)
    small, large = render[0] * render[1], output[0] * output[1]
    least = small * INPUT + large * (2 * HISTORY + OUTPUT)
    least += small * (GUIDES + 2 * (SURFACE + SIGNAL + MOMENTS)) if guided else 0
    return staged, floor_ms(least, sum(flop for _, _, flop in rows), options)


def bench(bundle, out, options, key, model, path, bands, whole):
    """One run of the command; its report, or None."""
    render, output = SIZES[key]
    name = 'bench-%s-%s-%s%s%s.json' % (key, model, path, '-%d' % bands if bands else '',
                                        '-whole' if whole else '')
    where = os.path.join(out, name)
    command = [os.path.join(bundle, 'lib/ld-linux-x86-64.so.2'), '--library-path',
               os.path.join(bundle, 'lib'), os.path.join(bundle, 'bin/hindsight'), 'bench',
               '--device', options.device, '--render-size', '%dx%d' % render, '--size',
               '%dx%d' % output, '--model', model, '--path', path, '--frames',
               str(options.frames), '--warmup', str(options.warmup), '--json', where]
    command += ['--bands', str(bands)] if bands else []
    command += ['--whole'] if whole else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(
            os.environ, HINDSIGHT_MODELS=os.path.join(bundle, 'models')))
    except subprocess.TimeoutExpired:
        print('%s takes too long' % name)
        return None
    if done.returncode:
        print('%s failed: %s' % (name, done.stderr.strip()[-300:]))
        return None
    with open(where) as file:
        report = json.load(file)
    os.remove(where)
    report['times'] = {row['name']: row['median_ms'] for row in report.pop('stages')}
    return report


def plan():
    """Runs, the most telling first: (size, model, path, bands; 0: chosen)."""
    models = ('quality', 'taau', 'best')
    runs = [('4k', model, 0) for model in models] + [('720p', model, 0) for model in models]
    runs += [(size, model, 0) for size in ('4k', '720p') for model in GUIDED[::-1]]
    runs += [(size, 'fast', 0) for size in ('4k', '720p', '3x')]
    runs += [('4k', 'fast', bands) for bands in (1, 2, 8)]
    runs += [('4k', model, bands) for model in ('quality', 'best') for bands in (1, 2, 4)]
    runs += [(size, model, 0) for size in ('1440p', '1x', '3x') for model in models]
    runs += [('4k', 'quality', bands) for bands in (3, 12)]
    runs = [(size, model, 'auto' if model in PLAIN else 'matrix', bands)
            for size, model, bands in runs]
    plain = [(size, model, 'plain', 0) for model in ('quality', 'best') for size in ('4k', '720p')]
    return runs[:6] + plain + runs[6:]


def stage_table(result, options):
    """Lines, and numbers into the result, of one run's stages."""
    lines = ['%-14s %9s %9s %9s %9s %6s' % ('stage', 'MB', 'GFLOP', 'floor ms', 'ms', 'ratio')]
    times = result['times']
    result['stages'] = []
    for name, moved, flop in result.pop('rows'):
        floor, ms = floor_ms(moved, flop, options), times.get(name)
        result['stages'].append(dict(name=name, bytes=moved, flop=flop, floor_ms=floor, ms=ms))
        lines.append('%-14s %9.1f %9.2f %9.4f %9s %6s' % (
            name, moved / 1e6, flop / 1e9, floor, '%.4f' % ms if ms else '-',
            '%.0f %%' % (100 * floor / ms) if ms else '-'))
    known = {row['name'] for row in result['stages']}
    lines += ['%-14s %39.4f' % (name, ms) for name, ms in times.items()
              if name not in known and name not in ('frame', 'cpu record')]
    return lines


def run_one(bundle, out, options, run):
    key, model, path, bands = run
    render, output = SIZES[key]
    guided = model in GUIDED
    layers = [] if model in ('taau', 'atrous') else layer_table(
        os.path.join(bundle, 'models', 'hs-%s.safetensors' % model))
    result = dict(size=key, model=model, path=path, render=render, output=output)
    if not options.predict:
        whole = bench(bundle, out, options, key, model, path, bands, True)
        apart = bench(bundle, out, options, key, model, path, bands, False)
        if not whole or not apart:
            return None
        result.update(about=whole['about'], bands=whole['bands'], times=apart['times'],
                      activation_mib=whole['activation_bytes'] / 2 ** 20,
                      frame_ms=whole['times']['frame'], record_ms=whole['times']['cpu record'])
    else:
        result.update(about='predicted', bands=bands, times={}, frame_ms=0, record_ms=0,
                      activation_mib=0)
    half = 'matrix' in result['about'] or options.predict
    result['rows'] = stages(layers, render, output, half, guided)
    result['staged_ms'], result['ideal_ms'] = frame_floors(result['rows'], render, output, options,
                                                           guided)
    return result


def run_yardstick(out, options):
    """Its best time of each size and preset, if it could run."""
    where, best = os.path.join(out, 'yardstick.json'), {}
    try:
        subprocess.run([sys.executable, options.yardstick, where, '--seconds',
                        str(options.yardstick_seconds)], check=False,
                       timeout=options.yardstick_seconds + 5)
    except subprocess.TimeoutExpired:
        print('the yardstick was stopped, a compilation too long')
    if os.path.exists(where):
        with open(where) as file:
            for row in json.load(file)['rows']:
                if row.get('finite'):
                    key = row['size'], row['preset']
                    best[key] = min(row['ms'], best.get(key, row['ms']))
    return best


def frame_line(r, yardstick):
    share = ['%5.0f %%' % (100 * r[k] / r['frame_ms']) if r['frame_ms'] else '-'
             for k in ('staged_ms', 'ideal_ms')]
    other = yardstick.get((r['size'], r['model']))
    return '%-6s %-8s %-6s %5d %8.1f %9.4f %8.4f %9.4f %7s %9.4f %7s %9s' % (
        r['size'], r['model'], r['path'], r['bands'], r['activation_mib'], r['frame_ms'],
        r['record_ms'], r['staged_ms'], share[0], r['ideal_ms'], share[1],
        '%.3f' % other if other else '-')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('bundle')
    parser.add_argument('out')
    parser.add_argument('--device', default='0')
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--frames', type=int, default=100)
    parser.add_argument('--warmup', type=int, default=30)
    parser.add_argument('--only', default='*', help='runs as SIZE-MODEL-PATH-BANDS')
    parser.add_argument('--predict', action='store_true', help='floors only, nothing runs')
    parser.add_argument('--yardstick', help='yardstick.py')
    parser.add_argument('--yardstick-seconds', type=float, default=35)
    parser.add_argument('--flops', type=float, default=FLOPS)
    parser.add_argument('--bytes', type=float, default=BYTES)
    options = parser.parse_args()
    end, results, left, text = time.monotonic() + options.seconds, [], [], []
    os.makedirs(options.out, exist_ok=True)
    for run in plan():
        name = '%s-%s-%s-%d' % run
        if not fnmatch.fnmatch(name, options.only):
            continue
        if time.monotonic() > end:
            left.append(name)
            continue
        result = run_one(options.bundle, options.out, options, run)
        if result:
            results.append(result)
            lines = ['', '%s: %s' % (name, result['about'])] + stage_table(result, options)
            text += lines
            if len(results) <= SHOWN:
                print('\n'.join(lines), flush=True)
    with open(os.path.join(options.out, 'stages.txt'), 'w') as file:
        file.write('\n'.join(text) + '\n')
    print(flush=True)
    yardstick = run_yardstick(options.out, options) if options.yardstick else {}
    with open(os.path.join(options.out, 'measure.json'), 'w') as file:
        json.dump(dict(flops=options.flops, bytes=options.bytes, runs=results, left_out=left), file,
                  indent=1)
    print('\n%-6s %-8s %-6s %5s %8s %9s %8s %9s %7s %9s %7s %9s' % (
        'size', 'model', 'path', 'bands', 'MiB', 'frame ms', 'CPU ms', 'staged ms', 'ratio',
        'ideal ms', 'ratio', 'torch ms'))
    print('\n'.join(frame_line(r, yardstick) for r in results))
    if left:
        print('time was over before: ' + ', '.join(left))
    return 0 if results else 1


if __name__ == '__main__':
    sys.exit(main())
