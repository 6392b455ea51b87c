"""The GPU engine on a machine without a GPU."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from doors import missing_card

import congruence as cg
from congruence.chance.alongside import Extras, beside
from congruence.engine import cpu, plan
from congruence.inputs.coerce import as_clustering
from congruence.machine import device

SIX = [0, 0, 1, 1, 2, 2]
DATA = np.array([[0.0, 1], [1, 5], [4, 2], [5, 1], [8, 8], [9, 3]])


@pytest.mark.skipif(not missing_card(), reason="there is a CUDA GPU")
@pytest.mark.parametrize(
    "call",
    [
        lambda: cg.compare(SIX, SIX, engine="cuda"),
        lambda: cg.ari(SIX, SIX, engine="cuda"),
        lambda: cg.compare_to(SIX, [SIX], engine="cuda"),
        lambda: cg.compare_all([SIX, SIX], engine="cuda"),
        lambda: cg.compare_all(np.array([SIX, SIX]).T, engine="cuda"),
        lambda: cg.consensus_cdf([SIX, SIX], engine="cuda"),
        lambda: cg.item_consensus([SIX, SIX], SIX, engine="cuda"),
        lambda: cg.uncertainty([SIX, SIX], engine="cuda"),
        lambda: list(cg.consensus_blocks([SIX, SIX], engine="cuda")),
        lambda: cg.permutation_test(SIX, SIX, engine="cuda"),
        lambda: cg.permutation_tests([SIX, SIX], engine="cuda"),
        lambda: beside(cg.compare(SIX, SIX), SIX, SIX, Extras(p_values=True, intervals=False), engine="cuda"),
        lambda: beside(cg.compare(SIX, SIX), SIX, SIX, Extras(p_values=False, intervals=True), engine="cuda"),
        lambda: cg.permutation_test(cg.Ensemble([SIX, SIX]), SIX, "arimp", engine="cuda"),
        lambda: cg.density_profile(DATA, SIX, engine="cuda"),
        lambda: cg.density_profile({"x": DATA[:, 0]}, SIX, engine="cuda"),
        lambda: cg.compare_profiles(SIX, SIX, DATA, engine="cuda"),
        lambda: cg.adco(SIX, SIX, DATA.tolist(), engine="cuda"),
    ],
)
def test_without_a_card_one_line_says_what_to_do(call):
    """engine="cuda" never falls back silently: the error names what to install or pass, in one line."""
    with pytest.raises(cg.InputError, match=r"CUDA GPU.*engine='cpu'") as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_without_cupy_the_extra_is_named():
    """If CuPy is not installed, the line names the extra to install."""
    program = (
        "import sys; sys.modules['cupy'] = None\n"
        "import congruence as cg\n"
        "try: cg.compare_all([[0, 1], [0, 1]], engine='cuda')\n"
        "except cg.InputError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    to_install = "work on a CUDA GPU needs CuPy, which is not installed: pip install 'congruence[cuda]', or pass "
    assert said == f"{to_install}engine='cpu' and arrays on the host\n"


@pytest.mark.slow
@pytest.mark.skipif(not missing_card(), reason="there is a GPU")
def test_a_command_without_a_card_names_its_option(tmp_path):
    """congruence … --engine cuda where there is no GPU: one line that says what to pass, as a command takes it."""
    (tmp_path / "labels.csv").write_text("x,y\n0,0\n1,1\n")
    words = [sys.executable, "-m", "congruence", "matrix", str(tmp_path / "labels.csv"), "--engine", "cuda"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert len([line for line in said.stderr.splitlines() if not line.startswith("note: ")]) == 1
    assert said.stderr.rstrip().endswith("pass --engine cpu")


def test_an_unknown_engine_is_an_error():
    """A misspelt engine is an error everywhere."""
    for call in (
        cg.compare,
        lambda a, b, **o: cg.compare_all([a, b], **o),
        lambda a, b, **o: cg.compare_to(a, [b], **o),
        cg.permutation_test,
        lambda a, b, **o: cg.permutation_test(cg.Ensemble([a, b]), b, "arimp", **o),
        lambda a, b, **o: cg.adco(a, b, DATA, **o),
    ):
        with pytest.raises(cg.InputError, match="engine 'gpu' is not available; use 'cpu', 'cuda' or 'auto'"):
            call(SIX, SIX, engine="gpu")


def test_auto_stays_on_the_cpu_for_labels_on_the_host():
    """engine="auto" does not look for a GPU if no labels are on one."""
    assert plan.engine_for("auto", [as_clustering(SIX)]) is cpu
    assert not device.is_on_card(np.zeros(3))
    assert not device.is_on_card([1, 2])


class Elsewhere:
    """An array that only claims to be on a CUDA GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("not from here")

    def __len__(self) -> int:
        return 3


