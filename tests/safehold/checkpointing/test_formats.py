"""Files from outside end in a reason, never in a crash, an endless loop or code that runs."""

import io
import json
import pickle
import struct
import subprocess
import sys
import time
import tracemalloc
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from safehold.checkpointing.formats import dcp, pickles, safetensors, torch_zip
from safehold.checkpointing.formats.base import FormatError, UnsafeError
from safehold.checkpointing.tensors import chunks_of
from safehold.checkpointing.verification import base, verify
from safehold.checkpointing.verification.facts import Facts
from safehold.checkpointing.verification.finite import count_not_finite

# A busy machine is no fault of the code.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CASES = Path(__file__).parents[2] / "cases" / "checkpoints"
TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "b": torch.tensor(5),
    "c": torch.ones(3, dtype=torch.bfloat16),
    "empty": torch.empty(0, 4),
    "flags": torch.tensor([True, False]),
}


def test_our_files_are_read_by_the_library_and_its_files_by_us(tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    ours.write_bytes(b"".join(bytes(chunk) for chunk in chunks_of(TENSORS, {"step": "1"})))
    loaded = load_file(ours)
    assert all(torch.equal(loaded[name], tensor) for name, tensor in TENSORS.items())
    save_file(TENSORS, theirs)
    found = safetensors.read(memoryview(theirs.read_bytes()))
    assert {span.name: span.shape for span in found.spans} == {
        name: tuple(tensor.shape) for name, tensor in TENSORS.items()
    }


def changed(content: bytes, place: int, value: int) -> bytes:
    place %= len(content)
    return content[:place] + bytes([value]) + content[place + 1 :]


@unhurried
@given(st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 10**6))
def test_damaged_safetensors_end_in_a_reason(place, value, cut):
    content = (CASES / "good_step_200" / "model.safetensors").read_bytes()
    for damaged in (changed(content, place, value), content[: cut % len(content)]):
        with suppress(FormatError):
            safetensors.read(memoryview(damaged))


@unhurried
@given(st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 10**6))
@example(place=5420, value=64, cut=0)  # asks for a version of the format that nobody reads
def test_damaged_torch_files_end_in_a_reason(place, value, cut):
    content = (CASES / "good_step_200" / "optimizer.pt").read_bytes()
    for damaged in (changed(content, place, value), content[: cut % len(content)]):
        with suppress(FormatError):
            torch_zip.read(memoryview(damaged))


@unhurried
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_damaged_metadata_ends_in_a_reason(place, value):
    content = (CASES / "dcp_good" / ".metadata").read_bytes()
    with suppress(FormatError):
        dcp.read_metadata(changed(content, place, value))


def saved(value) -> memoryview:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return memoryview(buffer.getvalue())


