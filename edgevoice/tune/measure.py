"""What the engines cost on this machine.

Each is measured alone, with the texts and the sound that its work is made of, several
times.  With the starter models all of it takes less than a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, pairwise, takewhile

import numpy as np

from edgevoice.core.commands import Message
from edgevoice.core.events import RATE
from edgevoice.engines import Workshop
from edgevoice.errors import DeviceError
from edgevoice.ports import FRAME, LanguageModel, Microphone, Recogniser, Samples, Synthesiser
from edgevoice.settings.schema import Settings
from edgevoice.tune.figures import Figure, percentile, repeat, timed

_SENTENCE = "The weather tomorrow will be sunny with a light wind from the west in the evening."
_PROMPT = (
    "You are a friendly voice assistant on a shelf. Answer in one or two short spoken sentences, "
    "without lists or markup. Somebody asks you about the mountains, the rivers and the towns of "
    "a country in the north, and you know a good deal about all of them."
)
_TOKENS = 12
_SHARE_S = 2.0
"""Time for the runs of one figure; the first three are made in any case."""
_LISTEN_S = 4.0
_ENOUGH_S = 40.0
"""After so long only what is configured is measured, and no other number of threads."""
_BLOCK = 3 * FRAME


@dataclass(frozen=True)
class Threads:
    """One engine with so many threads: seconds to its first output, and its pace."""

    threads: int
    first: Figure
    pace: Figure


@dataclass(frozen=True)
class Machine:
    """All that was measured.  Real-time factors are seconds of work to a second of sound."""

    cores: int
    recogniser: Figure
    ear: Figure
    """Echo canceller, speech detector and wake word together, milliseconds to a second."""
    model: tuple[Threads, ...]
    """Paces in tokens a second of the answer; first output is a whole prompt read anew."""
    prefill: Figure
    """Tokens a second of the prompt, at the threads of the configuration."""
    voice: tuple[Threads, ...]
    """Paces are real-time factors."""
    lateness: Figure | None
    """How late a block of the microphone may come, milliseconds; None without a microphone."""
    untried: tuple[str, ...] = ()
    """Keys of which other values were not measured, for want of time."""

    @property
    def figures(self) -> Iterator[Figure]:
        """Each, in the order in which sound goes."""
        yield self.ear
        yield self.recogniser
        yield self.prefill
        for engine in (*self.model, *self.voice):
            yield engine.first
            yield engine.pace
        if self.lateness is not None:
            yield self.lateness


def measure(
    settings: Settings, cores: int, microphone: Microphone, tell: Callable[[str], object]
) -> Machine:
    """Measure everything; ``tell`` is told what is being measured.

    Raises `edgevoice.errors.ModelError` when an engine cannot be built.
    """
    workshop = Workshop(settings)
    until = time.monotonic() + _ENOUGH_S
    tell("the voice")
    voices = candidates(settings.tts.threads, cores)
    voice = tuple(_voice(settings, n) for n in _while_time_lasts(voices, until))
    sound = spoken(workshop.synthesiser())
    tell("echo canceller, speech detector and wake word")
    ear = _ear(workshop, sound)
    tell("the recogniser")
    recogniser = _recogniser(workshop.recogniser(), sound)
    tell("the language model")
    minds = candidates(settings.llm.threads, most_for_model(cores))
    models = [_model(settings, n) for n in _while_time_lasts(minds, until)]
    tell("the microphone")
    return Machine(
        cores=cores,
        recogniser=recogniser,
        ear=ear,
        model=tuple(threads for threads, _ in models),
        prefill=models[0][1],
        voice=voice,
        lateness=_lateness(microphone, settings.audio.period_ms),
        untried=tuple(
            key
            for key, wanted, tried in (
                ("tts.threads", voices, voice),
                ("llm.threads", minds, models),
            )
            if len(tried) < len(wanted)
        ),
    )


def most_for_model(cores: int) -> int:
    """With cores to spare the recogniser and the audio keep one for themselves."""
    return cores - 1 if cores > 2 else cores


def candidates(configured: int, most: int) -> list[int]:
    """Numbers of threads worth a try, the configured one first; 0 is what ``most`` is."""
    others = [n for n in (most, most - 1, most // 2) if 0 < n != (configured or most)]
    return [configured, *dict.fromkeys(others)]


def _while_time_lasts(wanted: Sequence[int], until: float) -> Iterator[int]:
    first, *others = wanted
    yield first
    yield from takewhile(lambda _: time.monotonic() < until, others)


def spoken(voice: Synthesiser) -> Samples:
    """A sentence in the device's own voice, at 16 kHz."""
    parts = [speech.samples for speech in voice.speak(_SENTENCE, lambda: False)]
    whole = np.concatenate(parts)
    # Linear interpolation is good enough for sound that only has to keep engines busy.
    at = np.arange(0, len(whole) - 1, voice.rate / RATE)
    sound: Samples = np.interp(at, np.arange(len(whole)), whole).astype(np.int16)
    return sound


