"""Facts one by one: each change touches one alone, named by any hash it ever had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.edit import read
from memcli.errors import RefusedError, UsageError, WorkspaceError
from memcli.ops import fact
from memcli.ops.fact import FactChanged, list_facts
from memcli.ops.index import index
from memcli.ops.promote import Document, promote
from memcli.ops.undo import undo
from memcli.text.facts import KINDS, fact_hash, parse
from memcli.text.query import build
from memcli.workspace import Workspace
from tests.conftest import NOW, Program, opened, write

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HAND = (
    b"# Ours\r\n\r\n* Logs stay one year.\r\n1. Ship on Friday.\r\n   - not at night\r\n\r\nno end"
)


def memory(workspace: Workspace) -> bytes:
    return read(workspace.layout, "MEMORY.md") or b""


def put(workspace: Workspace, data: str | bytes) -> None:
    write(Path(workspace.layout.root), "MEMORY.md", data)


def add(
    workspace: Workspace,
    text: str,
    *,
    kind: str = "fact",
    source: str = "",
    is_forced: bool = False,
) -> FactChanged:
    return fact.add_fact(workspace, text, kind=kind, source=source, is_forced=is_forced, now=NOW)


def texts(workspace: Workspace, *, is_all: bool = False) -> list[str]:
    return [it.text for it in list_facts(workspace, is_all=is_all).facts]


# --- add ---


def test_an_added_fact_is_one_line_under_its_day(bare: Workspace) -> None:
    put(bare, "# Ours\n")
    done = add(bare, "Backups run\nhourly.", kind="instruction", source="ops.md#Backups")
    digest = fact_hash("Backups run hourly.")
    assert memory(bare).decode() == (
        "# Ours\n\n## 2026-11-20 — promoted\n\n"
        f"- Backups run hourly.  <!-- src=ops.md#Backups hash={digest} kind=instruction -->\n"
    )
    assert (done.what, done.hash, done.revision) == ("added", digest, 1)


def test_the_same_again_is_known_and_changes_nothing(bare: Workspace) -> None:
    add(bare, "Backups run hourly.")
    before = memory(bare)
    done = add(bare, " backups run HOURLY. ")
    assert (done.what, done.text, done.revision) == ("known", "Backups run hourly.", None)
    assert memory(bare) == before


def test_nearly_the_same_is_refused_with_its_hash_and_forced(bare: Workspace) -> None:
    put(bare, HAND)
    with pytest.raises(RefusedError, match=r"Logs stay one year\.") as caught:
        add(bare, "logs stay  one year")
    assert fact_hash("Logs stay one year.")[:6] in caught.value.hint
    assert memory(bare) == HAND
    assert add(bare, "logs stay one year", is_forced=True).what == "added"
    assert texts(bare)[-1] == "logs stay one year"


def test_what_is_switched_off_is_not_added_beside_itself(bare: Workspace) -> None:
    done = add(bare, "Backups run hourly.")
    fact.disable_fact(bare, done.hash, now=NOW)
    with pytest.raises(RefusedError, match="there already"):
        add(bare, "Backups run hourly.")


def test_what_was_removed_is_added_by_force_alone(bare: Workspace) -> None:
    done = add(bare, "Backups run hourly.")
    fact.remove_fact(bare, done.hash[:4], now=NOW)
    before = memory(bare)
    with pytest.raises(RefusedError, match="removed before"):
        add(bare, "Backups run hourly.")
    assert memory(bare) == before
    assert add(bare, "Backups run hourly.", is_forced=True).what == "added"
    assert texts(bare) == ["Backups run hourly."]


@pytest.mark.parametrize("text", ["", " \n\t ", "\x00\x1b"])
def test_a_fact_without_words_is_refused(bare: Workspace, text: str) -> None:
    put(bare, HAND)
    with pytest.raises(UsageError, match="without words"):
        add(bare, text)
    with pytest.raises(UsageError, match="without words"):
        fact.edit_fact(bare, fact_hash("Logs stay one year."), text, now=NOW)
    assert memory(bare) == HAND


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=30).map(lambda text: f"w{text}w"),
    source=st.text(max_size=20),
    kind=st.sampled_from(KINDS),
)
def test_any_text_comes_back_as_it_was_shown(
    bare: Workspace, text: str, source: str, kind: str
) -> None:
    put(bare, HAND)
    done = add(bare, text, kind=kind, source=source, is_forced=True)
    (last,) = parse(memory(bare).decode()).facts[2:]
    assert (last.fact.text, last.recorded, last.fact.kind) == (done.text, done.hash, kind)
    assert last.fact.enabled
    fact.remove_fact(bare, done.hash, now=NOW)
    assert len(parse(memory(bare).decode()).facts) == 2


@pytest.mark.parametrize(
    "text",
    ["a --> b <!-- hash=0123456789ab -->", "x <!-- mem: y", "bell \x07 and \x1b[31m", "- [ ] x"],
)
def test_a_text_cannot_forge_a_comment_or_drive_a_terminal(bare: Workspace, text: str) -> None:
    done = add(bare, text)
    (it,) = parse(memory(bare).decode()).facts
    assert (it.fact.text, it.recorded, it.words) == (done.text, done.hash, ())
    assert not any(char in memory(bare) for char in b"\x07\x1b")
    assert fact.edit_fact(bare, done.hash, f"{text} --> z", now=NOW).revision == 2
    assert len(parse(memory(bare).decode()).facts) == 1


def test_secrets_in_text_and_source(bare: Workspace, empty: Path) -> None:
    done = add(bare, f"Use the token {TOKEN}.", source=f"https://x.example/{TOKEN}")
    assert any("masked" in note for note in done.notes)
    fact.edit_fact(bare, done.hash, f"Use {TOKEN} no more.", now=NOW)
    files = [path for path in (empty / ".decsr").rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []


def test_it_is_found_at_once_and_gone_at_once(bare: Workspace) -> None:
    index(bare, now=NOW.timestamp())
    done = add(bare, "The flux capacitor needs plutonium.")
    assert len(bare.backend.keyword(build("plutonium"), 10)) == 1
    fact.remove_fact(bare, done.hash, now=NOW)
    assert bare.backend.keyword(build("plutonium"), 10) == []


# --- edit, remove, disable, enable ---


def test_an_edited_fact_answers_to_every_hash_it_had(bare: Workspace) -> None:
    first = add(bare, "Backups run hourly.", kind="instruction").hash
    second = fact.edit_fact(bare, first[:6], "Backups run daily.", now=NOW).hash
    third = fact.edit_fact(bare, first[:6], "Backups run weekly.", now=NOW).hash
    for one in (first, second, third):
        assert fact.disable_fact(bare, one, now=NOW).text == "Backups run weekly."
        fact.enable_fact(bare, one, now=NOW)
    (listed,) = list_facts(bare).facts
    assert (listed.hash, listed.kind) == (third, "instruction")
    assert add(bare, "Backups run weekly.").what == "known"


def test_a_removed_fact_is_not_promoted_again(bare: Workspace) -> None:
    put(bare, HAND)
    fact.remove_fact(bare, list_facts(bare).facts[1].hash[:7], now=NOW)
    assert b"Friday" not in memory(bare)
    assert b"night" not in memory(bare)
    assert memory(bare).startswith(b"# Ours\r\n\r\n* Logs stay one year.\r\n<!-- removed hash=")
    assert memory(bare).endswith(b" -->\r\n\r\nno end")
    data = b"## Decisions\n\n- Ship on Friday.\n  - not at night\n"
    result = promote(bare, [Document("p.md", data)], now=NOW)
    assert (result.added, len(result.passed_over)) == ((), 1)


def test_switching_off_and_on_gives_the_same_bytes(bare: Workspace) -> None:
    put(bare, HAND)
    for it in list_facts(bare).facts:
        before = memory(bare)
        fact.disable_fact(bare, it.hash, now=NOW)
        assert it.text not in texts(bare)
        assert it.text in texts(bare, is_all=True)
        off = memory(bare)
        assert fact.disable_fact(bare, it.hash, now=NOW).revision is None
        assert memory(bare) == off
        fact.enable_fact(bare, it.hash, now=NOW)
        assert memory(bare) == before == HAND


def test_every_change_is_undone_to_the_byte(bare: Workspace) -> None:
    put(bare, HAND)
    digest = fact_hash("Logs stay one year.")
    changes: tuple[Callable[[], FactChanged], ...] = (
        lambda: add(bare, "Backups run hourly."),
        lambda: fact.edit_fact(bare, digest, "Logs stay two years.", now=NOW),
        lambda: fact.remove_fact(bare, digest, now=NOW),
        lambda: fact.disable_fact(bare, digest, now=NOW),
    )
    for change in changes:
        assert change().revision is not None
        assert memory(bare) != HAND
        undo(bare.layout, now=NOW)
        assert memory(bare) == HAND


# --- naming one ---


def test_prefixes(bare: Workspace) -> None:
    put(bare, "".join(f"- fact {number}\n" for number in range(40)))
    before = memory(bare)
    hashes = [it.hash for it in list_facts(bare).facts]
    firsts = [one[0] for one in hashes]
    double = next(one for one in firsts if firsts.count(one) > 1)
    with pytest.raises(RefusedError, match="several facts") as caught:
        fact.remove_fact(bare, double, now=NOW)
    assert all(one in caught.value.hint for one in hashes if one[0] == double)
    missing = next(f"{n:03x}" for n in range(4096) if not any(h[:3] == f"{n:03x}" for h in hashes))
    with pytest.raises(RefusedError, match=f"no fact with a hash like {missing}"):
        fact.edit_fact(bare, missing, "x", now=NOW)
    for word in ("", "xyz", "..", hashes[0] + "-"):
        with pytest.raises(UsageError, match="not a hash"):
            fact.disable_fact(bare, word, now=NOW)
    assert memory(bare) == before
    assert fact.disable_fact(bare, hashes[0].upper(), now=NOW).text == "fact 0"


def test_a_memory_in_utf_16_is_refused_by_all(bare: Workspace) -> None:
    data = "- Logs stay one year.\n".encode("utf-16")
    put(bare, data)
    with pytest.raises(WorkspaceError, match="UTF-16"):
        add(bare, "x y")
    with pytest.raises(WorkspaceError, match="UTF-16"):
        fact.remove_fact(bare, "ab", now=NOW)
    with pytest.raises(WorkspaceError, match="UTF-16"):
        list_facts(bare)
    assert memory(bare) == data


# --- the command ---


def test_the_command_from_end_to_end(mem: Program, empty: Path) -> None:
    def run(*words: str, code: int = 0, stdin: bytes | None = None) -> str:
        return mem("fact", *words, cwd=empty, code=code, stdin=stdin).out

    run("list", code=1)
    run("add", "Logs", "stay", "one", "year.")
    run("add", "-", "--kind", "preference", stdin=b"Short names.\n")
    run("add", "--quiet", "--", "-v is", "not", "verbose")
    assert run("add", "--quiet", "Backups run hourly.") == ""
    digest = fact_hash("Logs stay one year.")
    run("disable", digest[:8])
    shown = mem("fact", "list", "--json", cwd=empty, code=0).json["facts"]
    assert [it["text"] for it in shown] == [
        "Short names.",
        "-v is not verbose",
        "Backups run hourly.",
    ]
    everything = mem("fact", "list", "--all", "--json", cwd=empty, code=0).json["facts"]
    assert [it["is_enabled"] for it in everything] == [False, True, True, True]
    liked = mem("fact", "list", "--kind", "preference", "--json", cwd=empty, code=0).json["facts"]
    assert [it["text"] for it in liked] == ["Short names."]
    run("list", "--kind", "summary", code=1)
    assert mem("fact", "add", "x y", "--kind", "rumour", cwd=empty).code == 2
    assert mem("fact", "remove", "zz", cwd=empty).code == 2
    assert mem("fact", "remove", "000000", cwd=empty).code == 1
    run("edit", digest[:8], "-", stdin=b"Logs stay two years.")
    run("remove", digest[:8])
    assert "Logs" not in run("list", "--all")


def test_no_text_is_a_mistake(mem: Program, empty: Path) -> None:
    for words in (("add",), ("add", "-"), ("add", "")):
        ran = mem("fact", *words, cwd=empty, stdin=b"", code=2)
        assert "without words" in ran.err
    assert not (empty / ".decsr/memory/MEMORY.md").exists()


def test_bytes_that_are_no_text_in_an_argument(mem: Program, empty: Path) -> None:
    mem("fact", "add", b"caf\xe9 opens at nine", cwd=empty, code=0)
    assert b"caf\xe9 opens at nine  <!--" in (empty / ".decsr/memory/MEMORY.md").read_bytes()
    mem("fact", "list", cwd=empty, code=0)
    mem("undo", cwd=empty, code=0)
    assert not (empty / ".decsr/memory/MEMORY.md").exists()


def test_a_memory_over_its_budget_is_said(empty: Path) -> None:
    with_limit = opened(empty, memory_max_facts="1")
    first = fact.add_fact(
        with_limit, "Logs stay a year.", kind="fact", source="", is_forced=False, now=NOW
    )
    second = fact.add_fact(
        with_limit, "Deploys are on Mondays.", kind="fact", source="", is_forced=False, now=NOW
    )
    assert not any("over the 1 allowed" in note for note in first.notes)
    assert any("over the 1 allowed" in note for note in second.notes)
