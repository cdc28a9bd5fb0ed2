"""What is said to the turn policies: utterances whose pauses and ends are known to the sample.

Sentences of the Piper voice, in two pitches and three paces, and recordings of people.
Pauses of 0.5 to 1.5 s come about in these ways:

- ``cut``: the Piper voice cut between any two words of a fluent sentence.  It gives no hint
  that more will come, as somebody who stops to think does: the hardest case there is;
- ``cut, unseen``: the same with sentences that nobody looked at while the word lists of
  `edgevoice.core.lexicon` grew.  They are to stay so: what they show must not be mended by
  a word from them;
- ``clause``: the Piper voice at a comma, with the melody that goes with it;
- ``filler``: the Piper voice after an "um";
- ``person, cut``: a recording of a person, cut between any two words;
- ``person``: as a person made it.

Each utterance lies in a room's noise, at one of several levels.  All is drawn from one
seed, so every run and every policy hears the same samples.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from bench.turn.sound import (
    Spoken,
    Utterance,
    audible,
    gaps,
    in_room,
    pause_after,
    places_apart,
)
from edgevoice.adapters.piper import PiperSynthesiser
from edgevoice.adapters.room_acoustics import Signal
from edgevoice.adapters.talker import read_wav
from edgevoice.core.events import RATE, SpokenWord
from edgevoice.models.catalogue import Role
from edgevoice.models.paths import resolve
from edgevoice.ports import Samples

SEED = 2026
LEVELS_DB = (-20.0, -26.0, -32.0)
"""Of speech, against full scale."""
NOISE_DB = (-40.0, -25.0, -15.0)
"""Of the room, against the speech."""
PACES = (0.85, 1.0, 1.3)
"""Piper's length scale."""
PITCHES = (1.0, 1.12)

SENTENCES = (
    "what is the weather going to be like in berlin tomorrow",
    "set a timer for ten minutes",
    "turn on the lights in the kitchen and the living room",
    "remind me to call my mother on sunday afternoon",
    "how far is it from london to the north of scotland",
    "play some quiet music by the beatles",
    "tell me a story about a dragon and a little girl",
    "what is the capital of france",
    "add milk and butter and eggs to my shopping list",
    "wake me up at half past six in the morning",
    "who wrote the book about the whale and the captain",
    "turn the volume down a little bit in the bedroom",
    "what did the president say about the new law",
    "is there a good restaurant near the central station",
    "i would like to know how long the flight to new york takes",
    "could you explain to me how a steam engine works",
    "read me the news about the football game last night",
    "how many people live in the city of tokyo",
    "please switch off the radio in half an hour",
    "when does the next train to the airport leave",
    "do i need an umbrella when i go out this evening",
    "write down that the car has to go to the garage on friday",
    "give me a recipe for soup with potatoes and carrots",
    "what is the difference between a crocodile and an alligator",
    "my brother and his wife are coming to dinner on saturday",
    "i think that we should leave the house before eight",
    "call the doctor and ask for another appointment",
    "what was the name of the man who built the tower in paris",
    "let me know when the washing machine is finished",
    "how do i get red wine out of a white shirt",
    "the meeting with the bank was moved to wednesday",
    "find out which of the two phones has the better camera",
)
UNSEEN = (
    "could you book a table for four people at the italian place",
    "how much does a litre of petrol cost at the moment",
    "my daughter has lost her keys somewhere between here and the school",
    "show me the fastest way to get to the stadium by bike",
    "did anybody ring the bell while i was in the garden",
    "put the oven on at two hundred degrees for twenty minutes",
    "which of these mushrooms can you eat without getting ill",
    "stop the vacuum cleaner and send it back to its dock",
    "where did the vikings land when they sailed to america",
    "skip this track and play the one my wife likes",
    "what should i wear to a wedding in the middle of winter",
    "remind everybody that the rubbish has to go out tonight",
    "are there any trains from leeds to york after midnight",
    "translate the word butterfly into spanish and italian",
    "the baby has been crying since about a quarter to three",
    "why do leaves change their colour before they fall off",
    "cancel my dentist appointment and make a new one for march",
    "how do you say good luck in japanese",
    "dim the lamp next to the television to thirty percent",
    "has the parcel with the new shoes been delivered yet",
    "count backwards from one hundred in steps of seven",
    "is it true that bats cannot see anything at all",
    "tell grandma that we are going to be half an hour late",
    "who holds the record for the longest swim under water",
)
"""Not to be tuned to; see above."""
CLAUSES = (
    "when i come home in the evening, turn on the heating",
    "if it rains tomorrow, remind me to take the big umbrella",
    "i have some rice and a chicken, what can i cook with that",
    "my sister lives in canada, what time is it over there",
    "before you switch off the lights, close the blinds in the office",
    "well, i was going to ask you about the opening hours of the museum",
    "in the year nineteen sixty nine, who was the first man on the moon",
    "set an alarm for seven, and another one for half past seven",
    "hello, could you tell me something about the history of rome",
    "for the party on friday, put lemonade and crackers on the list",
)
FILLERS = (
    "what is the name of, um, the river in the south of egypt",
    "play the song by, uh, the one with the piano",
    "i need to, um, cancel the reservation for tonight",
    "remind me to buy, um, a present for my daughter",
    "how much is, uh, a ticket to the opera",
    "turn on the, um, lamp beside the sofa",
)
SHORT = ("yes", "no thanks", "stop the music", "what time is it", "louder please", "forty two",
         "tell me a joke", "who are you", "why is that", "good morning")  # fmt: skip