def _recogniser(recogniser: Recogniser, sound: Samples) -> Figure:
    def once() -> float:
        recogniser.begin()
        for block in blocks(sound, _BLOCK):
            recogniser.accept(block)
        recogniser.flush()
        return 0.0

    seconds = len(sound) / RATE
    runs = repeat(lambda: timed(once) / seconds, _SHARE_S)
    return Figure("recogniser, real-time factor", "", runs)


def _ear(workshop: Workshop, sound: Samples) -> Figure:
    echo, detector, wake = workshop.echo(), workshop.detector(), workshop.wake()

    def once() -> None:
        for block in blocks(sound, echo.block):
            echo.process(block, block)
        for chunk in blocks(sound, detector.chunk):
            detector.probability(chunk)
        for chunk in blocks(sound, wake.chunk):
            wake.score(chunk)

    seconds = len(sound) / RATE
    runs = repeat(lambda: 1000 * timed(once) / seconds, _SHARE_S)
    return Figure("echo canceller, detector and wake word", "ms/s", runs)


def _voice(settings: Settings, threads: int) -> Threads:
    voice = Workshop(replace(settings, tts=replace(settings.tts, threads=threads))).synthesiser()
    firsts: list[float] = []

    def once() -> float:
        began = time.perf_counter()
        samples = 0
        for speech in voice.speak(_SENTENCE, lambda: False):
            if not samples:
                firsts.append(1000 * (time.perf_counter() - began))
            samples += len(speech.samples)
        return (time.perf_counter() - began) * voice.rate / samples

    paces = repeat(once, _SHARE_S)
    label = _label("voice", threads)
    return Threads(
        threads,
        Figure(f"{label}, first audio", "ms", tuple(firsts)),
        Figure(f"{label}, real-time factor", "", paces),
    )


def _model(settings: Settings, threads: int) -> tuple[Threads, Figure]:
    changed = replace(settings, llm=replace(settings.llm, threads=threads))
    model = Workshop(changed).language_model()
    numbers = count()
    firsts: list[float] = []

    def once() -> float:
        # A new beginning each time: what the model has read before costs nothing.
        messages = [Message("system", f"{next(numbers)}. {_PROMPT}"), Message("user", "Tell me.")]
        first, pace = _answer(model, messages)
        firsts.append(1000 * first)
        return pace

    paces = repeat(once, _SHARE_S)
    tokens = model.count_tokens(_PROMPT)
    label = _label("language model", threads)
    return (
        Threads(
            threads,
            Figure(f"{label}, first token", "ms", tuple(firsts)),
            Figure(f"{label}, answer", "tokens/s", paces),
        ),
        Figure(f"{label}, prompt", "tokens/s", tuple(1000 * tokens / ms for ms in firsts)),
    )


def _answer(model: LanguageModel, messages: Sequence[Message]) -> tuple[float, float]:
    """Seconds to the first piece of an answer, and tokens a second after it."""
    began = time.perf_counter()
    answer = model.reply(messages, lambda: False)
    text = [next(answer, "")]
    first = time.perf_counter() - began
    text += islice(answer, _TOKENS)
    rest = time.perf_counter() - began - first
    words = (piece for piece in text[1:] if isinstance(piece, str))  # it was given no tools
    return first, model.count_tokens("".join(words)) / rest


def _lateness(microphone: Microphone, period_ms: int) -> Figure | None:
    """By how much more than a period two blocks lie apart, for 99 % of them."""
    beats: list[float] = []
    try:
        microphone.start(lambda _block, _at: beats.append(time.perf_counter()), lambda _why: None)
    except DeviceError:
        return None
    try:
        time.sleep(_LISTEN_S)
    finally:
        microphone.stop()
    # The first blocks come in a heap.
    gaps = [1000 * (b - a) - period_ms for a, b in pairwise(beats[10:])]
    thirds = [gaps[n::3] for n in range(3)]
    if not all(thirds):
        return None
    late = tuple(max(0.0, percentile(third, 0.99)) for third in thirds)
    return Figure("microphone, lateness of a block (p99)", "ms", late)


def blocks(sound: Samples, size: int) -> Iterator[Samples]:
    """Whole blocks."""
    return (sound[at : at + size] for at in range(0, len(sound) - size + 1, size))


def _label(engine: str, threads: int) -> str:
    return f"{engine} (threads: {threads or 'auto'})"
