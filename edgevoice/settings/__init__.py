"""The configuration: one schema, its YAML reader and what is rendered from it."""
