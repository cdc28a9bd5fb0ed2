"""A scripted PortAudio, with the habits that matter: it lists devices once, and only then again
when everybody has let go of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

BUSY, BAD_RATE, BAD_CHANNELS = -9985, -9997, -9998
NO_TIME = {"input_buffer_adc_time": 0.0, "output_buffer_dac_time": 0.0, "current_time": 0.0}


class FakeStream:
    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.active = False
        self.call_back = settings["stream_callback"]

    def start_stream(self) -> None:
        self.active = True

    def is_active(self) -> bool:
        return self.active

    def get_output_latency(self) -> float:
        return 0.02


class FakePortAudio:
    """Has the devices that are given as (name, inputs, outputs); opens at ``rates`` only."""

    def __init__(self, *devices: tuple[str, int, int], rates: tuple[int, ...] = (16_000,)) -> None:
        self.devices = devices
        self.listed = devices
        self.rates = rates
        self.channels = range(1, 100)
        self.busy = False
        self.one_way = False
        """Whether it refuses streams of both directions."""
        self.initialised = 0
        self.opened: list[FakeStream] = []

    @property
    def stream(self) -> FakeStream:
        """The one that was opened last."""
        return self.opened[-1]

    @property
    def library(self) -> Any:
        """The module ``pyaudio``."""
        return SimpleNamespace(
            PyAudio=self._initialise, paALSA=8, paInt16=8, paDeviceUnavailable=BUSY
        )

    def _initialise(self) -> FakePortAudio:
        if self.initialised == 0:
            self.listed = self.devices
        self.initialised += 1
        return self

    def terminate(self) -> None:
        self.initialised -= 1

    def get_host_api_info_by_type(self, _: int) -> dict[str, Any]:
        count = len(self.listed)
        return {
            "index": 0,
            "deviceCount": count,
            "defaultInputDevice": next((i for i in range(count) if self.listed[i][1]), -1),
        }

    def get_device_info_by_host_api_device_index(self, _: int, index: int) -> dict[str, Any]:
        name, inputs, outputs = self.listed[index]
        channels = {"maxInputChannels": inputs, "maxOutputChannels": outputs}
        return {"name": name, "index": index, **channels}

    def open(self, **settings: Any) -> FakeStream:
        if self.busy:
            raise OSError("Device unavailable", BUSY)
        if settings["rate"] not in self.rates:
            raise OSError("Invalid sample rate", BAD_RATE)
        if settings["channels"] not in self.channels:
            raise OSError("Invalid number of channels", BAD_CHANNELS)
        if self.one_way and settings.get("input") and settings.get("output"):
            raise OSError("Illegal combination of I/O devices", -9993)
        self.opened.append(FakeStream(**settings))
        return self.opened[-1]

    def is_format_supported(self, rate: int, **_: Any) -> bool:
        if rate not in self.rates:
            raise ValueError("Invalid sample rate", BAD_RATE)
        return True
