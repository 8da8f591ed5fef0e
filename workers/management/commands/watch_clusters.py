"""`manage.py watch_clusters`: the watcher process."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from workers.watcher import run_watcher


class Command(BaseCommand):
    """Runs until SIGTERM; any number may run, one of them works."""

    help = "Follow the clusters so that changes are seen at once."

    def handle(self, *args: Any, **options: Any) -> None:
        """Watch until a signal."""
        over = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: over.set())
        run_watcher(over)
