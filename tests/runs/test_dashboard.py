from runs.dashboard import dashboard


def test_the_six_panels_take_the_names_that_trainers_use() -> None:
    names = ["train/loss", "val/loss", "grad_norm", "lr", "throughput/tokens_per_second", "mfu", "memory/allocated_bytes",
             "memory/peak_bytes", "memory/reserved_bytes"]  # fmt: skip
    found = dashboard(names)
    assert [panel.names for panel in found.panels] == [
        ("train/loss", "val/loss"), ("grad_norm",), ("lr",), ("throughput/tokens_per_second",), ("mfu",),
        ("memory/allocated_bytes", "memory/reserved_bytes", "memory/peak_bytes"),
    ]  # fmt: skip
    assert found.groups == ()


def test_the_rest_is_grouped_by_prefix() -> None:
    found = dashboard(["loss/code", "loss/web", "grad_norm/ffn", "plain"])
    assert [(group.prefix, [panel.names[0] for panel in group.panels]) for group in found.groups] == [
        ("", ["plain"]), ("grad_norm", ["grad_norm/ffn"]), ("loss", ["loss/code", "loss/web"]),
    ]  # fmt: skip


def test_every_name_has_one_place() -> None:
    names = [f"memory/part_{number}" for number in range(20)] + ["train/loss", "loss"]
    found = dashboard(names)
    placed = [name for panel in found.panels for name in panel.names]
    placed += [name for group in found.groups for panel in group.panels for name in panel.names]
    assert sorted(placed) == sorted(names)
