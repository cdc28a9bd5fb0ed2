"""The models: which there are, where they lie, how they get there."""