def test_state_of_a_real_optimizer_is_read_without_torch_loading_it():
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(network.parameters())
    network(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    found = torch_zip.read(
        saved({"optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()})
    )
    shapes = {span.name: span.shape for span in found.spans}
    assert shapes["optimizer.state.0.exp_avg"] == (2, 3)
    assert shapes["rng"] == (5056,)


def test_views_and_parameters_are_read():
    whole = torch.arange(10.0)
    value = {
        "view": whole[2:4],
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "t": torch.ones(2, 3).T,
    }
    found = torch_zip.read(saved(value))
    assert {span.name: span.shape for span in found.spans} == {
        "view": (2,),
        "parameter": (2,),
        "t": (3, 2),
    }


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "torch.load", "builtins.getattr"])
def test_name_that_is_not_on_the_list_is_refused(name):
    module, _, function = name.rpartition(".")
    content = f"c{module}\n{function}\n.".encode()
    with pytest.raises(UnsafeError, match=f"unsafe global: {name}"):
        pickles.load(content, pickles.PLAIN)


def test_state_is_set_on_records_only():
    # Would rewrite a function of ours: the attribute of a callable on the list.
    content = b"c_codecs\nencode\n}X\x0c\x00\x00\x00__defaults__)sb."
    with pytest.raises(UnsafeError, match="sets state on function"):
        pickles.load(content, pickles.PLAIN)


@pytest.mark.parametrize(
    "content",
    [
        pickle.PROTO + b"\x05" + pickle.BYTEARRAY8 + struct.pack("<Q", 2**40),
        pickle.PROTO + b"\x05" + pickle.BINBYTES8 + struct.pack("<Q", 2**40) + b".",
        pickle.PROTO + b"\x05" + pickle.FRAME + struct.pack("<Q", 2**40) + b".",
    ],
)
def test_length_that_is_not_there_takes_no_memory(content):
    tracemalloc.start()
    with pytest.raises(FormatError):
        pickles.load(content, pickles.PLAIN)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_zip_index_that_claims_gigabytes_takes_no_memory():
    content = bytearray((CASES / "good_step_200" / "optimizer.pt").read_bytes())
    end = content.rindex(b"PK\x06\x06")  # the end record of zip64, which torch writes
    content[end + 40 : end + 48] = struct.pack("<Q", 2**33)
    tracemalloc.start()
    with pytest.raises(FormatError):
        torch_zip.read(memoryview(bytes(content)))
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_plain_values_come_back():
    value = OrderedDict(a=[1, 2.5, None, True], b={"x": {1, 2}}, c=b"bytes", d="text")
    for protocol in range(2, 6):
        assert pickles.load(pickle.dumps(value, protocol), pickles.PLAIN) == value


# A tuple of two that are a tuple of two ... sixty times over: small to write, endless to hash or to print.
ENDLESS = b")" + b"2\x86" * 60


@pytest.mark.parametrize(
    "content",
    [
        b"}" + ENDLESS + b"Ns.",
        b"}(" + ENDLESS + b"Nu.",
        b"(" + ENDLESS + b"]d.",
        b"\x8f(" + ENDLESS + b"\x90.",
        b"(" + ENDLESS + b"\x91.",
        b"cbuiltins\nset\n(" + ENDLESS + b"l\x85R.",
        b"cbuiltins\nfrozenset\n(" + ENDLESS + b"l\x85R.",
        b"ccollections\nOrderedDict\n(" + ENDLESS + b"N\x86l\x85R.",
        b"c_codecs\nencode\n" + ENDLESS + b"\x85R.",
    ],
)
def test_key_that_would_take_years_is_refused(content):
    with pytest.raises(FormatError, match=r"too many parts|is damaged"):
        pickles.load(pickle.PROTO + b"\x04" + content, pickles.PLAIN)


def test_storage_that_would_take_years_to_name_is_refused():
    with pytest.raises(FormatError, match="in an unknown way"):
        torch_zip._storage_of(pickles.load(ENDLESS + b".", pickles.PLAIN))


def test_values_nested_too_deeply_are_refused():
    value: list = []
    for _ in range(100_000):
        value = [value]
    began = time.process_time()
    with pytest.raises(FormatError, match="nested too deeply"):
        list(torch_zip.tensors_of(value))
    assert time.process_time() - began < 2


def test_methods_of_a_map_are_not_taken_from_the_file():
    value = OrderedDict(a=1)
    value.items = "shadowed"
    assert list(torch_zip.tensors_of(value)) == []


def test_header_with_many_names_before_one_that_stands_twice_takes_a_moment():
    names = [f'"{number}": 0' for number in range(200_000)]
    header = ("{" + ", ".join([*names, names[-1]]) + "}").encode()
    began = time.process_time()
    with pytest.raises(FormatError, match="'199999' stands twice"):
        safetensors.read(struct.pack("<Q", len(header)) + header)
    assert time.process_time() - began < 5


def test_value_that_holds_itself_ends(tmp_path):
    value: list = []
    value.append(value)
    assert torch_zip.read(saved({"x": value})).spans == ()
    shared: list = []
    for _ in range(60):
        shared = [shared, shared]
    assert torch_zip.read(saved(shared)).spans == ()


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2],
)  # fmt: skip
def test_nan_and_infinity_are_counted_in_every_float(dtype):
    values = torch.randn(4096).to(dtype)
    values[[3, 500]] = float("nan")
    has_infinity = torch.tensor(float("inf")).to(dtype).float().isinf().item()
    if has_infinity:
        values[7] = float("-inf")
    name = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
            "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}[str(dtype).split(".")[1]]  # fmt: skip
    content = memoryview(values.view(torch.uint8).numpy().tobytes())
    assert count_not_finite(name, content) == (2, 1 if has_infinity else 0)


def test_sum_that_overflows_is_no_infinity():
    values = np.full(1000, 3e38, dtype="<f4")
    assert count_not_finite("F32", memoryview(values.tobytes())) == (0, 0)


def test_nan_is_found_wherever_the_chunks_cut(tmp_path, monkeypatch):
    from safehold.checkpointing.verification import reading

    monkeypatch.setattr(reading, "CHUNK_BYTES", 1021)
    values = torch.ones(5000, dtype=torch.float64)
    values[::7] = float("nan")
    save_file({"a": torch.ones(3, dtype=torch.uint8), "w": values}, tmp_path / "x.safetensors")
    bad = [f for f in verify(tmp_path / "x.safetensors").findings if f.severity == "fail"]
    assert bad[0].evidence["num_nan"] == len(values[::7])


def test_header_of_many_tensors_is_bounded(tmp_path):
    path = tmp_path / "x.safetensors"
    header = json.dumps(
        {f"t{i}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(20_000)}
    )
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    assert verify(path).num_tensors == 20_000


def test_verification_loads_no_torch():
    code = (
        "import sys; from safehold.checkpointing.verification import verify;"
        f"assert verify({str(CASES / 'good_step_200')!r}).verdict == 'pass';"
        "print('torch' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_every_check_is_described_and_lies_in_a_file_of_its_name():
    base.judge(Facts("nothing", "file"))
    root = Path(__file__).parents[3]
    files = {
        path.stem
        for path in (root / "safehold/checkpointing/verification/checks").glob("[a-z]*.py")
    }
    assert {code.removeprefix("CKPT-5.") for code in base.CHECKS} == files
    text = (root / "docs/reference/checkpoint-format.md").read_text()
    assert all(f"`{name}`" in text for name in files)
