"""What the user sees of an error nobody foresaw: one line, and where the trace is.

What it needs is imported when it is needed, which ought to be never.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

SOFTWARE = 70
"""EX_SOFTWARE of sysexits.h."""


def report(error: Exception) -> int:
    """Tell of ``error`` in one line and keep its trace; the exit status comes back.

    The line names the kind and the place, not the message: that may quote what
    somebody said.
    """
    import traceback

    text = "".join(traceback.format_exception(error))
    print(f"edgevoice: internal error ({_place(error)}); {_keep(text)}", file=sys.stderr)
    return SOFTWARE


def _place(error: Exception) -> str:
    name, last = type(error).__name__, _innermost(error.__traceback__)
    if last is None:
        return name
    return f"{name} in {os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}"


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _keep(text: str) -> str:
    """Put the trace where it can be found; what to tell the user of it comes back."""
    if os.environ.get("EDGEVOICE_TRACEBACK") == "1":
        sys.stderr.write(text)
        return "its trace is above"
    import tempfile

    try:
        handle, path = tempfile.mkstemp(prefix="edgevoice-", suffix=".trace")  # mode 0600
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return "EDGEVOICE_TRACEBACK=1 shows its trace"
    return f"its trace is in {path}; please report it"
