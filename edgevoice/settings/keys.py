"""The schema, turned into a flat table of keys that readers and renderers walk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from edgevoice.settings.schema import Settings, UserTool

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = Scalar | list[Scalar]


@dataclass(frozen=True)
class Key:
    """One key of the configuration."""

    name: str
    """Dotted, such as ``turn.policy``; keys of the top level have no dot."""
    type: type[Scalar]
    """Of the value, or of each item of a list."""
    is_list: bool
    default: Value
    doc: str
    unit: str
    ge: float | None
    le: float | None
    choices: tuple[str, ...]

    @property
    def section(self) -> str:
        """The part before the dot, empty at the top level."""
        return self.name.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        """The part after the dot: what is written in the file."""
        return self.name.rpartition(".")[2]

    @property
    def limits(self) -> str:
        """What a value, or an item of a list, may be: ``50 to 5000`` or ``auto, on, off``."""
        if self.choices:
            return ", ".join(self.choices)
        if self.ge is None or self.le is None:
            return ""
        return f"{self.ge:g} to {self.le:g}"

    @property
    def expected(self) -> str:
        """What the key wants, for a message: ``a whole number of ms from 50 to 5000``."""
        return f"a list, each item {self.expected_item}" if self.is_list else self.expected_item

    @property
    def expected_item(self) -> str:
        """The same for one item of a list."""
        if self.type is bool:
            return "true or false"
        if self.choices:
            return f"one of {self.limits}"
        if self.type is str:
            return "a text"
        number = "a whole number" if self.type is int else "a number"
        unit = f" of {self.unit}" if self.unit else ""
        between = f" from {self.limits}" if self.limits else ""
        return number + unit + between


def keys_of(section: type[Any], prefix: str = "") -> Iterator[Key]:
    """The keys of a dataclass of knobs; what is declared without one is no key."""
    hints = get_type_hints(section)
    for field in fields(section):
        hint = hints[field.name]
        if _is_section(hint):
            yield from keys_of(hint, f"{field.name}.")
            continue
        if "doc" not in field.metadata:
            continue
        is_list = get_origin(hint) is list
        yield Key(
            name=prefix + field.name,
            type=get_args(hint)[0] if is_list else hint,
            is_list=is_list,
            default=_default(field),
            **field.metadata,
        )


def _is_section(hint: object) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def _default(field: Field[Value]) -> Value:
    if field.default_factory is not MISSING:
        return field.default_factory()
    assert field.default is not MISSING, f"{field.name} is not declared with knob"
    return field.default


KEYS: Mapping[str, Key] = {key.name: key for key in keys_of(Settings)}
"""Every key by its dotted name, in the order of the schema."""

TOOLS = "tools"
"""The one key whose value is a list of mappings; see `edgevoice.settings.tools`."""

SECTIONS: Mapping[str, type[Any]] = {
    name: hint for name, hint in get_type_hints(Settings).items() if _is_section(hint)
}
"""Every section's class by its name."""


def keys_in(section: str) -> Mapping[str, Key]:
    """The keys of ``section`` (``""``: of the top level) by their last name."""
    return {key.leaf: key for key in KEYS.values() if key.section == section}


def value_of(settings: Settings, name: str) -> Value:
    """The value of the key ``name`` (dotted) in ``settings``."""
    section, _, leaf = name.rpartition(".")
    value: Value = getattr(getattr(settings, section) if section else settings, leaf)
    return value


def build(values: Mapping[str, Value], tools: Sequence[UserTool] = ()) -> Settings:
    """Settings with these ``values`` by dotted name, and defaults for the rest."""
    sections = {
        name: cls(**{leaf: values[f"{name}.{leaf}"] for leaf in keys_in(name)
                     if f"{name}.{leaf}" in values})
        for name, cls in SECTIONS.items()
    }  # fmt: skip
    top: dict[str, Any] = {leaf: values[leaf] for leaf in keys_in("") if leaf in values}
    return Settings(**top, **sections, tools=tuple(tools))
