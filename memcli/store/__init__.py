"""``memory.db``: the only room that says sqlite3."""
