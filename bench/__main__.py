"""``python -m bench [SUITE ...]``: measure on the real engines, here and now.

Writes bench/results/latest.json and latest.md.  Machines that are shared or
busy give other figures: compare what was measured in one run.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from bench.rows import Row

SUITES = ("core", "speak", "intents", "latency", "turn", "conversation", "footprint", "duplex")
RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> int:
    """Run the suites that are named, or all."""
    if unknown := set(names) - set(SUITES):
        print(
            f"no suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}", file=sys.stderr
        )
        return 64
    rows: list[Row] = []
    for name in names or SUITES:
        print(f"measuring {name} …", flush=True)
        rows += importlib.import_module(f"bench.{name}").rows()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    (RESULTS / "latest.md").write_text(markdown(rows))
    print(markdown(rows), end="")
    return 0


def markdown(rows: list[Row]) -> str:
    """The rows as a table."""
    lines = [
        "| suite | measured | n | p50 | p95 | p99 | unit | baseline p50 | target | holds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        figures = " | ".join(f"{row[p]:.3g}" for p in ("p50", "p95", "p99"))
        baseline = "" if row["baseline"] is None else f"{row['baseline']:.3g}"
        holds = {True: "yes", False: "**no**", None: ""}[row["holds"]]
        lines.append(
            f"| {row['suite']} | {row['metric']} | {row['n']} | {figures} | {row['unit']} "
            f"| {baseline} | {row['target']} | {holds} |"
        )
    machines = sorted({row["machine"] for row in rows})
    return "\n".join([*lines, "", f"Measured on: {'; '.join(machines)}.", ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
