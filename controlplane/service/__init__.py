"""`safehold up`: the whole service on one machine.

Light to import: the settings use `places` from here, and the command line calls the two functions.
"""


def up(*, demo: bool = True, port: int | None = None) -> int:
    """Run the service until Ctrl-C; return the exit code."""
    from controlplane.service import serving

    return serving.up(demo=demo, port=port)


def demo() -> int:
    """Make and launch the demo run in the service that runs here; return the exit code."""
    from controlplane.service import demo_run

    return demo_run.main()
