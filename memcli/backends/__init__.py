"""Where the search index lives: an open set.

A new member is one file and one line here; ``Workspace.open_backend`` chooses.
"""

TABLE = {
    "scan": "memcli.backends.scan",
    "sqlite": "memcli.backends.sqlite",
}
