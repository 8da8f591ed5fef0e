from pathlib import Path

from workers.launchers.devices import Devices, of_this_machine


def gpus(folder: Path, num: int) -> Path:
    for number in range(num):
        (folder / f"0000:{number:02x}:00.0").mkdir(parents=True)
    return folder


def test_gpus_are_found_and_named(tmp_path: Path):
    assert of_this_machine(0, {}, gpus(tmp_path, 3)) == Devices(3, ("0", "1", "2"))


def test_what_the_service_may_see_is_what_attempts_may_use(tmp_path: Path):
    driver = gpus(tmp_path, 8)
    assert of_this_machine(0, {"CUDA_VISIBLE_DEVICES": "3, GPU-ab"}, driver).ids == ("3", "GPU-ab")
    assert of_this_machine(2, {}, driver) == Devices(2, ("0", "1"))


def test_without_gpus_processors_are_shared(tmp_path: Path):
    found = of_this_machine(0, {"CUDA_VISIBLE_DEVICES": "0"}, tmp_path / "none")
    assert found.ids == ()
    assert found.num >= 8
    assert of_this_machine(5, {}, tmp_path / "none") == Devices(5)


def test_more_than_there_are_fit_on_processors_alone():
    assert Devices(2).can_ever_hold(4)
    assert not Devices(2, ("0", "1")).can_ever_hold(4)