PEOPLE = (
    ("speech/jfk.wav", 0.0, 11.0),
    ("speech/LJ001-0002.wav", 0.0, 3.0),
    ("speech/LJ001-0013.wav", 0.0, 3.0),
    ("speech/play_the_beatles.wav", 0.0, 3.0),
    ("speech/set_timer.wav", 0.0, 3.0),
    ("speech/turn_on_the_lamp.wav", 0.0, 3.0),
    ("speech/this_is_a_test.wav", 0.0, 5.0),
    ("vad/silero_test.wav", 0.0, 6.7),
    ("vad/silero_test.wav", 9.0, 29.4),
    ("vad/silero_test.wav", 34.2, 47.0),
    ("vad/silero_test.wav", 50.9, 54.3),
)
"""Recordings, and from where to where one whole utterance goes, in seconds."""
_TAKES = 2
"""How often each recording is cut anew."""
_WORDS_A_PAUSE = 5
_LEAST_WORD = RATE // 10
"""What the recogniser finds in less at the end is a breath."""
_TAIL = RATE // 5
"""A word may ring on for so long after the recogniser has it."""


def sentences(seed: int = SEED) -> list[Spoken]:
    """Those of the Piper voice that have pauses."""
    places, _ = np.random.default_rng(seed).spawn(2)
    return [each for each in (*_fluent(places), *_written(places)) if each.pauses]


