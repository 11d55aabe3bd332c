"""Settings, each with where its value comes from."""

import os
from typing import Annotated

from memcli import config
from memcli.cli.options import Argument, Command, Context, Option
from memcli.cli.show import say, show
from memcli.errors import WorkspaceError
from memcli.ops.config import SettingValue, SettingValues, set_value
from memcli.text.printable import printable


def _loaded(context: Context) -> config.Loaded:
    """The settings here, or outside any workspace those of the user."""
    try:
        return context.open().loaded
    except WorkspaceError:
        return config.load("", os.environ)


def _values(loaded: config.Loaded, keys: list[str]) -> SettingValues:
    values = []
    for key in keys:
        field = config.FIELDS[key]
        value = getattr(loaded.settings, field.name)
        shown = "(set, not shown)" if key.endswith(".key") and value else value
        values.append(SettingValue(key, shown, loaded.origins[key], field.metadata["doc"]))
    return SettingValues(tuple(values), loaded.notes)


def list_(context: Context) -> int:
    """List all settings with their values and where these come from."""
    result = _values(_loaded(context), list(config.FIELDS))
    show(context, result)
    say(context, result.notes)
    return 0


def get(context: Context, key: Annotated[str, Argument("KEY", "As in search.alpha.")]) -> int:
    """Print the value of one setting, in JSON with where it comes from."""
    config.known(key)
    result = _values(_loaded(context), [key])
    if context.format is None:
        value = result.settings[0].value
        print(printable(", ".join(value) if isinstance(value, tuple) else str(value)))
    else:
        show(context, result)
    say(context, result.notes)
    return 0


def set_(
    context: Context,
    key: Annotated[str, Argument("KEY", "As in search.alpha.")],
    value: Annotated[str, Argument("VALUE", "Its new value; a list is separated by commas.")],
    project: Annotated[
        bool, Option(("--project",), "For everybody in this repository, in .decsr/config.toml.")
    ] = False,
) -> int:
    """Change a setting in your own file, or in the project's."""
    path = context.open().layout.config if project else _user_file()
    set_value(path, key, value, is_project=project)
    say(context, [f"wrote {key} to {path}"])
    origin = _loaded(context).origins[key]
    if origin != path:
        say(context, [f"it has no effect here: {key} is set by {origin}"])
    return 0


def path(context: Context) -> int:
    """Print the settings files, yours first."""
    print(_user_file())
    try:
        print(context.open().layout.config)
    except WorkspaceError as error:
        say(context, [str(error)])
    return 0


def _user_file() -> str:
    path = config.user_file(os.environ)
    if path is None:
        raise WorkspaceError("no home folder to keep your settings in", hint="set HOME")
    return path


SUBCOMMANDS: dict[str, Command] = {"list": list_, "get": get, "set": set_, "path": path}
