"""``python -m tests.traces`` records the golden traces and the ledger anew; read the difference."""

from tests.core import ledger
from tests.traces.scripts import rewrite

for path in (*rewrite(), *ledger.rewrite()):
    print(path)
