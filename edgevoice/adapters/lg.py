"""lgpio as a library, which must not be imported just anywhere."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from edgevoice.errors import AbsentError

_home: list[tempfile.TemporaryDirectory[str]] = []
"""Of lgpio; removed when the process ends."""


def library() -> Any:
    """The module ``lgpio``; raises `AbsentError` where it cannot be loaded.

    When it is imported it makes a FIFO in ``$LG_WD``, or else in the working directory, which
    may be read-only: so that is set to a directory of its own first.
    """
    if "LG_WD" not in os.environ:
        _home.append(tempfile.TemporaryDirectory(prefix="edgevoice-lgpio-"))
        os.environ["LG_WD"] = _home[-1].name
    try:
        import lgpio
    except Exception as error:  # also an empty package of that name, or a directory that is gone
        raise AbsentError(f"lgpio cannot be loaded ({error})", "make setup installs it") from error
    return lgpio
