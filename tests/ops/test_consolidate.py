"""Consolidate: nothing is lost, nothing is wrongly joined, and a second run does nothing."""

from __future__ import annotations

import random
import re
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli import history
from memcli.errors import RefusedError
from memcli.model import SearchOptions
from memcli.ops.append_daily import append_daily
from memcli.ops.consolidate import Consolidated, consolidate
from memcli.ops.index import index
from memcli.ops.promote import Document, promote
from memcli.ops.search import search
from memcli.ops.undo import undo
from memcli.text.decode import decode
from memcli.text.facts import parse
from memcli.text.joined import sources_of
from memcli.workspace import Workspace
from tests.conftest import NOW, PlainUser, Program, opened, write
from tests.kill_sweep import EIO, ENOSPC, HAS_STRACE, KILL, NO_STRACE, Struck, sweep


def tree(root: Path) -> dict[str, bytes]:
    folder = root / ".decsr/memory"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def memory(root: Path) -> str:
    return (root / ".decsr/memory/MEMORY.md").read_text("utf-8")


def dreams(root: Path) -> str:
    return (root / ".decsr/memory/DREAMS.md").read_text("utf-8")


def run(workspace: Workspace, *, preview: bool = False, **how: object) -> Consolidated:
    return consolidate(workspace, now=NOW, is_preview=preview, **how)  # type: ignore[arg-type]


def log(day: str, *lines: str, stage: str = "build") -> str:
    return "\n".join([f"# Daily log {day}", "", f"## 09:00 — {stage}", "", *lines, ""])


def with_facts(workspace: Workspace, *lines: str) -> Path:
    root = Path(workspace.layout.root)
    write(root, "MEMORY.md", "\n".join(["# Project Memory", "", *lines, ""]))
    return root


def test_copies_are_joined_with_every_source_and_hash(bare: Workspace) -> None:
    root = with_facts(
        bare,
        "- Logs are kept 14 days  <!-- src=a.md#Decisions hash=111111111111 -->",
        "- Something else",
        "- **Logs** are kept for 15 days",
        "- The logs are kept 14 days.  <!-- src=docs/b.md#Goals, scope hash=222222222222 -->",
    )
    result = run(bare)
    (other, apart, kept) = parse(memory(root)).facts
    assert (other.fact.text, apart.fact.text) == ("Something else", "**Logs** are kept for 15 days")
    assert kept.fact.text == "The logs are kept 14 days."
    assert set(sources_of(kept.fact.source)) == {"a.md#Decisions", "docs/b.md#Goals, scope"}
    assert {"111111111111", "222222222222"} <= set(kept.hashes)
    (merge,) = result.merged
    assert [one.line for one in merge.dropped] == [3]
    assert result.revision == 1


def test_a_joined_fact_is_never_promoted_again(bare: Workspace) -> None:
    root = with_facts(bare, "- The index is rebuilt at night.", "- An index is rebuilt at night")
    run(bare)
    text = (
        "# D\n\n## Decisions\n\n- An index is rebuilt at night\n- the index is rebuilt at night!\n"
    )
    done = promote(bare, [Document("d.md", text.encode())], now=NOW)
    assert not done.added
    assert len(parse(memory(root)).facts) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("- The freeze starts on October 15.", "- The freeze starts on October 16."),
        ("- Client must be 2.4 or newer.", "- Client must be 2.5 or newer."),
        ("- Retry failed writes", "- Never retry failed writes"),
        ("- Ask Adam first", "- Ask Adams first"),
        ("- Edit `a.toml`", "- Edit `A.toml`"),
    ],
)
def test_what_differs_in_a_detail_stays(bare: Workspace, lines: tuple[str, ...]) -> None:
    root = with_facts(bare, *lines)
    before = memory(root)
    assert not run(bare).merged
    assert memory(root) == before


def test_disabled_superseded_and_other_kinds_are_left_alone(bare: Workspace) -> None:
    root = with_facts(
        bare,
        "- Logs stay 14 days  <!-- hash=aaaaaaaaaaaa off -->",
        "- Logs stay 14 days.",
        "- logs stay 14 days  <!-- hash=bbbbbbbbbbbb kind=instruction -->",
        "- Logs stay 14 days;  <!-- hash=cccccccccccc off superseded-by=dddddddddddd -->",
        "<!-- removed hash=eeeeeeeeeeee -->",
    )
    before = memory(root)
    assert not run(bare).merged
    assert memory(root) == before


