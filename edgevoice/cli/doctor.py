"""``edgevoice doctor``: what is well, what is not, and what to do about it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.settings.schema import Settings
    from edgevoice.system.doctor import Finding


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "doctor", help="look at everything it needs; plays a noise for five seconds"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 0 when nothing failed, else 1."""
    from edgevoice.cli.hardware import hardware
    from edgevoice.system.doctor import FAILED, Verdict, diagnose

    settings, findings = _configuration(args.config)
    _show(findings, as_json=args.json)
    for finding in diagnose(settings, hardware(settings), settings.control.socket):
        findings.append(finding)
        _show([finding], as_json=args.json)
    if args.json:
        print(json.dumps([finding.entry() for finding in findings], indent=2))
    failed = sum(finding.verdict is Verdict.FAIL for finding in findings)
    if not args.json:
        print(f"{failed or 'nothing'} failed")
    return FAILED if failed else 0


def _configuration(named: str | None) -> tuple[Settings, list[Finding]]:
    """The settings; the defaults when the file is wrong, for the rest wants looking at too."""
    from edgevoice.errors import ConfigError
    from edgevoice.settings.loader import load
    from edgevoice.settings.schema import Settings
    from edgevoice.system.doctor.finding import fail, ok

    try:
        loaded = load(named)
    except ConfigError as error:
        what = str(error).splitlines()[0]
        todo = "edgevoice config check tells all; the defaults are looked at meanwhile"
        return Settings(), [fail("configuration", what, todo)]
    return loaded.settings, [ok("configuration", str(loaded.path or "none: the defaults hold"))]


def _show(findings: list[Finding], *, as_json: bool) -> None:
    """At once, for some checks take their time."""
    if not as_json:
        for finding in findings:
            print("\n".join(finding.lines()), flush=True)
