"""The player with its callback called by hand: time is what the test says it is."""

import time

import numpy as np
import pytest

from edgevoice.core import events as ev
from edgevoice.core.events import SpokenWord
from edgevoice.stages.capture import Reference
from edgevoice.stages.play import Chunk, End, Play

RATE = 16000
BLOCK = 160


class SilentSpeaker:
    """Takes the fill function and never calls it."""

    rate = RATE
    xruns = 0

    def start(self, fill, failed):
        self.failed = failed

    def stop(self):
        pass


class Bench:
    def __init__(self):
        self.events = []
        self.reference = Reference()
        self.play = Play(self.events.append, SilentSpeaker(), self.reference)
        self.play.open()
        self.at = time.monotonic() - 1000  # everything played is heard already

    def block(self):
        out = np.full(BLOCK, 77, np.int16)
        self.play.fill(out, self.at)
        self.at += BLOCK / RATE
        return out

    def speech(self, turn=1, n=16000, value=1000, words=(), piece=0):
        self.play.handle(Chunk(turn, piece, np.full(n, value, np.int16), tuple(words), RATE))

    def look(self):
        self.events.clear()
        self.play.idle()
        return list(self.events)


@pytest.fixture
def bench():
    return Bench()


def test_buffered_speech_is_told_of_and_stays_silent_until_it_is_let_out(bench):
    bench.speech(words=[SpokenWord("hello", 0, 8000)])
    (told,) = bench.events
    assert isinstance(told, ev.PieceBuffered)
    assert told.end == 16000
    assert told.words == (SpokenWord("hello", 0, 8000),)
    assert not bench.block().any()
    bench.play.let_out(1)
    assert bench.block()[-1] == 1000


def test_words_of_later_pieces_are_placed_behind_the_earlier_ones(bench):
    bench.speech(n=4000)
    bench.speech(n=1000, piece=1)
    bench.speech(n=1000, words=[SpokenWord("two", 1200, 1800)], piece=1)
    assert bench.events[-1].words == (SpokenWord("two", 5200, 5800),)


def test_a_hold_is_silent_within_5_ms_of_the_next_block(bench):
    bench.speech()
    bench.play.let_out(1)
    bench.block()
    bench.play.hold(1)
    held = bench.block()
    assert held[0] > 900
    assert not held[RATE * 5 // 1000 :].any()
    assert not bench.block().any()


def test_a_hold_tells_the_exact_position_and_when_it_fell_silent(bench):
    bench.speech()
    bench.play.let_out(1)
    bench.block()
    bench.play.hold(1)
    fell_silent = bench.at + 0.005
    bench.block()
    held = [e for e in bench.look() if isinstance(e, ev.PlaybackHeld)]
    assert [h.position for h in held] == [BLOCK + 80]
    assert held[0].at == pytest.approx(fell_silent)
    assert bench.look() == []


def test_resume_goes_on_from_the_sample_it_is_told(bench):
    ramp = np.arange(16000, dtype=np.int16)
    bench.play.handle(Chunk(1, 0, ramp, (), RATE))
    bench.play.let_out(1)
    bench.block()
    bench.play.hold(1)
    bench.block()
    bench.play.resume(1, 100)
    assert bench.block()[-1] == 100 + BLOCK - 1


def test_a_second_hold_is_told_like_the_first(bench):
    bench.speech()
    bench.play.let_out(1)
    bench.block()
    for _ in range(2):
        bench.play.hold(1)
        bench.block()
        assert any(isinstance(e, ev.PlaybackHeld) for e in bench.look())
        bench.play.resume(1, 0)
        bench.block()


def test_a_drop_tells_the_position_once_and_later_chunks_are_refused(bench):
    bench.speech()
    bench.play.let_out(1)
    bench.block()
    bench.play.drop(1)
    bench.block()
    (dropped,) = [e for e in bench.look() if isinstance(e, ev.PlaybackDropped)]
    assert dropped.position == BLOCK + 80
    bench.speech()
    assert bench.look() == []
    assert not bench.block().any()


def test_speech_that_was_never_let_out_can_be_dropped(bench):
    bench.speech()
    bench.play.drop(1)
    (dropped,) = [e for e in bench.look() if isinstance(e, ev.PlaybackDropped)]
    assert dropped.position == 0


def test_start_and_end_are_told_when_they_are_heard(bench):
    bench.speech(n=BLOCK + 40)
    bench.play.handle(End(1))
    bench.play.let_out(1)
    first = bench.at
    bench.block()
    bench.block()
    started, done = bench.look()
    assert started == ev.PlaybackStarted(first, 1)
    assert done.position == BLOCK + 40
    assert done.at == pytest.approx(first + (BLOCK + 40) / RATE)


def test_the_end_is_not_told_before_its_last_sample_was_heard(bench):
    bench.at = time.monotonic() + 1000
    bench.speech(n=40)
    bench.play.handle(End(1))
    bench.play.let_out(1)
    bench.block()
    assert not any(isinstance(e, ev.PlaybackDone) for e in bench.look())


def test_running_dry_is_counted_and_is_no_end(bench):
    bench.speech(n=BLOCK)
    bench.play.let_out(1)
    bench.block()
    bench.block()
    assert not any(isinstance(e, ev.PlaybackDone) for e in bench.look())
    bench.speech(n=BLOCK, piece=1)
    bench.play.handle(End(1))
    bench.block()
    bench.look()
    assert bench.play.starved == 1


def test_the_reference_gets_what_was_played_chime_and_silence_included(bench):
    bench.play.chime("wake")
    bench.speech()
    bench.play.let_out(1)
    played = np.concatenate([bench.block() for _ in range(3)])
    assert bench.reference.take().tolist() == played.tolist()


def test_a_long_answer_outgrows_the_room_that_was_made_for_it(bench):
    for second in range(25):
        bench.speech(value=second + 1)
    bench.play.let_out(1)
    played = [bench.block()[-1] for _ in range(2500)]
    assert played[99::100] == list(range(1, 26))


def test_a_speaker_that_breaks_is_a_lost_device(bench):
    bench.play._speaker.failed("unplugged")
    (lost,) = bench.events
    assert isinstance(lost, ev.DeviceLost)
    assert lost.device is ev.Device.SPEAKER
