from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import CASES
from tests.safehold.cli.conftest import Command

ConfigFile = Callable[..., Path]


def test_a_sound_config_passes_preflight(safehold: Command, config_file: ConfigFile) -> None:
    ran = safehold("preflight", config_file(), "--json")
    assert ran.code == 0
    assert ran.document["verdict"] == "pass"
    assert ran.document["config_hash"].startswith("blake3:")
    assert {one["code"] for one in ran.document["findings"]} >= {"DATA-1.format", "TOK-1.lock"}


@pytest.mark.parametrize("name", ["none", "none.toml"])
def test_a_config_that_is_not_there_is_no_finding(
    safehold: Command, tmp_path: Path, config_file: ConfigFile, name: str
) -> None:
    path = tmp_path / name
    for words in (["plan", path], ["preflight", path], ["preflight", config_file(), "--parent", path]):  # fmt: skip
        ran = safehold(*words, "--json")
        told = f"safehold: {path} cannot be read: No such file or directory.\n"
        assert (ran.code, ran.out, ran.err) == (2, "", told)


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("option", ["--mfu", "--memory-gb", "--step-seconds", "--save-seconds"])
def test_a_plan_with_no_number_is_refused(
    safehold: Command, config_file: ConfigFile, option: str, word: str
) -> None:
    ran = safehold("plan", config_file(), option, word, "--json")
    assert (ran.code, ran.out) == (2, "")
    assert option in ran.err


def test_findings_that_block_give_1_and_are_read_by_people(
    safehold: Command, config_file: ConfigFile
) -> None:
    path = config_file(data__path=str(CASES / "data/duplicate_keys.jsonl"))
    ran = safehold("preflight", path, "--only", "data")
    assert ran.code == 1
    assert ran.out.startswith("Verdict: fail\n✗ fail    DATA-1.format")
    assert "duplicate_keys.jsonl:1: The key 'text' stands twice." in ran.out


def test_a_file_that_is_no_config_is_told_by_field_and_line(
    safehold: Command, config_file: ConfigFile
) -> None:
    path = config_file()
    path.write_text(path.read_text().replace("lr = 0.0003", 'lr = "3e-4"'))
    for command in ("preflight", "plan"):
        ran = safehold(command, path, "--json")
        assert ran.code == 1
        (finding,) = [one for one in ran.document["findings"] if one["severity"] == "fail"]
        assert finding["evidence"]["field"] == "optimizer.lr"
        assert path.read_text().split("\n")[finding["evidence"]["line"] - 1] == 'lr = "3e-4"'


def test_the_case_of_a_run_shorter_than_its_warmup(
    safehold: Command, config_file: ConfigFile
) -> None:
    path = config_file()
    text = path.read_text().replace("warmup_steps = 1", "warmup_steps = 200")
    path.write_text(text.replace("anchor_every_steps = 10", "anchor_every_steps = 500"))
    ran = safehold("preflight", path, "--json")
    assert ran.code == 1
    assert {
        one["evidence"]["field"] for one in ran.document["findings"] if one["severity"] == "fail"
    } == {
        "optimizer.warmup_steps",
        "checkpoint.anchor_every_steps",
    }


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["preflight", "nope.toml"],
            "safehold: nope.toml cannot be read: No such file or directory.\n",
        ),
        (["plan", "nope.toml"], "safehold: nope.toml cannot be read: No such file or directory.\n"),
        (["verify", "nope"], "safehold: nope does not exist.\n"),
        (["preflight"], "safehold: Missing argument 'CONFIG'. See `safehold preflight --help`.\n"),
        (
            ["up", "--prot=1"],
            "safehold: No such option: --prot (Possible options: --port). See `safehold up --help`.\n",
        ),
        (["run"], "safehold: Missing command. See `safehold run --help`.\n"),
        (["frobnicate"], "safehold: No such command 'frobnicate'. See `safehold --help`.\n"),
    ],
)
def test_what_cannot_run_gives_2_and_one_line(
    words: list[str], line: str, safehold: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = safehold(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.lower() == line.lower()


def test_an_unknown_group_of_checks_gives_2(safehold: Command, config_file: ConfigFile) -> None:
    ran = safehold("preflight", config_file(), "--only", "data,weather")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("safehold: There is no check weather; groups are")


def test_a_plan_has_the_sums(safehold: Command, config_file: ConfigFile) -> None:
    ran = safehold("plan", config_file(compute__peak_tflops_per_device=100.0), "--json")
    plan = ran.document["plan"]
    assert plan["compute"]["flops"] == 6 * plan["parameters"] * plan["tokens"]
    assert plan["memory"]["fit"] == "unknown"
    assert "device-days" in safehold("plan", config_file(compute__peak_tflops_per_device=100.0)).out


def test_the_version_is_told(safehold: Command) -> None:
    ran = safehold("--version")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("safehold 0.")


def test_help_names_every_command(safehold: Command) -> None:
    ran = safehold("--help")
    assert ran.code == 0
    for name in (
        "up",
        "demo",
        "verify",
        "preflight",
        "plan",
        "card",
        "config",
        "run",
        "checkpoint",
    ):
        assert f"\n  {name} " in ran.out


def test_the_rules_on_changes_ask_for_the_config_before(
    safehold: Command, config_file: ConfigFile
) -> None:
    path = config_file(train__global_batch=16, optimizer__lr=9e-4, optimizer__min_lr=9e-5)
    before = path.with_name("before.toml")
    text = path.read_text().replace("global_batch = 16", "global_batch = 8")
    before.write_text(
        text.replace("lr = 0.0009", "lr = 0.0003").replace("min_lr = 9e-05", "min_lr = 3e-05")
    )
    ran = safehold("preflight", path, "--only", "CONF-6.batch_and_lr", "--parent", before, "--json")
    rules = {
        one["evidence"]["rule"] for one in ran.document["findings"] if one["severity"] == "warn"
    }
    assert rules == {"batch_and_lr.root", "batch_and_lr.warmup"}
    before.write_text("name = 3")
    assert safehold("preflight", path, "--parent", before).code == 2
