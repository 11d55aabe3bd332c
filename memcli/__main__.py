"""``python -m memcli``."""

from memcli.cli.app import run

run()
