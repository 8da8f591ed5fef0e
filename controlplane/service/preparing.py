"""What the service needs in its database and its static files before it starts."""

import hashlib
import logging
import os
from pathlib import Path

from controlplane import environment as env
from controlplane.common.errors import SafeholdError
from controlplane.service.console import say


class NoDatabase(SafeholdError):
    """The database does not answer, or refuses what is asked of it."""

    code = "service-database"


def prepare(home: Path) -> dict[str, str]:
    """Migrate, collect the static files, seed the accounts, register the cluster of KUBECONFIG.

    Returns:
        The passwords of the accounts made now; empty on a later start.

    Raises:
        BadSetting: Nobody could sign in, or no rule of it can be read.
        NoDatabase: It does not answer, or refuses the migrations.
    """
    import django
    from django.core.management import call_command
    from django.db import DatabaseError, connections

    django.setup()
    _log_to(home / "logs" / "up.log")
    _refuse_sign_in_of_nobody()
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        raise NoDatabase(
            f"The database cannot be prepared: {str(error).strip().splitlines()[0]}.",
            hint="Mend that, or name another one: DATABASE_URL.",
        ) from error
    collect_static()

    from controlplane.service import accounts, kubeconfigs

    made = accounts.seed(home)
    tell_address()
    kubeconfigs.register(say=say)
    connections.close_all()
    return made


def _refuse_sign_in_of_nobody() -> None:
    """Refuse rules of the sign-in that cannot be read, before anybody stands in front of it."""
    from django.core.checks import ERROR

    from controlplane.common.checks import check_sign_in

    for message in check_sign_in(None):
        if message.level >= ERROR:
            raise env.BadSetting(message.msg)


def tell_address() -> None:
    """Tell training that outlived the last service where this one is."""
    from django.conf import settings

    from controlplane.service.secrets import write_private
    from safehold.environment import ADDRESS_FILE

    settings.SAFEHOLD_ATTEMPTS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(settings.SAFEHOLD_ATTEMPTS_DIR / ADDRESS_FILE, settings.SAFEHOLD_INGEST_URL)


def has_clusters() -> bool:
    """Whether a cluster is registered, so that its watcher is worth a process."""
    from django.db import connections

    from controlplane.service import kubeconfigs

    found = kubeconfigs.has_clusters()
    connections.close_all()
    return found


def collect_static() -> None:
    """Collect, fingerprint and compress the static files, unless they are what they were."""
    from django.conf import settings
    from django.core.management import call_command

    stamp = settings.STATIC_ROOT / ".digest"
    digest = static_digest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(digest)


def static_digest() -> str:
    """Name the static files by path, size and time, which is quick and notices every change."""
    from django.contrib.staticfiles.finders import get_finders

    found = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = os.stat(storage.path(path))
            found.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return found.hexdigest()


def resume() -> list[int]:
    """Resume the local runs that the last stop interrupted; return their ids."""
    from django.db import connections

    from controlplane.service import accounts, training

    resumed = training.resume(user=accounts.admin())
    connections.close_all()
    return resumed


def _log_to(path: Path) -> None:
    """Keep the terminal for people: our own log lines go to a file, like those of the children."""
    from controlplane.common.logs import JsonFormatter

    handler = logging.FileHandler(path)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().handlers[:] = [handler]
