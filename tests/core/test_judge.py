"""The evidence for a hold and the verdict on it, at their limits."""

from __future__ import annotations

import pytest

from edgevoice.core.bargein import (
    Evidence,
    Judge,
    Judgement,
    Verdict,
    just_spoken,
    knows_better,
    orders,
    overlap,
)
from edgevoice.core.events import SoundFrame, SpokenWord, Transcript, Word
from edgevoice.core.lexicon import lexicon
from edgevoice.core.tuning import BargeIn
from tests.core.ear import ms

ONSET = 32_000
FRAME = ms(20)

# -- evidence -----------------------------------------------------------------------------


def evidence(*frames: tuple[float, float], floor: float = 0.0) -> int | None:
    """What is evident after the last of ``frames`` (energy and probability, 20 ms each)."""
    gathered = Evidence(BargeIn())
    onset = None
    for number, (energy, vad) in enumerate(frames, 1):
        onset = gathered.update(SoundFrame(0.0, ONSET + number * FRAME, FRAME, energy, vad), floor)
    return onset


YES, NO = (0.1, 0.9), (0.001, 0.0)


@pytest.mark.parametrize(
    ("frames", "onset"),
    [
        ([YES, YES, YES], 0),
        ([YES, YES], None),
        ([YES, NO, YES], 0),
        ([YES, YES, NO], None),
        ([NO, YES, YES], 1),
        ([NO, NO, YES], None),
        ([NO, NO, YES, YES], 2),
        ([YES, NO, NO, YES], None),
        ([YES, NO, NO, YES, NO, YES], 3),
    ],
)
def test_two_of_the_last_three_frames_are_evidence(frames, onset):
    assert evidence(*frames) == (None if onset is None else ONSET + onset * FRAME)


@pytest.mark.parametrize(
    ("energy", "vad", "floor", "evident"),
    [
        (0.0151, 0.61, 0.0, True),
        (0.015, 0.61, 0.0, False),
        (0.0151, 0.6, 0.0, False),
        (0.0301, 0.21, 0.0, True),
        (0.03, 0.21, 0.0, False),
        (0.0301, 0.2, 0.0, False),
        (0.025, 0.61, 0.02, True),
        (0.02, 0.61, 0.02, False),
        (0.041, 0.3, 0.02, True),
        (0.04, 0.3, 0.02, False),
    ],
)
def test_a_frame_is_evident_over_both_thresholds(energy, vad, floor, evident):
    assert (evidence(*[(energy, vad)] * 3, floor=floor) is not None) is evident


def test_what_may_be_left_of_the_devices_own_voice_is_no_evidence():
    assert Evidence(BargeIn()).is_evident(SoundFrame(0.0, FRAME, FRAME, 0.1, 0.9, leak=0.09), 0.0)
    leaking = SoundFrame(0.0, FRAME, FRAME, 0.1, 0.9, leak=0.1)
    assert not Evidence(BargeIn()).is_evident(leaking, 0.0)


def lengths(*frames: tuple[tuple[float, float], int]) -> int | None:
    """What is evident after frames of so many samples."""
    gathered = Evidence(BargeIn())
    onset, end = None, ONSET
    for (energy, vad), samples in frames:
        end += samples
        onset = gathered.update(SoundFrame(0.0, end, samples, energy, vad), 0.0)
    return onset


def test_half_of_it_is_too_little():
    half = [(each, ms(10)) for each in (YES, NO, YES, NO, NO, YES)]
    assert lengths(*half) is None
    most = [(each, ms(10)) for each in (YES, NO, YES, NO, YES, YES)]
    assert lengths(*most) == ONSET


def test_a_sample_less_than_the_onset_is_too_little():
    assert lengths((YES, 320), (YES, 320), (YES, 319)) is None
    assert lengths((YES, 320), (YES, 320), (YES, 320)) == ONSET


def test_after_a_reset_it_begins_again():
    gathered = Evidence(BargeIn())
    for number in range(3):
        gathered.update(SoundFrame(0.0, number * FRAME, FRAME, *YES), 0.0)
    gathered.reset()
    assert gathered.update(SoundFrame(0.0, 4 * FRAME, FRAME, *YES), 0.0) is None


# -- the verdict --------------------------------------------------------------------------


def judged(
    speech: float,
    silence: float = 0.0,
    text: str = "",
    *,
    sure: float | None = None,
    spoken: tuple[str, ...] = (),
    until: float | None = None,
    timed_out: bool = False,
    **tuning: object,
) -> Judgement:
    """The verdict after so many milliseconds of speech and of silence.

    With ``sure`` the text is final; ``until`` is what of the sound it accounts for.
    """
    judge = Judge(BargeIn(**tuning), lexicon("en"), ONSET)  # type: ignore[arg-type]
    judge.device_said(spoken)
    end = ONSET + ms(speech + silence)
    heard_until = end if until is None else ONSET + ms(until)
    final = None if sure is None else tuple(Word(word, sure) for word in text.split())
    judge.frame(SoundFrame(0.0, ONSET + ms(speech), ms(speech), 0.1, 0.9), True)
    judge.frame(SoundFrame(0.0, end, ms(silence), 0.0, 0.0), False)
    judge.transcript(text, final, heard_until)
    return judge.verdict(timed_out)


