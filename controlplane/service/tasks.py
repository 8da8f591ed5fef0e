"""The processes of Celery: worker, verifier and clock."""

import sys

from controlplane.service import importing


def main() -> int:
    """Do what the command line of Celery says, with all of ours imported first."""
    with importing.kept():
        from controlplane.celery import app

        app.loader.init_worker()
    from celery.__main__ import main as celery

    celery()
    return 0


if __name__ == "__main__":
    sys.exit(main())
