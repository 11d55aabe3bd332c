"""What every search index owes, as functions that are run over each member of the table."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping

import pytest

from memcli.backends.base import Backend
from memcli.model import Chunk
from memcli.store.stamps import RACY, SIGNATURE, Stamp
from memcli.text.chunk import chunk
from memcli.text.query import build

Open = Callable[[], Backend]

DIMENSION = 16


def stamp(path: str, size: int = 1, *, is_racy: bool = False) -> Stamp:
    signature = SIGNATURE.pack(10, 11, size, 12) + (RACY if is_racy else b"")
    return Stamp(path, signature, bytes([size % 256]) * 16)


def files(texts: Mapping[str, str]) -> list[tuple[Stamp, list[Chunk]]]:
    return [(stamp(path, len(text)), chunk(path, text)) for path, text in texts.items()]


def vector(*values: float) -> bytes:
    """A unit vector that begins with `values`."""
    length = math.sqrt(sum(value * value for value in values))
    full = [value / length for value in values] + [0.0] * (DIMENSION - len(values))
    return struct.pack(f"<{DIMENSION}f", *full)


def paths(backend: Backend, ids: list[int]) -> list[str]:
    found = backend.found(ids)
    return [found[one].path for one in ids]


def words(backend: Backend, text: str, **options: set[str]) -> list[str]:
    return paths(backend, [id_ for id_, _ in backend.keyword(build(text), 100, **options)])


TEXTS = {
    "tasks/a.md": "# Acknowledge\n\nA reading is acknowledged after the commit.",
    "tasks/b.md": "# Buffer\n\nThe buffer in front of the database is gone: append_daily.",
    "tasks/ç.md": "# 手引き\n\n当直は夜の警報に応答する。",
    "daily/2026-01-01.md": "# Log\n\n## 10:00 — commit\n\nBuffer, buffer and the buffer.",
}


def empty_index_answers(open_index: Open) -> None:
    backend = open_index()
    assert backend.counts() == (0, 0, 0)
    assert backend.keyword(build("anything"), 5) == []
    assert backend.substring("any", 5) == []
    assert backend.nearest(vector(1), 5) == []
    assert backend.found([1, 2]) == {}
    assert backend.stamps() == {} and backend.signatures() == {}
    assert backend.pending(5) == [] and backend.model() == ""
    assert backend.faults() == []
    backend.tidy()


def words_find_their_notes(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    assert words(backend, "buffer")[0] == "daily/2026-01-01.md"
    assert set(words(backend, "buffer")) == {"daily/2026-01-01.md", "tasks/b.md"}
    assert words(backend, "acknowledging readings") == ["tasks/a.md"]
    assert words(backend, "夜の警報") == ["tasks/ç.md"]
    assert words(backend, "AppendDaily") == ["tasks/b.md"]
    assert words(backend, '"front of the database"') == ["tasks/b.md"]
    assert words(backend, '"database the front"') == []
    assert words(backend, "buffer", within={"tasks/b.md"}) == ["tasks/b.md"]
    assert words(backend, "buffer", within=set()) == []
    assert words(backend, "—!?") == []
    scores = [score for _, score in backend.keyword(build("buffer commit"), 100)]
    assert scores == sorted(scores, reverse=True) and min(scores) > 0
    assert len(backend.keyword(build("buffer commit"), 1)) == 1


def parts_of_words_are_found(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    assert paths(backend, backend.substring("cknowledg", 5)) == ["tasks/a.md"]
    assert paths(backend, backend.substring("UFFER", 5)) == ["daily/2026-01-01.md", "tasks/b.md"]
    assert paths(backend, backend.substring("uffer", 1)) == ["daily/2026-01-01.md"]
    assert paths(backend, backend.substring("uffer", 5, within={"tasks/b.md"})) == ["tasks/b.md"]
    assert backend.substring("100%", 5) == [] and backend.substring("a_e", 5) == []


def found_gives_back_what_was_put(open_index: Open) -> None:
    backend = open_index()
    put = files(TEXTS)
    backend.put(put)
    ids = [one.chunk for one in backend.pending(100)]
    assert len(set(ids)) == len(ids)
    found = {one.id: one for one in backend.found(ids).values()}
    assert found == {one.id: one for _, chunks in put for one in chunks}
    assert backend.counts() == (4, len(ids), len(ids))
    assert backend.inventory() == {one.path: (len(chunks), 0) for one, chunks in put}


def words_held_are_told(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    query = build("acknowledge the database readings 夜の警報")
    told = {
        place.path: {" ".join(word.forms[0].words) for word in backend.held(query, chunk)}
        for chunk, place in backend.places([one.chunk for one in backend.pending(100)]).items()
    }
    assert told["daily/2026-01-01.md"].isdisjoint({"acknowledge", "readings"})
    assert {"acknowledge", "readings"} <= told["tasks/a.md"]
    assert told["tasks/b.md"] == {"database"}
    assert told["tasks/ç.md"] == {" ".join(it.forms[0].words) for it in build("夜の警報").words}
    camel = build("how AppendDaily works")
    assert [len(backend.held(camel, one.chunk)) for one in backend.pending(100)].count(1) == 1


def put_again_replaces(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    before = {one.key: one.chunk for one in backend.pending(100)}
    backend.put(files({"tasks/b.md": "# Buffer\n\nNothing here any more."}))
    backend.put(files({"tasks/a.md": TEXTS["tasks/a.md"]}))
    assert set(words(backend, "buffer")) == {"daily/2026-01-01.md", "tasks/b.md"}
    assert words(backend, "append_daily") == []
    assert words(backend, "acknowledged") == ["tasks/a.md"]
    assert backend.counts()[0] == 4
    assert backend.faults() == []
    after = {one.chunk for one in backend.pending(100)} - set(before.values())
    assert len(after) >= 1  # what is new never takes an id that was given out


def drop_forgets(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    backend.drop(["tasks/a.md", "never/there.md"])
    assert words(backend, "acknowledged") == []
    assert "tasks/a.md" not in backend.stamps()
    assert backend.counts()[0] == 3
    backend.drop(list(TEXTS))
    assert backend.counts() == (0, 0, 0)
    assert backend.faults() == []


def stamps_are_kept(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    assert set(backend.stamps()) == set(backend.signatures()) == set(TEXTS)
    size = len(TEXTS["tasks/a.md"])
    assert backend.stamps(["tasks/a.md", "x"]) == {"tasks/a.md": stamp("tasks/a.md", size)}
    assert backend.signatures()["tasks/a.md"] == SIGNATURE.pack(10, 11, size, 12)
    new = stamp("tasks/a.md", size, is_racy=True)
    assert new.signature != backend.signatures()["tasks/a.md"]
    backend.restamp([new])
    assert backend.stamps(["tasks/a.md"]) == {"tasks/a.md": new}
    assert backend.signatures()["tasks/a.md"] == new.signature


def vectors_are_found_by_angle(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    backend.use_model("m")
    waiting = backend.pending(100)
    assert [one.chunk for one in waiting] == sorted((one.chunk for one in waiting), reverse=True)
    first, second, *rest = waiting
    made = [(first.key, vector(1, 0.1)), (second.key, vector(0, 1) + vector(-1, 0))]
    backend.put_vectors("m", made, DIMENSION)
    assert backend.counts()[2] == len(rest)
    assert [one.chunk for one in backend.pending(100)] == [one.chunk for one in rest]
    chosen = [rest[-1].chunk, first.chunk, rest[0].chunk]
    assert [one.chunk for one in backend.pending(9, first=chosen)] == [chosen[0], chosen[2]]
    for _ in range(2):
        nearest = backend.nearest(vector(1), 10)
        assert [id_ for id_, _ in nearest] == [first.chunk, second.chunk]
        assert nearest[0][1] == pytest.approx(1 / math.hypot(1, 0.1), abs=0.01)
        assert nearest[1][1] == pytest.approx(0, abs=0.01)  # the nearer of its two
        path = backend.found([second.chunk])[second.chunk].path
        assert [id_ for id_, _ in backend.nearest(vector(1), 10, within={path})] == [second.chunk]
        assert backend.nearest(vector(1), 1) == nearest[:1]
        cosines = backend.cosines(vector(-1), [first.chunk, second.chunk, rest[0].chunk, 999])
        assert cosines == pytest.approx({first.chunk: -0.995, second.chunk: 1}, abs=0.01)
        backend.tidy()  # must change no answer
    backend.drop([backend.found([first.chunk])[first.chunk].path])
    assert [id_ for id_, _ in backend.nearest(vector(1), 10)] == [second.chunk]


def bad_vectors_are_refused(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    backend.use_model("m")
    key = backend.pending(1)[0].key
    for bad in (b"", vector(1)[:-1], bytes(64), struct.pack("<16f", *[math.nan] * 16)):
        with pytest.raises(ValueError):
            backend.put_vectors("m", [(key, bad)], DIMENSION)
    assert backend.nearest(vector(1), 5) == []


def models_never_meet(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    backend.use_model("m")
    for one in backend.pending(100):
        backend.put_vectors("m", [(one.key, vector(1))], DIMENSION)
    backend.keep_query("m", "q", vector(1))
    backend.tidy()
    assert backend.query_vector("m", "q") == vector(1)
    backend.use_model("n")
    assert backend.model() == "n"
    assert backend.query_vector("n", "q") is None
    assert backend.nearest(vector(1), 5) == []
    assert backend.counts()[2] == len(backend.pending(100)) > 0
    backend.put_vectors("n", [(backend.pending(1)[0].key, vector(0, 1))], DIMENSION)
    assert len(backend.nearest(vector(1), 5)) == 1


def a_model_may_change_its_dimension(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    backend.use_model("m")
    for one in backend.pending(100):
        backend.put_vectors("m", [(one.key, vector(1))], DIMENSION)
    backend.tidy()
    assert backend.found([1])  # whichever chunk was first
    longer = struct.pack("<24f", 1, *[0] * 23)
    backend.use_model("other")
    backend.use_model("m")
    waiting = backend.pending(100)
    if not waiting:  # what the cache still had serves again
        assert len(backend.nearest(vector(1), 9)) == backend.counts()[1]
        return
    backend.put_vectors("m", [(waiting[0].key, longer)], 24)
    assert [id_ for id_, _ in backend.nearest(longer, 9)] == [waiting[0].chunk]


def retrievals_are_counted(open_index: Open) -> None:
    backend = open_index()
    backend.put(files(TEXTS))
    one = backend.pending(1)[0].chunk
    chunk_id = backend.found([one])[one].id
    backend.record([chunk_id, "ab" * 32], 5)
    backend.record([chunk_id], 6)
    assert backend.places([one])[one].retrievals == 2
    path = backend.found([one])[one].path
    assert backend.inventory()[path] == (1, 2)
    assert backend.last_uses() == {path: 6}
    other = next(known for known in backend.inventory() if known != path)
    backend.note_uses([path, other, "gone.md"], 9)
    assert backend.last_uses() == {path: 9, other: 9}
    assert backend.inventory()[path] == (1, 2)
    assert backend.inventory()[other][1] == 0
    assert backend.places([one])[one].retrievals == 2


CONTRACT = [
    empty_index_answers,
    words_find_their_notes,
    parts_of_words_are_found,
    found_gives_back_what_was_put,
    words_held_are_told,
    put_again_replaces,
    drop_forgets,
    stamps_are_kept,
    vectors_are_found_by_angle,
    bad_vectors_are_refused,
    models_never_meet,
    a_model_may_change_its_dimension,
    retrievals_are_counted,
]
