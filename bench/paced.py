"""The lockstep device with a mind and a voice, which take the time that computing takes.

The model, the recogniser and the synthesiser compute for real, one after the other, and
the processor time of each portion is measured.  Its result appears in simulated time when
a machine of `CORES` cores, shared by all that is at work, would have had it ready.  So the
waits of a conversation are those of a machine that does nothing else, although this one may.

Not in it: the scheduler, caches that two engines fight for, and the sound card's driver;
`bench.conversation` has them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from bench.lockstep import RATE, STEP_S, Device
from edgevoice.adapters.resample import SoxrResampler
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.ports import EndOfTurn, LanguageModel, Samples, Synthesiser
from edgevoice.stages.judge_end import JudgeEndStage
from edgevoice.stages.play import Chunk, End
from edgevoice.stages.recognise import RecogniseStage
from edgevoice.stages.speak import placed

CORES = 2
_STEPPED_BACK = 1 / 3
"""The model's threads run at a niceness of 5."""
_SLICES = 4
"""Results may follow from one another so often within a step."""

Portions: TypeAlias = Iterator[Callable[[], object]]
"""Each `next` computes something; what it returns hands the result on."""


class Worker:
    """A stage that computes: what it is given, a portion at a time, as time is granted.

    ``threads`` is on how many cores it can be at once, ``weight`` what it gets of them when
    others want them too.
    """

    def __init__(self, threads: int, weight: float = 1.0) -> None:
        self.threads = threads
        self.weight = weight
        self._orders: deque[Portions] = deque()
        self._pastime: Portions = iter(())
        self._result: Callable[[], object] | None = None
        self._owed_s = 0.0

    def give(self, order: Portions) -> None:
        """Something more to do, after all else, and instead of what it does to pass the time."""
        if self._pastime in self._orders:
            if self._orders[0] is self._pastime:
                self._result, self._owed_s = None, 0.0
            self._orders.remove(self._pastime)
        self._orders.append(order)

    def pass_time(self, order: Portions) -> None:
        """Something to do until it is given something else."""
        self.give(order)
        self._pastime = order

    @property
    def busy(self) -> bool:
        """Whether there is anything to do."""
        return self._result is not None or bool(self._orders)

    @property
    def has_more(self) -> bool:
        """Whether something waits behind what is done now."""
        return len(self._orders) > 1

    def grant(self, seconds: float) -> None:
        """Go on for so much processor time."""
        while seconds > 0 and (self._result is not None or self._compute()):
            paid = min(seconds, self._owed_s)
            self._owed_s -= paid
            seconds -= paid
            if self._owed_s <= 0:
                result, self._result = self._result, None
                assert result is not None
                result()

    def _compute(self) -> bool:
        """Compute the next portion; false when there is none."""
        began = time.process_time()
        while self._orders and self._result is None:
            self._result = next(self._orders[0], None)
            if self._result is None:
                self._orders.popleft()
        self._owed_s += time.process_time() - began
        return self._result is not None


