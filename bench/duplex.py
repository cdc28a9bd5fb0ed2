"""Both speak at once: echo, barge-in and listening, on real engines in rooms of software.

Time is simulated (`bench.lockstep`), so a busy machine gives the same figures, only later.
The device talks to itself for a minute in each of twelve rooms; EDGEVOICE_BENCH_LONG=1
makes that an hour in all.  Leaves erle.svg, yield.svg and misses.txt beside the table.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench import bargein, echo, listening, material
from bench.peers import stand_by
from bench.rows import Row
from bench.trials import hold_session, talk_alone

RESULTS = Path(__file__).parent / "results"
_ALONE_S = 60.0
_LONG_S = 3600.0


def rows() -> list[Row]:
    """The figures of the three suites; about ten minutes on two idle cores."""
    RESULTS.mkdir(exist_ok=True)
    # Not forked: the engines have threads of their own.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        return _rows(pool)


def _rows(pool: Executor) -> list[Row]:
    alone_s = _LONG_S / len(material.OWN_ROOMS) if _is_long() else _ALONE_S
    tried = [pool.submit(hold_session, session) for session in bargein.sessions()]
    plain = pool.submit(hold_session, bargein.plain_silence())
    stood_by = [
        pool.submit(stand_by, session.acoustics, session.sounds, seed)
        for session, seed in bargein.bystanders()
    ]
    alone = [pool.submit(talk_alone, room, alone_s) for room in material.OWN_ROOMS]
    listened = pool.submit(listening.rows)
    measured = [pool.submit(echo.measure, case) for case in echo.CASES]
    kept, real = pool.submit(echo.near_end_kept), pool.submit(echo.real)
    outcomes = [outcome for session in tried for outcome in session.result()]
    (RESULTS / "misses.txt").write_text("\n".join(bargein.misses(outcomes)) + "\n")
    return [
        *echo.rows([case.result() for case in measured], RESULTS / "erle.svg"),
        *kept.result(),
        *real.result(),
        *bargein.rows(outcomes, plain.result()),
        *bargein.own_voice([each.result() for each in alone]),
        *bargein.against(outcomes, [each.result() for each in stood_by], RESULTS / "yield.svg"),
        *listened.result(),
    ]


def _is_long() -> bool:
    return os.environ.get("EDGEVOICE_BENCH_LONG", "") not in ("", "0")
