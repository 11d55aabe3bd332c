"""Who makes vectors: an open set; a new member is one file and one line here."""

TABLE = {
    "builtin": "memcli.providers.builtin",
    "none": "memcli.providers.none",
    "ollama": "memcli.providers.ollama",
    "openai": "memcli.providers.openai",
}