WAIT, RESUME, COMMIT = Verdict.WAIT, Verdict.RESUME, Verdict.COMMIT


@pytest.mark.parametrize(
    ("verdict", "rule", "arguments"),
    [
        (WAIT, "undecided", {"speech": 799}),
        (COMMIT, "long_speech", {"speech": 800}),
        (COMMIT, "long_speech", {"speech": 800, "text": "moon"}),
        (WAIT, "undecided", {"speech": 900, "text": "yeah uh huh"}),
        (WAIT, "undecided", {"speech": 300, "text": "moon"}),
        (COMMIT, "words", {"speech": 300, "text": "moon please"}),
        (COMMIT, "words", {"speech": 300, "silence": 39, "text": "moon please"}),
        (WAIT, "undecided", {"speech": 300, "silence": 40, "text": "moon please"}),
        (COMMIT, "words", {"speech": 300, "silence": 40, "text": "moon please", "sure": 0.7}),
        (WAIT, "undecided", {"speech": 300, "silence": 40, "text": "moon please", "sure": 0.69}),
        (COMMIT, "words", {"speech": 300, "silence": 40, "text": "moon please",
                           "timed_out": True}),
        (COMMIT, "hard_word", {"speech": 300, "silence": 40, "text": "moon stop"}),
        (COMMIT, "hard_word", {"speech": 300, "text": "stop", "sure": 0.3}),
        (WAIT, "undecided", {"speech": 300, "text": "stop", "sure": 0.29}),
        (WAIT, "undecided", {"speech": 300, "text": "um moon okay"}),
        (COMMIT, "words", {"speech": 300, "text": "moon", "min_words": 1}),
        (COMMIT, "hard_word", {"speech": 100, "text": "okay stop"}),
        (COMMIT, "hard_word", {"speech": 100, "text": "banana", "hard_words": ["Banana!"]}),
        (WAIT, "undecided", {"speech": 100, "text": "stop", "hard_words": ["banana"]}),
        (COMMIT, "hard_word", {"speech": 100, "text": "hang on", "hard_words": ["Hang on"]}),
        (WAIT, "undecided", {"speech": 1199, "text": "yes or"}),
        (COMMIT, "long_speech", {"speech": 1200, "text": "yes or"}),
        (COMMIT, "long_speech", {"speech": 800, "text": "yes or", "sure": 0.9}),
        (COMMIT, "long_speech", {"speech": 800, "text": "yes moon okay"}),
        (WAIT, "undecided", {"speech": 200, "silence": 299, "text": "yeah", "sure": 0.9}),
        (RESUME, "silence", {"speech": 200, "silence": 300, "text": "yeah", "sure": 0.9}),
        (RESUME, "silence", {"speech": 200, "silence": 300, "text": "", "sure": 0.9}),
        (WAIT, "undecided", {"speech": 200, "silence": 300, "text": "yeah"}),
        (WAIT, "undecided", {"speech": 200, "silence": 300, "sure": 0.9, "until": 199}),
        (RESUME, "silence", {"speech": 200, "silence": 300, "sure": 0.9, "until": 200}),
        (WAIT, "undecided", {"speech": 200, "text": "moon please", "sure": 0.49}),
        (COMMIT, "words", {"speech": 200, "text": "moon please", "sure": 0.7}),
        (RESUME, "timeout", {"speech": 200, "text": "moon", "timed_out": True}),
        (COMMIT, "words", {"speech": 200, "text": "moon please", "timed_out": True}),
        (WAIT, "undecided", {"speech": 200, "text": "it is wide", "spoken": ("It is", "wide.")}),
        (COMMIT, "long_speech", {"speech": 800, "text": "it is", "spoken": ("It is",)}),
        (WAIT, "undecided", {"speech": 200, "text": "stop", "spoken": ("Stop!",)}),
    ],
)  # fmt: skip
def test_the_verdict(verdict, rule, arguments):
    judgement = judged(**arguments)
    assert (judgement.verdict, judgement.rule) == (verdict, rule)


def test_before_the_first_transcript_there_are_no_words():
    judge = Judge(BargeIn(min_words=1), lexicon("en"), ONSET)
    assert judge.frame(SoundFrame(0.0, ONSET + FRAME, FRAME, *YES), True).verdict is WAIT