@pytest.mark.skipif(not missing_card(), reason="there is a CUDA GPU")
def test_labels_on_a_card_that_cannot_be_used_say_so():
    """Arrays on a GPU need CuPy and a driver; without them one line says so."""
    assert device.is_on_card(Elsewhere())
    for call in (
        lambda: cg.ari(Elsewhere(), SIX),
        lambda: cg.compare_all(Elsewhere()),
        lambda: cg.permutation_test(Elsewhere(), SIX),
        lambda: cg.density_profile(Elsewhere(), SIX),
    ):
        with pytest.raises(cg.InputError, match="CUDA GPU"):
            call()


def test_every_kernel_has_its_name_in_the_source():
    """`device.Kernel` lists exactly the kernels of kernels.cu, so that a mistyped name fails before anything is compiled."""
    source = Path(device.__file__).with_name("kernels.cu").read_text(encoding="utf-8")
    declared = re.findall(r"__global__ void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\(", source)
    assert source.count("__global__") == len(declared) == len(set(declared))
    assert sorted(declared) == sorted(get_args(device.Kernel))


def test_every_kernel_is_a_template():
    """A kernel that is no template would be compiled with each of the others, whichever is asked for."""
    lines = Path(device.__file__).with_name("kernels.cu").read_text(encoding="utf-8").split("\n")
    before = [lines[i - 1] for i, line in enumerate(lines) if line.startswith("__global__")]
    assert all(line.startswith("template <") for line in before)
    assert len(before) == len(get_args(device.Kernel))


def test_template_arguments_are_written_as_in_cpp():
    """Types and numbers are written as they are, booleans in lower case, those of numpy too; 0 stands for no arguments."""
    assert device.kernel_name("expected_grid") == "expected_grid<0>"
    assert device.kernel_name("fused", "unsigned char", True, np.bool_(False)) == "fused<unsigned char, true, false>"
    assert device.kernel_name("sliced", False, 16, 128, True, True) == "sliced<false, 16, 128, true, true>"


def test_counting_kernels_prefer_shared_memory(monkeypatch):
    """A kernel is compiled by its full name; those that count in shared memory get more of it than of the cache."""
    compiled = []

    class Function:
        shared_size_bytes = 24
        preferred_shared_memory_carveout = -1

    class Module:
        def __init__(self, **given: Any) -> None:
            compiled.append(given["name_expressions"])

        def get_function(self, name: str) -> Function:
            assert (name,) == compiled[-1]
            return Function()

    class CuPy:
        RawModule = Module

    monkeypatch.setattr(device, "cupy", CuPy)
    monkeypatch.setattr(device, "current_card", lambda: -1)  # no other test has compiled kernels for this card
    monkeypatch.setattr(device, "_facts", lambda card: (132, 1_000))
    count, sizes = device.kernel("count", "unsigned char", "u32"), device.kernel("sizes", "u8")
    assert compiled == [("count<unsigned char, u32>",), ("sizes<u8>",)]
    assert (count.preferred_shared_memory_carveout, sizes.preferred_shared_memory_carveout) == (100, -1)
    assert count.max_dynamic_shared_size_bytes == 976
    assert device.kernel("count", "unsigned char", "u32") is count
