"""Every number the core decides by, with its default, its limits and its reason.

These dataclasses are the one home of those numbers: the configuration schema
(`edgevoice.settings.schema`) is made of them, and so is the sample YAML.
A field is declared with `knob`, whose metadata the schema reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def knob(
    default: Any,
    doc: str,
    *,
    unit: str = "",
    ge: float | None = None,
    le: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field with its documentation, unit and inclusive limits.

    Limits and choices of a list are those of each item.  A list or dict default
    is copied for each instance.
    """
    metadata = {"doc": doc, "unit": unit, "ge": ge, "le": le, "choices": choices}
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Turn:
    """EasyTurn: when the user has finished and the device may speak.

    The probabilities of the words are measured on the 131 ends and 195 pauses of `bench.turn`
    and on 200 orders and questions of `bench.intents`, with and without a past: SmolLM2 135M
    gives less than 0.03 to 5 to 11 % of the ends and to 71 to 91 % of the beginnings, less than
    0.005 to 2 to 5 and to 53 to 82 %; area under the curve 0.91 and 0.95.
    """

    policy: str = knob(
        "easyturn",
        "How the end of a turn is found: easyturn (silence, confidence, stability and "
        "completeness of the words), smart_turn (the same, but a model judges by the sound whether "
        "you have finished), easyturn+smart_turn (words and sound; either doubt waits), silence (a "
        "plain timeout) or manual (push-to-talk release).",
        choices=("easyturn", "smart_turn", "easyturn+smart_turn", "silence", "manual"),
    )
    min_silence_to_speak_ms: int = knob(
        400, "Silence after speech before the device may answer.", unit="ms", ge=50, le=5000
    )
    min_silence_short_utterance_ms: int = knob(
        500, "The same for an utterance of fewer than 20 characters.", unit="ms", ge=50, le=5000
    )
    min_text_length: int = knob(
        5,
        "Fewer characters than this are no turn, unless they are a complete short answer "
        "such as yes, no or a number.",
        unit="characters",
        ge=0,
        le=100,
    )
    min_confidence_to_speak: float = knob(
        0.6, "Mean word confidence the recogniser must have.", ge=0, le=1
    )
    stability_threshold: float = knob(
        0.8, "Share of the transcript's words that must have stopped changing.", ge=0, le=1
    )
    text_settle_ms: int = knob(
        150, "The transcript must not have changed for this long.", unit="ms", ge=0, le=2000
    )
    hysteresis_window_ms: int = knob(
        200,
        "The verdict must hold this long before it counts.",
        unit="ms",
        ge=0,
        le=2000,
    )
    incomplete_extra_ms: int = knob(
        1500,
        "Silence to wait for when more is sure to come: the utterance ends in a word that promises "
        "it (and, the, um), or the language model or the sound say so.",
        unit="ms",
        ge=0,
        le=10000,
    )
    doubtful_extra_ms: int = knob(
        600,
        "Silence to wait for when the language model doubts that your words are whole.",
        unit="ms",
        ge=0,
        le=10000,
    )
    whole_probability: float = knob(
        0.03,
        "Probability from which the language model is believed that your words are a whole "
        "utterance; below it they are in doubt. 0 asks no model.",
        ge=0,
        le=1,
    )
    sure_probability: float = knob(
        0.3,
        "Probability from which the language model is sure that your words are whole.",
        ge=0,
        le=1,
    )
    whole_sooner_ms: int = knob(
        100,
        "How much less of hysteresis_window_ms is waited for when the language model is sure that "
        "your words are whole.",
        unit="ms",
        ge=0,
        le=2000,
    )
    unfinished_probability: float = knob(
        0.005,
        "Probability below which the language model is believed that they are unfinished.",
        ge=0,
        le=1,
    )
    finished_probability: float = knob(
        0.5,
        "Probability from which the model of smart_turn is believed that you have finished.",
        ge=0,
        le=1,
    )
    vad_threshold_speaking: float = knob(
        0.7, "Speech probability above which the user speaks.", ge=0, le=1
    )
    vad_threshold_silent: float = knob(
        0.3, "Speech probability below which the user may be silent.", ge=0, le=1
    )
    energy_threshold_high: float = knob(
        0.02, "RMS of full scale above which the user speaks (a floor).", ge=0, le=1
    )
    energy_threshold_low: float = knob(
        0.005, "RMS of full scale below which the user may be silent (a floor).", ge=0, le=1
    )
    noise_ratio_high: float = knob(
        4.0, "The speaking threshold is at least this many times the noise floor.", ge=1, le=50
    )
    noise_ratio_low: float = knob(
        2.0, "The silence threshold is at least this many times the noise floor.", ge=1, le=50
    )
    hysteresis_overlaps_silence: bool = knob(
        False,
        "Whether the hysteresis window runs inside the wait for silence instead of after it.",
    )
    energy_alone_ms: int = knob(
        160,
        "Loudness that the speech detector denies for this long is noise, not speech: the "
        "detector's own lag (152 ms at the 95th percentile).",
        unit="ms",
        ge=0,
        le=2000,
    )
    vad_lag_ms: int = knob(
        200,
        "The end of speech is dated back to where the energy fell, by this much at most: the "
        "detector's lag (198 ms at the 90th percentile).",
        unit="ms",
        ge=0,
        le=1000,
    )
    patience_ms: int = knob(
        2000,
        "Silence after which an utterance is answered although the recogniser is unsure of it.",
        unit="ms",
        ge=200,
        le=10000,
    )
    rejoin_ms: int = knob(
        1000,
        "Who speaks on within this time of the answer's first sound, after words that the language "
        "model was not sure to be whole, was not finished: the answer is taken back, and the whole "
        "sentence is answered. 0 always takes it for an interruption.",
        unit="ms",
        ge=0,
        le=5000,
    )
    flush_after_ms: int = knob(
        200,
        "Silence after which the recogniser is asked for its final words, early, inside the wait.",
        unit="ms",
        ge=0,
        le=2000,
    )

    @property
    def judges_words(self) -> bool:
        """Whether the language model is asked if the words are a whole utterance."""
        return "easyturn" in self.policy and self.whole_probability > 0

    @property
    def judges_sound(self) -> bool:
        """Whether each pause is to be judged by its sound."""
        return "smart_turn" in self.policy


