"""Accounts: made by administrators of the service; passwords and sign-ins by each person."""

import string

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import SignIn, User

# A password is read from a screen and typed: nothing in it looks like something else.
PASSWORD_LETTERS = "".join(sorted({*string.ascii_letters, *string.digits} - set("lI1O0o")))
# 93 bits, which withstand guessing at any speed a sign-in form allows.
PASSWORD_LENGTH = 16


def new_password() -> str:
    """Return a random password of letters and digits that cannot be mistaken for each other."""
    return get_random_string(PASSWORD_LENGTH, PASSWORD_LETTERS)


@transaction.atomic
def create_person(*, user: User, username: str, full_name: str = "") -> tuple[User, str]:
    """Make an account and return it with its first password, which can never be read again.

    Raises:
        Invalid: The name cannot be used.
    """
    access.require_service(user, "person.create")
    username = username.strip()
    _check_username(username)
    password = new_password()
    first, _space, last = " ".join(full_name.replace("\0", " ").split())[:150].partition(" ")
    person = User.objects.create_user(username, password=password, first_name=first, last_name=last)
    audit.record(actor=user, action="person.create", object=person, data={"name": username})
    return person, password


@transaction.atomic
def set_active(*, user: User, person: User, is_active: bool) -> None:
    """Close an account, which ends its sign-ins and tokens at once, or open it again.

    Raises:
        Conflict: It is one's own.
    """
    act = "person.activate" if is_active else "person.deactivate"
    access.require_service(user, act)
    if person.pk == user.pk:
        raise Conflict(_("You cannot close your own account."))
    if (
        not User.objects.filter(pk=person.pk)
        .exclude(is_active=is_active)
        .update(is_active=is_active)
    ):
        return
    person.is_active = is_active
    if not is_active:
        _end_sign_ins(person)
    audit.record(actor=user, action=act, object=person, data={"name": person.username})


@transaction.atomic
def reset_password(*, user: User, person: User) -> str:
    """Give an account a new password, end its sign-ins, and return it; it can never be read again."""
    access.require_service(user, "person.reset_password")
    password = new_password()
    person.set_password(password)
    person.save(update_fields=["password"])
    _end_sign_ins(person)
    audit.record(
        actor=user, action="person.reset_password", object=person, data={"name": person.username}
    )
    return password


@transaction.atomic
def change_password(*, user: User, old: str, new: str, session_key: str = "") -> None:
    """Change one's own password; every other sign-in ends.

    Raises:
        Invalid: The old one is wrong, or the new one is too weak.
    """
    access.require_service(user, "person.change_password")
    if not user.check_password(old):
        told = _("That is not your password.")
        raise Invalid(told, fields={"old": [told]})
    try:
        validate_password(new, user)
    except ValidationError as error:
        told = _("The new password is too weak.")
        raise Invalid(told, fields={"new": error.messages}) from error
    user.set_password(new)
    user.save(update_fields=["password"])
    _end_sign_ins(user, but=session_key)
    audit.record(actor=user, action="person.change_password", object=user)


@transaction.atomic
def sign_out_elsewhere(*, user: User, session_key: str, only: int | None = None) -> int:
    """End the other sign-ins of a person, or one of them, and return how many ended.

    Args:
        user: Whose.
        session_key: Of the sign-in that stays.
        only: Id of the one to end; all others when None.
    """
    access.require_service(user, "person.sign_out_elsewhere")
    num = _end_sign_ins(user, but=session_key, only=only)
    if num:
        audit.record(actor=user, action="person.sign_out_elsewhere", object=user, data={"num": num})
    return num


def _end_sign_ins(person: User, *, but: str = "", only: int | None = None) -> int:
    found = SignIn.objects.filter(user=person).exclude(session_key=but)
    if only is not None:
        found = found.filter(pk=only)
    keys = list(found.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
    return len(keys)


def _check_username(username: str) -> None:
    try:
        UnicodeUsernameValidator()(username)
        if len(username) > 150:
            raise ValidationError(_("At most 150 characters."))
    except ValidationError as error:
        raise Invalid(
            _("The account cannot be named so."), fields={"username": error.messages}
        ) from error
    if User.objects.filter(username__iexact=username).exists():
        message = _("There is an account %(name)s already.") % {"name": username}
        raise Invalid(message, fields={"username": [message]})
