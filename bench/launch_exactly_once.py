"""Whether launching happens exactly once, whoever dies: seeded kills in simulated time.

    python -m bench.launch_exactly_once [--kills 2000] [--seeds 60]

A run is launched, stopped and resumed while its workers are killed between any two lines, requests to the API
server are refused or lose their answers, and the broker is away; then a pod or a node is taken from a training.
Real decisions, real rows, the fake cluster without its HTTP. Prints JSON; ends with 1 where anything is not 0
or comes later than promised.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence

from bench import service

# What the product promises: a process or pod, a node.
PROMISED_SECONDS = {"workers": 30, "pod": 30, "node": 90}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=2000, help="of workers, at least")
    parser.add_argument("--seeds", type=int, default=60, help="with a pod or node taken, each")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # thousands of faults, each with its line
    with service.database():
        from django.conf import settings
        from django.db import connection

        from bench.launching.scenarios import play

        # Nobody signs in; a quarter of a second a seed would go into a password.
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

        with connection.cursor() as cursor:
            # Nobody cuts the power here, and every killed worker comes back with a new connection.
            cursor.execute("ALTER DATABASE safehold SET synchronous_commit TO off")
        began, results, seed = time.monotonic(), [], 0
        while sum(result.kills for result in results) < options.kills:
            results.append(play("workers", seed))
            seed += 1
        for kind in ("pod", "node"):
            results += [play(kind, seed) for seed in range(options.seeds)]
        took = time.monotonic() - began
    return report(results, took)


def report(results: Sequence, took: float) -> int:
    """Print the figures; return 1 where one is not as promised."""
    wrong = [result for result in results if result.seconds is None]
    told = {
        "kills": sum(result.kills for result in results),
        "seeds": len(results),
        "duplicates": sum(result.duplicates for result in results),
        "lost_launches": sum(result.lost for result in results),
        "orphans_after_5_minutes": sum(result.orphans for result in results),
        "wrong_after_5_minutes": len(wrong),
        "took_seconds": round(took, 1),
    }
    late = 0
    for kind, promised in PROMISED_SECONDS.items():
        seconds = sorted(r.seconds for r in results if r.kind == kind and r.seconds is not None)
        told[kind] = {"p50_seconds": _share(seconds, 0.5), "p99_seconds": _share(seconds, 0.99)}
        late += _share(seconds, 0.99) > promised
    print(json.dumps(told, indent=1))
    bad = [r for r in results if r.duplicates or r.lost or r.orphans or r.seconds is None]
    for result in bad[:20]:
        print(result, file=sys.stderr)
    return int(bool(bad) or late > 0)


def _share(values: Sequence[int], share: float) -> int:
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


if __name__ == "__main__":
    sys.exit(main())
