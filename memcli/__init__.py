"""A project's memory as plain markdown, found again. What scripts call is in ``memcli.api``."""

__version__ = "0.1.0"