def test_speech_is_counted_from_its_first_sample():
    judge = Judge(BargeIn(), lexicon("en"), ONSET)
    length = ms(800) - 1
    assert judge.frame(SoundFrame(0.0, ONSET + length, length, *YES), True).verdict is WAIT


@pytest.mark.parametrize(("spoken", "verdict"), [(("the", "moon"), WAIT), (("the",), COMMIT)])
def test_an_echo_is_as_many_words_as_the_settings_say(spoken, verdict):
    judgement = judged(200, text="the moon shines bright", spoken=spoken, echo_overlap=0.5)
    assert judgement.verdict is verdict


def test_an_echo_is_70_percent_of_the_words():
    said = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    assert judged(200, text=" ".join(said), spoken=tuple(said[:7])).verdict is WAIT
    assert judged(200, text=" ".join(said), spoken=tuple(said[:6])).verdict is COMMIT


@pytest.mark.parametrize(
    ("arguments", "detail"),
    [
        ({"speech": 100, "text": "oh no wait"}, "no"),
        ({"speech": 200, "text": "the round moon"}, "3 words"),
        ({"speech": 850}, "850 ms"),
        ({"speech": 200, "silence": 300, "text": "uh huh", "sure": 0.9}, "2 words"),
        ({"speech": 240, "timed_out": True}, "240 ms of speech"),
        ({"speech": 200}, "0 words, 200 ms of speech"),
        ({"speech": 200, "silence": 300, "text": "it is wide", "sure": 0.9,
          "spoken": ("It is", "wide.")}, "3 words of the device's own"),
    ],
)  # fmt: skip
def test_the_verdict_says_what_it_looked_at(arguments, detail):
    assert judged(**arguments).detail == detail


# -- what is heard apart ------------------------------------------------------------------


def heard(text: str, apart: str, sure: float = 1.0, *, final: bool = True) -> Transcript:
    """A transcript, and what was heard by who knows nothing but short phrases."""
    words = tuple(Word(word, sure) for word in apart.split())
    return Transcript(0.0, 1, text, ONSET, final, (), words)


@pytest.mark.parametrize(
    ("transcript", "better"),
    [
        (heard("so", "stop"), True),
        (heard("", "stop"), True),
        (heard("the nerve", "enough"), True),
        (heard("the never never", "enough"), False),
        (heard("though on", "hold on"), True),
        (heard("though on", "hold wait"), False),
        (heard("so", "yes stop"), False),
        (heard("so", ""), False),
        (heard("so", "stop", final=False), False),
        (heard("so", "stop", 0.5), True),
        (heard("so", "stop", 0.49), False),
        (heard("and then them", "mm"), True),
        (heard("and then them", "mm", final=False), True),
        (heard("and then them", "mm", 0.49), False),
        (heard("the as okay", "yes okay"), True),
        (heard("the as okay then", "yes okay"), False),
        (heard("", "yes"), True),
    ],
)
def test_a_short_text_is_a_mishearing_of_the_phrase_that_was_heard_apart(transcript, better):
    assert knows_better(transcript, orders(BargeIn(), lexicon("en")), lexicon("en")) is better


def test_the_least_sure_word_of_a_phrase_decides():
    doubtful = (Word("hold", 0.4), Word("on", 1.0))
    transcript = Transcript(0.0, 1, "", ONSET, True, (), doubtful)
    assert not knows_better(transcript, {"hold on"}, lexicon("en"))


def test_orders_are_the_settings_or_the_languages():
    assert orders(BargeIn(hard_words=["Hang on!"]), lexicon("en")) == {"hang on"}
    assert "stop" in orders(BargeIn(), lexicon("en"))


# -- what the device has said -------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "spoken", "share"),
    [
        ("", "a b", 0.0),
        ("a b", "", 0.0),
        ("a b", "a b", 1.0),
        ("a b", "b a", 0.5),
        ("a x b y", "a b", 0.5),
        ("b", "a b c", 1.0),
        ("a a", "a", 0.5),
        ("c a b", "a b c", 2 / 3),
    ],
)
def test_overlap_is_the_share_that_is_found_in_order(said, spoken, share):
    assert overlap(said.split(), spoken.split()) == pytest.approx(share)


def test_what_was_just_spoken_is_what_was_played_in_the_window():
    words = [SpokenWord(str(n), 100 * n, 100 * n + 100) for n in range(10)]
    assert just_spoken(words, 500, 100, 3.0) == ["2", "3", "4"]
    assert just_spoken(words, 501, 100, 3.0) == ["2", "3", "4", "5"]
    assert just_spoken(words, 500, 100, 2.99) == ["2", "3", "4"]
    assert just_spoken(words, 500, 200, 1.0) == ["3", "4"]
    assert just_spoken(words, 0, 100, 3.0) == []
