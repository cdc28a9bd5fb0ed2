"""How a number of the core is declared."""

from dataclasses import dataclass, fields

from edgevoice.core.tuning import knob


@dataclass
class Example:
    plain: int = knob(3, "How many.")
    full: float = knob(1.5, "How long.", unit="s", ge=0, le=9)
    way: str = knob("fast", "Which way.", choices=("fast", "slow"))
    words: list[str] = knob(["um"], "Which words.")
    table: dict[str, int] = knob({"a": 1}, "Which numbers.")


def test_a_knob_is_a_field_with_its_documentation():
    documented = {f.name: dict(f.metadata) for f in fields(Example)}
    nothing = {"unit": "", "ge": None, "le": None, "choices": ()}
    assert documented == {
        "plain": nothing | {"doc": "How many."},
        "full": nothing | {"doc": "How long.", "unit": "s", "ge": 0, "le": 9},
        "way": nothing | {"doc": "Which way.", "choices": ("fast", "slow")},
        "words": nothing | {"doc": "Which words."},
        "table": nothing | {"doc": "Which numbers."},
    }


def test_each_has_its_default_and_a_list_of_its_own():
    one, other = Example(), Example()
    assert one == Example(3, 1.5, "fast", ["um"], {"a": 1})
    one.words.append("er")
    one.table["b"] = 2
    assert (other.words, other.table) == (["um"], {"a": 1})


def test_a_knob_is_declared_anew_each_time():
    """As it is at import, so that its own tests see what it does."""
    made = knob(["x"], "A list.", unit="m", ge=1, le=2, choices=("x",))
    assert made.default_factory() == ["x"]
    assert dict(made.metadata) == {
        "doc": "A list.", "unit": "m", "ge": 1, "le": 2, "choices": ("x",),
    }  # fmt: skip
    assert knob(7, "A number.").default == 7
    assert knob(7, "A number.").metadata["unit"] == ""
