from pathlib import Path

import pytest

from controlplane import environment, settings


def test_a_secret_may_come_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "key").write_text("secret\n")
    monkeypatch.setenv("SAFEHOLD_THING_FILE", str(tmp_path / "key"))
    assert environment.text("SAFEHOLD_THING") == "secret"


def test_a_file_that_cannot_be_read_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SAFEHOLD_THING_FILE", str(tmp_path / "none"))
    with pytest.raises(environment.BadSetting, match=r"SAFEHOLD_THING_FILE=.*none"):
        environment.text("SAFEHOLD_THING")


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("no", False), ("", True)])
def test_flags_are_read(monkeypatch, value, expected):
    monkeypatch.setenv("SAFEHOLD_THING", value)
    assert environment.flag("SAFEHOLD_THING", default=True) is expected


def test_bad_values_are_named(monkeypatch):
    monkeypatch.setenv("SAFEHOLD_THING", "perhaps")
    with pytest.raises(environment.BadSetting, match="'perhaps' is neither yes nor no"):
        environment.flag("SAFEHOLD_THING", default=True)
    with pytest.raises(environment.BadSetting, match="is not a whole number"):
        environment.integer("SAFEHOLD_THING", 1)
    monkeypatch.setenv("SAFEHOLD_THING", "2")
    with pytest.raises(environment.BadSetting, match="is below 3"):
        environment.integer("SAFEHOLD_THING", 5, least=3)


def test_paths_are_absolute(monkeypatch):
    monkeypatch.setenv("SAFEHOLD_THING", "~/x")
    assert environment.path("SAFEHOLD_THING", Path("y")) == Path.home() / "x"


def test_a_database_url_with_no_port_is_named():
    with pytest.raises(environment.BadSetting, match="DATABASE_URL: Port could not be cast"):
        settings._database("postgresql://x@h:port/x")


@pytest.mark.parametrize("value", ["foo", "http://", "ftp://a", "http://a:port", "//a"])
def test_what_is_no_address_is_named(monkeypatch, value):
    monkeypatch.setenv("SAFEHOLD_THING", value)
    with pytest.raises(environment.BadSetting, match="^SAFEHOLD_THING is no address"):
        environment.address("SAFEHOLD_THING")


@pytest.mark.parametrize("value", ["", "https://a.b", "http://[::1]:8000", "http://a/safehold/"])
def test_addresses_are_read_without_their_last_slash(monkeypatch, value):
    monkeypatch.setenv("SAFEHOLD_THING", value)
    assert environment.address("SAFEHOLD_THING") == value.rstrip("/")


def test_a_word_of_several_is_read_in_any_case(monkeypatch):
    monkeypatch.setenv("SAFEHOLD_THING", "one")
    assert environment.choice("SAFEHOLD_THING", "TWO", ("ONE", "TWO")) == "ONE"
    monkeypatch.setenv("SAFEHOLD_THING", "three")
    with pytest.raises(environment.BadSetting, match="SAFEHOLD_THING='THREE' is none of ONE, TWO"):
        environment.choice("SAFEHOLD_THING", "TWO", ("ONE", "TWO"))
