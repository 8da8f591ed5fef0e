"""Where the files of a local attempt are not what was written when it was started (CONF-2)."""

import json
from typing import Any

from safehold.config import diff
from safehold.findings import Finding, fail
from workers.launchers.base import LaunchSpec
from workers.launchers.folder import Folder

CODE = "CONF-2.drift"
_ADVICE = "Stop the run and launch it again, or ask who changed the file: a restart would not train what was approved."


def drift(spec: LaunchSpec, folder: Folder) -> list[Finding]:
    """Return a finding for every field of the config file that is not as launched, and for a changed command.

    Raises:
        OSError: The folder cannot be read.
    """
    place = folder.path / "config.json"
    try:
        found = json.loads(place.read_bytes())
    except FileNotFoundError:
        return [_finding("config.json", "there", "gone", str(place))]
    except ValueError:
        return [_finding("config.json", "a config", "something else", str(place))]
    if not isinstance(found, dict):
        return [_finding("config.json", "a config", "something else", str(place))]
    changed = [_finding(one.path, one.old, one.new, str(place)) for one in diff(spec.config, found)]
    if not changed and found != json.loads(json.dumps(spec.config)):
        changed = [_finding("config.json", "as launched", "another text", str(place))]
    return changed + _other_command(spec, folder)


def _other_command(spec: LaunchSpec, folder: Folder) -> list[Finding]:
    kept = folder.read("spec.json")
    found = kept.get("command", list(spec.command))
    if found == list(spec.command):
        return []
    return [_finding("command", list(spec.command), found, str(folder.path / "spec.json"))]


def _finding(field: str, expected: Any, found: Any, where: str) -> Finding:
    return fail(
        f"{field} is {found!r} in {where}; it was launched with {expected!r}.",
        code=CODE,
        evidence={"field": field, "expected": expected, "found": found, "where": where},
        advice=_ADVICE,
    )
