"""Sessions as people have them, compared exactly; `pytest --update` rewrites them.

A transcript names its workspace in fixtures/ (or none) in its first line. A line that begins with
"$ " is run by a shell in the project's folder; below stands what it prints, stdout first, and its
exit code when that is not 0. Paths of this machine are written PROJECT and HOME.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Program, copied

FOLDER = Path(__file__).parent / "transcripts"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(
    path: Path, tmp_path: Path, mem: Program, request: pytest.FixtureRequest
) -> None:
    written = path.read_text(encoding="utf-8")
    head, *lines = written.splitlines()
    root = tmp_path / "there"
    fixture = head.rpartition("fixture: ")[2]
    if fixture == "none":
        root.mkdir()
    else:
        copied(fixture, root)
    program = tmp_path / "bin/mem"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m memcli "$@"\n')
    program.chmod(0o755)
    env = {**mem.environ(), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    shown = [head]
    for line in lines:
        if not line.startswith("$ "):
            continue
        done = subprocess.run(
            ["bash", "-c", line[2:]],
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        out = done.stdout + done.stderr + (f"[exit {done.returncode}]\n" * bool(done.returncode))
        out = out.replace(str(root), "PROJECT").replace(str(mem.home), "HOME")
        shown += ["", line, *out.splitlines()]
    text = "\n".join(shown) + "\n"
    if request.config.getoption("--update"):
        path.write_text(text, encoding="utf-8")
    assert text == written or request.config.getoption("--update")
