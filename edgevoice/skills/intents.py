"""Intents: the tool that a sentence asks for, without the language model."""

from __future__ import annotations

from edgevoice.ports import Call, Sentences
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Registry
from edgevoice.skills.slots import arguments


class TemplateIntents:
    """Looks sentences up in templates; what does not fit the tool's schema is no match."""

    def __init__(self, sentences: Sentences, tools: Registry, language: Language) -> None:
        self._sentences = sentences
        self._tools = tools
        self._language = language

    def match(self, text: str) -> Call | None:
        """The tool that ``text`` asks for."""
        found = self._sentences.match(text)
        if found is None:
            return None
        name, slots = found
        values = arguments(slots)
        if "name" in values and not self._language.is_name(str(values["name"])):
            return None
        if not self._tools.accepts(name, values):
            return None
        return Call(name, values, self._tools[name].long_running)
