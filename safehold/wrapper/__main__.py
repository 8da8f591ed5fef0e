"""`python -m safehold.wrapper --dir DIR [--nproc N] -- command …`."""

from __future__ import annotations

import os
import sys

from safehold.wrapper.options import parse
from safehold.wrapper.place import settle
from safehold.wrapper.supervisor import run

if __name__ == "__main__":
    sys.exit(run(settle(parse(sys.argv[1:], os.environ), os.environ)))
