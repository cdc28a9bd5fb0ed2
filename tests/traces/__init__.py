"""Golden traces: scripted conversations, recorded once, replayed bit for bit ever after."""
