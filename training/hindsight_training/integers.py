# SPDX-License-Identifier: MIT
"""The definition of `taau-int8` (docs/model-format.md) in integers: numpy, no floats between the
rounded features and the last layer's sums. Every intermediate value is checked to fit in 32 bits.
"""
import numpy as np

LIMIT = 127


def rounded_features(features, multipliers):
    """[h, w, 64] floats -> integers: a product and a sum of 32-bit floats, rounded down."""
    value = features.astype(np.float32) * np.asarray(multipliers, np.float32) + np.float32(0.5)
    return np.clip(np.floor(value), -LIMIT, LIMIT).astype(np.int64)


def narrow(values):
    """Values that must fit in 32 bits."""
    assert values.size == 0 or np.abs(values).max() < 1 << 31
    return values


def convolution(x, weight, bias, stride):
    """Sums of [h, w, inputs] with weights [outputs, inputs, size, size]; 3x3 see zeros around."""
    size = weight.shape[2]
    if size == 3:
        x = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    rows, columns = ((n - size) // stride + 1 for n in x.shape[:2])
    total = np.zeros((rows, columns, len(weight)), np.int64) + bias.astype(np.int64)
    for j in range(size):
        for i in range(size):
            part = x[j:j + stride * rows:stride, i:i + stride * columns:stride]
            total = narrow(total + part @ weight[:, :, j, i].astype(np.int64).T)
    return total


def shuffled(x):
    """Channel 4 c + s becomes channel c of pixel s = x + 2 y of twice the size."""
    rows, columns, channels = x.shape
    x = x.reshape(rows, columns, channels // 4, 2, 2).transpose(0, 3, 1, 4, 2)
    return x.reshape(2 * rows, 2 * columns, channels // 4)


def scaled_down(total, multiplier, shift):
    """Half of the last place is added before the shift, so that ties go up."""
    shift = shift.astype(np.int64)
    return narrow(total * multiplier.astype(np.int64) + (1 << (shift - 1))) >> shift


def network(table, arrays, x):
    """Rounded features [h, w, 64] -> short head [h, w, 48] of 32-bit floats, and what each layer
    returns, by name. `table`: the layers of a model file; `arrays`: its tensors."""
    height, width = x.shape[:2]
    x = np.pad(x, ((0, -height % 4), (0, -width % 4), (0, 0)), mode='edge')
    states, level, block, made = {}, 0, None, {}
    for row in table:
        name = row['name']
        weight, bias = arrays[name + '.weight'], arrays[name + '.bias']
        if row['kind'] == 'down':
            states[level] = x
        if name.endswith('.a'):
            block = x
        total = convolution(x, weight, bias, row['stride'])
        if row['scale'] is None:
            made[name] = total.astype(np.float32) * arrays[name + '.scale']
            return made[name][:height, :width], made
        out = scaled_down(total, arrays[name + '.multiplier'], arrays[name + '.shift'])
        out = shuffled(out) if row['kind'] == 'up' else out
        level = row['level'] - (row['kind'] == 'up')
        if row['add'] is not None:
            out = narrow(out + (block if row['add'] == 'block' else states[level]))
        x = made[name] = np.clip(out, 0 if row['relu'] else -LIMIT, LIMIT)
    raise ValueError('no last layer')
