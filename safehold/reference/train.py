"""The reference trainer: `torchrun -m safehold.reference.train`.

Reads the config that `SAFEHOLD_CONFIG` names, and shows how the parts of the library fit into a
training script.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import safehold
from safehold.checkpointing.exact import settle_buckets
from safehold.checkpointing.start import Start
from safehold.data.packed import Packed
from safehold.data.sampler import Sampler
from safehold.reference.evaluation import Evaluation, mean
from safehold.reference.loader import Batch, Loader, open_training_data, open_validation_data
from safehold.reference.network import Network, loss_of, num_parameters
from safehold.reference.preparation import make_optimizer, refuse_what_is_not_here, seed_everything
from safehold.reference.processes import Processes, started
from safehold.reference.schedule import Schedule
from safehold.run import Run

logger = logging.getLogger(__name__)

_PRECISIONS = {"bf16": torch.bfloat16, "fp16": torch.float16}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train as the config says, from the checkpoint that the launcher names, if any.

    Args:
        arguments: Of the command line; None: of this process.
    """
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    with started() as processes:
        run = safehold.init()
        Trainer(run, processes, options.pace).train()
        run.finish()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m safehold.reference.train", description=__doc__)
    parser.add_argument(
        "--pace", type=_seconds, default=0.0, metavar="SECONDS",
        help="begin no step sooner than this after the last, and leave the machine to others",
    )  # fmt: skip
    return parser


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (seconds := float(text)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 on")


class Trainer:
    """One training: its parts, and the step."""

    def __init__(self, run: Run, processes: Processes, pace_seconds: float = 0.0) -> None:
        self._run, self._processes = run, processes
        self._pace_seconds = pace_seconds
        self._config: Mapping[str, Any] = run.config
        train = self._config["train"]
        refuse_what_is_not_here(self._config)
        seed_everything(int(train["seed"]))
        self._data, validation = self._open_data()
        network = Network(self._config["network"])
        logger.info("The network has %s parameters.", f"{num_parameters(network):,}")
        self._network = processes.wrap(network)
        # From here on each rank draws its own numbers.
        seed_everything(int(train["seed"]) + 1 + processes.rank)
        self._optimizer = make_optimizer(self._network, self._config["optimizer"])
        self._schedule = Schedule(self._config["optimizer"], int(train["steps"]))
        self._scaler = self._make_scaler(train["precision"])
        self._sampler = self._make_sampler(train)
        self._evaluation = Evaluation(validation, processes) if validation else None
        self._checkpointer = run.checkpointer(
            model=self._network,
            optimizer=self._optimizer,
            scheduler=self._schedule,
            sampler=self._sampler,
            scaler=self._scaler,
        )

    def train(self) -> None:
        """Do the steps that are left."""
        start = self._checkpointer.restore_or_start()
        self._tell(start)
        settle_buckets(self._network, self._throw_away_loss)
        loader = Loader(self._data, self._sampler, self._processes.device, self._pace_seconds)
        settings = self._config["train"]
        tokens = start.tokens
        for step, batch in self._run.steps(loader, start=start, stop=int(settings["steps"])):
            loss, rate = self._step(step, batch)
            tokens += batch.num_tokens
            self._run.tokens = tokens  # also where no log call tells it: the next save reads it
            if step % int(self._config["log"]["every"]) == 0:
                values = {"train/loss": loss, "lr": rate}
                self._run.log(step, values, tokens=tokens, batch_ids=batch.ids)
            self._evaluate(step)
            self._checkpointer.maybe_save(step)
        if self._run.step > start.step and not self._run.stopped:
            self._checkpointer.save_end(self._run.step)

    def _step(self, step: int, batch: Batch) -> tuple[float, float]:
        """Do one update; return the mean loss of the global batch and the learning rate used."""
        total = torch.zeros((), device=self._processes.device)
        for number, sequences in enumerate(batch.micro, start=1):
            with self._synced(last=number == len(batch.micro)), self._autocast():
                loss = self._run.accumulate(loss_of(self._network, sequences))
                scaled: Tensor = self._scaler.scale(loss) if self._scaler else loss
                scaled.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        mean_loss = self._processes.mean(total)
        if self._scaler:
            self._scaler.unscale_(self._optimizer)
        self._run.guard.after_backward(self._network, mean_loss)
        rate = self._schedule.set(self._optimizer, step)
        self._update()
        return float(mean_loss), rate

    def _update(self) -> None:
        if self._scaler:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        else:
            self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)

    def _evaluate(self, step: int) -> None:
        every = int(self._config["train"].get("eval_every") or 0)
        if self._evaluation is None or not every or step % every:
            return
        with self._run.evaluating():
            losses = self._evaluation.losses(self._network)
        self._run.log_eval("loss", "val", mean(losses), step)
        for domain, loss in losses.items():
            self._run.log_eval(f"loss/{domain}", "val", loss, step)

    def _tell(self, start: Start) -> None:
        if start.takes == "weights":
            logger.info("Begins at step 0 with the weights of %s.", start.path)
        if not start.resumed:
            return
        logger.info("Resumed at step %d from %s.", start.step, start.path)
        logger.info(
            "Learning rate: update %d used %.9g, update %d uses %.9g.",
            start.step, self._optimizer.param_groups[0]["lr"],
            start.step + 1, self._schedule.rate(start.step + 1),
        )  # fmt: skip
        for note in (*start.notes, *(f"Changed: {k}: {v}" for k, v in start.overrides.items())):
            logger.warning("%s", note)

    def _open_data(self) -> tuple[Packed, Packed | None]:
        """Open the data; the first process of a machine packs what is not packed yet."""
        cache = Path(self._run.folder) / "packed"
        if self._processes.local_rank:
            self._processes.wait()
        opened = open_training_data(self._config, cache), open_validation_data(self._config, cache)
        if not self._processes.local_rank:
            self._processes.wait()
        return opened

    def _make_sampler(self, settings: Mapping[str, Any]) -> Sampler:
        return Sampler(
            len(self._data),
            global_batch=int(settings["global_batch"]),
            seed=int(settings["seed"]),
            data_version=str(self._config["data"].get("version") or ""),
            rank=self._processes.rank,
            world_size=self._processes.world_size,
            accumulation=int(settings["accumulation"]),
        )

    def _make_scaler(self, precision: str) -> torch.amp.GradScaler | None:
        """Return a loss scaler where gradients would underflow: with 16-bit floats of IEEE."""
        return torch.amp.GradScaler(self._processes.device.type) if precision == "fp16" else None

    def _throw_away_loss(self, network: nn.Module) -> Tensor:
        length = int(self._config["network"]["sequence_length"])
        with self._autocast():
            return loss_of(
                network,
                torch.zeros(1, length + 1, dtype=torch.int64, device=self._processes.device),
            )

    def _autocast(self) -> contextlib.AbstractContextManager[Any]:
        dtype = _PRECISIONS.get(self._config["train"]["precision"])
        if dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self._processes.device.type, dtype)

    def _synced(self, *, last: bool) -> contextlib.AbstractContextManager[Any]:
        """Let only the last micro-batch of an update exchange gradients."""
        if last or self._processes.world_size == 1:
            return contextlib.nullcontext()
        skip: contextlib.AbstractContextManager[Any] = self._network.no_sync()  # type: ignore[operator]
        return skip


if __name__ == "__main__":
    main()
