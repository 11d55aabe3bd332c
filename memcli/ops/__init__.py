"""The verbs: what each command does, without a terminal."""
