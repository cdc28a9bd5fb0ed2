"""A cable is pulled: from every place to RECOVERING, attempts that grow rarer, and back."""

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import _OPEN, Place, State
from tests.core.reach import talk_at

PLACES = sorted(_OPEN, key=lambda place: place.value)


@pytest.mark.parametrize("device", ev.Device)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.value)
def test_a_device_lost_anywhere_is_recovered_and_looked_for(place, device):
    talk = talk_at(place)
    lost_at = talk.now
    talk.feed(ev.DeviceLost(talk.now, device, "unplugged"))
    assert talk.place is Place.RECOVERING
    attempts = []
    while talk.now < lost_at + 29:
        done = len(talk.done)
        talk.pass_time(0.5)
        tried = [c for c in talk.done[done:] if isinstance(c, cmd.ReopenDevice)]
        attempts += [round(talk.now - lost_at) for _ in tried]
        assert all(c.device is device for c in tried)
    assert attempts == [1, 4, 14, 24]
    talk.feed(ev.DeviceFound(talk.now, device))
    assert talk.place.state in (place.state, State.LISTENING, State.SPEAKING)


@pytest.mark.parametrize("device", ev.Device)
def test_a_device_that_stays_away_is_tried_every_ten_seconds_for_ever(device):
    talk = talk_at(Place.IDLE)
    talk.feed(ev.DeviceLost(talk.now, device, "unplugged"))
    talk.pass_time(120)
    done = len(talk.done)
    talk.pass_time(300)
    tried = [c for c in talk.done[done:] if isinstance(c, cmd.ReopenDevice)]
    assert len(tried) >= 20
    talk.feed(ev.DeviceFound(talk.now, device))
    talk.pass_time(15)
    assert talk.place is Place.IDLE
