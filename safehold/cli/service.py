"""`safehold up` and `safehold demo`: need the server extra."""

from typing import Annotated, Any

import typer

from safehold.cli.output import AsJson, CannotRun


def up(
    demo: Annotated[bool, typer.Option(help="Start the demo run too.")] = True,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the web server; PORT, else 8000.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the whole service on this machine; with --json one object on standard output once it is ready."""
    raise typer.Exit(_service().up(demo=demo, port=port, as_json=as_json))


def demo(as_json: AsJson = False) -> None:
    """Seed and launch the demo run."""
    raise typer.Exit(_service().demo(as_json=as_json))


def _service() -> Any:
    import importlib

    try:
        return importlib.import_module("controlplane.service")
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error.name} is missing: pip install 'safehold[server]'.") from error
