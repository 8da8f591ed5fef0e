"""Commands that need no service: verify, preflight, plan."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.cli.numbers import finite
from safehold.cli.output import AsJson, CannotRun, pairs, show, show_findings
from safehold.cli.tables import duration, size
from safehold.config import ConfigInvalid, RunConfig, config_hash, read_file
from safehold.planning import RunPlan, plan_run
from safehold.preflight import Facts, Report, gather, run_checks

ConfigPath = Annotated[Path, typer.Argument(metavar="CONFIG", help="A .toml, .yaml or .json file.")]


def verify(
    path: Annotated[Path, typer.Argument(help="A checkpoint file or directory.")],
    as_json: AsJson = False,
) -> None:
    """Verify a checkpoint without a service."""
    try:
        path.stat()
    except FileNotFoundError as error:
        raise CannotRun(f"{path} does not exist.") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        from safehold.checkpointing import verification
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error.name} is missing: pip install 'safehold[train]'.") from error
    found = verification.verify(path)
    findings = [finding.to_dict() for finding in found.findings]
    show_findings(
        {"verdict": found.verdict, "findings": findings, "path": str(path), **found.facts}, as_json
    )


def preflight(
    config: ConfigPath,
    only: Annotated[
        str,
        typer.Option(help="Groups or codes with commas: config,data,tokenizer,checkpoint,rules."),
    ] = "",
    parent: Annotated[
        Path | None, typer.Option(help="The config file that it follows, for the rules on changes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the checks of a config on this machine."""
    chosen = [word for word in only.replace(" ", "").split(",") if word]
    try:
        report = _report(config, chosen, parent)
    except ValueError as error:
        raise CannotRun(str(error)) from error
    show_findings(report.to_dict(), as_json)


def plan(
    config: ConfigPath,
    mfu: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="Share of the peak that is sustained."),
    ] = 0.4,
    memory_gb: Annotated[
        float, typer.Option(min=0, callback=finite, help="Memory of a device in GB; 0: unknown.")
    ] = 0,
    step_seconds: Annotated[
        float,
        typer.Option(min=0, callback=finite, help="Of a step, as measured; 0: from the compute."),
    ] = 0,
    save_seconds: Annotated[
        float,
        typer.Option(
            min=0, callback=finite, help="That an anchor stops the training; 0: from its size."
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Print compute, memory, checkpoint sizes and intervals of a config."""
    try:
        config.stat()
        read = read_file(config)
    except ConfigInvalid as invalid:
        report = run_checks(Facts(config_errors=tuple(invalid.errors)), ["config"])
        show_findings(report.to_dict(), as_json)
        return
    except OSError as error:
        raise _unreadable(config, error) from error
    planned = plan_run(
        read,
        mfu=mfu,
        memory_bytes_per_device=memory_gb * 1e9,
        step_seconds=step_seconds,
        save_seconds=save_seconds,
    )
    show(
        {"config_hash": config_hash(read), "plan": _plan_facts(planned)},
        as_json,
        lambda: pairs(_plan_words(planned)),
    )


def _report(path: Path, only: list[str], parent: Path | None) -> Report:
    config: RunConfig | None = None
    try:
        path.stat()
        config = read_file(path)
        facts = replace(gather(config, only), parent=_parent(parent))
    except ConfigInvalid as invalid:
        facts = Facts(config_errors=tuple(invalid.errors))
    except OSError as error:
        raise _unreadable(path, error) from error
    report = run_checks(facts, only or (None if config else ["config"]))
    named = {"config": str(path), "config_hash": config_hash(config) if config else None}
    return Report(report.findings, report.is_production, named)


def _parent(path: Path | None) -> RunConfig | None:
    """Return the config before; one that is none itself is the caller's mistake, not a finding on the new one."""
    try:
        if path:
            path.stat()
        return read_file(path) if path else None
    except ConfigInvalid as invalid:
        raise ValueError(f"{path} is no run config: {invalid}") from invalid
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from error


def _unreadable(path: Path, error: OSError) -> CannotRun:
    return CannotRun(f"{path} cannot be read: {error.strerror or error}.")


def _plan_facts(planned: RunPlan) -> dict[str, Any]:
    facts = asdict(planned)
    if planned.memory:
        facts["memory"] |= {
            "before_activations_bytes": planned.memory.before_activations_bytes,
            "total_bytes": planned.memory.total_bytes,
            "peak_bytes": planned.memory.peak_bytes,
            "fit": planned.memory.fit,
        }
    return facts


def _plan_words(planned: RunPlan) -> dict[str, object]:
    words: dict[str, object] = {
        "parameters": "unknown (mixture of experts)"
        if planned.parameters is None
        else f"{planned.parameters:,}",
        "tokens": f"{planned.tokens:,} ({planned.tokens_per_step:,} a step)",
        "starting loss": f"{planned.starting_loss:.2f}",
    }
    if planned.compute:
        compute = planned.compute
        words["compute"] = f"{compute.flops:.3g} FLOPs, {compute.device_days:.3g} device-days"
        words["wall time"] = (
            f"{duration(compute.wall_days)}, with buffer {duration(compute.wall_days_low)} to {duration(compute.wall_days_high)}"
        )
    else:
        words["compute"] = "unknown: set compute.peak_tflops_per_device"
    if planned.memory:
        memory = planned.memory
        words["memory per device"] = (
            f"{size(memory.before_activations_bytes)} + {size(memory.activations_bytes + memory.casts_bytes)} activations"
            f" = {size(memory.total_bytes)} ({memory.fit})"
        )
        words["checkpoint"] = (
            f"{size(planned.checkpoint_bytes) or 'unknown'}, room for all kept {size(planned.checkpoint_room_bytes) or 'unknown'}"
        )
    for one in planned.intervals:
        if one.is_advised:
            words["anchors"] = (
                f"every {one.steps:,} steps of {planned.step_seconds:.3g} s: {one.saving_share:.2%} goes to saving,"
                f" {one.lost_share:.2%} is lost to crashes"
            )
    return words
