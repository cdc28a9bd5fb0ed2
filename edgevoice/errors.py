"""Errors a user may see: one line that says what, where and what to do.

Each carries its exit status, one of the numbers of sysexits.h, so that a
service manager knows whether another start could help.
"""

from __future__ import annotations


class EdgeVoiceError(Exception):
    """Base of all; ``str()`` is the whole line for the user."""

    status = 70  # EX_SOFTWARE

    def __init__(self, what: str, todo: str = "") -> None:
        super().__init__(f"{what}; {todo}" if todo else what)
        self.what = what
        self.todo = todo


class UsageError(EdgeVoiceError, ValueError):
    """The command line makes no sense."""

    status = 64  # EX_USAGE


class DataError(EdgeVoiceError, ValueError):
    """A file that was named (a trace, a scene, a recording) is not what it should be."""

    status = 65  # EX_DATAERR


class ModelError(EdgeVoiceError, OSError):
    """A model file is missing or broken."""

    status = 66  # EX_NOINPUT


class FetchError(EdgeVoiceError, OSError):
    """A model could not be fetched from any of its sources."""

    status = 69  # EX_UNAVAILABLE


class DeviceError(EdgeVoiceError, OSError):
    """A microphone, speaker or pin cannot be used."""

    status = 69  # EX_UNAVAILABLE


class AbsentError(DeviceError):
    """A part is not there that the house can do without."""


class DaemonError(EdgeVoiceError, OSError):
    """The daemon is not running, does not answer, refuses, or is running already."""

    status = 69  # EX_UNAVAILABLE


class EngineError(EdgeVoiceError, RuntimeError):
    """An engine failed while it worked."""

    status = 70  # EX_SOFTWARE


class OutputError(EdgeVoiceError, OSError):
    """A file or directory cannot be written."""

    status = 73  # EX_CANTCREAT


class ConfigError(EdgeVoiceError, ValueError):
    """The configuration is wrong."""

    status = 78  # EX_CONFIG
