"""A voice assistant that lives on a shelf: full-duplex, fully local."""

__version__ = "0.1.0"
