# SPDX-License-Identifier: MIT
"""ops.cu as autograd functions. python -m hindsight_training.ops builds the CUDA library.

HINDSIGHT_OPS names the folder for libraries (default: the system's temporary one).
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import torch

from . import constants as K
from . import pipeline

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = ['ops.cu'] + ['ops_%s.cuh' % n for n in ('common', 'reproject', 'window', 'resolve')]


def build(cuda):
    """Path of the library, built if it is older than its sources."""
    sources = [os.path.join(FOLDER, name) for name in SOURCES]
    folder = os.environ.get('HINDSIGHT_OPS', tempfile.gettempdir())
    path = os.path.join(folder, 'hindsight_ops_%s.so' % ('cuda' if cuda else 'cpu'))
    newest = max(os.path.getmtime(name) for name in sources)
    if os.path.exists(path) and os.path.getmtime(path) >= newest:
        return path
    part = '%s.%d' % (path, os.getpid())
    if cuda:
        command = ['nvcc', '-O3', '-arch=sm_90', '-shared', '-Xcompiler', '-fPIC']
    else:
        command = ['g++', '-O2', '-ffp-contract=off', '-Wall', '-Wextra', '-x', 'c++', '-shared',
                   '-fPIC']
    subprocess.run(command + [sources[0], '-o', part], check=True)
    os.replace(part, path)
    return path


class CFrame(ctypes.Structure):
    _fields_ = ([(name, ctypes.c_int) for name in ('batch', 'height', 'width', 'out_height',
                                                   'out_width')]
                + [(name, ctypes.c_void_p) for name in ('colour', 'motion', 'valid', 'depth',
                                                        'jitter', 'ratio', 'seen', 'levels',
                                                        'guides')])


_libraries = {}


def call(name, frame, *tensors):
    cuda = tensors[0].is_cuda
    if cuda not in _libraries:
        _libraries[cuda] = ctypes.CDLL(build(cuda))
    planes = (frame.colour, frame.motion, frame.valid, frame.depth, frame.jitter, frame.ratio,
              frame.seen) + ((frame.levels, frame.guides) if frame.levels is not None else ())
    for tensor in planes + tensors:
        assert tensor.is_contiguous() and tensor.is_cuda == cuda, (name, tensor.shape)
    assert all(p.dtype == torch.float32 for p in planes)
    batch, height, width = frame.colour.shape[:3]
    assert frame.width % 2 == 0 and frame.height % 2 == 0
    c = CFrame(batch, height, width, frame.height, frame.width, *(p.data_ptr() for p in planes))
    if frame.levels is not None and name != 'reproject':
        name += '_ray'
    function = getattr(_libraries[cuda], 'hs_' + name)
    function.argtypes = [ctypes.c_void_p] * (2 + len(tensors))
    stream = torch.cuda.current_stream().cuda_stream if cuda else None
    error = function(ctypes.addressof(c), stream, *(t.data_ptr() for t in tensors))
    if error:
        raise RuntimeError('%s: CUDA error %d' % (name, error))


def feature_count(frame):
    return K.FEATURES if frame.levels is None else K.RAY_FEATURES


def io_type(tensor):
    return torch.bfloat16 if tensor.is_cuda else torch.float32


class Reproject(torch.autograd.Function):
    """(history, frame) -> moved history [B, H, W, 4], features [B, H/2, W/2, 64 or 80]."""

    @staticmethod
    def forward(ctx, history, frame):
        moved = torch.empty_like(history)
        shape = (history.shape[0], frame.height // 2, frame.width // 2, feature_count(frame))
        out = torch.empty(shape, dtype=io_type(history), device=history.device)
        call('reproject', frame, history, moved)
        call('features', frame, moved, out)
        ctx.save_for_backward(history)
        ctx.frame = frame
        return moved, out

    @staticmethod
    def backward(ctx, g_moved, g_features):
        history, = ctx.saved_tensors
        g_history = torch.zeros_like(history)
        call('reproject_back', ctx.frame, history, g_features.contiguous(), g_moved.contiguous(),
             g_history)
        return g_history, None


class Move(torch.autograd.Function):
    """Reproject without features: (history, frame) -> moved history."""

    @staticmethod
    def forward(ctx, history, frame):
        moved = torch.empty_like(history)
        call('reproject', frame, history, moved)
        ctx.save_for_backward(history)
        ctx.frame = frame
        return moved

    @staticmethod
    def backward(ctx, g_moved):
        history, = ctx.saved_tensors
        frame, g_history = ctx.frame, torch.zeros_like(history)
        nothing = torch.zeros(history.shape[0], frame.height // 2, frame.width // 2, K.FEATURES,
                              dtype=io_type(history), device=history.device)
        call('reproject_back', frame, history, nothing, g_moved.contiguous(), g_history)
        return g_history, None


class Features(torch.autograd.Function):
    """(moved history, frame) -> features [B, H/2, W/2, 64]."""

    @staticmethod
    def forward(ctx, moved, frame):
        moved = moved.contiguous()
        shape = (moved.shape[0], frame.height // 2, frame.width // 2, K.FEATURES)
        out = torch.empty(shape, dtype=io_type(moved), device=moved.device)
        call('features', frame, moved, out)
        ctx.save_for_backward(moved[..., 3:])
        return out

    @staticmethod
    def backward(ctx, g_features):
        weight, = ctx.saved_tensors
        g = pipeline.from_tokens(g_features.float(), 7)
        return torch.cat([g[..., 3:6], g[..., 6:] / (1 + weight).square()], -1), None


class Resolve(torch.autograd.Function):
    """(moved history, head [B, H/2, W/2, 112 or 128], frame) -> next history [B, H, W, 4]."""

    @staticmethod
    def forward(ctx, moved, head, frame):
        history = torch.empty_like(moved)
        call('resolve', frame, moved, head, history)
        ctx.save_for_backward(moved, head)
        ctx.frame = frame
        return history

    @staticmethod
    def backward(ctx, g_history):
        moved, head = ctx.saved_tensors
        g_moved, g_head = torch.zeros_like(moved), torch.empty_like(head)
        call('resolve_back', ctx.frame, moved, head, g_history.contiguous(), g_head, g_moved)
        return g_moved, g_head, None


if __name__ == '__main__':
    print(build('cpu' not in sys.argv[1:]))
