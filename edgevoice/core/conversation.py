"""The conversation machine: takes events, keeps the state, gives commands.

Pure: it reads no clock and touches nothing.  One thread owns it (see
`edgevoice.runtime.driver`), calls `Conversation.handle` for each event and
`Conversation.tick` when `Conversation.deadline` has passed, and carries the
commands out.  What may happen where is in `edgevoice.core.table`; what is then
done is in `edgevoice.core.rules`, one module for each side an event can come
from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from edgevoice.core import events as ev
from edgevoice.core.bargein import Evidence, Judge, orders
from edgevoice.core.commands import (
    Command,
    Refused,
    SetMicrophone,
    Transition,
    TurnRecord,
)
from edgevoice.core.easyturn import make_policy
from edgevoice.core.history import History
from edgevoice.core.lexicon import lexicon
from edgevoice.core.noise import NoiseFloor
from edgevoice.core.policy import Linguistic, TurnDecision
from edgevoice.core.recovery import CircuitBreaker
from edgevoice.core.sentences import Splitter
from edgevoice.core.stability import StabilityTracker
from edgevoice.core.table import TABLE, TIMEOUTS, Cause, Place, may_move
from edgevoice.core.timers import Timer, Timers
from edgevoice.core.tuning import Tuning
from edgevoice.core.turn import Answer, Kind, Ring, Utterance

KEPT_TRANSITIONS = 20
"""How many transitions are remembered for the owner (CON-003)."""

_OF_THE_EAR = (ev.Transcript, ev.TurnVerdict, ev.WordsVerdict)
_OF_THE_PLAYER = (ev.PlaybackStarted, ev.PlaybackHeld, ev.PlaybackDropped, ev.PlaybackDone)
_AS_IT_IS = (Place.RECOVERING, Place.FAULTED, Place.TERMINATING)
_NO_CONVERSATION = (Place.PREPARING, Place.IDLE, Place.SUSPENDED, *_AS_IT_IS)
_BUTTON_ONLY = (Place.PREPARING, Place.LISTENING, Place.INTERRUPTED)

_RENEWAL_PUT_OFF_S = 1.0
"""Until old turns are looked at again, when somebody was just being listened to."""

Observer = Callable[[Transition], None]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the owner may know of the conversation at one moment; no words."""

    place: Place
    previous: Place | None
    turn: int
    since: float
    label: str
    retries: int
    pending: tuple[str, ...]


