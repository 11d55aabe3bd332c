"""The built-in embedder against vectors of the original model, and what must hold for any text."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.errors import ProviderError
from memcli.providers import builtin, minilm, none
from memcli.providers.minilm import engine
from memcli.providers.minilm.model import WINDOW_TOKENS, Model
from memcli.providers.minilm.weights import POSITIONS, TENSORS, load

GOLDEN = os.path.join(os.path.dirname(__file__), "golden")
SHIPPED = os.path.dirname(minilm.__file__)
WIDTH = 384
ROUNDING = 1e-5


@pytest.fixture(scope="module")
def embedder() -> builtin.Builtin:
    return builtin.open_embedder(None)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    with open(os.path.join(GOLDEN, "texts.json"), encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def expected(texts: list[str]) -> np.ndarray:
    path = os.path.join(GOLDEN, "vectors.f16")
    return np.fromfile(path, "<f2").reshape(len(texts), WIDTH).astype(np.float32)


def rows(vectors: bytes) -> np.ndarray:
    return np.frombuffer(vectors, "<f4").reshape(-1, WIDTH)


def assert_unit(vectors: bytes) -> None:
    lengths = np.linalg.norm(rows(vectors), axis=1)
    assert len(lengths) > 0
    assert np.abs(lengths - 1).max() < ROUNDING


@pytest.fixture(scope="module")
def ours(embedder, texts: list[str]) -> np.ndarray:
    return np.stack([rows(vectors)[0] for vectors in embedder.embed_passages(texts)])


def test_vectors_are_those_of_the_original_model(ours, texts, expected) -> None:
    assert len(texts) >= 100
    cosines = (ours * expected).sum(axis=1)
    worst = int(cosines.argmin())
    assert cosines[worst] >= 0.998, texts[worst]
    assert cosines.mean() >= 0.999


def test_likenesses_are_those_of_the_original_model(ours, expected) -> None:
    assert np.abs(ours @ ours.T - expected @ expected.T).max() < 0.02


def test_a_query_and_a_passage_are_the_same(embedder, texts, ours) -> None:
    for text, passage in list(zip(texts, ours, strict=True))[::7]:
        assert np.abs(rows(embedder.embed_query(text))[0] - passage).max() < ROUNDING


@given(seed=st.integers(0, 2**32), count=st.integers(1, 12))
@settings(max_examples=12)
def test_company_in_a_batch_changes_nothing(embedder, texts, ours, seed: int, count: int) -> None:
    chosen = random.Random(seed).choices(range(len(texts)), k=count)
    together = embedder.embed_passages([texts[i] for i in chosen])
    for index, vectors in zip(chosen, together, strict=True):
        assert np.abs(rows(vectors)[0] - ours[index]).max() < ROUNDING


@given(st.lists(st.text(max_size=60), max_size=5))
@settings(max_examples=60)
def test_any_strings_have_unit_vectors(embedder, batch: list[str]) -> None:
    vectors = embedder.embed_passages(batch)
    assert len(vectors) == len(batch)
    for one in vectors:
        assert_unit(one)


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "\u200b", "\ud800", "\u0301"])
def test_a_text_without_words_is_the_empty_text(embedder, text: str) -> None:
    assert_unit(embedder.embed_query(text))
    assert embedder.embed_query(text) == embedder.embed_query("")
    assert embedder.embed_passages([text]) == [embedder.embed_query("")]


def test_every_part_of_a_long_text_has_a_window(embedder) -> None:
    filler = "The weather was mild and nothing happened at the harbour. " * 60
    secret = "The password rotation is done by the night shift on the first Monday."
    query = rows(embedder.embed_query("who rotates the passwords, and when?"))[0]
    plain = (rows(embedder.embed_passages([filler])[0]) @ query).max()
    for place in (0, len(filler) // 2, len(filler)):
        found = rows(embedder.embed_passages([f"{filler[:place]}{secret} {filler[place:]}"])[0])
        assert len(found) >= 3
        assert (found @ query).max() > plain + 0.1


def test_a_long_query_is_its_first_window(embedder) -> None:
    words = [f"word{i}" for i in range(400)]
    assert embedder.embed_query(" ".join(words)) == embedder.embed_query(" ".join(words[:200]))


def test_a_megabyte_without_a_word_boundary_is_one_unknown_word(embedder) -> None:
    (vectors,) = embedder.embed_passages(["x" * 1_000_000])
    assert len(rows(vectors)) == 1
    assert_unit(vectors)
    assert_unit(embedder.embed_query("word " * 200_000))


@pytest.mark.slow
def test_a_megabyte_of_text_takes_bounded_memory() -> None:
    program = (
        "import resource\n"
        "from memcli.providers.builtin import open_embedder\n"
        "vectors, = open_embedder(None).embed_passages(['some plain words ' * 62000])\n"
        "print(len(vectors), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    size, kilobytes = map(int, run.stdout.split())
    assert size == -(-3 * 62000 // (WINDOW_TOKENS - 2)) * WIDTH * 4
    assert kilobytes < 200_000


def test_many_threads_get_the_answers_of_one(embedder, texts, ours) -> None:
    wrong: list[str] = []

    def ask(first: int) -> None:
        for index in range(first, len(texts), 12):
            vector = rows(embedder.embed_query(texts[index]))
            if np.abs(vector[0] - ours[index]).max() > ROUNDING:
                wrong.append(texts[index])

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_softmax_of_extreme_scores_stays_finite() -> None:
    opened = engine.Engine(os.path.join(SHIPPED, "weights.bin"))
    projected = np.full((3, 3 * WIDTH), 50, np.float32)
    projected[1] *= -1
    context = np.empty((3, WIDTH), np.float32)
    opened._mix(projected, context)
    assert np.isfinite(context).all()
    assert np.abs(context).max() <= 50.001


def test_the_longest_sequence_is_read(embedder) -> None:
    opened = engine.Engine(os.path.join(SHIPPED, "weights.bin"))
    vectors = opened.embed([[101, *[2000] * (POSITIONS - 2), 102]] * 3)
    assert np.abs(vectors - vectors[0]).max() < ROUNDING
    assert opened.embed([]).shape == (0, WIDTH)


def test_naming_the_embedder_loads_no_numpy() -> None:
    program = (
        "import sys\n"
        "from memcli.providers.builtin import open_embedder\n"
        "embedder = open_embedder(None)\n"
        "assert embedder.name and not embedder.is_remote\n"
        "assert 'numpy' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize(("given_threads", "seen"), [(None, "1"), ("3", "3")])
def test_one_thread_unless_told_otherwise(given_threads: str | None, seen: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    if given_threads:
        environment["OPENBLAS_NUM_THREADS"] = given_threads
    program = "import os, memcli.providers.minilm as m; print(os.environ['OPENBLAS_NUM_THREADS'])"
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert run.stdout.strip() == seen


@pytest.mark.parametrize("name", ["weights.bin", "vocab.txt"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "longer"])
def test_damaged_files_are_told(tmp_path, name: str, damage: str) -> None:
    for shipped in ("weights.bin", "vocab.txt"):
        shutil.copy(os.path.join(SHIPPED, shipped), tmp_path)
    path = tmp_path / name
    if damage == "missing":
        path.unlink()
    elif damage == "longer":
        with open(path, "ab") as file:
            file.write(b"more\n")
    else:
        os.truncate(path, 0 if damage == "empty" else path.stat().st_size - 100)
    with pytest.raises(ProviderError, match=name) as caught:
        Model(str(tmp_path))
    assert caught.value.reason == "model"


def test_the_weights_are_whole_and_sane() -> None:
    weights = load(os.path.join(SHIPPED, "weights.bin"))
    assert len(weights.layers) == 6
    assert (np.abs(weights.words).max(axis=1) == 127).all()
    assert all((np.abs(layer.up.matrix).max(axis=0) == 127).all() for layer in weights.layers)
    assert sum(np.prod(shape) for dtype, shape in TENSORS.values() if dtype == "i1") > 22_000_000


def test_none_has_no_embedder() -> None:
    assert none.open_embedder(None) is None
