"""Who makes vectors and who writes prose: open sets.

A new member is one file, a line here, and its name among the choices in ``config``.
"""

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
