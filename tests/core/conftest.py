from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure, and a failure must not depend on the day.
settings.register_profile("edgevoice", deadline=None, derandomize=True)
settings.register_profile("mutants", parent=settings.get_profile("edgevoice"), max_examples=20)
settings.load_profile("edgevoice")
