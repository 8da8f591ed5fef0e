"""Mixes as they are typed: one a line, `name: web = 0.7, code = 0.3`."""

from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid


def mixes_of(text: str) -> dict[str, dict[str, float]]:
    """Return the shares of each mix by its name.

    Raises:
        Invalid: A line cannot be read, or there is none.
    """
    found = dict(_mix(line) for line in text.splitlines() if line.strip())
    if not found:
        raise Invalid(
            _("There is no mix."), hint=_("Write one a line: even: web = 0.5, code = 0.5")
        )
    return found


def _mix(line: str) -> tuple[str, dict[str, float]]:
    name, colon, shares = line.partition(":")
    try:
        if not (colon and name.strip()):
            raise ValueError
        pairs = [one.partition("=") for one in shares.split(",")]
        return name.strip(), {domain.strip(): float(share) for domain, _sign, share in pairs}
    except ValueError:
        raise Invalid(
            _("The line %(line)r is no mix.") % {"line": line.strip()[:80]},
            hint=_("Write it so: even: web = 0.5, code = 0.5"),
        ) from None
