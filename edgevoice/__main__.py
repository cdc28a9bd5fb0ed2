"""``python -m edgevoice``."""

import sys

from edgevoice.cli.main import main

sys.exit(main())
