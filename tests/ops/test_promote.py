"""Decisions become facts once, whatever the document looks like and whoever else writes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.edit import read
from memcli.errors import RefusedError, WorkspaceError
from memcli.ops.fact import edit_fact, list_facts, remove_fact
from memcli.ops.index import index
from memcli.ops.promote import Checked, Document, Promoted, check, promote
from memcli.ops.undo import undo
from memcli.text.facts import fact_hash, parse
from memcli.text.query import build
from memcli.workspace import Workspace
from tests.conftest import NOW, PlainUser, Program, opened, write

PLAN = "# Plan\n\n## Decisions\n\n- Logs stay one year.\n- Retries end after five tries.\n"
ADDED = (
    "- Logs stay one year.  <!-- src=docs/plan.md#Decisions hash={} -->\n"
    "- Retries end after five tries.  <!-- src=docs/plan.md#Decisions hash={} -->\n"
).format(fact_hash("Logs stay one year."), fact_hash("Retries end after five tries."))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def memory(workspace: Workspace) -> bytes:
    return read(workspace.layout, "MEMORY.md") or b""


def put(workspace: Workspace, data: str | bytes) -> None:
    write(Path(workspace.layout.root), "MEMORY.md", data)


def take(
    workspace: Workspace,
    text: str | bytes,
    path: str = "docs/plan.md",
    *,
    task_id: str = "",
    is_again: bool = False,
    is_dry: bool = False,
) -> Promoted:
    data = text if isinstance(text, bytes) else text.encode()
    document = Document(path, data)
    return promote(
        workspace, [document], task_id=task_id, is_again=is_again, is_dry=is_dry, now=NOW
    )


def gate(workspace: Workspace, text: str, path: str = "docs/plan.md") -> Checked:
    return check(workspace, [Document(path, text.encode())])


def bullets(*texts: str) -> str:
    return "# Plan\n\n## Decisions\n\n" + "".join(f"- {text}\n" for text in texts)


def texts(result: Promoted) -> list[str]:
    return [fact.text for fact in result.added]


# --- what is added ---


def test_a_first_promote_is_written_to_the_letter(bare: Workspace) -> None:
    result = take(bare, PLAN, task_id="T-7")
    assert memory(bare).decode() == (
        "# Project Memory\n\nFacts and decisions that hold until this file says otherwise.\n\n"
        f"## 2026-11-20 — promoted from task T-7\n\n{ADDED}"
    )
    assert (result.known, result.revision, result.sources[0].found) == (0, 1, 2)


def test_without_a_task_and_behind_what_is_there(bare: Workspace) -> None:
    put(bare, "# Ours\n\n- by hand\n")
    take(bare, PLAN)
    assert memory(bare).decode() == (f"# Ours\n\n- by hand\n\n## 2026-11-20 — promoted\n\n{ADDED}")


def test_twice_changes_no_byte_and_leaves_no_revision(bare: Workspace) -> None:
    take(bare, PLAN)
    before = memory(bare)
    again = take(bare, PLAN)
    assert (memory(bare), again.revision, again.added, again.known) == (before, None, (), 2)


def test_facts_of_a_day_join_one_section(bare: Workspace) -> None:
    take(bare, PLAN)
    take(bare, bullets("Backups run hourly."), "docs/other.md")
    assert memory(bare).decode().count("— promoted") == 1
    assert len(list_facts(bare).facts) == 3


@pytest.mark.parametrize(
    "copy",
    [
        "logs stay one year",
        "Logs  stay   one year!",
        "LOGS STAY ONE YEAR",
    ],
)
def test_near_copies_are_known(bare: Workspace, copy: str) -> None:
    put(bare, "# Project Memory\n\n- Logs stay one year.\n")  # by hand, without a hash
    before = memory(bare)
    result = take(bare, bullets(copy))
    assert (result.known, texts(result), memory(bare)) == (1, [], before)


def test_another_number_is_another_fact(bare: Workspace) -> None:
    put(bare, "# Project Memory\n\n- Logs stay 1 year.\n")
    assert texts(take(bare, bullets("Logs stay 2 years."))) == ["Logs stay 2 years."]


def test_a_copy_within_and_between_documents_is_one_fact(bare: Workspace) -> None:
    documents = [
        Document("a.md", bullets("Ship on Friday.", "ship on friday").encode()),
        Document("b.md", bullets("Ship  on Friday").encode()),
    ]
    result = promote(bare, documents, now=NOW)
    assert texts(result) == ["Ship on Friday."]
    assert result.added[0].source == "a.md#Decisions"


FACTS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=40),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=FACTS)
def test_any_bullets_are_promoted_once_and_shown_before(bare: Workspace, lines: list[str]) -> None:
    put(bare, "# Project Memory\n")
    text = bullets(*(f"w{number} {line}" for number, line in enumerate(lines)))
    dry = take(bare, text, is_dry=True, is_again=True)
    assert memory(bare) == b"# Project Memory\n"
    real = take(bare, text, is_again=True)
    assert dry.added == real.added
    after = memory(bare)
    assert take(bare, text).revision is None
    assert memory(bare) == after
    assert gate(bare, text).findings == ()
    recorded = [it.recorded for it in parse(after.decode()).facts]
    assert recorded == [fact.hash for fact in real.added]


def test_a_dry_run_writes_nothing_and_says_what_the_real_one_does(
    mem: Program, project: Path
) -> None:
    plan = project / "docs" / "new.md"
    plan.parent.mkdir(exist_ok=True)
    plan.write_text(PLAN)
    before = tree(project)
    dry = mem("promote", "--dry-run", str(plan), "--json", code=0).json
    assert tree(project) == before
    real = mem("promote", str(plan), "--json", code=0).json
    assert dry["added"] == real["added"]
    shown = mem("undo", "--diff", str(real["revision"]), code=0).out
    assert rows(shown, "+") == rows(dry["diff"], "+") != []
    assert rows(shown, "-") == rows(dry["diff"], "-") == []


def rows(diff: str, sign: str) -> list[str]:
    """The added or removed lines of a diff, but for empty ones."""
    return [
        line for line in diff.splitlines() if line[:1] == sign and line.strip(sign) and
        not line.startswith(sign * 3)
    ]  # fmt: skip


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_the_index_has_the_fact_at_once(bare: Workspace) -> None:
    index(bare, now=NOW.timestamp())
    take(bare, bullets("The flux capacitor needs plutonium."))
    found = bare.backend.keyword(build("plutonium"), 10)
    chunks = bare.backend.found([number for number, _ in found])
    assert [row.path for row in chunks.values()] == ["MEMORY.md"]


# --- what was removed ---


def test_a_tombstone_holds_until_again(bare: Workspace) -> None:
    take(bare, PLAN)
    remove_fact(bare, fact_hash("Logs stay one year.")[:8], now=NOW)
    before = memory(bare)
    result = take(bare, PLAN)
    assert [fact.text for fact in result.passed_over] == ["Logs stay one year."]
    assert (texts(result), memory(bare)) == ([], before)
    assert texts(take(bare, PLAN, is_again=True)) == ["Logs stay one year."]


def without(workspace: Workspace, words: str) -> None:
    """Take the lines with these words out, as somebody does in an editor."""
    lines = memory(workspace).decode().splitlines(keepends=True)
    put(workspace, "".join(line for line in lines if words not in line))


def test_removed_by_hand_is_not_promoted_again(bare: Workspace) -> None:
    take(bare, PLAN)
    without(bare, "Retries")
    before = memory(bare)
    result = take(bare, PLAN)
    assert [fact.text for fact in result.passed_over] == ["Retries end after five tries."]
    assert memory(bare) == before
    assert texts(take(bare, PLAN, is_again=True)) == ["Retries end after five tries."]


def test_removed_by_hand_from_a_section_that_it_joined(bare: Workspace) -> None:
    take(bare, PLAN)
    joined = bullets("Backups run hourly.", "Tokens live a day.")
    take(bare, joined, "docs/other.md")
    without(bare, "Backups")
    result = take(bare, joined, "docs/other.md")
    assert [fact.text for fact in result.passed_over] == ["Backups run hourly."]


def test_removed_by_hand_before_what_was_written_behind_it(bare: Workspace) -> None:
    take(bare, PLAN)
    take(bare, bullets("Backups run hourly."), "docs/other.md")
    take(bare, bullets("Tokens live a day."), "docs/third.md")
    without(bare, "Backups")
    result = take(bare, bullets("Backups run hourly."), "docs/other.md")
    assert [fact.text for fact in result.passed_over] == ["Backups run hourly."]


def test_all_of_a_section_removed_by_hand_but_its_heading(bare: Workspace) -> None:
    take(bare, bullets("Backups run hourly."))
    without(bare, "Backups")
    result = take(bare, bullets("Backups run hourly."))
    assert [fact.text for fact in result.passed_over] == ["Backups run hourly."]


BEFORE, AFTER = "2026-11-18T12:00:00", "2026-11-22T12:00:00"  # all that is promoted


def git(workspace: Workspace, *words: str, date: str = BEFORE) -> None:
    env = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
    }
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=workspace.layout.root, env=env, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def branch(workspace: Workspace, name: str = "other") -> None:
    """Check another branch out; the tests put its files there."""
    git(workspace, "init", "-q", "-b", "main")
    git(workspace, "commit", "-q", "--allow-empty", "-m", "start")
    git(workspace, "checkout", "-q", "-b", name, date=AFTER)


@pytest.mark.parametrize("has_git", [False, True])
def test_all_that_was_promoted_removed_by_hand(bare: Workspace, has_git: bool) -> None:
    if has_git:
        git(bare, "init", "-q")
    put(bare, "# Project Memory\n\n- Older.\n")
    earlier = memory(bare)
    take(bare, bullets("Backups run hourly."))
    if has_git:
        git(bare, "add", ".")
        git(bare, "commit", "-q", "-m", "Promote", date=AFTER)
        git(bare, "commit", "-q", "--amend", "-m", "Promote it", date=AFTER)
    put(bare, earlier)
    result = take(bare, bullets("Backups run hourly."))
    assert [fact.text for fact in result.passed_over] == ["Backups run hourly."]
    assert memory(bare) == earlier
    assert texts(take(bare, bullets("Backups run hourly."), is_again=True))


@pytest.mark.parametrize(
    "words",
    [
        ("checkout", "-q", "-b", "other"),
        ("reset", "-q", "--hard", "HEAD~1"),
        ("merge", "-q", "--no-edit", "--no-ff", "topic"),
        ("rebase", "-q", "topic"),
    ],
    ids=lambda words: words[0],
)
def test_what_git_may_have_taken_out_was_not_removed_by_hand(
    bare: Workspace, words: tuple[str, ...]
) -> None:
    git(bare, "init", "-q", "-b", "main")
    git(bare, "commit", "-q", "--allow-empty", "-m", "start")
    git(bare, "branch", "topic")
    git(bare, "commit", "-q", "--allow-empty", "-m", "more")
    if words[0] in ("merge", "rebase"):
        git(bare, "worktree", "add", "-q", "../side", "topic")  # HEAD stays where it is
        side = os.path.join(bare.layout.root, "../side")
        git(bare, "-C", side, "commit", "-q", "--allow-empty", "-m", "side")
    earlier = memory(bare)
    take(bare, bullets("Backups run hourly."))
    git(bare, *words, date=AFTER)
    put(bare, earlier)
    assert texts(take(bare, bullets("Backups run hourly."))) == ["Backups run hourly."]


def test_in_a_linked_worktree_its_own_checkouts_count(bare: Workspace, tmp_path: Path) -> None:
    git(bare, "init", "-q", "-b", "main")
    git(bare, "commit", "-q", "--allow-empty", "-m", "start")
    git(bare, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked/.decsr/memory").mkdir(parents=True)
    linked = opened(tmp_path / "linked")
    for is_again in (False, True):
        take(linked, bullets("Backups run hourly."), is_again=is_again)
        put(linked, "# Ours\n")
        if is_again:
            git(linked, "checkout", "-q", "-b", "third", date=AFTER)
        result = take(linked, bullets("Backups run hourly."))
        assert len(result.added) == is_again
    linked.close()


@pytest.mark.parametrize("name", [".hg", ".jj"])
def test_what_another_system_did_cannot_be_told(bare: Workspace, name: str) -> None:
    os.mkdir(os.path.join(bare.layout.root, name))
    take(bare, bullets("Backups run hourly."))
    put(bare, "")
    assert texts(take(bare, bullets("Backups run hourly."))) == ["Backups run hourly."]


def test_on_another_branch_of_the_same_day_it_was_not_removed(bare: Workspace) -> None:
    branch(bare)
    put(bare, "# Project Memory\n\n- Older than the branch.\n")
    earlier = memory(bare)
    take(bare, PLAN)
    put(bare, earlier)
    take(bare, bullets("Backups run hourly."), "docs/other.md")  # makes a section of that name
    result = take(bare, PLAN)
    assert (len(result.added), result.passed_over) == (2, ())


def test_on_another_branch_it_was_not_removed_by_hand(bare: Workspace) -> None:
    branch(bare)
    put(bare, "# Project Memory\n\n- Older than the branch.\n")
    earlier = memory(bare)
    take(bare, PLAN)
    put(bare, earlier)  # as git checkout does
    assert len(take(bare, PLAN).added) == 2


def test_on_another_branch_what_joined_a_section_was_not_removed(bare: Workspace) -> None:
    branch(bare)
    other = bullets("Backups run hourly.")
    take(bare, PLAN)
    take(bare, other, "docs/other.md")
    put(bare, "# Project Memory\n\n## 2026-11-19 — promoted\n\n- Older than the branch.\n")
    assert texts(take(bare, other, "docs/other.md")) == ["Backups run hourly."]


def test_what_was_undone_is_not_removed_by_hand(bare: Workspace) -> None:
    take(bare, bullets("Backups run hourly."))
    before = memory(bare)
    take(bare, PLAN)
    undo(bare.layout, now=NOW)
    assert memory(bare) == before
    assert len(take(bare, PLAN).added) == 2


def test_an_edited_fact_answers_for_its_old_words(bare: Workspace) -> None:
    take(bare, PLAN)
    edit_fact(bare, fact_hash("Logs stay one year.")[:8], "We keep every log for a year", now=NOW)
    before = memory(bare)
    assert (take(bare, PLAN).known, memory(bare)) == (2, before)
    assert gate(bare, PLAN).findings == ()


# --- what changed ---


def test_a_changed_bullet_supersedes_and_both_are_shown(bare: Workspace) -> None:
    take(bare, PLAN)
    changed = PLAN.replace("five tries", "nine tries")
    before = memory(bare)
    result = take(bare, changed)
    assert [(one.old, one.new, one.source) for one in result.superseded] == [
        ("Retries end after five tries.", "Retries end after nine tries.", "docs/plan.md#Decisions")
    ]
    listed = list_facts(bare, is_all=True).facts
    assert [(it.text, it.is_enabled) for it in listed] == [
        ("Logs stay one year.", True),
        ("Retries end after five tries.", False),
        ("Retries end after nine tries.", True),
    ]
    assert listed[1].superseded_by == listed[2].hash
    again = memory(bare)
    assert (take(bare, changed).revision, memory(bare)) == (None, again)
    assert gate(bare, changed).findings == ()
    undo(bare.layout, now=NOW)
    assert memory(bare) == before


def test_a_new_bullet_on_something_else_supersedes_nothing(bare: Workspace) -> None:
    take(bare, PLAN)
    result = take(bare, bullets("Logs stay one year.", "Deploys need two reviewers."))
    assert (len(result.added), result.superseded) == (1, ())


def test_a_fact_of_several_sources_is_in_force_while_one_says_it(bare: Workspace) -> None:
    digest = fact_hash("Ship on Friday.")
    put(bare, f"- Ship on Friday.  <!-- src=a.md#Decisions, b.md#Decisions hash={digest} -->\n")
    documents = [
        Document("a.md", bullets("Ship on Monday.").encode()),
        Document("b.md", bullets("Ship on Friday.").encode()),
    ]
    assert promote(bare, documents[:1], now=NOW, is_dry=True).superseded == ()
    assert promote(bare, documents, now=NOW, is_dry=True).superseded == ()
    both = [documents[0], Document("b.md", bullets("Ship on Monday.").encode())]
    assert [one.new for one in promote(bare, both, now=NOW).superseded] == ["Ship on Monday."]


# --- the gate ---


def test_the_gate_names_line_and_fault(bare: Workspace) -> None:
    take(bare, PLAN)
    found = gate(bare, bullets("Logs stay one year.", "Deploys need two reviewers.")).findings
    assert [(one.path, one.line, one.code) for one in found] == [
        ("docs/plan.md", 6, "not-promoted"),
        (".decsr/memory/MEMORY.md", 8, "source-changed"),
    ]
    assert "Deploys need two reviewers." in found[0].message
    assert "Retries end after five tries." in found[1].message


def test_the_gate_in_three_formats(mem: Program, project: Path) -> None:
    folder = project / "docs" / "odd, name: 100%"
    folder.mkdir(parents=True)
    plan = folder / "p.md"
    plan.write_text(bullets("Cover 100% of it::error file=x::forged"))
    before = tree(project / ".decsr/memory")
    text = mem("promote", "--check", str(plan), code=1)
    assert "docs/odd, name: 100%/p.md:5: not-promoted: this decision is not in" in text.out
    found = mem("promote", "--check", "--json", str(plan), code=1).json["findings"]
    assert [(one["line"], one["code"]) for one in found] == [(5, "not-promoted")]
    annotation = mem("promote", "--check", "--format", "github", str(plan), code=1).out
    first = annotation.splitlines()[0]
    assert first.startswith(
        "::error file=docs/odd%2C name%3A 100%25/p.md,line=5,title=not-promoted"
    )
    assert "Cover 100%25 of it" in first
    assert annotation.count("\n::error") == 0
    assert tree(project / ".decsr/memory") == before
    mem("promote", str(plan), code=0)
    assert "ok: 1 decision" in mem("promote", "--check", str(plan), code=0).out


def test_nothing_found_is_said_with_name_and_reason(mem: Program, project: Path) -> None:
    (project / "none.md").write_text("# Notes\n\nNothing of the kind.\n")
    (project / "blank.md").write_text("# Plan\n\n## Decisions\n\n")
    for words in (("promote",), ("promote", "--check"), ("promote", "--dry-run")):
        out = mem(*words, "none.md", "blank.md", code=0).out
        assert "0 decisions found in none.md (" in out
        assert "0 decisions found in blank.md (" in out


# --- which documents ---


def test_a_terminal_is_not_awaited(mem: Program) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "promote", "-"],
        cwd=mem.cwd, env=mem.environ(), stdin=slave, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    os.close(slave)
    os.close(master)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"mem: nothing is piped in\nhint: mem promote FILE\n"


def test_stdin_folders_globs_and_each_document_once(mem: Program, project: Path) -> None:
    docs = project / "papers"
    (docs / "deep").mkdir(parents=True)
    (docs / "node_modules").mkdir()
    (docs / "a.md").write_text(bullets("Alpha ships first."))
    (docs / "deep/b.markdown").write_text(bullets("Beta follows in May."))
    (docs / "c.txt").write_text(bullets("Gamma was never built."))
    (docs / "node_modules/d.md").write_text(bullets("Delta belongs to others."))
    dry = ("promote", "--dry-run", "--json")
    found = [one["path"] for one in mem(*dry, "papers", "papers/a.md", code=0).json["sources"]]
    assert found == ["papers/a.md", "papers/deep/b.markdown"]
    found = [one["path"] for one in mem(*dry, "papers/**/*.m*", code=0).json["sources"]]
    assert "papers/deep/b.markdown" in found
    piped = mem(*dry, "-", stdin=bullets("Piped in.").encode(), code=0).json
    assert piped["added"][0]["source"] == "stdin#Decisions"


def test_a_document_outside_goes_by_its_name(mem: Program, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    outside = tmp_path / "away" / "plan.md"
    outside.write_text(bullets("Decided elsewhere."))
    result = mem("promote", str(outside), "--json", code=0).json
    assert [one["source"] for one in result["added"]] == ["plan.md#Decisions"]
    assert str(tmp_path) not in (mem.cwd / ".decsr/memory/MEMORY.md").read_text()


def test_what_is_not_there_or_not_readable(
    mem: Program, project: Path, plain_user: PlainUser
) -> None:
    for word in ("gone.md", "gone/*.md"):
        assert f"no document {word}" in mem("promote", word, code=2).err
    theirs = plain_user.take(project)
    (theirs / "closed.md").write_text(PLAN)
    (theirs / "closed.md").chmod(0)
    ran = mem("promote", "closed.md", cwd=theirs, env=plain_user.env, before=plain_user.words)
    assert ran.code not in (0, 2)
    assert "closed.md" in ran.err


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
        lambda data: data.decode().encode("utf-16"),
    ],
    ids=["mark", "crlf", "cr", "utf-16"],
)
def test_documents_of_every_make(bare: Workspace, change: object) -> None:
    assert callable(change)
    assert len(take(bare, change(PLAN.encode())).added) == 2
    assert memory(bare).decode().endswith(ADDED)


def test_the_line_ends_and_the_mark_of_the_memory_stay(bare: Workspace) -> None:
    put(bare, b"\xef\xbb\xbf# Ours\r\n\r\n- by hand")
    take(bare, PLAN)
    after = memory(bare)
    assert after.startswith(b"\xef\xbb\xbf# Ours\r\n\r\n- by hand\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
    undo(bare.layout, now=NOW)
    assert memory(bare) == b"\xef\xbb\xbf# Ours\r\n\r\n- by hand"


def test_a_memory_that_is_no_file_of_ours(bare: Workspace) -> None:
    put(bare, "# Ours\n".encode("utf-16"))
    with pytest.raises(WorkspaceError, match="UTF-16"):
        take(bare, PLAN)
    full = Path(bare.layout.memory_path("MEMORY.md"))
    full.unlink()
    full.mkdir()
    with pytest.raises(WorkspaceError):
        take(bare, PLAN)
    assert list(full.iterdir()) == []


# --- secrets ---


def test_secrets_reach_neither_memory_nor_history(bare: Workspace) -> None:
    text = f"# Plan\n\n## Decisions {TOKEN}\n\n- Use the token {TOKEN} for now.\n"
    result = take(bare, text, task_id=f"T {TOKEN}")
    assert len(result.added) == 1
    assert any("masked" in note for note in result.notes)
    assert gate(bare, text).findings == ()
    holders = [
        path for path, data in tree(Path(bare.layout.root)).items() if TOKEN.encode() in data
    ]
    assert holders == []


def test_secrets_are_refused_on_request(empty: Path) -> None:
    workspace = opened(empty, secrets="refuse")
    with pytest.raises(RefusedError, match="secret"):
        take(workspace, bullets(f"Use the token {TOKEN} for now."))
    assert memory(workspace) == b""
    workspace.close()


# --- many at once ---


def test_parallel_promotes_of_overlapping_documents(mem: Program, empty: Path) -> None:
    for number in range(8):
        shared = [f"Rule {n} holds for part {n}." for n in range(number, number + 6)]
        (empty / f"d{number}.md").write_text(bullets(*shared))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "memcli", "promote", f"d{n}.md", f"d{(n + 1) % 8}.md"],
            cwd=empty, env=mem.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for n in range(8)
    ]  # fmt: skip
    for one in running:
        _, err = one.communicate(timeout=100)
        assert one.returncode == 0, err
    facts = parse((empty / ".decsr/memory/MEMORY.md").read_text()).facts
    found = sorted(it.fact.text for it in facts)
    assert found == sorted(f"Rule {n} holds for part {n}." for n in range(13))
    assert "ok" in mem("promote", "--check", *(f"d{n}.md" for n in range(8)), cwd=empty, code=0).out


def test_undo_brings_the_exact_bytes_back(bare: Workspace) -> None:
    for before in (b"", b"# Ours\n\n- a\n", b"no end", b"not UTF-8 \xe9\r\n"):
        put(bare, before)
        assert take(bare, PLAN, is_again=True).revision is not None
        undo(bare.layout, now=NOW)
        assert memory(bare) == before
    os.unlink(bare.layout.memory_path("MEMORY.md"))
    take(bare, PLAN)
    undo(bare.layout, now=NOW)
    assert not os.path.exists(bare.layout.memory_path("MEMORY.md"))


def test_another_day_is_another_section(bare: Workspace) -> None:
    take(bare, PLAN)
    document = Document("b.md", bullets("Backups run hourly.").encode())
    promote(bare, [document], now=NOW + timedelta(days=1))
    assert "## 2026-11-21 — promoted\n" in memory(bare).decode()


def test_json_holds_every_field(mem: Program, project: Path) -> None:
    (project / "plan.md").write_text(PLAN)
    result = json.loads(mem("promote", "plan.md", "--json", code=0).out)
    assert {"added", "superseded", "known", "passed_over", "sources", "revision"} <= set(result)
