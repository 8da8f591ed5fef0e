from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from safehold.guards.gradients import GradientGuard, GradientReport  # noqa: E402


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = torch.nn.Linear(4, 4)
        self.mlp = torch.nn.Linear(4, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x_BD: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.norm(self.mlp(self.attn(x_BD)))
        return out


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(7, 4)
        self.block = Block()

    def forward(self, ids_B: torch.Tensor) -> torch.Tensor:
        return self.block(self.embedding(ids_B)).square().sum() * 3 + self.block.norm.bias.sum()


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def reports() -> list[GradientReport]:
    return []


def backward(network: Network) -> torch.Tensor:
    loss: torch.Tensor = network(torch.tensor([1, 2, 3]))
    loss.backward()
    return loss


def test_norms_of_the_parts_add_up_to_the_global_one(
    network: Network, reports: list[GradientReport]
) -> None:
    loss = backward(network)
    expected = torch.nn.utils.get_total_norm(p.grad for p in network.parameters())
    report = GradientGuard(clip=0.0, on_report=reports.append).after_backward(network, loss)
    assert report.norms["global"] == pytest.approx(expected.item(), rel=1e-6)
    assert set(report.norms) == {"global", "embedding", "attention", "ffn", "other"}
    parts = [norm**2 for name, norm in report.norms.items() if name != "global"]
    assert math.sqrt(sum(parts)) == pytest.approx(report.norms["global"])
    assert (report.finite, report.clipped) == (True, False)
    assert report.loss == pytest.approx(loss.item())
    assert reports == [report]


def test_gradients_are_clipped_as_torch_would(network: Network) -> None:
    other = Network()
    backward(network)
    backward(other)
    report = GradientGuard(clip=0.5, on_report=lambda _: None).after_backward(network)
    torch.nn.utils.clip_grad_norm_(other.parameters(), 0.5)
    assert report.clipped
    for mine, theirs in zip(network.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_step_that_is_not_finite_is_not_applied(network: Network, bad: float, where: str) -> None:
    optimizer = torch.optim.AdamW(network.parameters())
    before = [p.detach().clone() for p in network.parameters()]
    loss: torch.Tensor | float = backward(network)
    if where == "loss":
        loss = bad
    else:
        assert network.block.mlp.weight.grad is not None
        network.block.mlp.weight.grad[1, 2] = bad
    report = GradientGuard(clip=1.0, on_report=lambda _: None).after_backward(network, loss)
    optimizer.step()
    assert not report.finite
    assert report.values()["grad/skipped"] == 1.0
    assert not optimizer.state
    for old, new in zip(before, network.parameters(), strict=True):
        torch.testing.assert_close(old, new.detach(), rtol=0, atol=0)


def test_a_guard_that_may_not_skip_leaves_the_gradients(network: Network) -> None:
    backward(network)
    guard = GradientGuard(clip=1.0, on_report=lambda _: None, skip=False)
    assert not guard.after_backward(network, math.nan).finite
    assert network.block.mlp.weight.grad is not None


def test_a_network_without_gradients_has_norm_zero(network: Network) -> None:
    report = GradientGuard(clip=1.0, on_report=lambda _: None).after_backward(network)
    assert report.norms == {"global": 0.0}
    assert report.finite
