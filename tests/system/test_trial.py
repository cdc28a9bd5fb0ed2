"""Each harness with a part that is worked by hand, and with the real engine where it is quick."""

import itertools
import threading
import wave

import numpy as np
import pytest

from edgevoice.adapters.resample import SoxrResampler
from edgevoice.core.events import RATE, Word
from edgevoice.core.lamps import pattern
from edgevoice.core.table import Place
from edgevoice.core.tuning import ButtonTuning
from edgevoice.errors import DataError, DeviceError, OutputError
from edgevoice.ports import Hypothesis
from edgevoice.system import trial
from edgevoice.system.trial import BLOCK, Presses

live_resampling = SoxrResampler.live


def tone(seconds, rate=RATE):
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate)) / rate)).astype(np.int16)


def blocks(samples):
    return iter([samples[at : at + BLOCK] for at in range(0, len(samples) - BLOCK + 1, BLOCK)])


# -- sound ------------------------------------------------------------------------------


class Microphone:
    """Delivers a tone as fast as it is taken."""

    def __init__(self, rate, dies=""):
        self.rate = rate
        self.stopped = False
        self._dies = dies

    def start(self, deliver, failed):
        def run():
            for number in itertools.count():
                if self.stopped:
                    return
                if self._dies and number == 3:
                    failed(self._dies)
                    return
                deliver(tone(0.02, self.rate), 0.0)
                threading.Event().wait(0.001)

        threading.Thread(target=run, daemon=True).start()

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_live_sound_is_16_khz_whatever_the_card_has(rate):
    microphone = Microphone(rate)
    heard = list(trial.live(microphone, live_resampling, 0.5))
    assert {len(block) for block in heard} == {BLOCK}
    assert len(heard) * BLOCK / RATE == pytest.approx(0.5, abs=0.05)
    assert microphone.stopped


def test_a_microphone_that_dies_is_told_in_its_own_words():
    microphone = Microphone(RATE, dies="the plug was pulled")
    with pytest.raises(DeviceError, match="the plug was pulled"):
        list(trial.live(microphone, live_resampling, 10))
    assert microphone.stopped


def test_a_microphone_that_delivers_nothing(monkeypatch):
    monkeypatch.setattr(trial, "_SILENT_S", 0.01)
    microphone = Microphone(RATE)
    microphone.stopped = True
    with pytest.raises(DeviceError, match="delivers no sound"):
        list(trial.live(microphone, live_resampling, 10))


@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_a_file_is_read_as_it_was_written(tmp_path, rate):
    file = tmp_path / "x.wav"
    trial.write_wav(file, tone(0.3, rate), rate)
    samples, found = trial.read_wav(file)
    assert found == rate
    assert np.array_equal(samples, tone(0.3, rate))
    assert len(list(trial.recorded(file, live_resampling))) == pytest.approx(30, abs=1)


