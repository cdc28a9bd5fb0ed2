"""``edgevoice say``, ``ask``, ``listen``, ``mute`` and the like: tell the daemon what to do."""

from __future__ import annotations

import argparse

from edgevoice.cli.connection import connect

_ORDERS = {
    "listen": ("start", "listen, as after the wake word"),
    "stop": ("stop", "be quiet, and close the conversation"),
    "mute": ("mute", "close the microphone until unmute"),
    "unmute": ("unmute", "open the microphone again"),
    "reload": ("reload", "read the configuration again"),
}
"""What the control socket calls each, and its help."""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    for name, help_text in (
        ("say", "let it say something at the next pause"),
        ("ask", "ask it a question; it answers aloud"),
    ):
        parser = subparsers.add_parser(name, help=help_text)
        parser.add_argument("text", metavar="TEXT", nargs="+")
        parser.add_argument("--wait", action="store_true", help="until it has been spoken")
        parser.set_defaults(run=_speak, order=name)
    for name, (order, help_text) in _ORDERS.items():
        parser = subparsers.add_parser(name, help=help_text)
        parser.set_defaults(run=_order, order=order)


def _speak(args: argparse.Namespace) -> int:
    """Print how it ended if that was waited for; the exit status."""
    with connect(args) as daemon:
        text = " ".join(args.text)
        told = daemon.request(args.order, text=text, wait=args.wait, patient=args.wait)
    if args.wait:
        print(told.get("transcript") or told["outcome"])
    return 0


def _order(args: argparse.Namespace) -> int:
    """Give the order; the exit status."""
    with connect(args) as daemon:
        daemon.request(args.order, patient=args.order == "reload")
    return 0
