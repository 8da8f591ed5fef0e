"""A small training whose state has everything: tied weights, dropout, moments, schedule, sampler."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from safehold.checkpointing.checkpointer import Checkpointer
from safehold.checkpointing.places import Places

CONFIG: dict[str, Any] = {
    "network": {"layers": 1, "hidden": 8, "vocabulary": 12},
    "data": {"version": "blake3:data", "mix": {}},
    "tokenizer": {"digest": "blake3:tokenizer"},
    "checkpoint": {"root": "unused", "anchor_every_steps": 10, "snapshot_every_steps": 0},
    "code": {"command": ["-m", "training"]},
}


class Network(nn.Module):
    """Embedding, a projection with dropout, and an output tied to the embedding."""

    def __init__(self, hidden: int = 8) -> None:
        super().__init__()
        self.embed = nn.Embedding(12, hidden)
        self.q = nn.Linear(hidden, hidden)
        self.k = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(0.2)
        self.output = nn.Linear(hidden, 12, bias=False)
        self.output.weight = self.embed.weight
        self.register_buffer("mask", torch.ones(3))

    def forward(self, ids: Tensor) -> Tensor:
        hidden = self.embed(ids)
        return self.output(self.dropout(torch.tanh(self.q(hidden)) * self.k(hidden)))


class Position:
    """A sampler that only knows how far it is."""

    def __init__(self) -> None:
        self.consumed = 0

    def state_dict(self) -> dict[str, Any]:
        return {"consumed": self.consumed}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.consumed = state["consumed"]


@dataclass
class Host:
    """Stands for a run: keeps what was registered."""

    config: dict[str, Any] = field(default_factory=lambda: CONFIG)
    tokens: int = -1
    registered: list[dict[str, Any]] = field(default_factory=list)

    def register_checkpoint(self, **what: Any) -> None:
        self.registered.append(what)

    @property
    def states(self) -> list[str]:
        return [item["state"] for item in self.registered]


class Training:
    """Everything that a step changes."""

    def __init__(
        self,
        root: Path,
        *,
        resume_from: Path | None = None,
        attempt: str = "1",
        fork: bool = False,
        weights_from: Path | None = None,
        config: dict[str, Any] | None = None,
        network: nn.Module | None = None,
        lr: float = 1e-2,
        betas: tuple[float, float] = (0.9, 0.95),
        **options: Any,
    ) -> None:
        torch.manual_seed(7)
        self.network = network or Network()
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=lr, betas=betas)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda update: 1 - update / 40
        )
        self.sampler = Position()
        self.host = Host(config=config or CONFIG)
        self.checkpointer = Checkpointer(
            self.host,
            model=self.network,
            optimizer=self.optimizer,
            scheduler=self.scheduler,
            sampler=self.sampler,
            places=Places(root, "7", attempt, resume_from, fork, weights_from),
            **options,
        )

    def step(self) -> tuple[float, float]:
        """Do one update; return loss and learning rate used."""
        ids = torch.randint(0, 12, (4, 6))
        loss = nn.functional.cross_entropy(self.network(ids).flatten(0, 1), ids.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        rate = self.optimizer.param_groups[0]["lr"]
        self.optimizer.step()
        self.scheduler.step()
        self.sampler.consumed += 4
        self.host.tokens = self.sampler.consumed * 6
        return loss.item(), rate

    def steps(self, count: int) -> list[tuple[float, float]]:
        return [self.step() for _ in range(count)]


def step_folder(root: Path, step: int, attempt: str = "1") -> Path:
    return root / "run-7" / f"a{attempt}" / f"step-{step}"
