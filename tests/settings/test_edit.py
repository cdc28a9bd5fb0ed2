"""Values change, and nothing else does."""

import pytest

from edgevoice.settings.edit import changed
from edgevoice.settings.loader import parse
from edgevoice.settings.render import sample

CASES = {
    "an empty file": ("", {"llm.threads": 2}, "llm:\n  threads: 2\n"),
    "a value": ("llm:\n  threads: 1  # mine\n", {"llm.threads": 3}, "llm:\n  threads: 3  # mine\n"),
    "another key of a section": (
        "llm:\n    # the small one\n    max_tokens: 90\ntts: {}\n",
        {"llm.threads": 3},
        "llm:\n    threads: 3\n    # the small one\n    max_tokens: 90\ntts: {}\n",
    ),
    "a section that is all comments": (
        "llm:\n  # Threads.\n  #threads: 0\n\n  #max_tokens: 160\n",
        {"llm.threads": 3},
        "llm:\n  # Threads.\n  #threads: 0\n  threads: 3\n\n  #max_tokens: 160\n",
    ),
    "a section on one line": (
        "llm: {max_tokens: 90}  # short\n",
        {"llm.threads": 3},
        "llm: {threads: 3, max_tokens: 90}  # short\n",
    ),
    "an empty section on one line": ("llm: {}\n", {"llm.threads": 3}, "llm: {threads: 3}\n"),
    "no line end": ("language: de", {"llm.threads": 3}, "language: de\nllm:\n  threads: 3\n"),
    "a section at the end without a line end": ("llm:", {"llm.threads": 3}, "llm:\n  threads: 3\n"),
    "the top level": ("# a\nlanguage: de\n", {"profile": "aggressive"},
                      "# a\nlanguage: de\nprofile: aggressive\n"),
    "a text that needs quotes": ("", {"llm.model": "/a b.gguf"}, 'llm:\n  model: "/a b.gguf"\n'),
    "a list": ("", {"activation": ["always"]}, 'activation: ["always"]\n'),
    "a quoted value": ("llm: {model: 'x'}\n", {"llm.model": "y-2"}, "llm: {model: y-2}\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_change(name, tmp_path):
    before, values, after = CASES[name]
    assert changed(before, values) == after
    assert parse(after.encode(), tmp_path).values.items() >= values.items()


def test_the_sample_takes_every_change_below_its_explanation(tmp_path):
    values = {"llm.threads": 2, "audio.period_ms": 20, "profile": "aggressive"}
    before, after = sample().splitlines(), changed(sample(), values).splitlines()
    added = [line for line in after if line not in before]
    assert added == ["  period_ms: 20", "  threads: 2", "profile: aggressive"]
    assert [line for line in after if line not in added] == before
    assert after[after.index("  period_ms: 20") - 1] == "  #period_ms: 10"
    assert parse("\n".join(after).encode(), tmp_path).values == values
