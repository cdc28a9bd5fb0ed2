"""``python -m tests.traces`` records the golden traces anew."""

from tests.traces.scripts import rewrite

for path in rewrite():
    print(path)
