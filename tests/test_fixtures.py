"""Holds what the folder fixtures/ promises: facts, judged questions, exact bytes, scripts, size."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unicodedata
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
WORKSPACES = ("workspace", "messy", "decsr")
SIZE_BOUND = 2_000_000

FACT = re.compile(
    r"^- (?P<text>.*?)  <!-- (?:src=(?P<source>.+?) )?hash=(?P<hash>[0-9a-f]{12})"
    r"(?: kind=(?P<kind>preference|instruction|summary))?(?P<off> off)? -->$",
    re.MULTILINE,
)
SECTION = re.compile(r"^## \d{4}-\d{2}-\d{2} — promoted(?: from task [^\s/]+)?$")
EXPECT = re.compile(r"(?P<path>[^#]+)(?:#L(?P<start>\d+)(?:-L(?P<end>\d+))?)?")
ENTRY = re.compile(r"^## ([01]\d|2[0-3]):[0-5]\d — \S", re.MULTILINE)
SUMMARY_HEAD = re.compile(
    r"# [^\n]*\n\n_Task: [^\n]+_  \n"
    r"_Recorded: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d_\n\n\S"
)

SCRIPTS = ("HIRAGANA", "CJK", "THAI", "CYRILLIC", "ARABIC", "DEVANAGARI")
# What the questions without an answer ask about; none of it may creep into the story.
FOREIGN_TOPICS = (
    *("kubernetes", "graphql", "react", "oauth", "redux", "redis", "kafka", "terraform"),
    *("stripe", "docker", "elasticsearch", "webassembly", "dark mode", "salesforce", "figma"),
    *("websocket", "jenkins", "webpack", "angular", "checkout", "password", "feature flag"),
)


def memory(name: str) -> Path:
    return FIXTURES / name / ".decsr" / "memory"


def messy(path: str) -> bytes:
    return (memory("messy") / path).read_bytes()


def rows(name: str) -> list[dict[str, object]]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def hash_of(text: str) -> str:
    return sha256(text.strip().lower().encode()).hexdigest()[:12]


def workspace_text() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in memory("workspace").rglob("*.md"))


def test_fixtures_stay_small() -> None:
    sizes = [
        path.stat().st_size
        for path in FIXTURES.rglob("*")
        if path.is_file() and (path.parent.name != ".decsr" or path.name == ".gitignore")
    ]
    assert sum(sizes) < SIZE_BOUND


def test_git_converts_no_line_ending() -> None:
    lines = (FIXTURES / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* -text" in lines


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
@pytest.mark.parametrize("name", WORKSPACES)
def test_no_ignore_rule_swallows_a_memory_file(name: str) -> None:
    listed = subprocess.run(
        ["git", "-C", str(memory(name)), "ls-files", "-z"], capture_output=True, check=True
    )
    on_disk = {str(p.relative_to(memory(name))) for p in memory(name).rglob("*") if p.is_file()}
    assert set(listed.stdout.decode().split("\0")) - {""} == on_disk


@pytest.mark.parametrize("name", WORKSPACES)
def test_no_link_leads_out_of_the_fixtures(name: str) -> None:
    assert not [path for path in (FIXTURES / name).rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("name", ["workspace", "decsr"])
def test_facts_carry_the_hash_of_their_text(name: str) -> None:
    text = (memory(name) / "MEMORY.md").read_text(encoding="utf-8")
    facts = list(FACT.finditer(text))
    assert len(facts) == text.count("hash=") - text.count("<!-- removed")
    assert [fact["hash"] for fact in facts] == [hash_of(fact["text"]) for fact in facts]
    assert len({fact["hash"] for fact in facts}) == len(facts)


def test_pinned_facts_of_every_sort_are_there() -> None:
    text = (memory("workspace") / "MEMORY.md").read_text(encoding="utf-8")
    facts = list(FACT.finditer(text))
    bullets = [line for line in text.splitlines() if line.startswith("- ")]
    assert 15 <= len(bullets) <= 30
    assert sum("<!--" not in line for line in bullets) >= 3
    assert {fact["kind"] for fact in facts} == {None, "preference", "instruction", "summary"}
    assert sum(bool(fact["off"]) for fact in facts) == 1
    assert [line for line in text.splitlines() if SECTION.match(line)]


def test_promoted_facts_stand_word_for_word_in_their_documents() -> None:
    text = (memory("workspace") / "MEMORY.md").read_text(encoding="utf-8")
    checked = 0
    for fact in FACT.finditer(text):
        path = (fact["source"] or "").partition("#")[0]
        if not path.startswith("docs/") or fact["off"]:
            continue
        document = (FIXTURES / "workspace" / path).read_text(encoding="utf-8")
        assert fact["text"] in " ".join(document.split()), fact["text"]
        checked += 1
    assert checked >= 10


def test_the_tombstone_belongs_to_a_decision_that_a_document_still_states() -> None:
    text = (memory("workspace") / "MEMORY.md").read_text(encoding="utf-8")
    (removed,) = re.findall(r"<!-- removed hash=([0-9a-f]{12}) -->", text)
    documents = (FIXTURES / "workspace" / "docs").glob("*.md")
    items = re.findall(
        r"^(?:-|\d+\.) (.+)$", "\n".join(p.read_text(encoding="utf-8") for p in documents), re.M
    )
    assert removed in {hash_of(item) for item in items}


@pytest.mark.parametrize("name", ["workspace", "decsr"])
def test_daily_logs_and_summaries_have_the_written_form(name: str) -> None:
    days = sorted((memory(name) / "daily").iterdir())
    for day in days:
        text = day.read_text(encoding="utf-8")
        assert text.startswith(f"# Daily log {day.stem}\n\n## ")
        assert len(ENTRY.findall(text)) == len(re.findall(r"^## ", text, re.MULTILINE)) >= 2
    for summary in (memory(name) / "tasks").iterdir():
        assert SUMMARY_HEAD.match(summary.read_text(encoding="utf-8")), summary.name


def test_the_workspace_spans_a_year_in_about_forty_files() -> None:
    folder = memory("workspace")
    days = sorted(path.stem for path in (folder / "daily").iterdir())
    assert len(days) >= 24
    assert (days[0][:7], days[-1][:7]) == ("2025-11", "2026-11")
    assert len(list((folder / "tasks").iterdir())) >= 8
    assert len(list((folder / "archive").iterdir())) == 3
    assert 35 <= len(list(folder.rglob("*.md"))) <= 45


@pytest.mark.parametrize("script", SCRIPTS)
def test_colleagues_write_in_their_own_script(script: str) -> None:
    letters = [char for char in workspace_text() if unicodedata.name(char, "").startswith(script)]
    assert len(letters) >= 60


@pytest.mark.parametrize("words", ["und finde aber nicht", "nous le pas une"])
def test_some_entries_are_german_and_french(words: str) -> None:
    entries = re.split(r"\n(?=## )|\n\n", workspace_text())
    assert any(len(set(words.split()) & set(entry.lower().split())) >= 3 for entry in entries)


def test_what_decsr_never_writes_is_not_there() -> None:
    assert sorted(os.listdir(memory("decsr"))) == ["MEMORY.md", "daily", "tasks"]
    assert not (memory("decsr").parent / "config.toml").exists()


def test_the_index_of_the_workspace_is_never_committed() -> None:
    ignored = (FIXTURES / "workspace" / ".decsr" / ".gitignore").read_text(encoding="utf-8")
    assert ignored.split() == ["memory.db*", "memory.vec*", "history/", "lock", "*.log"]


def test_every_expected_passage_exists() -> None:
    for row in rows("queries.jsonl"):
        expected = row["expect"]
        assert isinstance(expected, list) and expected, row
        for address in expected:
            found = EXPECT.fullmatch(address)
            assert found, address
            lines = (memory("workspace") / found["path"]).read_text(encoding="utf-8").split("\n")
            assert lines.pop() == ""
            start = int(found["start"] or 1)
            end = int(found["end"] or found["start"] or len(lines))
            assert 1 <= start <= end <= len(lines), address
            assert lines[start - 1].strip() and lines[end - 1].strip(), address


def test_a_query_that_is_an_identifier_stands_in_what_it_expects() -> None:
    checked = 0
    for row in rows("queries.jsonl"):
        query = str(row["query"])
        if not re.fullmatch(r"[A-Z]+-[A-Z0-9-]+|\w+_\w+|[A-Z][a-z]+[A-Z]\w+", query):
            continue
        expected = row["expect"]
        assert isinstance(expected, list)
        files = [address.partition("#")[0] for address in expected]
        texts = [(memory("workspace") / name).read_text(encoding="utf-8") for name in files]
        assert any(query in text for text in texts), query
        checked += 1
    assert checked >= 8


def test_queries_are_many_and_none_is_asked_twice() -> None:
    answered = [str(row["query"]) for row in rows("queries.jsonl")]
    silent = [str(row["query"]) for row in rows("unanswerable.jsonl")]
    folded = [" ".join(query.casefold().split()) for query in answered + silent]
    assert 40 <= len(answered) <= 60
    assert len(silent) == 100
    assert len(set(folded)) == len(folded)
    assert sum(query.isascii() for query in silent) <= 70


@pytest.mark.parametrize("topic", FOREIGN_TOPICS)
def test_what_the_unanswerable_ask_about_is_absent(topic: str) -> None:
    assert topic not in workspace_text().lower()


def test_line_endings_of_the_messy_workspace() -> None:
    windows = messy("daily/2025-10-02.md")
    assert windows.count(b"\n") == windows.count(b"\r\n") > 5
    macintosh = messy("daily/2025-10-30.md")
    assert b"\n" not in macintosh and macintosh.count(b"\r") > 4
    mixed = messy("tasks/mixed-endings.md")
    assert b"\r\n" in mixed and re.search(rb"[^\r]\n", mixed) and re.search(rb"\r[^\n]", mixed)


def test_encodings_of_the_messy_workspace() -> None:
    assert messy("daily/2025-10-09.md").startswith(b"\xef\xbb\xbf# Daily")
    assert messy("daily/2025-10-23.md").decode("utf-16").startswith("# Daily")
    for path in ("daily/2025-10-16.md", "daily/2025-12-11.md"):
        with pytest.raises(UnicodeDecodeError):
            messy(path).decode("utf-8")
    assert "– “Le phare" in messy("daily/2025-10-16.md").decode("cp1252")
    assert b"\0" * 2048 in messy("daily/2025-11-06.md")
    assert b"\x1b[2J" in messy("tasks/control-characters.md")


def test_shapes_of_the_messy_workspace() -> None:
    assert max(len(line) for line in messy("tasks/scan-dump.md").split(b"\n")) == 300_000
    assert messy("daily/2025-11-27.md") == b"" and messy("DREAMS.md") == b""
    blank = messy("daily/2025-12-04.md")
    assert blank and not blank.decode().strip()
    assert not messy("daily/2025-11-20.md").endswith(b"\n")
    assert messy("daily/2025-11-13.md").count(b"```") == 1
    assert messy("tasks/letterhead.md").startswith(b"---\n")
    assert messy("tasks/front-matter-left-open.md").count(b"---\n") == 1
    assert b"C:\\scans" in messy("tasks/broken-front-matter.md")


def test_names_of_the_messy_workspace() -> None:
    daily = set(os.listdir(memory("messy") / "daily"))
    assert {"2026-01-05.md", "2026-01-05 (conflicted copy).md", "2026-1-7.md"} <= daily
    assert {"2026-02-30.md", "notes from the fair.md", "todo.txt", "2026-01-12.md.bak"} <= daily
    tasks = os.listdir(memory("messy") / "tasks")
    assert {"two words.md", "🪔 lamp oil.md", "한글 메모.md", "old"} <= set(tasks)
    composed = [unicodedata.normalize("NFC", name) for name in tasks]
    assert "café hours.md" in composed
    assert (memory("messy") / "tasks" / "old" / "2019" / "import.md").is_file()


def test_hand_made_memory_says_the_same_thing_twice() -> None:
    text = messy("MEMORY.md").decode()
    bullets = re.findall(r"^[-*+] (.+?)\.?(?:  <!--.*)?$", text, re.MULTILINE)
    folded = [bullet.lower() for bullet in bullets]
    assert len(folded) - len(set(folded)) == 3
    assert "hash=000000000000" in text
    assert not re.match(r"# Project Memory", text)
