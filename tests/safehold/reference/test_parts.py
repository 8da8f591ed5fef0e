"""Data, schedule, network and config of the reference trainer."""

import math

import pytest
import torch

from safehold.config import parse
from safehold.data.packed import Packed
from safehold.reference import corpus, train
from safehold.reference.config import demo_config
from safehold.reference.network import Network, loss_of, num_parameters
from safehold.reference.schedule import Schedule
from safehold.reference.sources import texts
from tests.safehold.reference.launching import tiny_data, tiny_texts


def test_rates_of_a_linear_schedule_are_exact_after_any_interruption():
    schedule = Schedule({"lr": 2.4e-5, "schedule": "linear"}, 12)
    rates = [schedule.rate(update) for update in range(1, 13)]
    assert rates == pytest.approx([2e-6 * left for left in range(12, 0, -1)], rel=1e-12)
    again = Schedule({"lr": 2.4e-5, "schedule": "linear"}, 12)
    again.load_state_dict({"last_update": 5})
    assert [again.rate(update) for update in range(6, 13)] == rates[5:]


def test_warmup_rises_from_above_zero_to_the_peak():
    schedule = Schedule({"lr": 1.0, "min_lr": 0.1, "warmup_steps": 3}, 13)
    assert [schedule.rate(update) for update in (1, 2, 3, 4)] == [0.25, 0.5, 0.75, 1.0]
    assert schedule.rate(14) == pytest.approx(0.1)


def test_three_parts_hold_the_peak_until_the_decay() -> None:
    settings = {
        "lr": 1.0,
        "min_lr": 0.1,
        "warmup_steps": 2,
        "schedule": "three_part",
        "decay_steps": 4,
    }
    rates = [Schedule(settings, 12).rate(update) for update in range(1, 13)]
    assert rates[:2] == pytest.approx([1 / 3, 2 / 3])
    assert rates[2:9] == [1.0] * 7
    assert rates[9:] == pytest.approx([0.775, 0.55, 0.325])


def test_rate_told_is_the_one_the_update_used():
    network = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(network.parameters(), lr=9.0)
    schedule = Schedule({"lr": 1e-3, "schedule": "constant"}, 10)
    assert schedule.set(optimizer, 1) == optimizer.param_groups[0]["lr"] == 1e-3


@pytest.mark.parametrize("tied", [True, False])
def test_new_network_knows_nothing(tied):
    torch.manual_seed(0)
    settings = {
        "layers": 2,
        "hidden": 32,
        "heads": 4,
        "vocabulary": 512,
        "sequence_length": 16,
        "tied": tied,
    }
    network = Network(settings)
    loss = loss_of(network, torch.randint(0, 512, (8, 17)))
    assert loss.item() == pytest.approx(math.log(512), abs=0.2)
    assert num_parameters(network) == 512 * 32 * (1 if tied else 2) + 2 * (12 * 32 * 32 + 64) + 32


def test_network_sees_no_token_that_comes_later():
    torch.manual_seed(0)
    network = Network(
        {"layers": 2, "hidden": 32, "heads": 4, "vocabulary": 64, "sequence_length": 16}
    )
    tokens = torch.randint(0, 64, (1, 16))
    changed = tokens.clone()
    changed[0, 10:] = 0
    assert torch.allclose(network(tokens)[:, :10], network(changed)[:, :10], atol=1e-6)


def test_prepared_data_are_whole_found_again_and_named(tmp_path):
    made = tiny_data(tmp_path / "data")
    assert corpus.prepare(tmp_path / "data", source=()) == made
    assert corpus.prepare(tmp_path / "other", source=tiny_texts()).data_version == made.data_version
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "other"]
    train = Packed(tmp_path / "data" / "packed" / "train", 32)
    assert {train.domain_of(number) for number in range(len(train))} == {"reference", "web"}


def test_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(ValueError, match="holds something else"):
        corpus.prepare(tmp_path)


def test_interrupted_preparation_leaves_nothing(tmp_path):
    def broken():
        yield from list(tiny_texts())[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corpus.prepare(tmp_path / "data", source=broken())
    assert not list(tmp_path.iterdir())


def test_machine_has_text_of_three_domains():
    found = {"code": 0, "reference": 0, "web": 0}
    for text in texts():
        found[text.domain] += len(text.text)
    assert 3_000_000 < sum(found.values()) < 12_000_000
    assert min(found.values()) > 100_000


def test_demo_config_is_one_that_the_product_takes(tmp_path):
    made = tiny_data(tmp_path / "data")
    parse(demo_config(made, root=tmp_path))


@pytest.mark.parametrize("word", ["nan", "inf", "-1", "soon"])
def test_a_pace_that_is_no_time_is_refused(word: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        train._parser().parse_args(["--pace", word])
    assert f"{word!r} is no number of seconds" in capsys.readouterr().err