class Conversation:
    """One device's conversation.  ``at`` is the monotonic time of its birth."""

    def __init__(self, tuning: Tuning, at: float = 0.0) -> None:
        self.now = at
        self.place = Place.PREPARING
        self.since = at
        self.turn = 0
        self.timers = Timers()
        self.transitions: deque[Transition] = deque(maxlen=KEPT_TRANSITIONS)
        self.refused = 0
        self.stale = 0
        self.why = ""
        """Rule and values behind what the last event led to; for explanations."""

        self.noise = NoiseFloor()
        self.history = History(tuning.history, at)
        self._tune(tuning)
        self.policy = make_policy(tuning.turn, self.lexicon, tuning.barge_in)

        self.heard_until = 0
        """Sample index up to which the microphone was heard."""
        self.hearing: Utterance | None = None
        self.decision: TurnDecision | None = None
        """The newest about this utterance."""
        self.answer: Answer | None = None
        self.draft: Answer | None = None
        """In LISTENING: the answer if this is all that the user has to say."""
        self.drafts = 0
        self.wasted_tokens = 0
        """Drafts, and the tokens of those thrown away, since the last record."""
        self.closing: Answer | None = None
        """An interrupted answer of which the last audible sample is not known yet."""
        self.parked: Answer | None = None
        """An answer that waits for its tool while the device says something else."""
        self.judge: Judge | None = None
        self.questions: deque[str] = deque()
        self.announcements: deque[str] = deque()
        self.rings: deque[Ring] = deque()
        """Timers and alarms that are due; the first of them rings in every pause."""
        self.check_ins = 0
        self.engaged = False
        """Somebody has spoken to the device since it was last at rest."""

        self.pressed_at: float | None = None
        self.clicked_at: float | None = None
        self.muted = False
        self.paused = False
        """Suspended for a reason that is not gone."""
        self.up = False
        """All was loaded once."""
        self.microphone_open = True
        self.came_from = Place.IDLE
        """Where SUSPENDED and RECOVERING go back to."""
        self.left_at = at
        """When that place was left, on the monotonic clock."""
        self.lost: set[ev.Device] = set()
        self.broken: set[str] = set()
        self.attempts = 0
        self.fatal = False
        self.fault_kind = ev.FaultKind.UNKNOWN
        """What led to FAULTED at last; the lamp blinks it."""

        self._commands: list[Command] = []
        self._observers: list[Observer] = []
        self._allowed: frozenset[Place] = frozenset()
        self._set_place_timer()

    # -- the shell's side ----------------------------------------------------

    def handle(self, event: ev.Event) -> list[Command]:
        """Take one event; the commands that follow from it, in order.

        Time never runs backwards: an event that is late counts as now.
        """
        from edgevoice.core.rules import RULES

        self.now = max(self.now, event.at)
        self._commands = []
        self.why = ""
        if isinstance(event, ev.TurnEvent) and not self._lives(event):
            self.stale += 1
            return []
        row = TABLE[self.place].get(type(event))
        if row is None:
            self.refused += 1
            return [Refused(self.place, type(event).__name__)]
        if self.timers.take(Timer.RENEWAL, self.now):
            self._renew()
        self._allowed = row.to
        RULES[row.rule](self, event)
        self._set_microphone()
        return self._commands

    def tick(self, now: float) -> list[Command]:
        """The deadline has passed."""
        return self.handle(ev.Tick(now))

    @property
    def deadline(self) -> float | None:
        """When `tick` wants to be called, on the monotonic clock; None for never."""
        return self.timers.deadline

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call ``observer`` with every transition; the result ends that."""
        self._observers = [*self._observers, observer]

        def end() -> None:
            self._observers = [o for o in self._observers if o is not observer]

        return end

    def snapshot(self) -> Snapshot:
        """What the owner may see."""
        return Snapshot(
            place=self.place,
            previous=self.transitions[-1].source if self.transitions else None,
            turn=self.answer.turn if self.answer else self.turn,
            since=self.since,
            label=self.lexicon.labels[self.place],
            retries=self.answer.retries if self.answer else 0,
            pending=("announcement",) * len(self.announcements)
            + ("alarm",) * len(self.rings)
            + ("question",) * len(self.questions),
        )

    # -- what the rules are made of -------------------------------------------

    def do(self, *commands: Command) -> None:
        """Give commands, in order."""
        self._commands.extend(commands)

    def move(self, target: Place, cause: Cause, turn: int | None = None) -> None:
        """Go to another place; its deadline starts, those of the old place end."""
        if target is self.place:
            return
        if not (may_move(self.place, target) and target in self._allowed):
            raise AssertionError(f"{self.place} -> {target} is not in the table")
        transition = Transition(
            self.now, self.place, target, cause, self.turn if turn is None else turn
        )
        self.place = target
        self.since = self.now
        self.transitions.append(transition)
        self.timers.clear()
        self._set_place_timer()
        self._set_renewal_timer()
        self.do(transition)
        for observer in self._observers:
            observer(transition)

    def retune(self, tuning: Tuning) -> None:
        """Decide by other numbers from now on.

        Deadlines that are set stay, and so does the turn policy of an utterance that has begun.
        """
        self._tune(tuning)
        self.history.retune(tuning.history)

    def after(self, seconds: float, timer: Timer) -> None:
        """Set ``timer`` to ``seconds`` from now."""
        self.timers.set(timer, self.now + seconds)

    def next_turn(self) -> int:
        """A turn id that was never used before."""
        self.turn += 1
        return self.turn

    def new_utterance(self, since: int) -> Utterance:
        """An empty utterance that begins at sample ``since``; the turn policy starts afresh."""
        self.policy = make_policy(self.tuning.turn, self.lexicon, self.tuning.barge_in)
        self.policy.reset(since)
        self.decision = None
        self.hearing = Utterance(self.next_turn(), since, StabilityTracker())
        self.hearing.changed_at = since
        return self.hearing

    def new_answer(self, heard: str, kind: Kind, utterance: Utterance | None = None) -> Answer:
        """An empty answer, to ``utterance`` if it was spoken.

        The first reply to an utterance shares its turn id, anything else gets
        a new one: ids only ever grow, so "cancel this turn and all before it"
        is one comparison in every stage.
        """
        self.answer = Answer(
            self._answering_turn(utterance), heard, kind, Splitter(self.lexicon), utterance
        )
        self.answer.touched_at = self.now
        return self.answer

    def new_draft(self, utterance: Utterance) -> Answer:
        """An answer to ``utterance`` as it stands, which nobody waits for yet."""
        turn = self._answering_turn(utterance)
        self.draft = Answer(turn, utterance.text, Kind.REPLY, Splitter(self.lexicon), utterance)
        self.draft.awaited = False
        utterance.drafts += 1
        self.drafts += 1
        return self.draft

    def _answering_turn(self, utterance: Utterance | None) -> int:
        if utterance and not utterance.asked and utterance.turn == self.turn:
            utterance.asked = True
            return utterance.turn
        return self.next_turn()

    def answer_of(self, turn: int) -> Answer | None:
        """The answer, or the draft, that ``turn`` is."""
        both = (self.answer, self.draft)
        return next((a for a in both if a is not None and a.turn == turn), None)

    @property
    def the_answer(self) -> Answer:
        """The answer, in a place where there always is one."""
        assert self.answer is not None
        return self.answer

    @property
    def the_hearing(self) -> Utterance:
        """The utterance, in a place where there always is one."""
        assert self.hearing is not None
        return self.hearing

    @property
    def orders(self) -> frozenset[str]:
        """What stops the device, whatever else is said."""
        return orders(self.tuning.barge_in, self.lexicon)

    @property
    def short_phrases(self) -> frozenset[str]:
        """What is listened for apart where an order may be cried."""
        return self.orders | self.lexicon.clear_acks

    @property
    def the_judge(self) -> Judge:
        """Of the hold, as long as there is one."""
        assert self.judge is not None
        return self.judge

    def linguistic(self) -> Linguistic:
        """What the turn policy is told of the utterance."""
        heard = self.the_hearing
        return Linguistic(
            heard.text,
            heard.confidence,
            heard.changed_at,
            heard.tracker.stability(self.heard_until),
            heard.finished,
            1.0 if heard.understood else heard.whole,
        )

    def clock_of(self, sample: int) -> float:
        """The monotonic time at which sample ``sample`` was heard, by the newest frame."""
        return self.now - (self.heard_until - sample) / ev.RATE

    def record(self, answer: Answer) -> None:
        """Close an answer: its words into the history, its figures to the journal."""
        if answer.recorded:
            return
        answer.recorded = True
        played = self.history.heard(answer.spoken, answer.position)
        if answer.kind is Kind.REPLY and not answer.retracted:
            self._remember(answer, played)
        self.do(turn_record(answer, played, self.now, self.drafts, self.wasted_tokens))
        self.drafts = self.wasted_tokens = 0

    # -- inside ---------------------------------------------------------------

    def _remember(self, answer: Answer, played: str) -> None:
        if answer.uses_tools and not answer.interrupted:
            self.history.begin(answer.heard, played)
            return
        self.history.add(answer.heard, played, cut=answer.interrupted)
        if self.history.is_too_full:
            self._condense()

    def _tune(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.lexicon = lexicon(tuning.language)
        self.evidence = Evidence(tuning.barge_in)
        self.history.heading = self.lexicon.phrases["summary"]
        self.breakers = {
            kind: CircuitBreaker(
                tuning.recovery.breaker_faults,
                tuning.recovery.breaker_window_s,
                tuning.recovery.breaker_open_s,
            )
            for kind in ev.FaultKind
        }

    def _set_place_timer(self) -> None:
        timeout = TIMEOUTS[self.place]
        if timeout is not None and not (self.place is Place.SUSPENDED and self.muted):
            self.after(getattr(self.tuning.timeouts, timeout.setting), Timer.PLACE)

    def _set_renewal_timer(self) -> None:
        """While nobody talks to the device, old turns may get older."""
        if self.place not in _NO_CONVERSATION:
            self.timers.set(Timer.RENEWAL, self.history.renewal_at)

    def _renew(self) -> None:
        """Condense old turns, but not between the prompt that is read ahead and the one sent."""
        if self.hearing is not None and self.hearing.text:
            self.after(_RENEWAL_PUT_OFF_S, Timer.RENEWAL)
        else:
            self._condense()

    def _condense(self) -> None:
        self.history.condense(self.now)
        self._set_renewal_timer()

    def _lives(self, event: ev.TurnEvent) -> bool:
        """Whether the turn that the event came out of is still going on."""
        if isinstance(event, _OF_THE_EAR):
            return self.hearing is not None and event.turn == self.hearing.turn
        alive = [self.answer, self.draft, self.parked]
        if isinstance(event, _OF_THE_PLAYER):
            alive.append(self.closing)
        return any(answer is not None and answer.turn == event.turn for answer in alive)

    def _set_microphone(self) -> None:
        """Open or close it if that has to change; first of all commands, for the privacy."""
        wanted = self._microphone_wanted()
        if wanted is not self.microphone_open:
            self.microphone_open = wanted
            self._commands.insert(0, SetMicrophone(wanted))

    def _microphone_wanted(self) -> bool:
        """With the button alone it is open from the press to the end of the utterance."""
        if self.muted or self.place is Place.SUSPENDED:
            return False
        if self.place in _AS_IT_IS or ev.Device.MICROPHONE in self.lost:
            return self.microphone_open
        return self.tuning.activation != {"button"} or self.place in _BUTTON_ONLY


def turn_record(
    answer: Answer, played: str, now: float, drafts: int, wasted_tokens: int
) -> TurnRecord:
    """The figures of a finished answer, in milliseconds."""
    t = answer.times
    return TurnRecord(
        turn=answer.turn,
        at=now,
        heard=answer.heard,
        answered=" ".join(answer.text),
        played=played,
        interrupted=answer.interrupted,
        eot_ms=_ms(t.speech_ended, t.decided),
        response_ms=_ms(t.speech_ended, t.started),
        llm_first_token_ms=_wait_ms(t.decided, t.first_token),
        tts_first_audio_ms=_ms(t.first_piece, t.first_audio),
        onset_to_decision_ms=_ms(t.onset, t.held) if answer.interrupted else None,
        decision_to_silence_ms=_ms(t.held, t.silent) if answer.interrupted else None,
        commit_to_listening_ms=_ms(t.committed, t.listening),
        holds=answer.holds,
        drafts=drafts,
        wasted_tokens=wasted_tokens,
    )


def _ms(start: float | None, end: float | None) -> float | None:
    if start is None or end is None:
        return None
    return (end - start) * 1000


def _wait_ms(start: float | None, end: float | None) -> float | None:
    """What was there before it was waited for has cost no time."""
    waited = _ms(start, end)
    return None if waited is None else max(0.0, waited)
