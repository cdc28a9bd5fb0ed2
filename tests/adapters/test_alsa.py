"""The ALSA adapter against a scripted PortAudio: what a virtual card cannot do."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters import alsa, line
from edgevoice.errors import DeviceError
from tests.adapters.fake_portaudio import NO_TIME, FakePortAudio


def ignore(*_: Any) -> None:
    """Take anything."""


def refusal(device: str, rate: int = 0) -> str:
    with pytest.raises(DeviceError) as caught:
        alsa.AlsaMicrophone(device, rate).start(ignore, ignore)
    assert caught.value.status == 69
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestFinding:
    CARDS = (("HDMI (hw:0,0)", 0, 2), ("USB mic (hw:1,0)", 1, 0), ("USB cam (hw:2,0)", 1, 0))

    def test_exact_name_wins_over_others_that_contain_it(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0), ("mic2", 1, 0)))
        alsa.AlsaMicrophone("mic").start(ignore, ignore)
        assert audio.stream.settings["input_device_index"] == 0

    def test_part_of_one_name_in_any_case(self, install: Any) -> None:
        audio = install(FakePortAudio(*self.CARDS))
        alsa.AlsaMicrophone("usb CAM").start(ignore, ignore)
        assert audio.stream.settings["input_device_index"] == 2

    def test_default_is_the_first_that_listens_when_alsa_names_none(self, install: Any) -> None:
        audio = install(FakePortAudio(*self.CARDS, ("sysdefault", 1, 1)))
        alsa.AlsaMicrophone().start(ignore, ignore)
        assert audio.stream.settings["input_device_index"] == 1

    def test_ambiguous_names_the_candidates_only(self, install: Any) -> None:
        install(FakePortAudio(*self.CARDS, ("other", 1, 0)))
        assert refusal("USB") == (
            'microphone "USB" is ambiguous; name one of: USB mic (hw:1,0), USB cam (hw:2,0)'
        )

    def test_missing_names_all_of_its_direction(self, install: Any) -> None:
        install(FakePortAudio(*self.CARDS))
        assert refusal("Jabra") == (
            'microphone "Jabra" not found; known: USB mic (hw:1,0), USB cam (hw:2,0)'
        )

    def test_a_speaker_is_no_microphone(self, install: Any) -> None:
        audio = install(FakePortAudio(("HDMI", 0, 2)))
        assert refusal("HDMI").startswith("no microphone found; plug one in")
        assert not alsa.has_capture_device()
        assert audio.initialised == 0

    def test_listing(self, install: Any) -> None:
        install(FakePortAudio(("mic", 1, 0), rates=(48_000, 44_100)))
        assert alsa.devices() == [alsa.Device("mic", 0, 1, 0, (48_000, 44_100))]


class TestOpening:
    def test_48_khz_when_16_is_refused(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0), rates=(44_100, 48_000)))
        microphone = alsa.AlsaMicrophone("mic")
        microphone.start(ignore, ignore)
        assert microphone.rate == 48_000
        assert audio.stream.settings["frames_per_buffer"] == 480

    def test_a_fixed_rate_that_is_refused(self, install: Any) -> None:
        install(FakePortAudio(("mic", 1, 0), rates=(48_000,)))
        assert refusal("mic", rate=22_050) == (
            'microphone "mic" does not open at 22050 Hz (Invalid sample rate); '
            "leave its rate at 0 to have one found that it takes"
        )

    def test_no_rate_at_all(self, install: Any) -> None:
        install(FakePortAudio(("mic", 1, 0), rates=()))
        assert "opens at none of 16000, 48000" in refusal("mic")

    def test_busy(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        audio.busy = True
        assert refusal("mic") == (
            'microphone "mic" is busy; end the program that uses it (fuser -v /dev/snd/* names it)'
        )
        assert audio.initialised == 0

    def test_what_was_opened_is_closed(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        microphone = alsa.AlsaMicrophone("mic")
        for _ in range(3):
            microphone.start(ignore, ignore)
        assert audio.initialised == 1
        microphone.stop()
        microphone.stop()
        assert audio.initialised == 0


class Failures:
    """Collects what ``failed`` is told and waits for it."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.first = threading.Event()

    def __call__(self, reason: str) -> None:
        self.reasons.append(reason)
        self.first.set()


