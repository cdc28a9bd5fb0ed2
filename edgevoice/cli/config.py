"""``edgevoice config``: check, show and explain the configuration."""

from __future__ import annotations

import argparse
import sys

from edgevoice.cli.parser import add_config_option


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser("config", help="check, show or explain the configuration")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="tell everything that is wrong with the file")
    check.add_argument("file", nargs="?", metavar="FILE", help="instead of the one in use")
    show = actions.add_parser("show", help="print what holds and where it came from")
    schema = actions.add_parser("schema", help="print every key with its explanation")
    schema.add_argument("--format", choices=("yaml", "markdown", "json"), default="yaml")
    for action in (check, show):
        add_config_option(action)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for; raises `edgevoice.errors.ConfigError` when the file is wrong."""
    if args.action == "check":
        _check(args.file or args.config)
    elif args.action == "show":
        _show(args.config)
    else:
        _schema(args.format)
    return 0


def _check(named: str | None) -> None:
    from edgevoice.settings.loader import SYSTEM_FILE, load, user_file

    loaded = load(named)
    if loaded.path is None:
        print(f"no {SYSTEM_FILE} and no {user_file()}: the defaults hold")
        return
    keys = "1 key" if len(loaded.lines) == 1 else f"{len(loaded.lines)} keys"
    print(f"{loaded.path}: no errors, {keys} set")


def _show(named: str | None) -> None:
    from edgevoice.settings.loader import load
    from edgevoice.settings.render import effective

    sys.stdout.write(effective(load(named)))


def _schema(form: str) -> None:
    from edgevoice.settings import render

    write = {"yaml": render.sample, "markdown": render.markdown, "json": render.json_schema}
    sys.stdout.write(write[form]())
