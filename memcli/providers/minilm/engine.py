"""The forward pass: six BERT layers over the tokens of many texts at once, mean and unit length.

Texts are laid end to end in one matrix, so that the dense steps, nine tenths of the work, multiply
large matrices and nothing is padded; only attention goes text by text. Weights stay int8 and are
widened one matrix at a time into a scratch that all share: a millisecond a batch, nothing to load.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from memcli.providers.minilm.weights import (
    HEADS,
    INNER,
    POSITIONS,
    WIDTH,
    Dense,
    Floats,
    Layer,
    Norm,
    load,
)

BATCH_TOKENS = 1024
"""Most tokens of one batch, at least ``POSITIONS``: 20 MB of activations."""

GELU_ROWS = 32
"""Rows of the inner matrix at a time: their 200 kB stay in the cache from pass to pass."""

NORM_ROWS = 128
"""Rows of the outer matrix at a time, likewise."""

_HEAD = WIDTH // HEADS
_MEAN = np.full(WIDTH, 1 / WIDTH, np.float32)
_STEEPEST = np.float32(80)
_EPSILON = np.float32(1e-12)


class _Scratch:
    """Every array that a batch needs, made once; memory is taken only as far as it is used."""

    def __init__(self) -> None:
        self.hidden = np.empty((BATCH_TOKENS, WIDTH), np.float32)
        self.added = np.empty((BATCH_TOKENS, WIDTH), np.float32)
        self.projected = np.empty((BATCH_TOKENS, 3 * WIDTH), np.float32)
        self.context = np.empty((BATCH_TOKENS, WIDTH), np.float32)
        self.inner = np.empty((BATCH_TOKENS, INNER), np.float32)
        self.curve = np.empty((GELU_ROWS, INNER), np.float32)
        self.scores = np.empty(POSITIONS * POSITIONS, np.float32)
        self.matrix = np.empty(WIDTH * INNER, np.float32)


class Engine:
    """The model, ready to embed token ids. Calls from several threads wait for each other."""

    def __init__(self, weights_path: str) -> None:
        self._weights = load(weights_path)
        self._scratch = _Scratch()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[Sequence[int]]) -> Floats:
        """A row of unit length for each sequence of ids, of 1 to ``POSITIONS`` each."""
        vectors = np.empty((len(texts), WIDTH), np.float32)
        with self._lock:
            for begin, end in _batches(texts):
                vectors[begin:end] = self._embed_batch(texts[begin:end])
        return vectors

    def _embed_batch(self, texts: Sequence[Sequence[int]]) -> Floats:
        begins, total = [], 0
        for text in texts:
            begins.append(total)
            total += len(text)
        spans = [slice(*span) for span in zip(begins, [*begins[1:], total], strict=True)]
        hidden = self._scratch.hidden[:total]
        self._look_up(texts, spans, hidden)
        for layer in self._weights.layers:
            self._attend(layer, hidden, spans)
            self._transform(layer, hidden)
        means: Floats = np.add.reduceat(hidden, begins, axis=0)
        means /= np.sqrt(np.einsum("ij,ij->i", means, means))[:, None]
        return means

    def _look_up(
        self, texts: Sequence[Sequence[int]], spans: Sequence[slice], hidden: Floats
    ) -> None:
        weights = self._weights
        for text, span in zip(texts, spans, strict=True):
            rows = hidden[span]
            np.multiply(weights.words[text], weights.word_scales[text, None], out=rows)
            rows += weights.positions[: len(text)]
        _normalise(hidden, weights.norm, hidden)

    def _attend(self, layer: Layer, hidden: Floats, spans: Sequence[slice]) -> None:
        """Mix the tokens of each text; the result replaces ``hidden``."""
        projected = self._scratch.projected[: len(hidden)]
        context = self._scratch.context[: len(hidden)]
        self._multiply(layer.attention_in, hidden, projected)
        for span in spans:
            rows = projected[span]
            rows[:, :WIDTH] += layer.attention_in.bias
            self._mix(rows, context[span])
        self._add(layer.attention_out, context, hidden, layer.attention_norm)

    def _mix(self, projected: Floats, context: Floats) -> None:
        """Softmax attention within one text, as many heads at a time as there is room for."""
        length = len(projected)
        queries, keys, values = projected.reshape(length, 3, HEADS, _HEAD).transpose(1, 2, 0, 3)
        mixed = context.reshape(length, HEADS, _HEAD).transpose(1, 0, 2)
        ones = np.ones(length, np.float32)
        step = max(1, min(HEADS, self._scratch.scores.size // length**2))
        for first in range(0, HEADS, step):
            heads = slice(first, min(first + step, HEADS))
            shape = (heads.stop - first, length, length)
            scores = self._scratch.scores[: prod(shape)].reshape(shape)
            np.matmul(queries[heads], keys[heads].transpose(0, 2, 1), out=scores)
            np.clip(scores, -_STEEPEST, _STEEPEST, out=scores)
            np.exp(scores, out=scores)
            np.matmul(scores, values[heads], out=mixed[heads])
            # Dividing the few mixed values is cheaper than dividing all the scores.
            mixed[heads] /= np.matmul(scores, ones)[:, :, None]

    def _transform(self, layer: Layer, hidden: Floats) -> None:
        """The dense step up, GELU and the dense step down; the result replaces ``hidden``."""
        inner = self._scratch.inner[: len(hidden)]
        self._multiply(layer.up, hidden, inner)
        for begin in range(0, len(inner), GELU_ROWS):
            rows = inner[begin : begin + GELU_ROWS]
            rows += layer.up.bias
            _double_gelu(rows, self._scratch.curve[: len(rows)])
        self._add(layer.down, inner, hidden, layer.norm)

    def _multiply(self, dense: Dense, values: Floats, out: Floats) -> None:
        """The product with the matrix, before its bias."""
        matrix = self._scratch.matrix[: dense.matrix.size].reshape(dense.matrix.shape)
        np.copyto(matrix, dense.matrix)
        matrix *= dense.in_scale[:, None]
        matrix *= dense.out_scale
        np.matmul(values, matrix, out=out)

    def _add(self, dense: Dense, values: Floats, hidden: Floats, norm: Norm) -> None:
        """Add what a dense step makes of ``values`` to ``hidden``, and normalise."""
        added = self._scratch.added[: len(hidden)]
        self._multiply(dense, values, added)
        for begin in range(0, len(hidden), NORM_ROWS):
            rows = added[begin : begin + NORM_ROWS]
            rows += dense.bias
            rows += hidden[begin : begin + NORM_ROWS]
            _normalise(rows, norm, hidden[begin : begin + NORM_ROWS])


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Runs of texts, as long as ``BATCH_TOKENS`` allows."""
    begin = tokens = 0
    for index, text in enumerate(texts):
        if tokens + len(text) > BATCH_TOKENS and index > begin:
            yield begin, index
            begin, tokens = index, 0
        tokens += len(text)
    if begin < len(texts):
        yield begin, len(texts)


def _normalise(values: Floats, norm: Norm, out: Floats) -> None:
    """Layer normalisation; ``values`` are used up."""
    values -= np.matmul(values, _MEAN)[:, None]
    spread = np.einsum("ij,ij->i", values, values)
    spread *= np.float32(1 / WIDTH)
    spread += _EPSILON
    np.sqrt(spread, out=spread)
    values /= spread[:, None]
    values *= norm.gain
    np.add(values, norm.bias, out=out)


def _double_gelu(values: Floats, curve: Floats) -> None:
    """Twice GELU in place, by the tanh formula of its paper (arXiv 1606.08415); off by < 1e-3.

    The half is in the weights that come next.
    """
    np.multiply(values, values, out=curve)
    curve *= np.float32(0.7978845608 * 0.044715)
    curve += np.float32(0.7978845608)
    curve *= values
    np.tanh(curve, out=curve)
    curve += np.float32(1)
    values *= curve