class TestCallback:
    def test_microphone_hands_over_int16_and_never_a_time_to_come(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        taken: list[tuple[Any, float]] = []
        alsa.AlsaMicrophone("mic").start(lambda block, at: taken.append((block, at)), ignore)
        sent = np.arange(160, dtype=np.int16)
        assert audio.stream.call_back(sent.tobytes(), 160, NO_TIME, 0) == (None, 0)
        block, at = taken[0]
        assert block.dtype == np.int16
        assert block.tolist() == sent.tolist()
        assert at <= time.monotonic()

    def test_speaker_plays_what_was_filled(self, install: Any) -> None:
        audio = install(FakePortAudio(("out", 0, 2)))

        def fill(block: Any, at: float) -> None:
            block[:] = np.arange(len(block))

        alsa.AlsaSpeaker("out").start(fill, ignore)
        played, go_on = audio.stream.call_back(None, 160, NO_TIME, 0)
        assert np.frombuffer(played, np.int16).tolist() == list(range(160))
        assert go_on == 0

    def test_what_was_lost_is_counted_by_direction(self, install: Any) -> None:
        audio = install(FakePortAudio(("card", 1, 1)))
        microphone, speaker = alsa.AlsaMicrophone("card"), alsa.AlsaSpeaker("card")
        for end in (microphone, speaker):
            end.start(ignore, ignore)
            # Input overflow, output underflow, and what is no loss: output being primed.
            for status in (0, 2, 4, 2, 16):
                audio.stream.call_back(b"", 160, NO_TIME, status)
        assert microphone.xruns == 2
        assert speaker.xruns == 1

    def test_a_speaker_with_nothing_to_play_goes_on_playing_silence(self, install: Any) -> None:
        audio = install(FakePortAudio(("out", 0, 2)))
        alsa.AlsaSpeaker("out").start(ignore, ignore)
        for _ in range(100):
            assert audio.stream.call_back(None, 160, NO_TIME, 0) == (bytes(320), 0)

    def test_a_sink_is_kept_awake_by_noise_of_one_bit_where_there_is_silence(
        self, install: Any
    ) -> None:
        audio = install(FakePortAudio(("out", 0, 2)))
        speaker = alsa.AlsaSpeaker("out")
        level = 0

        def fill(block: Any, at: float) -> None:
            block[:] = level

        def played() -> set[int]:
            return set(np.frombuffer(audio.stream.call_back(None, 160, NO_TIME, 0)[0], np.int16))

        speaker.start(fill, ignore)
        speaker.keep_awake(True)
        assert played() == {-1, 0, 1}
        level = 500
        assert played() == {500}
        level = 0
        speaker.keep_awake(False)
        assert played() == {0}

    def test_an_error_aborts_and_is_told_once(self, install: Any) -> None:
        audio = install(FakePortAudio(("out", 0, 2)))
        failures = Failures()

        def fill(*_: Any) -> None:
            raise ZeroDivisionError("oops")

        speaker = alsa.AlsaSpeaker("out")
        speaker.start(fill, failures)
        for _ in range(2):
            assert audio.stream.call_back(None, 160, NO_TIME, 0) == (bytes(320), 2)
        audio.stream.active = False
        assert failures.first.wait(10)
        speaker.stop()
        assert failures.reasons == [
            'speaker "out" stopped by an error in its callback: ZeroDivisionError: oops'
        ]


class TestWatching:
    def test_a_stream_that_ends_by_itself(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        failures = Failures()
        microphone = alsa.AlsaMicrophone("mic")
        microphone.start(ignore, failures)
        audio.stream.active = False
        assert failures.first.wait(10)
        microphone.stop()
        assert failures.reasons == ['microphone "mic" stopped by itself']

    def test_a_device_that_falls_silent(
        self, install: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(FakePortAudio(("mic", 1, 0)))
        monkeypatch.setattr(line, "_DEAD_AFTER_S", 0.0)
        failures = Failures()
        alsa.AlsaMicrophone("mic").start(ignore, failures)
        assert failures.first.wait(10)
        assert "gave no sign of life" in failures.reasons[0]

    def test_it_may_be_opened_again_from_where_its_failure_is_told(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        microphone = alsa.AlsaMicrophone("mic")
        again = threading.Event()

        def reopen(_: str) -> None:
            microphone.start(ignore, ignore)
            again.set()

        microphone.start(ignore, reopen)
        audio.stream.active = False
        assert again.wait(10)
        microphone.stop()
        assert audio.initialised == 0

    def test_nothing_is_told_after_stop(self, install: Any) -> None:
        audio = install(FakePortAudio(("mic", 1, 0)))
        failures = Failures()
        microphone = alsa.AlsaMicrophone("mic")
        microphone.start(ignore, failures)
        microphone.stop()
        audio.stream.active = False
        assert not any(t.name == "watch-microphone" for t in threading.enumerate())
        assert failures.reasons == []


class TestTime:
    @pytest.mark.parametrize(
        ("adc", "current", "expected"),
        [
            (4.98, 5.0, 99.99),  # captured 20 ms ago, 10 ms long
            (4.999, 5.0, 100.0),  # its end would be still to come
            (0.0, 5.0, 100.0),  # a plugin that does not tell
            (5.5, 5.0, 100.0),  # one that tells nonsense
        ],
    )
    def test_last_sample(self, adc: float, current: float, expected: float) -> None:
        times = {"input_buffer_adc_time": adc, "current_time": current}
        assert line._last_sample_at(100.0, times, 0.01) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("dac", "current", "expected"),
        [(5.03, 5.0, 100.03), (0.0, 5.0, 100.02), (5.0, 5.0, 100.02), (1e9, 5.0, 100.02)],
    )
    def test_first_sample(self, dac: float, current: float, expected: float) -> None:
        times = {"output_buffer_dac_time": dac, "current_time": current}
        assert line._first_sample_at(100.0, times, 0.02) == pytest.approx(expected)
