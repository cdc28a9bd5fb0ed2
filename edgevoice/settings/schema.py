"""Every key of the configuration: its type, default, limits, unit and reason.

This is the one schema.  The sections the core decides by are the core's own
dataclasses; the rest is declared here with the same `knob`.  The reader, the
sample YAML, the tables of the documentation and the JSON schema all follow
from it, so a key is added in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from edgevoice.core.tuning import (
    BargeIn,
    ButtonTuning,
    DeadAir,
    HistoryTuning,
    RecoveryTuning,
    Speculation,
    Timeouts,
    Tuning,
    Turn,
    knob,
)


@dataclass(frozen=True)
class Audio:
    """Microphone, speaker and echo cancellation."""

    input: str = knob(
        "default",
        "Microphone: default, a part of its name such as USB PnP, or its id such as usb:0d8c:0014, "
        "usb:0d8c:0014@1-1.3 (in that port) or hw:CARD=Device (edgevoice devices shows all). Names "
        "and ids survive a reboot, card numbers do not.",
    )
    output: str = knob("default", "Speaker: likewise.")
    input_channel: int = knob(
        1, "Which channel of the microphone is heard, such as 2 for one wired as the right one.",
        ge=1, le=16,
    )  # fmt: skip
    input_rate: int = knob(
        0,
        "Rate the microphone is opened with; 0 takes 16000, or what the device can.",
        unit="Hz",
        ge=0,
        le=48000,
        choices=("0", "16000", "44100", "48000"),
    )
    output_rate: int = knob(
        0,
        "Rate the speaker is opened with; 0 takes 16000, or what the device can. 48000 sounds "
        "brighter and costs a little work.",
        unit="Hz",
        ge=0,
        le=48000,
        choices=("0", "16000", "22050", "44100", "48000"),
    )
    period_ms: int = knob(
        10,
        "Length of one block of sound, of which the card holds two or three; shorter reacts "
        "faster and costs more. Raise it when the log tells of xruns.",
        unit="ms",
        ge=5,
        le=40,
    )
    duplex: str = knob(
        "auto",
        "One stream for microphone and speaker, hence one clock: auto when both are one card, on "
        "always, off never. Where one cannot be opened there are two.",
        choices=("auto", "on", "off"),
    )
    keep_awake: str = knob(
        "conversation",
        "When silence is played as noise of one bit (inaudible), for HDMI, Bluetooth and USB sinks "
        "that sleep in silence and swallow the first syllable: conversation wakes them with the "
        "wake word, always is for announcements and timers, never for a sink that hisses.",
        choices=("conversation", "always", "never"),
    )
    echo: str = knob(
        "webrtc",
        "Echo cancellation: webrtc (AEC3, in-process); livekit (another build of it, to try where "
        "a microphone and a loudspeaker that are two devices leave an echo; "
        "'pip install livekit' first); none when headphones or the sound card take care of it.",
        choices=("webrtc", "livekit", "none"),
    )
    delay_ms: int = knob(
        0,
        "Known time from speaker to microphone, a hint to the echo canceller; 0 lets it find out.",
        unit="ms",
        ge=0,
        le=500,
    )
    earcons: bool = knob(True, "Short sounds when it starts and stops listening.")
    volume: int = knob(
        80, "Loudness of the device's voice after a start.", unit="percent", ge=0, le=100
    )


@dataclass(frozen=True)
class WakeWord:
    """The phrase that starts a conversation."""

    model: str = knob(
        "hey_jarvis",
        "hey_jarvis, alexa, hey_mycroft, hey_rhasspy, or the path of an openWakeWord model "
        "in ONNX format.",
    )
    threshold: float = knob(0.5, "Score from which the phrase counts as said.", ge=0.05, le=1)
    threshold_while_speaking: float = knob(
        0.3,
        "The same while the device speaks, when its own voice hides part of the phrase. Less than "
        "the threshold in silence counts only when somebody is heard over the rest of its echo.",
        ge=0.05,
        le=1,
    )
    patience: int = knob(
        2,
        "Scores in a row (one each 80 ms) that must reach that while the device speaks.",
        ge=1,
        le=10,
    )


@dataclass(frozen=True)
class Recogniser:
    """Speech to text."""

    model: str = knob(
        "vosk-small-en-us-0.15", "Name of a model (edgevoice models list) or path of a Vosk model."
    )


@dataclass(frozen=True)
class Llm:
    """The language model that answers."""

    model: str = knob(
        "smollm2-135m-instruct-q4_1",
        "Name of a model (edgevoice models list) or path of a GGUF file.",
    )
    threads: int = knob(0, "CPU threads it may use; 0 is one for each core.", ge=0, le=64)
    max_tokens: int = knob(
        160, "Longest answer; 160 tokens are about 120 words.", unit="tokens", ge=8, le=4096
    )
    tools: str = knob(
        "auto",
        "Whether the model may use the tools: on, off, or auto: if its file has 600 MB or more. "
        "The starter model calls none, asked or not (make bench SUITE=intents); "
        "what the sentences of docs/skills.md ask for works with any.",
        choices=("auto", "on", "off"),
    )
    temperature: float = knob(
        0.0, "0 always takes the likeliest word, which small models need; 1 varies freely.",
        ge=0, le=2,
    )  # fmt: skip
    repeat_penalty: float = knob(
        1.1, "Above 1 keeps a small model from going round in circles.", ge=1, le=2
    )


@dataclass(frozen=True)
class Tts:
    """The device's voice."""

    voice: str = knob(
        "en_US-joe-medium", "Name of a voice (edgevoice models list) or path of a Piper voice."
    )
    length_scale: float = knob(1.0, "Pace: 0.8 is quick, 1.3 slow.", ge=0.3, le=3)
    threads: int = knob(0, "CPU threads it may use; 0 leaves it to the engine.", ge=0, le=64)


