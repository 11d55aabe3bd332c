"""The weights file: where each tensor lies in it, and reading it without copying.

The tensors follow each other in the order of ``TENSORS``, each at a multiple of 64 bytes. A matrix
is int8 with a float32 scale for each row of the original (an output feature) and for each column
(an input), and lies transposed, inputs first, which the multiplication reads fastest. Folded in
when the file is made, since they cost nothing there: 1/sqrt(head size) in the query weights, the
half of GELU in the weights after it, the value bias in the bias of the attention's output, token
type 0 in the positions. The key bias is left out: it adds the same to every score of a row, and
softmax takes it away again.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcli.errors import ProviderError

VOCABULARY = 30522
POSITIONS = 512
WIDTH = 384
INNER = 1536
HEADS = 12
LAYERS = 6
ALIGNMENT = 64
INT8 = "i1"
FLOAT = "<f4"

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Dense:
    """``x @ (in_scale[:, None] * matrix * out_scale) + bias``."""

    matrix: Bytes
    in_scale: Floats
    out_scale: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """What a layer normalisation multiplies by and adds."""

    gain: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the six: attention, then two dense steps, each added to its input and normalised."""

    attention_in: Dense
    attention_out: Dense
    attention_norm: Norm
    up: Dense
    down: Dense
    norm: Norm


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole model, mapped."""

    words: Bytes
    word_scales: Floats
    positions: Floats
    norm: Norm
    layers: tuple[Layer, ...]


_DENSES = {
    "attention_in": (WIDTH, 3 * WIDTH),
    "attention_out": (WIDTH, WIDTH),
    "up": (WIDTH, INNER),
    "down": (INNER, WIDTH),
}


def _layer(number: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    tensors: dict[str, tuple[str, tuple[int, ...]]] = {}
    for name, shape in _DENSES.items():
        # Of queries, keys and values only the queries have a bias left.
        biases = WIDTH if name == "attention_in" else shape[1]
        tensors[f"{number}.{name}.matrix"] = (INT8, shape)
        tensors[f"{number}.{name}.in_scale"] = (FLOAT, shape[:1])
        tensors[f"{number}.{name}.out_scale"] = (FLOAT, shape[1:])
        tensors[f"{number}.{name}.bias"] = (FLOAT, (biases,))
    for name in ("attention_norm", "norm"):
        tensors[f"{number}.{name}.gain"] = (FLOAT, (WIDTH,))
        tensors[f"{number}.{name}.bias"] = (FLOAT, (WIDTH,))
    return tensors


TENSORS: dict[str, tuple[str, tuple[int, ...]]] = {
    "words": (INT8, (VOCABULARY, WIDTH)),
    "word_scales": (FLOAT, (VOCABULARY,)),
    "positions": (FLOAT, (POSITIONS, WIDTH)),
    "norm.gain": (FLOAT, (WIDTH,)),
    "norm.bias": (FLOAT, (WIDTH,)),
}
for _number in range(LAYERS):
    TENSORS |= _layer(_number)


def padding(offset: int) -> int:
    """How many bytes to the next place where a tensor may begin."""
    return -offset % ALIGNMENT


def load(path: str) -> Weights:
    """Map the file; what is not used is not read. Raises ProviderError if it is not whole."""
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise damaged(path) from error
    arrays: dict[str, Any] = {}
    offset = 0
    for name, (dtype, shape) in TENSORS.items():
        offset += padding(offset)
        size = prod(shape)
        if offset + size * np.dtype(dtype).itemsize > len(data):
            raise damaged(path)
        arrays[name] = np.frombuffer(data, dtype, size, offset).reshape(shape)
        offset += arrays[name].nbytes
    if offset != len(data):
        raise damaged(path)
    return Weights(
        words=arrays["words"],
        word_scales=arrays["word_scales"],
        positions=arrays["positions"],
        norm=Norm(arrays["norm.gain"], arrays["norm.bias"]),
        layers=tuple(_take_layer(arrays, number) for number in range(LAYERS)),
    )


def _take_layer(arrays: dict[str, Any], number: int) -> Layer:
    def dense(name: str) -> Dense:
        parts = ("matrix", "in_scale", "out_scale", "bias")
        return Dense(*(arrays[f"{number}.{name}.{part}"] for part in parts))

    def norm(name: str) -> Norm:
        return Norm(*(arrays[f"{number}.{name}.{part}"] for part in ("gain", "bias")))

    return Layer(
        attention_in=dense("attention_in"),
        attention_out=dense("attention_out"),
        attention_norm=norm("attention_norm"),
        up=dense("up"),
        down=dense("down"),
        norm=norm("norm"),
    )


def damaged(path: str) -> ProviderError:
    """What to raise when a file of the model is not what was shipped."""
    return ProviderError(
        f"a file of the built-in model is missing or damaged: {path}",
        "install memcli again",
        reason="model",
    )
