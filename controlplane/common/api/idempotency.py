"""A create that is sent again, after a lost answer, makes nothing new."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from controlplane.common.api.auth import caller
from controlplane.common.errors import Invalid
from controlplane.common.models import IdempotentAnswer

HEADER = "Idempotency-Key"
_LONGEST = 200


def once(request: HttpRequest, create: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run `create` and keep its answer under the request's key, or return what was kept.

    Two requests with one key at the same time: the second waits for the first to commit.

    Args:
        request: Its header Idempotency-Key, any text up to 200 characters, may be absent.
        create: Returns plain JSON values. It runs in a transaction that the key belongs to.

    Raises:
        Invalid: The key is too long, or was used for another request.
    """
    key = request.headers.get(HEADER, "")
    if not key:
        return create()
    if len(key) > _LONGEST or "\0" in key:
        raise Invalid(
            _("%(header)s is longer than %(most)d characters.")
            % {"header": HEADER, "most": _LONGEST},
            fields={HEADER: [_("It is too long.")]},
        )
    digest = _digest(request)
    try:
        with transaction.atomic():
            kept = IdempotentAnswer.objects.create(
                user=caller(request), key=key, request_hash=digest
            )
            # As it is kept, so that the first answer is the second one to the letter.
            kept.body = json.loads(json.dumps(create(), cls=DjangoJSONEncoder))
            kept.save(update_fields=["body"])
            return dict(kept.body)
    except IntegrityError:
        found = IdempotentAnswer.objects.filter(user=caller(request), key=key).first()
        if found is None:  # not the key, but a constraint of the object itself
            raise
    if found.request_hash != digest:
        raise Invalid(
            _("%(header)s %(key)r was used for another request.") % {"header": HEADER, "key": key},
            fields={HEADER: [_("Use a new one.")]},
        )
    return dict(found.body)


def _digest(request: HttpRequest) -> str:
    content = f"{request.method} {request.path}\n".encode() + request.body
    return hashlib.sha256(content).hexdigest()
