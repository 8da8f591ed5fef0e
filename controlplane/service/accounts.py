"""The first accounts of a service on one machine, and the token of its command line."""

from pathlib import Path

from django.db import transaction

from controlplane.common import tokens
from controlplane.common.models import Membership, Project, Role, User
from controlplane.common.services import people
from controlplane.service.secrets import read, write_private

ACCOUNTS = {"admin": Role.ADMIN, "operator": Role.OPERATOR, "approver": Role.APPROVER}


@transaction.atomic
def seed(home: Path) -> dict[str, str]:
    """Make the project `Main`, the accounts that are missing, and the token of the command line.

    Args:
        home: State directory; `credentials` and `token` there are readable by their owner only.

    Returns:
        User name -> password of the accounts made now; empty when all were there.
    """
    project, _ = Project.objects.get_or_create(slug="main", defaults={"name": "Main"})
    kept = read_credentials(home / "credentials")
    made = {
        name: kept.get(name) or people.new_password()
        for name in ACCOUNTS
        if not User.objects.filter(username=name).exists()
    }
    for name, password in made.items():
        _make(name, password, project)
    if made:
        write_credentials(home / "credentials", kept | made)
    ensure_token(home / "token")
    return made


def admin() -> User:
    """Return the account in whose name the service itself acts."""
    return User.objects.get(username="admin")


def ensure_token(path: Path) -> None:
    """Keep a working admin token in `path`, for the command line on this machine."""
    kept = read(path)
    if kept and tokens.find_personal(kept) is not None:
        return
    _, secret = tokens.issue_personal(user=admin(), name="command line of this machine")
    write_private(path, secret + "\n")


def read_credentials(path: Path) -> dict[str, str]:
    """Return the passwords kept earlier; they serve again when only the database was lost."""
    pairs = (line.split() for line in read(path).splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def write_credentials(path: Path, passwords: dict[str, str]) -> None:
    """Keep the passwords, one account a line."""
    write_private(path, "".join(f"{name} {word}\n" for name, word in passwords.items()))


def _make(name: str, password: str, project: Project) -> None:
    is_admin = ACCOUNTS[name] == Role.ADMIN
    user = User.objects.create_user(
        name, password=password, is_superuser=is_admin, is_staff=is_admin
    )
    Membership.objects.create(user=user, project=project, role=ACCOUNTS[name])