def test_an_item_that_holds_more_than_its_text_is_never_taken_out(bare: Workspace) -> None:
    root = with_facts(
        bare,
        "- Run the check",
        "- Run the check",
        "",
        "  ```",
        "  make check",
        "  ```",
        "- Run the check <!-- see the wiki -->",
    )
    run(bare)
    assert "make check" in memory(root)
    assert "see the wiki" in memory(root)


LINE = st.sampled_from(
    [
        *("- Logs stay 14 days", "- logs stay 14 days.", "* The logs stay 14 days"),
        *("- Logs stay 15 days", "- Use `x`", "- Use x", "text", "", "1. Never push", "- Push"),
        "- Logs stay 14 days  <!-- src=a.md#D hash=111111111111 -->",
        *("## 2026-01-01 — promoted", "<!-- removed hash=222222222222 -->"),
    ]
)


@settings(max_examples=40)
@given(st.lists(LINE, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_joining_keeps_all_that_is_said_and_is_done_after_once(
    lines: list[str], newline: str
) -> None:
    from memcli.text import joined

    text = newline.join(["# M", "", *lines, ""])
    after = joined.join(text, joined.find(text))
    assert not joined.find(after)
    assert {it.fact.source for it in parse(text).facts} - {""} == {
        source for it in parse(after).facts for source in sources_of(it.fact.source)
    }
    known = {h for it in parse(after).facts for h in it.hashes}
    assert {h for it in parse(text).facts for h in it.hashes} <= known
    ours = re.compile(r"\s*<!--.*-->")
    left = [ours.sub("", line) for line in after.splitlines() if line.strip()]
    there = [ours.sub("", line) for line in text.splitlines() if line.strip()]
    assert all(line in there for line in left)


def test_a_preview_writes_nothing_at_all(project: Path, workspace: Workspace) -> None:
    before = tree(project)
    result = run(workspace, preview=True)
    assert "+## What 24 daily logs of" in result.diff
    assert tree(project) == before
    assert not history.ids(workspace.layout)
    folding = run(workspace, preview=True, is_folding=True)
    assert len(folding.folded) == 24
    assert tree(project) == before


def test_five_runs_in_a_row_change_something_once(project: Path, workspace: Workspace) -> None:
    assert run(workspace).revision == 1
    after = tree(project)
    for _ in range(4):
        result = run(workspace)
        assert (result.revision, result.digest.is_changed, result.merged) == (None, False, ())
    assert tree(project) == after
    assert len(history.ids(workspace.layout)) == 1


def test_daily_logs_are_never_edited(project: Path, workspace: Workspace) -> None:
    before = tree(project)
    run(workspace)
    after = tree(project)
    assert {path for path in after if after[path] != before.get(path)} == {"DREAMS.md"}
    assert after["DREAMS.md"].startswith(before["DREAMS.md"])


def test_undo_gives_every_byte_back_also_after_later_appends(
    project: Path, workspace: Workspace
) -> None:
    write(project, "MEMORY.md", memory(project) + "\n- Same line.\n- same line\n")
    before = tree(project)
    run(workspace)
    undo(workspace.layout, now=NOW)
    assert tree(project) == before
    run(workspace)
    append_daily(workspace, "the queue was drained", stage="note", now=NOW)
    with open(project / ".decsr/memory/DREAMS.md", "ab") as file:
        file.write(b"\nmine, later\n")
    undo(workspace.layout, 3, now=NOW)
    after = tree(project)
    assert after.pop("DREAMS.md") == before["DREAMS.md"] + b"\nmine, later\n"
    assert b"the queue was drained" in after.pop("daily/2026-11-20.md")
    assert after == {path: data for path, data in before.items() if path != "DREAMS.md"}


def test_undo_of_a_fold_gives_every_byte_back(project: Path, workspace: Workspace) -> None:
    before = tree(project)
    run(workspace, is_folding=True)
    assert tree(project) != before
    undo(workspace.layout, now=NOW)
    assert tree(project) == before


def test_a_fold_and_its_undo_keep_the_mode_of_a_log(project: Path, workspace: Workspace) -> None:
    before = modes(project)
    private = min(path for path in before if path.startswith("daily/"))
    (project / ".decsr/memory" / private).chmod(0o600)
    before = modes(project)
    result = run(workspace, is_folding=True)
    (to,) = (one.to for one in result.folded if one.path == private)
    assert modes(project)[to] == 0o600
    undo(workspace.layout, now=NOW)
    assert modes(project) == before


def modes(root: Path) -> dict[str, int]:
    return {path: (root / ".decsr/memory" / path).stat().st_mode & 0o777 for path in tree(root)}


def test_a_fold_moves_logs_whole_and_then_has_nothing_to_do(
    project: Path, workspace: Workspace
) -> None:
    before = tree(project)
    result = run(workspace, is_folding=True)
    after = tree(project)
    assert len(result.folded) == 24
    for one in result.folded:
        assert after[one.to] == before[one.path]
        assert one.path not in after
    assert set(before) - {one.path for one in result.folded} <= set(after)
    assert "daily/2026-11-18.md" in after
    assert run(workspace, is_folding=True).revision is None
    assert run(workspace).revision is None
    assert "archive/daily-2026-02-11.md#L15 " in dreams(project)


def test_today_future_days_and_odd_names_are_left(bare: Workspace) -> None:
    root = Path(bare.layout.root)
    names = ["2026-11-20", "2027-05-01", "2026-1-7", "2026-01-05 (conflicted copy)", "2026-02-30"]
    for name in (*names, "2026-11-19"):
        write(root, f"daily/{name}.md", log(name, "We decided to keep the relay."))
    before = tree(root)
    result = run(bare, is_folding=True, older_than=0)
    assert [one.path for one in result.folded] == ["daily/2026-11-19.md"]
    after = tree(root)
    assert all(after[f"daily/{name}.md"] == before[f"daily/{name}.md"] for name in names)
    assert any("conflicted copy" in note for note in result.notes)


def test_the_age_counts_in_whole_days(bare: Workspace) -> None:
    root = Path(bare.layout.root)
    for age in (14, 15):
        day = f"{NOW - timedelta(days=age):%Y-%m-%d}"
        write(root, f"daily/{day}.md", log(day, "We decided to keep the relay."))
    assert run(bare).digest.days == 1
    assert run(bare, older_than=13).digest.days == 2


def test_an_edited_log_refreshes_its_lines(project: Path, workspace: Workspace) -> None:
    run(workspace)
    path = project / ".decsr/memory/daily/2026-02-11.md"
    path.write_text(path.read_text("utf-8").replace("we drop the write queue", "we keep the queue"))
    assert run(workspace).digest.is_changed
    assert "we keep the queue" in dreams(project)
    assert "we drop the write queue" not in dreams(project)


def test_half_of_the_logs_gone_is_refused(project: Path, workspace: Workspace) -> None:
    run(workspace)
    logs = sorted((project / ".decsr/memory/daily").iterdir())
    for path in logs[:11]:
        path.unlink()
    run(workspace)
    before = tree(project)
    for path in logs[11:19]:
        path.unlink()
    before = tree(project)
    with pytest.raises(RefusedError, match=r"8 of the 13 daily logs .* gone"):
        run(workspace)
    with pytest.raises(RefusedError, match="gone"):
        run(workspace, is_folding=True)
    assert tree(project) == before


def test_logs_that_were_folded_are_not_gone(project: Path, workspace: Workspace) -> None:
    run(workspace, is_folding=True)
    write(project, "daily/2026-11-19.md", log("2026-11-19", "We decided to keep the relay."))
    assert run(workspace, older_than=0).digest.days == 26


def test_damaged_marks_are_refused(project: Path, workspace: Workspace) -> None:
    run(workspace)
    text = dreams(project).replace("<!-- end of mem digest -->\n", "")
    write(project, "DREAMS.md", text)
    with pytest.raises(RefusedError, match=r"DREAMS.md: the marks"):
        run(workspace)
    assert dreams(project) == text


def test_a_log_that_cannot_be_read_stops_it(
    mem: Program, project: Path, plain_user: PlainUser
) -> None:
    root = plain_user.take(project)
    (root / ".decsr/memory/daily/2026-02-11.md").chmod(0)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*.md")}
    ran = mem("consolidate", "--root", str(root), env=plain_user.env, before=plain_user.words)
    assert ran.code == 1
    assert "cannot read daily/2026-02-11.md" in ran.err
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.md")} == before


def test_a_lock_held_by_another_stops_it(mem: Program, project: Path) -> None:
    before = tree(project)
    with opened(project).lock("watch"):
        ran = mem("consolidate", env={"MEM_INDEX_WAIT": "0"}, code=5)
    assert "watch" in ran.err
    assert tree(project) == before


def test_appends_at_the_same_time_all_stay(project: Path) -> None:
    def append(number: int) -> None:
        append_daily(opened(project), f"note {number} of twenty", stage="note", now=NOW)

    threads = [threading.Thread(target=append, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    run(opened(project), is_folding=True)
    for thread in threads:
        thread.join()
    text = (project / ".decsr/memory/daily/2026-11-20.md").read_text("utf-8")
    assert all(f"note {number} of twenty" in text for number in range(20))


def test_tokens_are_masked_on_their_way_into_the_digest(bare: Workspace) -> None:
    root = Path(bare.layout.root)
    token = "gh" + "p_" + "Z7" * 18
    write(
        root, "daily/2026-01-05.md", log("2026-01-05", f"We decided to use {token} for the push.")
    )
    run(bare)
    assert token not in dreams(root)
    assert "[masked:" in dreams(root)


def test_lasting_decisions_are_proposed_under_their_gates(bare: Workspace) -> None:
    root = with_facts(bare, "- Backups are encrypted")
    said = "We decided that invoices are immutable once they are sent."
    for day in ("2026-01-05", "2026-01-12", "2026-02-02"):
        write(
            root, f"daily/{day}.md", log(day, said, "We decided once to look at the relay again.")
        )
    write(root, "daily/2026-03-02.md", log("2026-03-02", "We decided only here to drop the fax."))
    assert not run(bare, preview=True).proposed
    result = run(bare, is_folding=True)
    assert [fact.text for fact in result.proposed][:1] == [said]
    assert "drop the fax" not in memory(root)
    (fact,) = [it.fact for it in parse(memory(root)).facts if it.fact.text == said]
    assert fact.source == ".decsr/memory/archive/daily-2026-01-05.md#L5"
    assert run(bare, is_folding=True).revision is None


def test_what_is_proposed_fits_the_budget_and_denies_nothing(empty: Path) -> None:
    workspace = opened(empty, memory_max_facts="2")
    root = with_facts(workspace, "- We decided that sessions last 5 minutes.")
    for day in ("2026-01-05", "2026-01-12", "2026-02-02"):
        lines = [f"We decided that {what}." for what in ("sessions last 9 minutes", "A is left")]
        lines += ["We decided that exports are signed by hand."]
        write(root, f"daily/{day}.md", log(day, *lines))
    result = run(workspace, is_folding=True)
    assert len(result.proposed) == 1
    assert "9 minutes" not in memory(root)
    assert any("says otherwise" in note for note in result.notes)
    assert any("no room" in note for note in result.notes)


def test_contradictions_are_told_and_changed_by_nobody(bare: Workspace) -> None:
    root = with_facts(
        bare,
        "- Reviews need one approval.  <!-- src=a.md#Decisions hash=111111111111 -->",
        "- Reviews need two approvals.  <!-- src=b.md#Decisions hash=222222222222 -->",
    )
    before = memory(root)
    (pair,) = run(bare).contradictions
    assert (pair.what, pair.one.source, pair.other.source) == (
        "number", "a.md#Decisions", "b.md#Decisions",
    )  # fmt: skip
    assert memory(root) == before


def test_a_memory_over_its_budget_is_said(bare: Workspace) -> None:
    with_facts(bare, *[f"- Fact number {n} about the relay in hall {n}" for n in range(120)])
    notes = run(bare).notes
    assert any("over the 4,000 allowed" in note for note in notes)
    assert any("120 facts are in force" in note for note in notes)


def sentences(project: Path, until: str) -> list[tuple[str, str]]:
    found = []
    for path in sorted((project / ".decsr/memory/daily").glob("*.md")):
        if path.stem <= until:
            text = decode(path.read_bytes())[0]
            found += [(path.stem, it) for it in re.findall(r"[^\n.!?|#`]{40,}[.!?]", text)]
    return found


@pytest.mark.parametrize("is_folding", [False, True])
def test_old_sentences_still_find_their_day(
    project: Path, workspace: Workspace, is_folding: bool
) -> None:
    sample = sentences(project, "2026-10-28")
    sample = random.Random(5).sample(sample, min(len(sample), 60))
    run(workspace, is_folding=is_folding)
    index(workspace, now=NOW.timestamp(), is_embedding=False)
    missed = [one for one in sample if one[0] not in days_found(workspace, one[1])]
    assert not missed


def days_found(workspace: Workspace, words: str) -> set[str | None]:
    options = SearchOptions(mode="keyword", k=8)
    return {hit.date for hit in search(workspace, words, options, now=NOW).hits}


def test_the_command_previews_a_fold_until_it_is_told_yes(mem: Program, project: Path) -> None:
    before = tree(project)
    assert "nothing was written" in mem("consolidate", "--fold", code=0).out
    assert tree(project) == before
    assert "moved to archive/" in mem("consolidate", "--fold", "--yes", code=0).out
    assert mem("consolidate", code=0).out == "nothing to do\n"
    mem("undo", code=0)
    assert tree(project) == before
    mem("consolidate", "--yes", code=2)
    mem("consolidate", "--older-than", "-1", code=2)
    answer = mem("consolidate", "--dry-run", "--json", code=0).json
    assert answer["is_preview"] and answer["digest"]["days"] >= 24


def command(root: str) -> list[str]:
    return [sys.executable, "-c", FOLD, root]


FOLD = """
import sys
from datetime import datetime
from memcli.errors import MemError
from memcli.ops.consolidate import consolidate
from memcli.workspace import open_workspace
workspace = open_workspace(sys.argv[1], {"MEM_EMBEDDING_PROVIDER": "none"})
try:
    consolidate(workspace, is_folding=True, now=datetime(2026, 11, 20, 12))
except MemError as error:
    sys.exit(str(error))
"""


def small(root: str) -> None:
    to = Path(root)
    write(to, "MEMORY.md", "# M\n\n- Same line.\n- same line\n- Other\n")
    write(to, "DREAMS.md", "# Dreams\n\nmine\n")
    for day in ("2026-01-05", "2026-01-06"):
        write(to, f"daily/{day}.md", log(day, "We decided to keep the relay.", "It failed twice."))


def whole(tmp_path: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    (tmp_path / "whole").mkdir()
    small(str(tmp_path / "whole"))
    before = tree(tmp_path / "whole")
    run(opened(tmp_path / "whole"), is_folding=True)
    return before, tree(tmp_path / "whole")


@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (KILL, 7),
        pytest.param(KILL, 1, marks=pytest.mark.slow),
        pytest.param(EIO, 1, marks=pytest.mark.slow),
        pytest.param(ENOSPC, 1, marks=pytest.mark.slow),
    ],
)
def test_stopped_at_any_write_it_is_as_before_or_after(
    tmp_path: Path, fault: str, step: int
) -> None:
    before, after = whole(tmp_path)

    def check(struck: Struck) -> None:
        workspace = opened(Path(struck.root))
        append_daily(workspace, "the next command", stage="note", now=NOW)
        found = {
            path: data
            for path, data in tree(Path(struck.root)).items()
            if path != "daily/2026-11-20.md" and not Path(path).name.startswith(".")
        }
        assert found in (before, after), f"{struck.output}{sorted(found)}"
        assert struck.code != 0 or found == after

    assert sweep(command, small, check, fault=fault, step=step) > 3


@pytest.mark.slow
def test_a_year_of_logs_in_bounded_memory(tmp_path: Path) -> None:
    import resource

    def grown(days: int) -> int:
        root = tmp_path / str(days)
        start = datetime(2024, 1, 1)
        words = random.Random(days)
        for number in range(days):
            day = f"{start + timedelta(days=number):%Y-%m-%d}"
            lines = [
                f"We decided that the {words.choice(WORDS)} of hall {n} waits {n + number} seconds."
                for n in range(40)
            ]
            write(root, f"daily/{day}.md", log(day, *lines))
        run(opened(root))
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = grown(90)
    assert grown(720) - first < 60_000  # KiB


WORDS = [f"{a}{b}" for a in ("re", "un", "pre") for b in ("lay", "pump", "gate", "lamp", "fuse")]
