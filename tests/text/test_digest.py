from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.text import digest
from memcli.text.decode import decode, split_lines
from memcli.text.gleaning import AT_LEAST, PER_WEEK, Gleaning
from memcli.text.remarks import LONGEST, cite_hash, remarks
from tests.conftest import FIXTURES

LOGS = FIXTURES / "workspace/.decsr/memory/daily"


def glean(logs, shown=None):
    gleaning = Gleaning(shown)
    for path, text in sorted(logs.items()):
        day = datetime.fromisoformat(path[6:16])
        gleaning.add(path[6:16], remarks(path, text, day))
    return gleaning


def made(logs, limit=24_000, shown=None):
    return digest.render(glean(logs, shown), limit)


def year():
    return {f"daily/{path.name}": decode(path.read_bytes())[0] for path in LOGS.glob("*.md")}


def texts(text):
    return [it.text for it in remarks("daily/2026-01-05.md", text, datetime(2026, 1, 5))]


def entry(*lines, stage="build"):
    return "\n".join(["# Daily log 2026-01-05", "", f"## 09:00 — {stage}", "", *lines, ""])


def test_sentences_are_unwrapped_and_cited_where_they_stand():
    text = entry(
        "The scheduler holds its lock for", "the whole run. Workers wait for it meanwhile."
    )
    first, second = remarks("daily/2026-01-05.md", text, datetime(2026, 1, 5))
    assert first.text == "The scheduler holds its lock for the whole run."
    assert (first.start_line, first.end_line) == (5, 6)
    assert (second.start_line, second.end_line) == (6, 6)


def test_a_sentence_that_leans_on_the_one_before_stays_with_it():
    (one,) = texts(entry("The importer stopped at midnight. It had run out of disk."))
    assert one == "The importer stopped at midnight. It had run out of disk."


def test_an_error_message_goes_with_the_sentence_that_leads_to_it():
    text = entry("Every insert failed:", "", "```", "psql says", "ERROR: no partition", "```")
    (one,) = remarks("daily/2026-01-05.md", text, datetime(2026, 1, 5))
    assert one.text == "Every insert failed: `ERROR: no partition`"
    assert (one.start_line, one.end_line) == (5, 9)
    assert texts(entry("We saw three things:", "", "```", "all is well", "```")) == []


def test_scripts_without_spaces_are_joined_without_one():
    assert texts(entry("索引は毎晩", "作り直すことにした。")) == ["索引は毎晩作り直すことにした。"]
    assert texts(entry("Журнал хранится", "четырнадцать дней.")) == [
        "Журнал хранится четырнадцать дней."
    ]


def test_a_log_without_entries_counts_as_one():
    assert texts("a plain line about the relay, typed by hand\n") == [
        "a plain line about the relay, typed by hand"
    ]


def test_no_line_can_open_a_comment_or_end_the_digest():
    lines = [f"We decided to write {digest.END} into the log <!-- now", "", "# Not a heading here"]
    text = made({"daily/2026-01-05.md": entry(*lines)}).text
    assert text.count("<!--") == 2
    assert digest.find(text) is not None


def test_the_same_logs_give_the_same_bytes():
    assert made(year()).text == made(year()).text


def test_every_citation_holds():
    logs = year()
    found = list(digest.CITATION.finditer(made(logs).text))
    assert len(found) > 50
    for cited in found:
        start = int(cited["start"])
        lines = split_lines(logs[cited["path"]])[start - 1 : int(cited["end"] or start)]
        assert cite_hash(lines) == cited["hash"]


def test_a_year_says_what_happened():
    text = made(year()).text
    for told in (
        "Decision: we drop the write queue from `ingestd`.",
        "INC-11. All 180 modems in Tangier offline",
        "400 days for `reading`",
        "Found it. `test_alarm_clears_after_defrost`",
        "The 48 h quarantine rule of January is now wrong",
    ):
        assert told in text
    assert "`test_alarm_clears_after_defrost` on 3 days" in text
    assert "What did not" not in text