def utterances(seed: int = SEED) -> list[Utterance]:
    """All of the material."""
    places, rooms = np.random.default_rng(seed).spawn(2)
    spoken = [*_fluent(places), *_written(places), *_people(places)]
    return [
        in_room(each, LEVELS_DB[n % 3], NOISE_DB[n // 3 % 3], room)
        for n, (each, room) in enumerate(zip(spoken, rooms.spawn(len(spoken)), strict=True))
    ]


# -- the Piper voice -----------------------------------------------------------------


def _fluent(random: np.random.Generator) -> Iterator[Spoken]:
    """Each sentence with pauses anywhere, and short ones as they are."""
    for kind, texts in (("cut", SENTENCES), ("cut, unseen", UNSEEN)):
        for n, text in enumerate(texts):
            speech, words = speak(text + ".", PACES[n % 3], PITCHES[n % 2])
            places = places_apart(len(words), int(random.integers(1, 3)), random)
            yield Spoken(text, *pause_after(speech, words, places, kind, random))
    for n, text in enumerate(SHORT):
        yield Spoken(text, speak(text + ".", PACES[n % 3], PITCHES[n % 2])[0])


def _written(random: np.random.Generator) -> Iterator[Spoken]:
    for kind, texts in (("clause", CLAUSES), ("filler", FILLERS)):
        for n, text in enumerate(texts):
            for pace in (PACES[n % 3], PACES[(n + 1) % 3]):
                speech, words = speak(text + ".", pace, PITCHES[n % 2])
                at = [w for w, word in enumerate(words) if word.text.endswith(",")][-1]
                yield Spoken(text, *pause_after(speech, words, [at], kind, random))


@cache
def _voice(pace: float) -> PiperSynthesiser:
    import onnxruntime

    onnxruntime.set_seed(SEED)  # no two takes of Piper are alike otherwise
    voice = resolve("en_US-joe-medium", Role.TTS)
    return PiperSynthesiser(voice, Path(gettempdir()) / "edgevoice-bench", length_scale=pace)


def speak(text: str, pace: float, pitch: float) -> tuple[Signal, list[SpokenWord]]:
    """``text`` at 16 kHz and where its words lie."""
    import soxr

    voice = _voice(pace * pitch)
    parts: list[Samples] = []
    words: list[SpokenWord] = []
    for speech in voice.speak(text, lambda: False):
        before = sum(map(len, parts))
        words += [SpokenWord(w.text, before + w.start, before + w.end) for w in speech.words]
        parts.append(speech.samples)
    own_rate = voice.rate * pitch
    signal = soxr.resample(np.concatenate(parts) / 32768.0, own_rate, RATE)
    scale = RATE / own_rate
    return signal, [SpokenWord(w.text, round(w.start * scale), round(w.end * scale)) for w in words]


# -- people --------------------------------------------------------------------------


def _people(random: np.random.Generator) -> Iterator[Spoken]:
    """Each recording as it is, and cut between words."""
    folder = Path(os.environ.get("EDGEVOICE_FIXTURES") or "../shared/fixtures")
    if not folder.is_dir():
        print(f"no recordings in {folder} (EDGEVOICE_FIXTURES): measured without people")
        return
    for name, start, end in PEOPLE:
        whole = read_wav(folder / name, RATE)[int(start * RATE) : int(end * RATE)]
        signal, words = _speech_of(whole)
        yield Spoken(name, signal, gaps(words, "person"))
        for _ in range(_TAKES if len(words) > 2 else 0):
            places = places_apart(len(words), 1 + len(words) // _WORDS_A_PAUSE, random)
            yield Spoken(name, *pause_after(signal, words, places, "person, cut", random))


def _speech_of(recording: Signal) -> tuple[Signal, list[SpokenWord]]:
    """From the first sound to the last word; what follows is a breath or a hand on the table."""
    first, last = audible(recording)
    signal = recording[first:last]
    words = _words_of(signal)
    spoken = signal[: words[-1].end + _TAIL] if words else signal
    return spoken[: audible(spoken)[1]], words


def _words_of(signal: Signal) -> list[SpokenWord]:
    """Where the words of a recording lie, by the recogniser."""
    import vosk

    vosk.SetLogLevel(-1)
    recogniser = vosk.KaldiRecognizer(_vosk(), float(RATE))
    recogniser.SetWords(True)
    # Silence behind it, or the last word is missing.
    padded = np.concatenate((signal, np.zeros(RATE // 2)))
    blocks = np.array_split((padded * 32767).astype(np.int16), len(padded) // 4000)
    results = [recogniser.Result() for b in blocks if recogniser.AcceptWaveform(b.tobytes())]
    results.append(recogniser.FinalResult())
    found = [word for result in results for word in json.loads(result).get("result", ())]
    return [
        SpokenWord(word["word"], int(word["start"] * RATE), int(word["end"] * RATE))
        for word in found
        if word["start"] * RATE < len(signal) - _LEAST_WORD
    ]


@cache
def _vosk() -> object:
    import vosk

    return vosk.Model(str(resolve("vosk-small-en-us-0.15", Role.ASR)))
