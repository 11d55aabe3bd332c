"""What all tests share: a guard around the real machine, copied workspaces, the real program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from memcli import layout
from memcli.workspace import Workspace, open_workspace
from tests.servers import Server, serving

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
HOME = Path.home()
LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")

NOBODY = 65534

NOW = datetime(2026, 11, 20, 12, 0)
# A run in the background has ctrl-C ignored, and so would the programs that are sent one.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A property that holds slowly holds: how long things take is measured in tests/bench.
hypothesis.settings.register_profile("mem", deadline=None)
hypothesis.settings.load_profile("mem")

BY_WORD = {"MEM_EMBEDDING_PROVIDER": "none"}  # the model only where meaning is tested


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the transcripts as they run")


@pytest.fixture(scope="session", autouse=True)
def _guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail, by its name, a test that uses the real home folder or any address but this machine."""
    home = tmp_path_factory.mktemp("home")
    kept = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("MEM_", "XDG_", "GIT_", "OLLAMA_", "_MEM_")):
            del os.environ[name]
    os.environ.update(BY_WORD, HOME=str(home), OPENBLAS_NUM_THREADS="1")
    fine = [str(Path(one).resolve()) for one in [*sys.path, sys.prefix, sys.base_prefix] if one]
    fine += [str(ROOT), str(tmp_path_factory.getbasetemp())]
    is_on = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not is_on:
            return
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        if event == "socket.connect" or event == "socket.getaddrinfo":
            host = arguments[1] if event == "socket.connect" else arguments[0]
            host = host[0] if isinstance(host, tuple) else host
            if host and event == "socket.connect" and isinstance(arguments[1], (str, bytes)):
                return  # a socket file
            if not str(host).startswith(LOOPBACK):
                pytest.fail(f"{test} asks the network for {host}")
        elif event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove"):
            path = arguments[0]
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if not isinstance(path, str) or not test:
                return
            path = os.path.abspath(path)
            is_at_home = path == str(HOME) or path.startswith(f"{HOME}{os.sep}")
            if is_at_home and not any(path.startswith(one) for one in fine):
                pytest.fail(f"{test} uses the real home folder: {event} {path}")

    sys.addaudithook(hook)
    yield
    is_on = False
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture
def now() -> datetime:
    """A fixed time, one day after the last log of the workspace in fixtures/."""
    return NOW


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the believable workspace: the folder that holds .decsr."""
    return copied("workspace", tmp_path / "project")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder with a workspace in which nothing is remembered yet."""
    root = tmp_path / "empty"
    (root / ".decsr/memory/daily").mkdir(parents=True)
    (root / ".decsr/memory/tasks").mkdir()
    return root


@pytest.fixture
def workspace(project: Path) -> Iterator[Workspace]:
    """The believable workspace, open, without an embedder."""
    found = opened(project)
    yield found
    found.close()


def copied(name: str, to: Path) -> Path:
    """A workspace of fixtures/ as a clone has it, whatever was tried out there."""
    made = shutil.ignore_patterns(*layout.IGNORED.replace("/", "").split())

    def ignored(folder: str, names: list[str]) -> set[str]:
        return made(folder, names) if os.path.basename(folder) == layout.HOME else set()

    shutil.copytree(FIXTURES / name, to, symlinks=True, ignore=ignored)
    return to


@pytest.fixture
def bare(empty: Path) -> Iterator[Workspace]:
    """A workspace in which nothing is remembered, open."""
    found = opened(empty)
    yield found
    found.close()


def opened(root: Path, **settings: str) -> Workspace:
    """The workspace at `root`; settings are variables without their MEM_, in small letters."""
    given = {f"MEM_{name.upper()}": value for name, value in settings.items()}
    return open_workspace(str(root), {**BY_WORD, **given})


def write(root: Path, path: str, text: str | bytes) -> Path:
    """A memory file of the workspace at `root`."""
    full = root / ".decsr/memory" / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text if isinstance(text, bytes) else text.encode())
    return full


@dataclass(frozen=True)
class Ran:
    """What a run of the program left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Program:
    """The real program in a process of its own, with nothing of this environment."""

    home: Path
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)

    def __call__(
        self,
        *words: str | bytes,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes | None = None,
        before: tuple[str, ...] = (),
        code: int | None = None,
    ) -> Ran:
        """Run ``mem`` with these words, by way of the command `before` if given.

        A variable that is None is left out. `code` is what it must exit with.
        """
        given = {**self.environ(), **(env or {})}
        done = subprocess.run(
            [*before, sys.executable, "-m", "memcli", *words],
            cwd=cwd or self.cwd,
            env={name: value for name, value in given.items() if value is not None},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=120,
            check=False,
        )
        ran = Ran(
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        )
        assert "Traceback" not in ran.err, ran.err
        assert code is None or ran.code == code, ran
        return ran

    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **BY_WORD,
            **self.env,
        }


@pytest.fixture
def mem(tmp_path: Path, project: Path) -> Program:
    """The program, at home in the believable workspace."""
    home = tmp_path / "home"
    home.mkdir()
    return Program(home, project)


@pytest.fixture
def server() -> Iterator[Server]:
    """An embedding server on this machine."""
    with serving() as found:
        yield found


@dataclass(frozen=True)
class PlainUser:
    """Somebody whom modes bind, as they do not bind root."""

    home: Path  # theirs
    words: tuple[str, ...]  # which run a command as them

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home)}

    def take(self, root: Path) -> Path:
        """A copy of a project that is theirs."""
        taken = shutil.copytree(root, self.home / root.name, symlinks=True)
        if self.words:
            for base, folders, files in os.walk(taken):
                for name in [".", *folders, *files]:
                    os.chown(os.path.join(base, name), NOBODY, NOBODY, follow_symlinks=False)
        return taken


@pytest.fixture
def plain_user() -> Iterator[PlainUser]:
    """A user without privileges: this one, or nobody by way of setpriv."""
    # Not below tmp_path: pytest closes that to everybody else.
    home = Path(tempfile.mkdtemp(prefix="mem-test-"))
    home.chmod(0o755)
    words: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("as root this needs setpriv")
        words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    yield PlainUser(home, words)
    for base, _, _ in os.walk(home):
        os.chmod(base, 0o755)
    shutil.rmtree(home)
