"""The watchdog is fed while everything moves, and never because time passes."""

import pytest

from edgevoice.runtime.watchdog import Watchdog


class World:
    def __init__(self, every_s=1.0):
        self.now, self.fed = 0.0, 0
        self.counters = {"capture": 0, "driver": 0, "speaker": 0}
        reading = {name: lambda name=name: self.counters[name] for name in self.counters}
        self.watchdog = Watchdog(reading, self.feed, every_s, lambda: self.now)

    def feed(self):
        self.fed += 1

    def look_after(self, seconds, *moving):
        self.now += seconds
        for name in moving:
            self.counters[name] += 1
        self.watchdog.look()


def test_it_is_fed_while_everything_moves():
    world = World()
    for _ in range(5):
        world.look_after(1.0, *world.counters)
    assert world.fed == 5


def test_it_is_not_fed_more_often_than_it_wants():
    world = World()
    for _ in range(8):
        world.look_after(0.25, *world.counters)
    assert world.fed == 2


@pytest.mark.parametrize("stuck", ["capture", "driver", "speaker"])
def test_one_that_stands_still_starves_it_and_is_named_once(stuck, caplog):
    world = World()
    world.look_after(1.0, *world.counters)
    for _ in range(20):
        world.look_after(1.0, *(name for name in world.counters if name != stuck))
    assert world.fed == 1
    (record,) = caplog.records
    assert record.getMessage() == f"no progress for 3 s: {stuck}"


def test_it_is_fed_again_when_what_stood_still_goes_on():
    world = World()
    world.look_after(1.0, *world.counters)
    world.look_after(5.0, "driver", "speaker")
    world.look_after(0.2, "capture", "driver", "speaker")
    assert world.fed == 2
