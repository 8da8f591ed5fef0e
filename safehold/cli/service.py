"""`safehold up` and `safehold demo`: need the server extra."""

from typing import Annotated, Any

import typer

from safehold.cli.output import CannotRun


def up(
    demo: Annotated[bool, typer.Option(help="Start the demo run too.")] = True,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the web server; PORT, else 8000.")
    ] = None,
) -> None:
    """Start the whole service on this machine."""
    raise typer.Exit(_service().up(demo=demo, port=port))


def demo() -> None:
    """Seed and launch the demo run."""
    raise typer.Exit(_service().demo())


def _service() -> Any:
    import importlib

    try:
        return importlib.import_module("controlplane.service")
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error.name} is missing: pip install 'safehold[server]'.") from error