@dataclass(frozen=True)
class Gpio:
    """Button and lamp on the pins of the Raspberry Pi."""

    enabled: str = knob(
        "auto",
        "on, off, or auto: on when the machine has pins. Only on treats their absence as an error.",
        choices=("auto", "on", "off"),
    )
    button_pin: int = knob(17, "Pin of the button, as a BCM number.", ge=0, le=27)
    led_kind: str = knob(
        "pins",
        "pins: a lamp on led_pins; apa102 or ws2812: pixels on SPI, as on ReSpeaker HATs; or none.",
        choices=("pins", "apa102", "ws2812", "none"),
    )
    led_pins: list[int] = knob(
        [22, 23, 24],
        "BCM numbers of the red, green and blue pin, or of one pin for a plain lamp, "
        "or [] for none.",
        ge=0,
        le=27,
    )
    led_active_high: bool = knob(
        True, "true: a pin lights its lamp when it is high (common cathode); false: when low."
    )
    led_brightness: int = knob(
        100, "Dims the light; pixels want 20 or less.", unit="percent", ge=1, le=100
    )
    led_count: int = knob(3, "How many pixels there are.", ge=1, le=256)
    led_spi: str = knob(
        "0.0",
        "SPI device of the pixels, bus and chip select: 0.1 is that of the ReSpeaker HATs.",
        choices=("0.0", "0.1", "1.0", "1.1", "1.2"),
    )
    led_power_pin: int = knob(
        -1, "Pin that switches the pixels on, 5 on the ReSpeaker 4-Mic; -1: none.", ge=-1, le=27
    )
    chip: int = knob(
        -1, "Number of the GPIO chip, as in /dev/gpiochip0; -1 finds the header's.", ge=-1, le=63
    )


@dataclass(frozen=True)
class Privacy:
    """What may leave the conversation."""

    log_transcripts: bool = knob(
        False, "true writes what was said and answered into the log. Nothing else ever does."
    )


@dataclass(frozen=True)
class Control:
    """The socket through which edgevoice status, say, mute and the like reach the daemon."""

    socket: str = knob(
        "",
        "Path of the control socket. Empty takes control.sock in $RUNTIME_DIRECTORY or in "
        "/run/edgevoice, else edgevoice/control.sock in $XDG_RUNTIME_DIR.",
    )


@dataclass(frozen=True)
class Models:
    """Where the models are."""

    directory: str = knob(
        "",
        "Empty takes $EDGEVOICE_MODELS, else /var/lib/edgevoice/models if it exists, else "
        "edgevoice/models in $XDG_CACHE_HOME or ~/.cache.",
    )


@dataclass(frozen=True)
class Log:
    """What the daemon tells of its work."""

    level: str = knob(
        "info",
        "Least severity that is logged: debug, info, warning or error.",
        choices=("debug", "info", "warning", "error"),
    )


@dataclass(frozen=True)
class Parameter:
    """An argument of a tool of the owner's."""

    type: str = knob("string", "What it is.", choices=("string", "integer", "number", "boolean"))
    choices: list[str] = knob([], "The only values it may have; [] for any.")
    min: float = knob(-1e9, "Least value of a number.", ge=-1e9, le=1e9)
    max: float = knob(1e9, "Greatest value of a number.", ge=-1e9, le=1e9)
    description: str = knob("", "What it means, for the language model.")
    required: bool = knob(True, "Whether the tool cannot do without it.")


