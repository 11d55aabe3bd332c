"""The door for agents: the same verbs as the terminal's, over the Model Context Protocol."""
