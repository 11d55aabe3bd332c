"""How a result looks: an open set; a new member is one file and one line here.

A member has ``render(result, **how)``, which yields strings to be written as they are.
"""

TABLE = {  # as --help names them
    "pretty": "memcli.formats.pretty",
    "text": "memcli.formats.text",
    "json": "memcli.formats.json",
    "jsonl": "memcli.formats.jsonl",
    "markdown": "memcli.formats.markdown",
    "github": "memcli.formats.github",
}
