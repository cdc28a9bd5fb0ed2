"""What the figures of the README come from: run ``python -m bench``."""