def test_of_a_stereo_file_the_first_channel_counts(tmp_path):
    with wave.open(str(tmp_path / "x.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.column_stack((tone(0.1), np.zeros(1600, np.int16))).tobytes())
    assert np.array_equal(trial.read_wav(tmp_path / "x.wav")[0], tone(0.1))


@pytest.mark.parametrize("content", [b"", b"RIFF", b"no sound at all", None])
def test_what_is_no_sound_is_one_line(tmp_path, content):
    if content is not None:
        (tmp_path / "x.wav").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.wav: no 16-bit WAV file"):
        trial.read_wav(tmp_path / "x.wav")


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError):
        trial.write_wav(tmp_path / "none" / "x.wav", tone(0.1), RATE)


# -- the ear ----------------------------------------------------------------------------


def test_the_meter_tells_ten_times_a_second():
    told = []
    assert np.array_equal(trial.mic(blocks(tone(0.5)), told.append), tone(0.5))
    assert len(told) == 5
    assert "-15 dB" in told[0]


class Scores:
    chunk = 1280

    def __init__(self, *scores):
        self._scores = list(scores)

    def score(self, audio):
        assert len(audio) == self.chunk
        return "hey_jarvis", self._scores.pop(0)


def test_scores_worth_telling_with_their_time():
    told = []
    best = trial.wake(Scores(0.0, 0.3, 0.9), blocks(tone(0.24)), told.append, 0.5)
    assert best == 0.9
    assert told == ["  0.16 s  hey_jarvis  0.30", "  0.24 s  hey_jarvis  0.90 !"]


class Words:
    def __init__(self):
        self.heard = 0

    def begin(self, apart=()):
        self.heard = 0

    def accept(self, audio):
        self.heard += len(audio)
        return Hypothesis("tell me" if self.heard < RATE // 10 else "tell me more")

    def flush(self):
        assert self.heard == 3200, "all that was heard must be in the final"
        return Hypothesis("tell me more", (Word("tell", 1.0), Word("me", 0.5)))


def test_partials_when_they_change_and_the_final():
    told = []
    assert trial.asr(Words(), blocks(tone(0.2)), told.append) == "tell me more"
    assert told == ["  0.03 s  tell me", "  0.12 s  tell me more", "final: tell (1.00) me (0.50)"]


@pytest.mark.engines
def test_the_real_recogniser_and_wake_word_on_made_speech():
    from edgevoice.engines import Workshop
    from edgevoice.settings.schema import Settings
    from tests.adapters.engines import model

    model("en_US-joe-medium", "tts")
    workshop = Workshop(Settings())
    voice = workshop.synthesiser()
    speech, speed = trial.tts(voice, "Hey Jarvis. Tell me about the sea.")
    assert "of speech in" in speed
    converter = SoxrResampler(voice.rate, RATE)
    heard = np.concatenate((converter.process(speech), converter.finish(), np.zeros(8000, "<i2")))
    told = []
    assert "tell me about" in trial.asr(workshop.recogniser(), blocks(heard), told.append)
    assert len(told) > 2
    assert trial.wake(workshop.wake(), blocks(heard), told.append, 0.5) > 0.5
    assert any(line.endswith("!") for line in told)


# -- the mind and the mouth -------------------------------------------------------------------


class Model:
    def __init__(self, *pieces):
        self._pieces = pieces

    def reply(self, messages, cancelled):
        assert [message.role for message in messages] == ["system", "user"]
        yield from self._pieces

    def count_tokens(self, text):
        return len(text.split())


def test_the_answer_as_it_comes_and_its_speed():
    written = []
    speed = trial.llm(Model("Par", "is is", " big."), "be kind", "what", written.append)
    assert written == ["Par", "is is", " big."]
    assert ", 3 tokens, " in speed
    assert trial.llm(Model(), "be kind", "what", written.append) == "no answer"


class Speaker:
    """Plays in blocks of 10 ms, as fast as it can."""

    def __init__(self, rate, dies=False):
        self.rate = rate
        self.stopped = False
        self.played = np.zeros(0, np.int16)
        self._dies = dies

    def start(self, fill, failed):
        def run():
            while not self.stopped:
                block = np.ones(self.rate // 100, np.int16)
                fill(block, 0.0)
                self.played = np.concatenate((self.played, block))
                if self._dies:
                    failed("the speaker has gone")
                threading.Event().wait(0.001)

        threading.Thread(target=run, daemon=True).start()

    def stop(self):
        self.stopped = True


@pytest.mark.parametrize("rate", [22_050, 48_000])
def test_speech_is_played_to_its_end_at_any_rate(rate):
    speaker = Speaker(rate)
    trial.play(speaker, tone(0.2, 22_050), 22_050, live_resampling)
    assert speaker.stopped
    assert np.count_nonzero(speaker.played) == pytest.approx(0.2 * rate, rel=0.1)


def test_a_speaker_that_goes_is_told():
    with pytest.raises(DeviceError, match="has gone"):
        trial.play(Speaker(RATE, dies=True), tone(5.0), RATE, live_resampling)


# -- lamp and button --------------------------------------------------------------------------


def test_every_light_with_its_state():
    shown, told, slept = [], [], []
    lamps = type("Lamps", (), {"show": staticmethod(shown.append)})
    trial.leds(lamps, told.append, slept.append)
    assert shown == [pattern(place) for place in Place]
    assert [line.split()[0] for line in told] == [place.value for place in Place]
    assert len(slept) == len(shown)


@pytest.mark.parametrize(
    ("times", "meanings"),
    [
        ([(0.0, 0.1)], ["click"]),
        ([(0.0, 0.31)], ["hold"]),
        ([(0.0, 0.1), (0.3, 0.4)], ["click", "double click"]),
        ([(0.0, 0.1), (0.3, 0.4), (0.6, 0.7)], ["click", "double click", "click"]),
        ([(0.0, 0.1), (1.0, 1.1)], ["click", "click"]),
    ],
)
def test_what_a_press_means(times, meanings):
    told = []
    presses = Presses(ButtonTuning(), told.append)
    for down, up in times:
        presses.pressed(down)
        presses.released(up)
    assert told[::2] == ["press"] * len(times)
    assert [line.partition(": ")[2] for line in told[1::2]] == meanings
