"""`safehold up`: the whole service on one machine.

Light to import: the settings use `places` from here, and the command line calls the two functions.
"""


def up(*, demo: bool = True, port: int | None = None, as_json: bool = False) -> int:
    """Run the service until Ctrl-C; return the exit code."""
    from controlplane.service import console, serving

    console.speak_json(as_json)
    return serving.up(demo=demo, port=port)


def demo(*, as_json: bool = False) -> int:
    """Make and launch the demo run in the service that runs here; return the exit code."""
    from controlplane.service import console, demo_run

    console.speak_json(as_json)
    return demo_run.main()
