"""The supervisor: engines that fail or hang are built again.

Thread ``supervisor`` looks at the heartbeats of the stages that run engines,
and tells the driver of one that hangs.  What is then done the core decides;
`Supervisor.rebuild` and `Supervisor.renew`, called from any thread, do it on
short-lived threads of their own, for loading an engine takes seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from edgevoice.core.events import Fault, FaultKind, PartRebuilt
from edgevoice.errors import EdgeVoiceError
from edgevoice.runtime.stage import Post, Stage, describe

log = logging.getLogger(__name__)

HUNG_AFTER_S = 10.0
"""A stage that shows no sign of life for so long hangs."""

_LOOK_S = 1.0
_LATE_S = 2.0
"""When the supervisor itself wakes up so late, the whole process stood still, not a stage."""

_LEAVE_S = 0.5
"""What an idle thread needs to end, with much to spare."""

_AT_REST_S = 30.0
"""The longest answer; a stage that is renewed may finish what it is at."""

S = TypeVar("S", bound=Stage[Any])
Make = Callable[[], S]


class Part(Generic[S]):
    """A stage that can be built again: the one at work, and what makes its successor.

    ``make`` loads the engines and may raise anything.  ``instead`` makes a stage
    for the reason that it cannot be built: with it the device goes on, without
    it a part that cannot be built is the end.
    """

    def __init__(self, stage: S, make: Make[S], instead: Callable[[str], S] | None = None) -> None:
        self.stage = stage
        self.make = make
        self.instead = instead

    def start(self) -> None:
        """Begin to work."""
        self.stage.start()

    def stop(self) -> bool:
        """End, as `Stage.stop`."""
        return self.stage.stop()

    def replace(self, fresh: S, patience_s: float) -> None:
        """Let ``fresh`` take over, when the old stage has finished or for so long has not.

        It waits for `start`.
        """
        old = self.stage
        if not old.leave(patience_s):
            old.cut_off()
            log.error("stage %s hangs in its engine; its thread is left behind", old.name)
        fresh.inherit(old)
        self.stage = fresh


class Supervisor:
    """Looks after ``parts``, by the name of their stages."""

    def __init__(
        self,
        parts: Mapping[str, Part[Any]],
        post: Post,
        hung_after_s: float = HUNG_AFTER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parts = parts
        self._post = post
        self._hung_after_s = hung_after_s
        self._clock = clock
        self._looked_at = clock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self._changing = {name: threading.Lock() for name in parts}
        """Each held while its part is built again after a fault, or replaced."""

    # -- life -----------------------------------------------------------------------

    def start(self) -> None:
        """Begin to look."""
        self._looked_at = self._clock()
        self._thread.start()

    def stop(self) -> None:
        """Look no more; a rebuild under way is left to itself."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(min(_LOOK_S, self._hung_after_s / 4)):
            self.look()

    # -- hanging stages ---------------------------------------------------------------

    def look(self) -> None:
        """Tell of each stage that hangs, once."""
        before, self._looked_at = self._looked_at, self._clock()
        if self._looked_at - before > _LOOK_S + _LATE_S:
            return
        for name, part in self._parts.items():
            silent_s = part.stage.silent_s(self._looked_at)
            if silent_s > self._hung_after_s:
                self._tell(name, part.stage, silent_s)

    def _tell(self, name: str, stage: Stage[Any], silent_s: float) -> None:
        stage.cut_off()
        reason = f"no sign of life for {silent_s:.0f} s"
        self._post(Fault(self._clock(), FaultKind.ENGINE, name, reason, turn=stage.turn))

    # -- building -------------------------------------------------------------------------

    def rebuild(self, name: str) -> None:
        """Build a part that failed again, and tell the driver; returns at once."""
        failed = self._parts[name].stage
        _aside(f"rebuild-{name}", lambda: self._rebuild(name, failed))

    def _rebuild(self, name: str, failed: Stage[Any]) -> None:
        part = self._parts[name]
        with self._changing[name]:
            # Another one at its place, built meanwhile, was told of.  One that fails as soon as it
            # starts, while whoever built it is still at it, is another failure.
            if part.stage is failed:
                self._build_again(name, part)

    def _build_again(self, name: str, part: Part[Any]) -> None:
        try:
            fresh = part.make()
        except Exception as error:  # whatever an engine raises when it cannot be loaded
            reason = _reason(error)
            log.error("%s cannot be built again: %s", name, reason)
            if part.instead is None:
                self._post(Fault(self._clock(), FaultKind.ENGINE, name, reason, fatal=True))
                return
            fresh = part.instead(reason)
        self._put_in(part, fresh, _LEAVE_S)

    def _put_in(self, part: Part[S], fresh: S, patience_s: float) -> None:
        part.replace(fresh, patience_s)
        # First, or the core would take what the stage makes of its inbox for nobody's.
        self._post(PartRebuilt(self._clock(), fresh.name))
        part.start()

    def renew(self, names: Sequence[str], at_rest: threading.Event) -> None:
        """Build parts of other settings, each when the device is at rest; returns at once."""
        if names:
            _aside("renew", lambda: self._renew(names, at_rest))

    def _renew(self, names: Sequence[str], at_rest: threading.Event) -> None:
        for name in names:
            if not self._waited_for(at_rest):
                return
            part = self._parts[name]
            try:
                fresh = part.make()
            except Exception as error:
                log.error("%s keeps its old engine: %s", name, _reason(error))
                continue
            if self._waited_for(at_rest):  # not with the lock: a fault would wait as well
                with self._changing[name]:
                    self._put_in(part, fresh, _AT_REST_S)
                log.info("%s has the engine of the new configuration", name)

    def _waited_for(self, at_rest: threading.Event) -> bool:
        """Whether the device came to rest before it came to its end."""
        while not at_rest.wait(0.2):
            if self._closing.is_set():
                return False
        return not self._closing.is_set()


def _aside(name: str, work: Callable[[], None]) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()


def _reason(error: Exception) -> str:
    """For the journal: the text of an error that is not ours may quote anything."""
    return str(error) if isinstance(error, EdgeVoiceError) else describe(error)
