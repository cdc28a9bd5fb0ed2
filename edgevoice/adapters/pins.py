"""The pins of a GPIO chip: in memory for tests, else through lgpio, on a Pi 4 as on a Pi 5.

``GPIOZERO_PIN_FACTORY=mock`` gives pins in memory, as gpiozero documents it;
any other value means lgpio.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from typing import Any

from edgevoice.adapters import lg
from edgevoice.errors import AbsentError

CHIPS = "/dev/gpiochip*"

_HEADERS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
"""Labels of the chip that the header's pins belong to: its number differs by model and kernel."""


class Pins:
    """The pins of a chip, which is opened when the first of them is wanted."""

    def __init__(self, chip: int | None) -> None:
        self._chip = chip
        self._factory: Any = None

    @property
    def factory(self) -> Any:
        """The pin factory of gpiozero; raises `AbsentError` with the reason why there is none."""
        if self._factory is None:
            mocked = os.environ.get("GPIOZERO_PIN_FACTORY") == "mock"
            self._factory = _mock_factory() if mocked else _lgpio_factory(self._chip)
        return self._factory

    def close(self) -> None:
        """Free the chip."""
        if self._factory is not None:
            self._factory.close()


def _mock_factory() -> Any:
    from gpiozero.pins.mock import MockFactory, MockPWMPin

    return MockFactory(pin_class=MockPWMPin)


def _lgpio_factory(chip: int | None) -> Any:
    paths = glob.glob(CHIPS) if chip is None else [CHIPS.replace("*", str(chip))]
    if not paths or not os.path.exists(paths[0]):
        raise AbsentError(f"there is no GPIO chip ({paths[0] if paths else CHIPS})")
    if not any(os.access(path, os.R_OK | os.W_OK) for path in paths):
        raise AbsentError(f"{paths[0]} may not be opened", "join the group gpio")
    try:
        lg.library()
        from gpiozero.pins.lgpio import LGPIOFactory

        return LGPIOFactory(chip=_header(paths) if chip is None else chip)
    except Exception as error:  # lgpio.error is known only once lgpio is imported
        raise AbsentError(f"the GPIO chip cannot be used: {error}") from error


def _header(paths: Sequence[str]) -> int | None:
    """The number of the chip with the header's pins; None leaves it to gpiozero."""
    labels = {label: number for number, label in _labels(paths)}
    return next((labels[label] for label in _HEADERS if label in labels), None)


def _labels(paths: Sequence[str]) -> Iterator[tuple[int, str]]:
    lgpio = lg.library()
    for number in sorted(int(path.rpartition("gpiochip")[2]) for path in paths):
        try:
            handle = lgpio.gpiochip_open(number)
        except lgpio.error:
            continue
        yield number, lgpio.gpio_get_chip_info(handle)[3]
        lgpio.gpiochip_close(handle)
