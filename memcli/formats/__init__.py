"""How a result looks: an open set; a new member is one file and one line here.

A member has ``render(result, **how)``, which yields strings to be written as they are.
"""

TABLE = {
    "github": "memcli.formats.github",
    "json": "memcli.formats.json",
    "jsonl": "memcli.formats.jsonl",
    "markdown": "memcli.formats.markdown",
    "pretty": "memcli.formats.pretty",
    "text": "memcli.formats.text",
}