@dataclass(frozen=True)
class UserTool:
    """A command of the owner's that can be asked for by voice."""

    name: str = knob("", "What the tool is called, in small letters, digits and _.")
    description: str = knob("", "What it does, in one sentence; the language model goes by it.")
    command: list[str] = knob(
        [],
        "The program and its arguments; {parameter} stands for a value. No shell sees it.",
    )
    timeout_s: float = knob(
        0.0,
        "It is ended after this time; 0: after 10 s, with long_running after timeouts.task_s.",
        unit="s",
        ge=0,
        le=86400,
    )
    directory: str = knob("", "Where it runs; empty for a directory of its own that goes away.")
    output: str = knob(
        "text",
        "text: what it prints is the result. json: it prints an object with result, and say "
        "for what is to be said.",
        choices=("text", "json"),
    )
    say: str = knob("", "What is said when it has worked; empty for what it prints.")
    long_running: bool = knob(
        False, "Its progress is told, and it can be called off; it may take timeouts.task_s."
    )
    sentences: list[str] = knob(
        [], "Templates of what asks for it without the language model, with {parameter}."
    )
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The whole configuration, complete and checked."""

    activation: list[str] = knob(
        ["wake_word", "button"],
        "What starts a conversation; always listens without being asked to.",
        choices=("wake_word", "button", "always"),
    )
    # Written out, for importing the core's lexicons would double the start of `config check`.
    language: str = knob(
        "en",
        "Language of word lists, phrases and labels, as in ISO 639-1.",
        choices=("en", "de"),
    )
    profile: str = knob(
        "default",
        "default; aggressive answers sooner and cuts in more often; patient lets you think in the "
        "middle of a sentence and answers later when it is in doubt. It changes the defaults "
        "of some keys of turn; a key that you set stays as you set it.",
        choices=("default", "aggressive", "patient"),
    )
    turn: Turn = field(default_factory=Turn)
    speculation: Speculation = field(default_factory=Speculation)
    barge_in: BargeIn = field(default_factory=BargeIn)
    timeouts: Timeouts = field(default_factory=Timeouts)
    dead_air: DeadAir = field(default_factory=DeadAir)
    button: ButtonTuning = field(default_factory=ButtonTuning)
    history: HistoryTuning = field(default_factory=HistoryTuning)
    recovery: RecoveryTuning = field(default_factory=RecoveryTuning)
    audio: Audio = field(default_factory=Audio)
    wake_word: WakeWord = field(default_factory=WakeWord)
    recogniser: Recogniser = field(default_factory=Recogniser)
    llm: Llm = field(default_factory=Llm)
    tts: Tts = field(default_factory=Tts)
    gpio: Gpio = field(default_factory=Gpio)
    privacy: Privacy = field(default_factory=Privacy)
    control: Control = field(default_factory=Control)
    models: Models = field(default_factory=Models)
    log: Log = field(default_factory=Log)
    tools: tuple[UserTool, ...] = ()


PROFILES: Mapping[str, Mapping[str, bool | int | float | str]] = MappingProxyType(
    {
        "default": {},
        # EasyTurn's list "to achieve < 300 ms": waits of 300 ms, hysteresis of 150 ms.  The
        # recogniser's last words take 6 to 110 ms and must be there when the shorter wait is over.
        # One after the other the two would cost 450 ms, so they overlap.
        "aggressive": {
            "turn.min_silence_to_speak_ms": 300,
            "turn.min_silence_short_utterance_ms": 300,
            "turn.hysteresis_window_ms": 150,
            "turn.hysteresis_overlaps_silence": True,
            "turn.flush_after_ms": 100,
            # A complete sentence waits less, and what is not unfinished counts as one.
            "turn.whole_sooner_ms": 50,
            "turn.sure_probability": 0.005,
            "turn.whole_probability": 0.005,
            # It begins 0.3 s sooner to speak into a pause.
            "turn.rejoin_ms": 1300,
        },
        "patient": {
            "turn.policy": "easyturn+smart_turn",
            "turn.whole_probability": 0.2,
            "turn.doubtful_extra_ms": 1500,
        },
    }
)
"""What each profile makes of the defaults, by dotted key."""


def tuning(settings: Settings) -> Tuning:
    """The part of ``settings`` that the core is told."""
    return Tuning(
        turn=settings.turn,
        speculation=settings.speculation,
        barge_in=settings.barge_in,
        timeouts=settings.timeouts,
        dead_air=settings.dead_air,
        button=settings.button,
        history=settings.history,
        recovery=settings.recovery,
        activation=frozenset(settings.activation),
        language=settings.language,
    )