@dataclass(frozen=True)
class Speculation:
    """Thinking ahead: the waits that courtesy asks for are time to think."""

    read_ahead: bool = knob(
        True,
        "Whether the language model reads the words that have stopped changing while the user "
        "still speaks.",
    )
    opening_tokens: int = knob(
        3,
        "Tokens with which the answer may begin, guessed from what was read ahead while nothing "
        "else is to be done. They are checked in the step that reads the last words, and each "
        "that is right saves a step. 0 guesses none.",
        unit="tokens",
        ge=0,
        le=16,
    )
    answers: int = knob(
        3,
        "Answers that may be begun for one utterance before it is certain that the user has "
        "finished; they are heard when it is, or thrown away. 0 begins none.",
        ge=0,
        le=20,
    )


@dataclass(frozen=True)
class BargeIn:
    """Hold, judge, then resume or commit: what happens when you talk over the answer."""

    enabled: bool = knob(True, "Whether speech can interrupt the device at all.")
    onset_ms: int = knob(
        60, "Evidence of speech must last this long before playback is held.",
        unit="ms", ge=20, le=1000,
    )  # fmt: skip
    interrupt_energy_threshold: float = knob(
        0.015, "RMS of full scale, after echo cancellation, that is evidence (a floor).",
        ge=0, le=1,
    )  # fmt: skip
    interrupt_vad_threshold: float = knob(0.6, "Speech probability that is evidence.", ge=0, le=1)
    interrupt_vad_when_loud: float = knob(
        0.2,
        "The same for a sound twice as loud as that: of two voices at once the echo canceller "
        "leaves fragments, which the speech detector scores low.",
        ge=0,
        le=1,
    )
    min_words: int = knob(
        2, "Substantial words that make an interruption.", unit="words", ge=1, le=10
    )
    commit_ms: int = knob(
        800, "Speech this long that is no soft-ack is an interruption.",
        unit="ms", ge=100, le=5000,
    )  # fmt: skip
    resume_silence_ms: int = knob(
        300, "Silence after a soft-ack before the answer goes on.", unit="ms", ge=50, le=2000
    )
    echo_overlap: float = knob(
        0.7, "A transcript with this share of just-spoken words is the device's own voice.",
        ge=0, le=1,
    )  # fmt: skip
    echo_window_s: float = knob(
        3.0, "How far back the device's own words are remembered for that.", unit="s", ge=0, le=30
    )
    hard_words: list[str] = knob(
        [],
        "Words that stop the answer at once; [] takes the language's own (stop, wait, no, …).",
    )
    preroll_ms: int = knob(
        200,
        "Audio before the onset that the recogniser gets, so no syllable is lost: the evidence "
        "begins 130 ms late at the 95th percentile. More has more of the device's own voice in it.",
        unit="ms",
        ge=0,
        le=2000,
    )


