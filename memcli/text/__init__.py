"""Pure functions on text: reading markdown, cutting it, counting it; no files, no clock."""
