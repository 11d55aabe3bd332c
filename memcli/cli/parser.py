"""Typer's view of the commands: help, completion, every mistake worded, every option form.

A command file is imported when its command is called, or when help lists it.
"""

import inspect
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from memcli import __version__
from memcli.cli.options import Argument, Command, Parameter, call, parameters
from memcli.errors import UsageError

_ENUM: Any = Enum  # made from tables, where a type checker wants to read the members

CONTEXT = {"help_option_names": ["-h", "--help"]}


def run(commands: dict[str, str], words: Sequence[str]) -> int:
    """Parse `words` and run what they name. Raises UsageError for what Typer finds wrong."""
    group = _root(commands)
    if "_MEM_COMPLETE" in os.environ:
        group.main(args=list(words), prog_name="mem")  # answers the shell, and exits
    try:
        # Not `main`, which has its own ideas about closed pipes and ctrl-C.
        with group.make_context("mem", list(words)) as context:
            code = group.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        # Typer brings a click of its own whose errors have no public name; this is their mark.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(message)
            return UsageError.exit_code
        where = getattr(error, "ctx", None)
        raise UsageError(
            message[:1].lower() + message[1:].rstrip("."),
            hint=f"{where.command_path if where else 'mem'} --help",
        ) from error
    return code if isinstance(code, int) else 0


def _root(commands: dict[str, str]) -> TyperGroup:
    class Commands(TyperGroup):
        """The table of commands, each imported when it is wanted."""

        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            if args[0] not in commands and not ctx.resilient_parsing:
                close = get_close_matches(args[0], commands, n=1)
                hint = f"did you mean mem {close[0]}?" if close else "mem --help"
                raise UsageError(f"no such command '{args[0]}'", hint=hint)
            return super().resolve_command(ctx, args)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in commands:
                return None
            return build(cmd_name, import_module(commands[cmd_name]))

    app = typer.Typer(
        cls=Commands,
        context_settings=CONTEXT,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )

    def show_version(value: bool) -> None:
        if value:
            typer.echo(f"mem {__version__}")
            raise typer.Exit

    @app.callback()
    def mem(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        """A project's memory as plain markdown in its repository, found again."""

    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return group


def build(name: str, module: Any) -> TyperCommand | TyperGroup:
    """The Typer command of a command file: its `run`, or a group of its SUBCOMMANDS."""
    group = typer.Typer(
        name=name,
        help=module.__doc__,
        context_settings=CONTEXT,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    subcommands: dict[str, Command] | None = getattr(module, "SUBCOMMANDS", None)
    if subcommands is None:
        group.command(name=name, context_settings=CONTEXT)(_typed(module.run))
        return get_command(group)  # type: ignore[return-value]  # of one command: that command
    for sub, command in subcommands.items():
        group.command(name=sub, context_settings=CONTEXT)(_typed(command))
    group.callback()(_nothing)
    return get_command(group)  # type: ignore[return-value]  # of several commands: their group


def _nothing() -> None:
    """Keep a group of one command a group."""


def _typed(command: Command) -> Callable[..., int]:
    """A function with the signature that Typer wants for `command`."""

    def called(**values: Any) -> int:
        return call(command, {name: _plain(value) for name, value in values.items()})

    declared = [_parameter(one) for one in parameters(command)]
    called.__doc__ = command.__doc__
    called.__annotations__ = {one.name: one.annotation for one in declared}
    signature = inspect.Signature(declared, return_annotation=int)
    called.__signature__ = signature  # type: ignore[attr-defined]  # what inspect asks for first
    return called


def _parameter(one: Parameter) -> inspect.Parameter:
    declared = one.declared
    default = ... if one.is_required else one.default
    annotation: Any = one.type
    if isinstance(declared, Argument):
        info = typer.Argument(default, metavar=declared.metavar, help=declared.help)
    else:
        if declared.one_of:
            # Enum members are what Typer completes and checks; their values are what we pass on.
            annotation = _ENUM(one.name, [(value, value) for value in declared.one_of], type=str)
        info = typer.Option(
            default,
            *declared.names,
            help=declared.help,
            metavar=declared.metavar,
            hidden=declared.is_hidden,
        )
    if one.is_list:
        annotation = list[annotation]
    elif default is None:
        annotation |= None
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(one.name, kind, default=info, annotation=annotation)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
