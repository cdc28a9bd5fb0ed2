from __future__ import annotations

from hypothesis import is_hypothesis_test, settings

# A busy machine is no failure, and a failure must not depend on the day.
settings.register_profile("edgevoice", deadline=None, derandomize=True)
settings.register_profile("mutants", parent=settings.get_profile("edgevoice"), max_examples=20)
settings.load_profile("edgevoice")


def pytest_collection_modifyitems(items):
    """The ledger notices most changes at once, so that a changed core needs little else."""
    if settings.get_current_profile_name() == "mutants":
        items.sort(
            key=lambda item: (
                item.module.__name__ != "tests.core.test_ledger",
                is_hypothesis_test(item.function),
            )
        )
