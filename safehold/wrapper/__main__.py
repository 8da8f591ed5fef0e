"""`python -m safehold.wrapper --dir DIR [--nproc N] -- command …`."""

from __future__ import annotations

import os
import sys

from safehold.wrapper.options import parse
from safehold.wrapper.place import begin_anew, has_secrets, settle
from safehold.wrapper.supervisor import run

if __name__ == "__main__":
    is_exposed = has_secrets(os.environ)
    options = settle(parse(sys.argv[1:], os.environ), os.environ)
    if is_exposed:
        begin_anew(options, sys.argv[1:], os.environ)
    sys.exit(run(options))
