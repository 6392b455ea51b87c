"""The stand-in for CuPy in tests/cuda_stand_in: some GPU tests run on it by default, all with CONGRUENCE_CUDA_STAND_IN=1."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from congruence.machine import device
from congruence.machine.device import kernel

HERE = Path(__file__).parent
#: quick tests that together go through most of the Python code of the GPU engine
QUICK = (
    "test_cuda_limits or test_cuda_stand_in or far_apart or auto_counts or too_small or unsupported or permuted_labels or "
    "1000-7-5 or one_pair or (random_tables and sizes0) or (profiles and width) or (holds and 5)"
)
on_stand_in = pytest.mark.skipif(not os.environ.get("CONGRUENCE_CUDA_STAND_IN"), reason="not on the stand-in")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ on Linux")
def test_gpu_tests_pass_by_default():
    """The GPU engine gives the values of the CPU on two pretended GPUs, so that a change that breaks it is noticed."""
    files = [str(HERE / f"test_cuda{name}.py") for name in ("", "_limits", "_stand_in")]
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", "-k", QUICK, *files],
        capture_output=True, text=True, check=False, cwd=HERE.parent,
        env={**os.environ, "CONGRUENCE_CUDA_STAND_IN": "2"},
    )  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr


@on_stand_in
def test_host_arrays_are_not_taken_for_arrays_on_the_card():
    """As in CuPy, a host array is neither an operand nor a result: it is copied explicitly."""
    there = device.cupy().asarray(np.arange(3))
    with pytest.raises(TypeError, match="Unsupported type"):
        there + np.arange(3)
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(there)


@on_stand_in
def test_a_write_beyond_an_array_is_an_error():
    """A kernel that is told of more elements than its output has is noticed, and so is one with too much shared memory."""
    cp = device.cupy()
    keys = cp.empty((1, 4), np.uint64)
    with pytest.raises(RuntimeError, match="random_keys<0> wrote beyond the memory of argument 3"):
        kernel("random_keys")((1, 1), (32,), (np.uint64(1), np.int64(0), np.int64(5), keys))
    codes, sizes = cp.zeros((1, 16), np.uint8), cp.zeros(4, np.uint32)
    arguments = (codes, np.int64(16), np.int64(16), np.int32(4), np.bool_(True), sizes)
    with pytest.raises(RuntimeError, match="a block wrote beyond its shared memory"):
        kernel("sizes", "unsigned char")((1, 1), (32,), arguments, shared_mem=8)
    with pytest.raises(RuntimeError, match="invalid configuration"):
        kernel("sizes", "unsigned char")((1, 65_536), (32,), arguments, shared_mem=16)


@on_stand_in
def test_an_argument_of_another_type_is_an_error():
    """Arguments are compared with the parameters of the kernel, which CUDA itself does not do."""
    cp = device.cupy()
    with pytest.raises(TypeError, match="argument 2 is i4, but its parameter i8"):
        kernel("random_keys")((1, 1), (32,), (np.uint64(1), np.int64(0), np.int32(4), cp.empty(4, np.uint64)))
    with pytest.raises(TypeError, match="argument 3 is pf8, but its parameter pu8"):
        kernel("random_keys")((1, 1), (32,), (np.uint64(1), np.int64(0), np.int64(4), cp.empty(4)))


@on_stand_in
def test_threads_that_miss_a_barrier_are_an_error():
    """Threads that end while others wait are noticed, and the next launch is not affected."""
    cp = device.cupy()
    code = """
        __global__ void apart(int* out) { if (threadIdx.x < 16) return; __syncthreads(); out[threadIdx.x] = 1; }
        __global__ void together(int* out) { __syncthreads(); out[threadIdx.x] = 31 - threadIdx.x; }
    """
    module = cp.RawModule(code=code, options=("--fmad=false",), name_expressions=("apart", "together"))
    out = cp.zeros(32, np.int32)
    with pytest.raises(RuntimeError, match="some threads ended while others wait"):
        module.get_function("apart")((1,), (32,), (out,))
    module.get_function("together")((1,), (32,), (out,))
    assert out.tolist() == list(range(32))[::-1]
