"""The terminal's front door: flags in, one verb called, its result shown."""
