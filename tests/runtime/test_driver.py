from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place
from edgevoice.core.tuning import Tuning
from edgevoice.runtime.driver import Driver


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def driver_with(routes, core=None, clock=None, recorder=None):
    driver = Driver(core or Conversation(Tuning()), recorder, clock or Clock())
    driver.connect(routes)
    return driver


def everything_to(sink):
    kinds = [c for c in vars(cmd).values() if isinstance(c, type) and issubclass(c, cmd.Command)]
    return dict.fromkeys(kinds, sink)


def test_commands_are_carried_out_in_order():
    done: list[cmd.Command] = []
    driver_with(everything_to(done.append)).handle(ev.Ready(0.0))
    assert [type(c) for c in done] == [cmd.PlayEarcon, cmd.Transition, cmd.Prefill]


def test_the_deadline_is_kept_although_events_never_stop_coming():
    clock, done = Clock(), []
    core = Conversation(Tuning())
    driver = driver_with(everything_to(done.append), core, clock)
    clock.now = 61.0
    driver.handle(ev.SoundFrame(61.0, 320, 320, 0.0, 0.0))
    assert core.place is Place.FAULTED


def test_an_idle_driver_sleeps_no_longer_than_to_the_deadline():
    clock = Clock()
    driver = driver_with(everything_to(lambda c: None), clock=clock)
    clock.now = 59.75
    assert driver.idle() == 0.25


def test_the_recorder_sees_every_event_with_its_commands_even_ticks():
    seen = []
    clock = Clock()
    driver = driver_with(
        everything_to(lambda c: None), clock=clock, recorder=lambda e, c: seen.append((e, c))
    )
    clock.now = 60.0
    driver.idle()
    ((event, commands),) = seen
    assert isinstance(event, ev.Tick)
    assert isinstance(commands[0], cmd.Transition)
