"""What is due: found in the files alone, in bounded pieces, each once."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.ops.due import due
from memcli.ops.jobs import KINDS
from memcli.ops.marks import BELIEFS, CONSOLIDATION, FACTS
from memcli.ops.material import PARTS, TOKENS, entries, material
from memcli.ops.undo import undo
from memcli.store.jobs import DONE
from memcli.text.messages import read
from memcli.text.tokens import estimate
from memcli.text.turns import SYSTEM, Message, render
from tests.conftest import opened, write
from tests.queue_worker import (
    LOG,
    clock,
    entry,
    found,
    log,
    nothing_known,
    run,
    with_model,
)

CONSOLIDATING = {CONSOLIDATION: KINDS[CONSOLIDATION]}


def test_entries_of_a_log_are_grouped_and_each_group_is_bounded(empty: Path) -> None:
    log(empty, *(f"entry {number} " + "word " * 60 for number in range(100)))
    groups = found(empty)
    assert {job.kind for job in groups} == {FACTS}
    marks = [mark for job in groups for mark in job.marks]
    assert len(marks) == len(set(marks)) == 100
    assert 100 / PARTS <= len(groups) < 10
    workspace = with_model(empty)
    texts = [material(workspace, LOG, job.marks).decode() for job in groups]
    assert all(estimate(text) < TOKENS * 1.2 for text in texts)
    assert sum(text.count("## ") for text in texts) == 100


def test_the_newest_day_comes_first_and_old_days_never(empty: Path) -> None:
    for day in ("2026-11-20", "2026-11-07", "2026-11-06", "2026-11-21"):
        log(empty, f"what happened on {day}", day=day)
    write(empty, "archive/2026-11-19-talk-0123abcd.md", "# Conversation\n\nPerson: we moved\n")
    write(empty, "archive/2026-01-19-talk-0123abcd.md", "# Conversation\n\nPerson: long ago\n")
    write(empty, "archive/undated.md", "# Conversation\n\nPerson: sometime\n")
    write(empty, "archive/daily-2026-11-18.md", "# Daily log 2026-11-18\n" + entry("09:00", "x"))
    write(empty, "daily/2026-11-20 (copy).md", "# Daily log 2026-11-20\n" + entry("09:00", "y"))
    paths = [job.payload["path"] for job in found(empty)]
    assert paths == [LOG, "archive/2026-11-19-talk-0123abcd.md", "daily/2026-11-07.md"]
    assert found(empty, jobs_days="0") == []
    assert len(found(empty, jobs_days="999999999")) == 5


def test_an_entry_is_due_again_only_when_its_own_words_change(empty: Path) -> None:
    log(empty, "one", "two")
    before = {mark for job in found(empty) for mark in job.marks}
    log(empty, "one", "two, and more", "three")
    after = {mark for job in found(empty) for mark in job.marks}
    assert len(before & after) == 1
    assert len(after) == 3


def test_without_a_model_nothing_is_due_that_needs_one(project: Path) -> None:
    log(project, "we moved to HTTP/2")
    workspace = opened(project)
    jobs_, notes = due(workspace, nothing_known, now=clock())
    assert [job.kind for job in jobs_] == [CONSOLIDATION]
    assert "mem config set llm.provider" in notes[0]


def test_a_file_that_cannot_be_read_is_named_and_holds_up_nothing(empty: Path) -> None:
    log(empty, "fine")
    (empty / ".decsr/memory/daily/2026-11-19.md").symlink_to("/etc/passwd")
    jobs_, notes = due(with_model(empty), nothing_known, now=clock())
    assert [job.payload["path"] for job in jobs_] == [LOG]
    assert "2026-11-19" in notes[0]


def test_facts_that_clash_are_due_once_a_pair(empty: Path) -> None:
    write(
        empty,
        "MEMORY.md",
        "# Project Memory\n\n- The importer retries three times.\n- Backups run at night.\n"
        "- The importer retries five times.\n- The importer retries seven times.\n",
    )
    pairs = [job for job in found(empty) if job.kind == BELIEFS]
    assert sum(len(job.marks) for job in pairs) == 3
    known = pairs[0].marks[0]
    left = due(with_model(empty), lambda kind, mark: mark == known, now=clock())[0]
    assert sum(len(job.marks) for job in left) == 2


def test_a_digest_that_was_taken_back_is_not_made_again_until_there_is_more(project: Path) -> None:
    first = run(project, CONSOLIDATING)
    assert [job.kind for job in first.jobs] == [CONSOLIDATION]
    dreams = project / ".decsr/memory/DREAMS.md"
    assert "mem digest" in dreams.read_text()
    assert run(project, CONSOLIDATING).jobs == ()
    undo(with_model(project).layout, None, now=clock())
    before = dreams.read_bytes()
    for path in project.glob(".decsr/memory.db*"):
        path.unlink()
    assert run(project, CONSOLIDATING).jobs == ()
    assert dreams.read_bytes() == before
    log(project, "an old log that a merge brought", day="2026-01-02")
    assert [job.state for job in run(project, CONSOLIDATING).jobs] == [DONE]
    assert "merge brought" in dreams.read_text()


def test_a_stretch_of_a_conversation_keeps_who_said_what(empty: Path) -> None:
    said = [
        ("assistant" if number % 3 else "person", "Ines" if number % 3 == 0 else "", f"{number} ")
        for number in range(60)
    ]
    turns = [Message(role, text + "word " * 80, name) for role, name, text in said]
    path = "archive/2026-11-19-talk-0123abcd.md"
    write(empty, path, f"# Conversation: talk\n\n{render(turns)}")
    workspace = with_model(empty)
    stretches = [material(workspace, path, job.marks) for job in found(empty)]
    assert len(stretches) > 3
    again = [one for data in stretches for one in read(data).messages if one.role != SYSTEM]
    assert [(one.role, one.name, one.text.split()[0]) for one in again] == [
        (role, name, text.strip()) for role, name, text in said
    ]


@given(text=st.text(alphabet="ab1é語 \n", max_size=4_000).map(lambda text: text * 9))
@settings(max_examples=30)
def test_a_long_entry_is_cut_into_bounded_parts_that_say_all_of_it(text: str) -> None:
    log_ = f"# Daily log 2026-11-20\n\n## 09:00 — note\n\n{text}\n".encode()
    parts = list(entries(LOG, log_).values())
    assert all(0 < estimate(part.text) <= TOKENS for part in parts)
    assert {*"".join(part.text for part in parts)} >= {*text} - {*" \n"}


def test_a_log_that_is_being_written_waits_unless_there_is_enough_of_it(empty: Path) -> None:
    def is_due(*bodies: str) -> list[int]:
        log(empty, *bodies)
        os.utime(empty / ".decsr/memory" / LOG, (clock().timestamp(), clock().timestamp()))
        times = [clock() + timedelta(seconds=after) for after in (10, 70)]
        return [len(due(with_model(empty), nothing_known, now=now, settle=60)[0]) for now in times]

    assert is_due("one") == [0, 1]
    assert is_due("word " * 700) == [1, 1]
