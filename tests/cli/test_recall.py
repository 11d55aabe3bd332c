"""The flags of recall by the real program: they reach the verb, and the answer is parsed."""

from __future__ import annotations

from pathlib import Path

from memcli.text.recalled import BEGIN, END
from tests.conftest import Program, write


def test_the_fragment_and_its_receipt(mem: Program) -> None:
    out = mem("recall", "--budget", "700", "defrost", "alarm", code=0).out
    assert out.startswith(f"{BEGIN}\n## Project Memory\n")
    assert out.endswith(f"\n{END}\n")
    assert (
        mem("recall", "--budget", "700", "--format", "markdown", "tide", code=0).out[:4] == "<!--"
    )
    why = mem("recall", "--budget", "700", "--why", "defrost", "alarm", code=0).out
    assert " of 700 tokens; index fresh\n" in why
    assert "  + tasks/QY-73-defrost-aware-alarms.md:1-4  " in why
    assert "  - MEMORY.md:" in why
    answer = mem("recall", "--budget", "700", "--json", "defrost", "alarm", code=0).json
    assert answer["tokens"] <= answer["budget"] == 700
    assert answer["index"]["state"] == "fresh"
    sections = {one["name"]: one for one in answer["sections"]}
    assert list(sections)[:2] == ["instructions", "preferences"]
    (rule,) = sections["instructions"]["taken"]
    assert rule["why"] == "instruction"
    assert rule["place"] == "MEMORY.md:55"


def test_packs_by_name_and_by_file_and_a_conversation(mem: Program, tmp_path: Path) -> None:
    write(mem.cwd, "packs/review.md", "Look at the tests first.\n")
    pack = tmp_path / "other.md"
    pack.write_text("Mind the tide tables.\n")
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "Why did the alarm sleep?"}\n')
    out = mem(
        "recall", "--pack", "review", "--pack", str(pack), "--history", str(talk), "alarm", code=0
    ).out
    assert "> Look at the tests first.\n" in out
    assert "> Mind the tide tables.\n" in out
    assert "> **Person:** Why did the alarm sleep?\n" in out
    assert "### Recent days" not in out  # the conversation has their place


def test_what_is_not_there_is_said(mem: Program, tmp_path: Path) -> None:
    assert "no file none" in mem("recall", "--pack", "none", code=2).err
    assert "no file gone.md" in mem("recall", "--history", "gone.md", code=2).err
    assert "the budget is 50" in mem("recall", "--budget", "50", code=1).err
    assert mem("recall", "--budget", "-1", code=2).err
    root = tmp_path / "new"
    root.mkdir()
    mem("init", str(root), code=0)
    assert mem("recall", "--root", str(root), code=1).out == "nothing to recall\n"


def test_a_link_in_the_place_of_a_pack_is_not_followed(mem: Program, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("the wryneck\n")
    packs = mem.cwd / ".decsr/memory/packs"
    packs.mkdir()
    (packs / "secret.md").symlink_to(secret)
    ran = mem("recall", "--pack", "secret", code=3)
    assert "is a link" in ran.err
    assert "wryneck" not in ran.out
