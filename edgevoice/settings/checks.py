"""Rules between keys: each value may be right and the pair still make no sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from edgevoice.settings.document import Problem
from edgevoice.settings.keys import KEYS, value_of
from edgevoice.settings.schema import Settings


class Order(NamedTuple):
    """``low`` must not exceed ``high``; when ``strict``, it must stay below it."""

    low: str
    high: str
    strict: bool = False


ORDERS = (
    Order("turn.vad_threshold_silent", "turn.vad_threshold_speaking", strict=True),
    Order("turn.energy_threshold_low", "turn.energy_threshold_high", strict=True),
    Order("turn.noise_ratio_low", "turn.noise_ratio_high"),
    # The early final result is what the wait hides; asked for later it would add to it.
    Order("turn.flush_after_ms", "turn.min_silence_to_speak_ms"),
    Order("turn.flush_after_ms", "turn.min_silence_short_utterance_ms"),
    Order("turn.hysteresis_window_ms", "timeouts.listening_s"),
    Order("turn.incomplete_extra_ms", "timeouts.listening_s"),
    Order("turn.doubtful_extra_ms", "timeouts.listening_s"),
    Order("timeouts.nothing_said_s", "timeouts.listening_s"),
    # A hold must last long enough for either verdict.
    Order("barge_in.onset_ms", "barge_in.commit_ms", strict=True),
    Order("barge_in.commit_ms", "timeouts.held_s"),
    Order("barge_in.resume_silence_ms", "timeouts.held_s"),
    Order("timeouts.first_token_s", "timeouts.processing_s"),
    Order("timeouts.heartbeat_s", "timeouts.task_s"),
    Order("button.click_ms", "button.double_click_ms"),
    Order("wake_word.threshold_while_speaking", "wake_word.threshold"),
    Order("llm.max_tokens", "history.context_tokens", strict=True),
)


def check(
    settings: Settings, lines: Mapping[str, int], refused: Set[str] = frozenset()
) -> Iterator[Problem]:
    """Every broken rule; ``lines`` tells which keys the file sets, and where.

    Keys that were ``refused`` have a complaint already, and no value to compare.
    """
    for order in ORDERS:
        if refused.isdisjoint((order.low, order.high)) and _is_broken(order, settings):
            yield _complaint(order, settings, lines)
    yield from _activation(settings, lines)
    if refused.isdisjoint(("gpio.led_pins", "gpio.button_pin")):
        yield from _pins(settings, lines)


def _amount(settings: Settings, name: str) -> float:
    """A number in the base unit, so that ms and s compare; rounded, for 0.2 s is 200 ms."""
    value = value_of(settings, name)
    assert isinstance(value, (int, float)), name
    return round(value * 1000, 6) if KEYS[name].unit == "s" else float(value)


def _is_broken(order: Order, settings: Settings) -> bool:
    low, high = _amount(settings, order.low), _amount(settings, order.high)
    return low > high or (order.strict and low == high)


def _complaint(order: Order, settings: Settings, lines: Mapping[str, int]) -> Problem:
    """Blames the key that the file sets last, and names the other with its value."""
    blamed, other = sorted((order.low, order.high), key=lambda name: -lines.get(name, 0))
    if blamed == order.low:
        relation = "below" if order.strict else "at most"
    else:
        relation = "above" if order.strict else "at least"
    text = f"{blamed}: must be {relation} {other} ({_quantity(settings, other)})"
    return Problem(lines.get(blamed, 0), f"{text}, got {_quantity(settings, blamed)}")


def _quantity(settings: Settings, name: str) -> str:
    return f"{value_of(settings, name)} {KEYS[name].unit}".strip()


def _activation(settings: Settings, lines: Mapping[str, int]) -> Iterator[Problem]:
    if not settings.activation:
        text = f"activation: name at least one of {KEYS['activation'].limits}"
        yield Problem(lines.get("activation", 0), text)


def _pins(settings: Settings, lines: Mapping[str, int]) -> Iterator[Problem]:
    gpio = settings.gpio
    line = lines.get("gpio.led_pins") or lines.get("gpio.button_pin", 0)
    if len(gpio.led_pins) not in (0, 1, 3):
        text = f"expected 3 pins (red, green, blue), 1 or none, got {len(gpio.led_pins)}"
        yield Problem(line, f"gpio.led_pins: {text}")
    if len(set(gpio.led_pins)) < len(gpio.led_pins):
        yield Problem(line, "gpio.led_pins: a pin is named twice")
    if gpio.button_pin in gpio.led_pins:
        yield Problem(line, f"gpio.led_pins: pin {gpio.button_pin} is gpio.button_pin already")
