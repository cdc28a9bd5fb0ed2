"""The daemon on PortAudio and ALSA, talked to through a virtual sound card.

The room is the air between the card's loudspeaker and its microphone: one pipe
brings what the daemon plays, another takes what the microphone hears.
"""

import fcntl
import mmap
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from edgevoice.adapters.room import Room
from edgevoice.adapters.scene_file import load_scene
from edgevoice.adapters.talker import rehearse, voice
from edgevoice.engines import Workshop
from edgevoice.settings.schema import Settings, Tts
from tests.adapters.engines import RATE, model
from tests.conversations import judge
from tests.virtual_card import AS_HARDWARE, VirtualCard, missing, virtual_card

pytestmark = [pytest.mark.engines, pytest.mark.audio]


AT_FIRST, AT_MOST = RATE // 10, RATE // 4
"""Samples that lie in a cable when it is plugged in, which is what its programs hand on at once,
and later.  What a busy machine lets lie is lost: every hiccup would move the echo of all that
follows, for ever further."""


class Cables:
    """From the card's loudspeaker into the room, and back to its microphone."""

    def __init__(self, card: VirtualCard):
        environment = os.environ | card.environment
        raw = ["--raw", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=20"]
        self._speaker = subprocess.Popen(
            [*AS_HARDWARE, "parec", "--device=spk.monitor", *raw],
            env=environment,
            stdout=subprocess.PIPE,
        )
        self._microphone = subprocess.Popen(
            [*AS_HARDWARE, "pacat", "--playback", "--device=micfeed", *raw],
            env=environment,
            stdin=subprocess.PIPE,
        )
        os.set_blocking(self._microphone.stdin.fileno(), False)
        fcntl.fcntl(self._microphone.stdin, fcntl.F_SETPIPE_SZ, mmap.PAGESIZE)
        self._played: deque[bytes] = deque()
        self._rest = b""
        self._limit = AT_FIRST
        self.lost = 0
        """Samples that lay too long in one of them."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while data := self._speaker.stdout.read1(4096):
            self._played.append(data)

    def from_speaker(self, block, at):
        while self._played:
            self._rest += self._played.popleft()
        late = max(0, len(self._rest) // 2 - self._limit)
        self._limit = AT_MOST
        self._rest = self._rest[2 * late :]
        self.lost += late
        data, self._rest = self._rest[: 2 * len(block)], self._rest[2 * len(block) :]
        block[: len(data) // 2] = np.frombuffer(data, np.int16)

    def to_microphone(self, block, at):
        try:
            os.write(self._microphone.stdin.fileno(), block.tobytes())
        except BlockingIOError:
            self.lost += len(block)

    def cut(self):
        for process in (self._speaker, self._microphone):
            process.terminate()
            process.wait()


@contextmanager
def in_real_time():
    """The room, whose thread is begun by this one, waits for no program either."""
    niceness = os.nice(0)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def make_voice(file, length_scale):
    return Workshop(Settings(tts=Tts(length_scale=length_scale))).synthesiser()


@pytest.fixture(scope="module", params=[16_000, 48_000])
def conversation(request, tmp_path_factory):
    """Held at the rate the house works at, and at the one rate many cards know."""
    if packages := missing():
        pytest.skip(f"no virtual sound card: apt install {packages}")
    model("smollm2-135m-instruct-q4_1", "llm")
    scene = load_scene(judge.SCENE)
    lines = rehearse(scene.lines, voice(scene.voice, make_voice), RATE)
    trace = tmp_path_factory.mktemp("card") / "events.jsonl"
    config = trace.with_name("edgevoice.yaml")
    config.write_text(f"audio: {{input_rate: {request.param}, output_rate: {request.param}}}\n")
    with virtual_card() as card:
        command = [sys.executable, "-m", "edgevoice", "run", "--trace", str(trace)]
        command += ["--config", str(config)]
        daemon = subprocess.Popen(
            command, env=os.environ | card.environment, stderr=subprocess.PIPE, text=True
        )
        log = []
        for line in daemon.stderr:
            log.append(line)
            if "(ready)" in line:
                break
        assert daemon.poll() is None, "".join(log)
        threading.Thread(target=log.extend, args=(daemon.stderr,), daemon=True).start()
        cables = Cables(card)
        with Room(scene, lines) as room, in_real_time():
            room.speaker.start(cables.from_speaker, print)
            room.microphone.start(cables.to_microphone, print)
            room.ready()
            room.finished.wait()
            loudspeaker = room.recording.loudspeaker
        daemon.send_signal(signal.SIGTERM)
        status = daemon.wait(timeout=20)
        cables.cut()
    print(f"lost in the cables: {1000 * cables.lost // RATE} ms; late steps: {room.late_steps}")
    return status, trace, loudspeaker, "".join(log)


def test_the_daemon_ends_well_when_it_is_told_to(conversation):
    status, _, _, log = conversation
    assert status == 0, log
    assert "Traceback" not in log


def test_the_same_conversation_is_held(conversation):
    _, trace, loudspeaker, _ = conversation
    judge.check_replay(trace)
    turns = judge.records(trace)
    judge.check_turns(turns)
    judge.check_spoken(loudspeaker, turns)


def test_the_log_tells_states_and_latencies_and_no_word(conversation):
    *_, log = conversation
    assert "EDGEVOICE_STATE=speaking" in log
    assert "EDGEVOICE_RESPONSE_MS=" in log
    said = {"capital", "france", "paris", "dragon", "germany"}
    assert not said & set(log.lower().split())