@dataclass(frozen=True)
class Timeouts:
    """How long each state may last before it leaves by itself."""

    preparing_s: float = knob(60.0, "PREPARING, then FAULTED.", unit="s", ge=1, le=3600)
    listening_s: float = knob(
        30.0, "Speech without an end, then it is answered as it stands.", unit="s", ge=1, le=600
    )
    nothing_said_s: float = knob(
        5.0, "LISTENING with nothing said, then IDLE.", unit="s", ge=0.5, le=600
    )
    follow_up_s: float = knob(
        8.0, "After an answer: time to go on without the wake word.", unit="s", ge=0, le=600
    )
    first_token_s: float = knob(
        8.0, "Wait for the first token before the model is asked again.", unit="s", ge=0.5, le=600
    )
    processing_s: float = knob(30.0, "PROCESSING in all, then an apology.", unit="s", ge=1, le=3600)
    tool_s: float = knob(30.0, "One tool, then an error result.", unit="s", ge=1, le=3600)
    task_s: float = knob(300.0, "One long task, then an error result.", unit="s", ge=1, le=86400)
    heartbeat_s: float = knob(
        60.0, "A task without a sign of life for so long is warned of.", unit="s", ge=1, le=3600
    )
    speaking_warning_s: float = knob(
        120.0, "An answer longer than this is warned of, not cut.", unit="s", ge=1, le=3600
    )
    held_s: float = knob(1.5, "HELD at most, then the answer goes on.", unit="s", ge=0.2, le=10)
    interrupted_s: float = knob(0.05, "INTERRUPTED, then LISTENING.", unit="s", ge=0, le=0.4)
    ring_s: float = knob(
        120.0, "A timer or alarm that nobody stops rings for so long.", unit="s", ge=1, le=3600
    )
    suspended_s: float = knob(30.0, "SUSPENDED, then RECOVERING.", unit="s", ge=1, le=3600)
    recovering_s: float = knob(30.0, "RECOVERING, then FAULTED.", unit="s", ge=1, le=3600)
    faulted_s: float = knob(10.0, "FAULTED, then a new start.", unit="s", ge=1, le=3600)
    terminating_s: float = knob(5.0, "TERMINATING, then exit.", unit="s", ge=0.1, le=60)


@dataclass(frozen=True)
class DeadAir:
    """Asking whether you are still there when a conversation falls silent."""

    enabled: str = knob(
        "auto", "on, off, or auto: on when activation is always.", choices=("auto", "on", "off")
    )
    after_s: float = knob(8.0, "Silence before it asks.", unit="s", ge=1, le=600)
    times: int = knob(2, "How often it asks before it closes.", ge=0, le=10)


@dataclass(frozen=True)
class ButtonTuning:
    """What a press of the button means."""

    click_ms: int = knob(
        300, "A shorter press is a click, a longer one is push-to-talk.",
        unit="ms", ge=50, le=2000,
    )  # fmt: skip
    double_click_ms: int = knob(
        500, "Two clicks within this time mute or unmute.", unit="ms", ge=100, le=2000
    )
    long_hold_ms: int = knob(
        8000,
        "Held for so long with nothing said, the button closes the conversation; while somebody "
        "speaks it may be held for longer.",
        unit="ms",
        ge=1000,
        le=60000,
    )


@dataclass(frozen=True)
class HistoryTuning:
    """What the conversation remembers."""

    system_prompt: str = knob(
        "You are a friendly voice assistant on a shelf. Answer in one or two short spoken "
        "sentences, without lists or markup.",
        "Sent to the language model before every conversation.",
    )
    context_tokens: int = knob(
        1536,
        "Window of the language model; 1,000 tokens take 23 MB of memory with the starter model.",
        unit="tokens",
        ge=256,
        le=131072,
    )
    answer_tokens: int = knob(
        256,
        "Room in the window that is left for the answer (half of the window at most).",
        unit="tokens",
        ge=16,
        le=8192,
    )
    renew_after_s: float = knob(
        900.0, "Old turns are condensed after this time.", unit="s", ge=10, le=86400
    )
    renew_at_share: float = knob(
        0.8, "Old turns are condensed when the window is this full.", ge=0.1, le=1
    )
    keep_turns: int = knob(
        4, "Exchanges that stay word for word when old ones are condensed.", ge=1, le=100
    )


@dataclass(frozen=True)
class RecoveryTuning:
    """Retries and the circuit breaker."""

    llm_retries_s: list[float] = knob(
        [1.0, 2.0, 4.0], "Waits before the language model is asked again.",
        unit="s", ge=0, le=600,
    )  # fmt: skip
    device_retries_s: list[float] = knob(
        [1.0, 3.0, 10.0], "Waits between attempts to reopen a device.",
        unit="s", ge=0, le=600,
    )  # fmt: skip
    breaker_faults: int = knob(
        3, "Faults of one kind within the window that open the breaker.", ge=1, le=100
    )
    breaker_window_s: float = knob(60.0, "The window they are counted in.", unit="s", ge=1, le=3600)
    breaker_open_s: float = knob(60.0, "How long the breaker stays open.", unit="s", ge=1, le=3600)


@dataclass(frozen=True)
class Tuning:
    """All the core is told: the sections of the configuration it decides by."""

    turn: Turn = field(default_factory=Turn)
    speculation: Speculation = field(default_factory=Speculation)
    barge_in: BargeIn = field(default_factory=BargeIn)
    timeouts: Timeouts = field(default_factory=Timeouts)
    dead_air: DeadAir = field(default_factory=DeadAir)
    button: ButtonTuning = field(default_factory=ButtonTuning)
    history: HistoryTuning = field(default_factory=HistoryTuning)
    recovery: RecoveryTuning = field(default_factory=RecoveryTuning)
    activation: frozenset[str] = frozenset({"wake_word", "button"})
    """Any of ``wake_word``, ``button``, ``always``."""
    language: str = "en"
    """Language of word lists, phrases and labels."""
