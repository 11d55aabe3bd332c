"""How a command declares what it takes: once, for both parsers.

A command is a function whose first parameter is the Context and whose others are annotated
``Annotated[type, Option(...)]`` or ``Annotated[type, Argument(...)]``. ``cli.parser`` makes Typer
commands of them; ``cli.light`` parses the plain calls that hooks and agents make all day, without
the import of Typer, which costs more than the search.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import UnionType
from typing import Annotated, Any, NamedTuple

from memcli import formats
from memcli.errors import UsageError, WorkspaceError
from memcli.model import Progress
from memcli.workspace import Workspace, has_personal, open_personal, open_workspace


class Option(NamedTuple):
    """A flag; `names` as typed, "--dry-run" or "-k". A default of False makes it a switch."""

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    one_of: tuple[str, ...] = ()
    is_hidden: bool = False


class Argument(NamedTuple):
    """A word by its place; a list takes all that are left."""

    metavar: str
    help: str


class Parameter(NamedTuple):
    """One thing that a command takes, as read from its signature."""

    name: str
    type: type  # str, int, float or bool
    is_list: bool
    declared: Option | Argument
    default: Any
    is_required: bool


class Context(NamedTuple):
    """What every command is told besides its own options."""

    format: str | None = None
    is_quiet: bool = False
    is_verbose: bool = False
    root: str | None = None
    is_personal: bool = False

    def open(self, flags: Mapping[str, Any] | None = None) -> Workspace:
        """The workspace that this call is about. Raises WorkspaceError or UsageError."""
        if self.is_personal:
            return open_personal(os.environ, flags=flags)
        return open_workspace(os.getcwd(), os.environ, root=self.root, flags=flags)

    def open_scope(
        self, scope: str | None, flags: Mapping[str, Any] | None = None
    ) -> list[Workspace]:
        """The workspaces of a scope, the project's first; of "all" those that there are.

        Raises WorkspaceError when there is none, and UsageError.
        """
        if self.is_personal or scope == "personal":
            if scope not in (None, "personal"):
                raise UsageError(f"--personal and --scope {scope} exclude each other")
            return [open_personal(os.environ, flags=flags)]
        if scope != "all" or not has_personal(os.environ):
            return [self.open(flags)]
        personal = open_personal(os.environ, flags=flags)
        try:
            project = self.open(flags)
        except WorkspaceError as error:
            if self.root or os.environ.get("MEM_ROOT"):
                raise
            personal.notes.append(f"{error}, so no project is looked at")
            return [personal]
        is_same = project.layout.root == personal.layout.root
        return [personal] if is_same else [project, personal]

    def at(self, root: str) -> Workspace:
        """The workspace in this very folder."""
        return open_workspace(root, os.environ, root=root)

    @contextmanager
    def progress(self) -> "Iterator[Progress | None]":
        """A bar on a terminal's stderr, which shows only what takes over a second; else None."""
        if self.is_quiet or not sys.stderr.isatty():
            yield None
            return
        from memcli.formats.progress import bar  # rich is only for people who watch

        with bar() as show:
            yield show


FORMATS = tuple(formats.TABLE)

Command = Callable[..., int]


def common(
    context: None,
    root: Annotated[str | None, Option(("--root",), "The folder that holds .decsr.", "DIR")] = None,
    personal: Annotated[
        bool, Option(("--personal",), "Your own memory, the same in every project.")
    ] = False,
    format: Annotated[
        str | None,
        Option(("--format",), "How to print; pretty on a terminal, else text.", one_of=FORMATS),
    ] = None,
    json: Annotated[bool, Option(("--json",), "The same as --format json.")] = False,
    quiet: Annotated[
        bool, Option(("-q", "--quiet"), "Say nothing that is not the answer.")
    ] = False,
    verbose: Annotated[bool, Option(("-v", "--verbose"), "Say more, and why it failed.")] = False,
) -> None:
    """The options that every command has; never called, only read."""


def parameters(command: Callable[..., Any]) -> list[Parameter]:
    """What a command takes, in order, its own and then the common ones."""
    own = _declared(command)
    return own if command is common else own + _declared(common)


def _declared(command: Callable[..., Any]) -> list[Parameter]:
    code = command.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(
        zip(
            reversed(code.co_varnames[: code.co_argcount]),
            reversed(command.__defaults__ or ()),
            strict=False,
        )
    )
    defaults.update(command.__kwdefaults__ or {})
    found = []
    for name in names:
        annotation = command.__annotations__[name]
        base = annotation.__origin__
        if isinstance(base, UnionType):  # X | None
            base = next(one for one in base.__args__ if one is not type(None))
        is_list = getattr(base, "__origin__", None) is list
        if is_list:
            base = base.__args__[0]
        found.append(
            Parameter(
                name=name,
                type=base,
                is_list=is_list,
                declared=annotation.__metadata__[0],
                default=defaults.get(name),
                is_required=name not in defaults,
            )
        )
    return found


def call(command: Command, values: dict[str, Any]) -> int:
    """Run a command with all of its parsed values, the common ones as its Context."""
    context = Context(
        format="json" if values.pop("json") else values.pop("format"),
        is_quiet=values.pop("quiet"),
        is_verbose=values.pop("verbose"),
        root=values.pop("root"),
        is_personal=values.pop("personal"),
    )
    if context.root and context.is_personal:
        raise UsageError("--root and --personal are two memories", hint="leave one out")
    values.pop("format", None)
    return command(context, **values)
