from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.text.task import (
    clean_task_id,
    hashed_file_name,
    parse_task_id,
    pick_file_name,
    render,
    task_file_name,
)

AT = datetime(2026, 3, 4, 12, 5, 59, 700, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("task_id", "name"),
    [
        ("T-1", "T-1.md"),
        (" feature/login page ", "feature-login-page.md"),
        ("a::b//c", "a-b-c.md"),
        ("v1.2_rc", "v1.2_rc.md"),
        (".hidden.", "hidden.md"),
        ("-x-", "x.md"),
        ("задача 7", "задача-7.md"),
        ("設計/検索", "設計-検索.md"),
        ("हिन्दी काम", "हिन्दी-काम.md"),
        ("cafe\u0301", "café.md"),
        ("a..b", "a..b.md"),
        ("a---b", "a---b.md"),
    ],
)
def test_file_name(task_id, name):
    assert task_file_name(task_id) == name


@pytest.mark.parametrize(
    "task_id",
    [
        *(
            "",
            "  ",
            "/etc/x",
            "../x",
            "a/../b",
            "a/./b",
            "..",
            ".",
            "C:\\x",
            "\\\\host\\x",
            "..\\x",
        ),
        *("a\nb", "a\x00", "\x1b[2J", "\x85", "T-1\n", "a\u2028b"),
    ],
)
def test_refused_ids(task_id):
    with pytest.raises(UsageError):
        task_file_name(task_id)


def test_symbols_alone_still_name_a_file_each():
    assert task_file_name("🚀").startswith("task-")
    assert task_file_name("🚀") != task_file_name("🔥")


def test_long_names_are_cut_at_a_character():
    name = task_file_name("é" * 79 + "x")
    assert name == "é" * 40 + ".md"
    assert task_file_name("a" * 79 + "-b") == "a" * 79 + ".md"
    assert len(hashed_file_name("é" * 90).removesuffix(".md").encode()) <= 80


def test_another_tasks_file_is_left_alone():
    assert pick_file_name("a/b", {}) == "a-b.md"
    assert pick_file_name("a/b", {"a-b.md": "a/b"}) == "a-b.md"
    assert pick_file_name("a/b", {"a-b.md": None}) == "a-b.md"
    hashed = pick_file_name("a-b", {"a-b.md": "a/b"})
    assert hashed == hashed_file_name("a-b") != "a-b.md"
    # Its own file stays its own when the other one is gone.
    assert pick_file_name("a-b", {hashed: "a-b"}) == hashed


def test_names_that_differ_in_case_are_one():
    assert pick_file_name("foo", {"Foo.md": "Foo"}) == hashed_file_name("foo")
    assert pick_file_name("foo", {"Foo.md": None}) == "Foo.md"
    assert pick_file_name("foo", {"Foo.md": "Foo", "foo.md": "foo"}) == "foo.md"


def test_the_written_form():
    assert render("  Log in\nwith a key ", "feature/x", AT, "Done.\r\n\r\n") == (
        "# Log in with a key\n\n_Task: feature/x_  \n_Recorded: 2026-03-04T12:05:59+02:00_\n\n"
        "Done.\n"
    )
    assert render("", "T-1", AT.astimezone(UTC), "b") == (
        "# T-1\n\n_Task: T-1_  \n_Recorded: 2026-03-04T10:05:59Z_\n\nb\n"
    )


@pytest.mark.parametrize(
    ("text", "task_id"),
    [
        ("# T\n\n_Task: a_b_  \n_Recorded: x_\n\nb\n", "a_b"),
        ("\ufeff# T\r\n\r\n_Task: a b_  \r\n_Recorded: x_\r\n", "a b"),
        ("# T\n_Task: x_", "x"),
        ("# T\n\nSome text.\n\n_Task: x_\n", None),
        ("# T\n\n_Task: _\n", None),
        ("by hand\n", None),
        ("", None),
    ],
)
def test_id_of_a_summary(text, task_id):
    assert parse_task_id(text) == task_id


@settings(max_examples=200)
@given(st.text(max_size=120))
def test_any_id_is_refused_or_names_one_plain_file(task_id):
    try:
        cleaned = clean_task_id(task_id)
    except UsageError:
        return
    for name in (task_file_name(task_id), hashed_file_name(task_id)):
        stem = name.removesuffix(".md")
        assert 0 < len(stem.encode()) <= 80
        assert not set(stem) & set("/\\\0\n")
        assert stem == stem.strip("-.")
    assert task_file_name(cleaned) == task_file_name(task_id)


@settings(max_examples=200)
@given(st.text(), st.text(max_size=50), st.text())
def test_the_id_is_read_back(title, task_id, body):
    try:
        cleaned = clean_task_id(task_id)
    except UsageError:
        return
    assert parse_task_id(render(title, task_id, AT, body)) == cleaned


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_read(text):
    parse_task_id(text)
