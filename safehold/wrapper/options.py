"""What the wrapper is told by its command line and environment, and the command that follows."""

from __future__ import annotations

import argparse
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """One attempt on this machine.

    Attributes:
        folder: Of the attempt.
        command: Of each rank.
        num_ranks: On this machine.
        num_nodes: Of the attempt.
        node_rank: Of this machine.
        endpoint: `host:port` where the nodes meet, or would if nobody said otherwise; empty on one node.
        grace_seconds: From the signal to the end of the ranks, by force then.
        ship_seconds: Most time for sending after the ranks are gone.
        meet_seconds: Most time for the nodes to find each other.
    """

    folder: Path
    command: tuple[str, ...]
    num_ranks: int = 1
    num_nodes: int = 1
    node_rank: int = 0
    endpoint: str = ""
    grace_seconds: float = 60.0
    ship_seconds: float = 600.0
    meet_seconds: float = 900.0

    @property
    def kill_seconds(self) -> float:
        """When to use force: a little before the one who asked does, so that the end is recorded."""
        return max(self.grace_seconds / 2, self.grace_seconds - 5.0)

    @property
    def exit_name(self) -> str:
        """Return the name of the file that says how this machine's ranks ended."""
        return "exit.json" if self.node_rank == 0 else f"exit-{self.node_rank}.json"

    @property
    def source(self) -> str:
        """Return the name of the wrapper's own log."""
        return "wrapper" if self.node_rank == 0 else f"wrapper-{self.node_rank}"


def parse(arguments: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Read the command line; ends the process with a clear line where it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m safehold.wrapper", description=__doc__)
    parser.add_argument("--dir", type=Path, default=environ.get("SAFEHOLD_DIR"))
    parser.add_argument("--nproc", type=int, default=1)
    parser.add_argument("--nnodes", type=int, default=1)
    # Pods of an Indexed Job share one command; their index is told by Kubernetes.
    parser.add_argument(
        "--node-rank", type=int, default=int(environ.get("JOB_COMPLETION_INDEX") or 0)
    )
    parser.add_argument("--rdzv-endpoint", default="")
    parser.add_argument(
        "--grace", type=float, default=float(environ.get("SAFEHOLD_GRACE_SECONDS") or 60)
    )
    parser.add_argument(
        "--ship-seconds", type=float, default=float(environ.get("SAFEHOLD_SHIP_SECONDS") or 600)
    )
    parser.add_argument(
        "--meet-seconds", type=float, default=float(environ.get("SAFEHOLD_MEET_SECONDS") or 900)
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if given.dir is None:
        parser.error("--dir or SAFEHOLD_DIR must name the folder of the attempt")
    if not command:
        parser.error("a command must follow --")
    if given.nnodes > 1 and not re.fullmatch(r".+:\d{1,5}", given.rdzv_endpoint):
        parser.error("--rdzv-endpoint HOST:PORT is needed with more than one node")
    if not 0 <= given.node_rank < given.nnodes:
        parser.error(f"--node-rank {given.node_rank} is none of {given.nnodes} nodes")
    return Options(
        folder=Path(given.dir).absolute(),
        command=tuple(command),
        num_ranks=given.nproc,
        num_nodes=given.nnodes,
        node_rank=given.node_rank,
        endpoint=given.rdzv_endpoint,
        grace_seconds=given.grace,
        ship_seconds=given.ship_seconds,
        meet_seconds=given.meet_seconds,
    )


def root_command(options: Options) -> list[str]:
    """Return the command that starts the ranks: a shim alone, or torchrun with a shim a rank."""
    shim = [sys.executable, "-m", "safehold.wrapper.rank", "--", *options.command]
    if options.num_ranks == 1 and options.num_nodes == 1:
        return shim
    return [
        *(sys.executable, "-m", "torch.distributed.run", "--max-restarts=0"),
        f"--nproc-per-node={options.num_ranks}",
        f"--nnodes={options.num_nodes}",
        *_meeting(options),
        "--no-python",
        *shim,
    ]


def root_environment(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the ranks."""
    made = {
        **environ,
        "SAFEHOLD_DIR": str(options.folder),
        "SAFEHOLD_GRACE_SECONDS": f"{options.grace_seconds:g}",
        # torchrun would kill after 30 s what still saves.
        "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": str(int(options.grace_seconds) + 5),
    }
    if options.num_ranks == 1 and options.num_nodes == 1:
        made |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        made |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    return made


def _meeting(options: Options) -> list[str]:
    if options.num_nodes == 1:  # as --standalone does, but never by the name of the host
        return ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    host, _, port = options.endpoint.rpartition(":")
    host = host.strip("[]")
    return [f"--node-rank={options.node_rank}", f"--master-addr={host}", f"--master-port={port}"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
