# SPDX-License-Identifier: MIT
"""Safetensors files as numpy arrays: packed clips are large, so they are mapped, not read."""
import json

import numpy as np

TYPES = {'F32': np.float32, 'F16': np.float16, 'I32': np.int32, 'I8': np.int8}


def read(path):
    """Metadata and a dictionary of arrays that map the file."""
    with open(path, 'rb') as file:
        size = int.from_bytes(file.read(8), 'little')
        header = json.loads(file.read(size))
    data = np.memmap(path, np.uint8, 'r', 8 + size)
    arrays = {}
    for name, entry in header.items():
        if name != '__metadata__':
            begin, end = entry['data_offsets']
            values = data[begin:end].view(TYPES[entry['dtype']])
            arrays[name] = values.reshape(entry['shape'])
    return header.get('__metadata__', {}), arrays


def write(path, arrays, metadata):
    """Arrays of TYPES, in the order given, padded so that data starts at a multiple of 64."""
    header, offset = {'__metadata__': metadata}, 0
    names = {np.dtype(v): k for k, v in TYPES.items()}
    arrays = {k: np.ascontiguousarray(v) for k, v in arrays.items()}
    for name, array in arrays.items():
        header[name] = dict(dtype=names[array.dtype], shape=list(array.shape),
                            data_offsets=[offset, offset + array.nbytes])
        offset += array.nbytes
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-(len(text) + 8) % 64)
    with open(path, 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for array in arrays.values():
            file.write(array.tobytes())
