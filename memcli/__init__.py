"""A project's memory as plain markdown, found again."""

__version__ = "0.1.0"