def test_what_is_said_again_is_one_line_that_names_all_days():
    logs = {
        f"daily/2026-01-{day:02d}.md": entry("The nightly import failed with a timeout of 30 s.")
        for day in (5, 6, 7)
    }
    logs["daily/2026-01-06.md"] = entry("the nightly import failed with a timeout of 30 s")
    text = made(logs).text
    assert text.lower().count("the nightly import failed") == 1
    assert all(f"daily/2026-01-{day:02d}.md#L5 " in text for day in (5, 6, 7))


def test_what_differs_in_a_number_is_said_apart():
    logs = {
        f"daily/2026-01-{day:02d}.md": entry(f"The nightly import failed with {day} errors today.")
        for day in (5, 6)
    }
    assert made(logs).text.count("The nightly import failed") == 2


def test_decisions_come_before_chatter():
    chatter = [f"- Had a look at screen number {n} of the gallery" for n in range(40)]
    text = entry(*chatter, "- We decided to drop the gallery for good")
    assert "We decided to drop the gallery" in made({"daily/2026-01-05.md": text}).text


def test_a_day_that_searches_showed_often_wins():
    logs = {
        f"daily/2026-01-{day:02d}.md": entry(
            *[f"- A {word} about the {word} relay" for word in words]
        )
        for day, words in ((5, ["alpha", "beta", "gamma"]), (6, ["delta", "epsilon", "zeta"]))
    }
    cited = {
        shown: digest.CITATION.findall(made(logs, shown={f"daily/2026-01-{shown}.md": 60}).text)
        for shown in ("05", "06")
    }
    for shown, found in cited.items():
        assert {path for path, *_ in found} == {f"daily/2026-01-{shown}.md"}


def test_the_digest_is_bounded_whatever_the_logs():
    start = date(2020, 1, 1)
    logs = {
        f"daily/{start + timedelta(days=n)}.md": entry(
            *[f"- We decided number {n}-{k} about the relay of hall {k}" for k in range(12)]
        )
        for n in range(400)
    }
    result = made(logs, limit=8_000)
    assert len(result.text) < 12_000
    assert result.days == 400
    weekly = made(dict(list(logs.items())[:7]))
    assert AT_LEAST <= len(weekly.lines) <= 2 * PER_WEEK


@settings(max_examples=100)
@given(st.lists(st.text(max_size=80), max_size=6), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_any_log_is_read_and_cited_truly(lines, newline):
    text = entry() + newline.join(lines)
    found = remarks("daily/2026-01-05.md", text, datetime(2026, 1, 5))
    for it in found:
        assert 1 <= it.start_line <= it.end_line <= len(split_lines(text))
        assert len(it.text) <= LONGEST + 200
        assert "\n" not in it.text and "<!--" not in it.text
    gleaning = Gleaning()
    gleaning.add("2026-01-05", found)
    block = digest.render(gleaning, 8_000).text
    place = digest.find(block)
    assert place is not None and (place.start, place.end) == (0, len(block))


OWN = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60).filter(
    lambda text: "mem digest" not in text
)


@settings(max_examples=100)
@given(OWN, OWN)
def test_what_a_person_wrote_around_it_stays(before, after):
    block = made({"daily/2026-01-05.md": entry("We decided to keep the relay.")}).text
    other = made({"daily/2026-01-06.md": entry("We decided to drop the relay.")}).text
    text = digest.put(before, block)
    assert text.startswith(before)
    text += after
    again = digest.put(text, other)
    assert again.startswith(before) and again.endswith(after)
    assert digest.put(again, block) == text


def test_marks_that_are_no_pair_are_refused():
    block = made({"daily/2026-01-05.md": entry("We decided to keep the relay.")}).text
    for broken in (block.replace(digest.END, ""), block + block, digest.END + "\n" + block):
        with pytest.raises(ValueError, match="no pair"):
            digest.find(broken)


def test_windows_line_ends_are_kept():
    block = made({"daily/2026-01-05.md": entry("We decided to keep the relay.")}).text
    text = digest.put("# Dreams\r\n\r\nmine\r\n", block)
    assert text.count("\n") == text.count("\r\n")
    assert digest.put(text, block) == text
