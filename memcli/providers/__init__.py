"""Who makes vectors and who writes prose: open sets; a new member is one file and a line here."""

TABLE = {
    "builtin": "memcli.providers.builtin",
    "gemini": "memcli.providers.gemini",
    "none": "memcli.providers.none",
    "ollama": "memcli.providers.ollama",
    "openai": "memcli.providers.openai",
}

LLMS = {
    "gemini": "memcli.providers.gemini",
    "none": "memcli.providers.none",
    "ollama": "memcli.providers.ollama",
    "openai": "memcli.providers.openai",
}
