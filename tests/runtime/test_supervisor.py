"""The supervisor on stages that fail at moments that matter."""

from edgevoice.core import events as ev
from edgevoice.runtime.stage import Stage
from edgevoice.runtime.supervisor import Part, Supervisor
from tests.patience import until


class Idle(Stage):
    """Does nothing; ``started`` is called as soon as it runs."""

    def __init__(self, started=lambda: None):
        super().__init__("idle", lambda event: None, 1)
        self._started = started

    def start(self):
        super().start()
        self._started()

    def handle(self, message):
        pass


def test_one_that_fails_as_soon_as_it_starts_is_built_once_more():
    told, made = [], []

    def make():
        made.append(Idle(lambda: supervisor.rebuild("idle") if len(made) == 1 else None))
        return made[-1]

    part = Part(Idle(), make)
    supervisor = Supervisor({"idle": part}, told.append)
    part.start()
    supervisor.rebuild("idle")
    until(lambda: len(told) == 2)
    assert [type(event) for event in told] == [ev.PartRebuilt] * 2
    assert len(made) == 2
    until(lambda: part.stage is made[1])
    assert part.stop()


def test_one_failure_that_is_told_twice_is_built_once():
    told, made = [], []

    def make():
        if not made:
            supervisor.rebuild("idle")
        made.append(Idle())
        return made[-1]

    part = Part(Idle(), make)
    supervisor = Supervisor({"idle": part}, told.append)
    part.start()
    supervisor.rebuild("idle")
    until(lambda: told)
    with supervisor._changing["idle"]:
        assert len(made) == 1
    assert part.stop()
