"""Where the search index lives: an open set; a new member is one file and one line here."""

TABLE = {
    "scan": "memcli.backends.scan",
    "sqlite": "memcli.backends.sqlite",
}