@dataclass(kw_only=True)
class PacedDevice(Device):
    """A device that answers, in a room with ``utterances``.

    ``threads`` are the model's, ``threads_ahead`` those with which it reads ahead.
    """

    model: LanguageModel
    synthesiser: Synthesiser
    threads: int
    threads_ahead: int = CORES - 1
    end_of_turn: EndOfTurn | None = None
    hearing_s: float = field(default=0.0, init=False)
    """Processor time of echo control, detector and wake word."""

    def _build(self) -> None:
        self._mind = Worker(self.threads, _STEPPED_BACK)
        self._ear, self._judge, self._mouth = Worker(1), Worker(1), Worker(CORES)
        self._hushed = {"mind": -1, "mouth": -1}
        self._said: list[Any] = []
        super()._build()
        self.recognise = RecogniseStage(self._said.append, self.ears.recogniser, self._clock)
        self.judge_end = JudgeEndStage(self._said.append, self.end_of_turn, self._clock)

    def step(self) -> None:
        """10 ms, of which hearing takes its share first."""
        before = self.hearing_s
        super().step()
        free = max(0.0, CORES * STEP_S - (self.hearing_s - before)) / _SLICES
        for _ in range(_SLICES):
            self._work(free)
            self._drive()

    def _work(self, free: float) -> None:
        """Share ``free`` seconds of processor time; what one cannot use is left to the next."""
        workers = (self._ear, self._judge, self._mouth, self._mind)
        busy = sorted((w for w in workers if w.busy), key=lambda w: w.threads / w.weight)
        weight = sum(worker.weight for worker in busy)
        for worker in busy:
            share = min(free * worker.weight / weight, worker.threads * STEP_S / _SLICES)
            worker.grant(share)
            free, weight = free - share, weight - worker.weight

    def _hear(self, block: Samples) -> None:
        began = time.process_time()
        super()._hear(block)
        self.hearing_s += time.process_time() - began

    def _cancelled(self, sound: Any) -> None:
        self.judge_end.keep(sound)
        self._ear.give(self._stage(self.recognise, sound))

    def _carry_out(self, command: cmd.Command) -> None:
        match command:
            case cmd.Recognise() | cmd.FlushRecogniser() | cmd.StopRecognising():
                self._ear.give(self._stage(self.recognise, command))
            case cmd.JudgeEnd():
                self._judge.give(self._stage(self.judge_end, command))
            case cmd.Prefill():
                self._mind.give(self._read(command))
            case cmd.JudgeWords():
                self._mind.give(self._read_to_judge(command))
            case cmd.Generate():
                self._mind.give(self._reply(command))
            case cmd.Synthesise():
                self._mouth.give(self._speak(command))
            case cmd.EndSpeech():
                self._mouth.give(iter([partial(self.play.handle, End(command.turn))]))
            case cmd.CancelGeneration():
                self._hushed["mind"] = max(self._hushed["mind"], command.turn)
            case cmd.CancelSynthesis():
                self._hushed["mouth"] = max(self._hushed["mouth"], command.turn)
            case _:
                super()._carry_out(command)

    # -- what the workers do ----------------------------------------------------------

    def _stage(self, stage: RecogniseStage | JudgeEndStage, order: Any) -> Portions:
        stage.handle(order)
        said, self._said[:] = list(self._said), []
        yield lambda: [self._post(replace(each, at=self.now)) for each in said]

    def _read(self, order: cmd.Prefill) -> Portions:
        if not self._mind.has_more:
            self._mind.threads = self.threads_ahead
            self.model.prefill(order.messages, lambda: False)
            yield partial(self._guess_on, order)

    def _guess_on(self, order: cmd.Prefill) -> None:
        if order.opening and not self._mind.has_more:
            self._mind.pass_time(self._guess(order))

    def _guess(self, order: cmd.Prefill) -> Portions:
        for _ in self.model.anticipate(order.messages, order.opening, lambda: False):
            yield lambda: None

    def _read_to_judge(self, order: cmd.JudgeWords) -> Portions:
        self._mind.threads = self.threads
        whole = self.model.whole(order.messages, lambda: False)
        if whole is not None:
            yield lambda: self._post(ev.WordsVerdict(self.now, order.turn, whole, order.until))

    def _reply(self, order: cmd.Generate) -> Portions:
        def hushed() -> bool:
            return order.turn <= self._hushed["mind"]

        self._mind.threads = self.threads
        for text in self.model.reply(order.messages, hushed):
            yield lambda text=text: hushed() or self._post(ev.Token(self.now, order.turn, text))
        yield lambda: hushed() or self._post(ev.ReplyDone(self.now, order.turn))

    def _speak(self, order: cmd.Synthesise) -> Portions:
        own, before = self.synthesiser.rate, 0
        resampler = SoxrResampler(own, RATE)
        for speech in self.synthesiser.speak(
            order.text, lambda: order.turn <= self._hushed["mouth"]
        ):
            samples = resampler.process(speech.samples)
            words = placed(speech, before, RATE / own)
            yield partial(self.play.handle, Chunk(order.turn, order.piece, samples, words, RATE))
            before += len(speech.samples)
        rest = resampler.finish()
        yield partial(self.play.handle, Chunk(order.turn, order.piece, rest, (), RATE))
