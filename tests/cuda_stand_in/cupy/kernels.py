"""Kernels of CUDA C++, compiled by g++ and run on the CPU."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import memory
from .arrays import ndarray

HERE = Path(__file__).parent
OPTIONS = ("-std=c++17", "-O2", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-shared", "-fPIC", "-w")
#: what went wrong while a kernel ran, by the numbers of runtime.cpp
ERRORS = {
    1: "some threads ended while others wait at a barrier of the block",
    2: "some threads of a warp do not exchange values",
    3: "a block wrote beyond its shared memory",
}
#: the most blocks in each dimension of a grid, and the most threads of a block
GRID, THREADS = (2**31 - 1, 65_535, 65_535), 1024

_lock = threading.Lock()  # one kernel at a time


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "congruence" / "cuda_stand_in"


@cache
def compiled(source: str) -> ctypes.CDLL:
    """The library of this source, compiled unless it was before."""
    headers = "".join((HERE / name).read_text(encoding="utf-8") for name in ("emulation.h", "runtime.cpp"))
    text = "\n".join([*OPTIONS, headers, source])
    folder = cache_folder()
    library = folder / f"{hashlib.sha256(text.encode()).hexdigest()}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        compiler = shutil.which("g++")
        if compiler is None:
            raise RuntimeError("the stand-in for a GPU needs g++")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            code, made = Path(place) / "code.cpp", Path(place) / "made.so"
            code.write_text(source, encoding="utf-8")
            words = [compiler, *OPTIONS, f"-I{HERE}", str(code), "-o", str(made)]
            subprocess.run(words, check=True)
            made.replace(library)
    return ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL if "RUNTIME" in source else ctypes.RTLD_LOCAL)


class RawModule:
    """Kernels of one source, each compiled when it is asked for."""

    def __init__(self, code: str, options: Sequence[str], name_expressions: Sequence[str]) -> None:
        if "--fmad=false" not in options:
            raise ValueError("the stand-in never fuses multiply-adds")
        self.code, self.names = code, name_expressions

    def get_function(self, name: str) -> RawKernel:
        """The kernel of this C++ name."""
        if name not in self.names:
            raise ValueError(f"{name} was not asked for")
        compiled('#define RUNTIME\n#include "runtime.cpp"\n')
        code = re.sub(
            r"extern __shared__ (\w+) (\w+)\[\];", r"\1* const \2 = reinterpret_cast<\1*>(stand_in::shared);", self.code
        )
        return RawKernel(name, compiled(f'#include "emulation.h"\n{code}\nSTAND_IN({name})\n'))


class RawKernel:
    """A kernel that runs on the CPU when it is called; its arguments are compared with its parameters before."""

    shared_size_bytes = 0
    preferred_shared_memory_carveout = -1
    max_dynamic_shared_size_bytes = 48 << 10

    def __init__(self, name: str, library: ctypes.CDLL) -> None:
        self.name, self.library = name, library
        library.signature.restype = ctypes.c_char_p
        self.parameters = library.signature().decode().split()

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], shared_mem: int = 0
    ) -> None:
        """Run the kernel, and raise if it writes beyond its memory or its threads part ways at a barrier."""
        shape = (*grid, 1, 1)[:3]
        if any(not 1 <= size <= most for size, most in zip(shape, GRID, strict=True)) or len(block) > 1:
            raise RuntimeError(f"{self.name}: invalid configuration, grid {grid}, block {block}")
        if not 1 <= block[0] <= THREADS or shared_mem > self.max_dynamic_shared_size_bytes:
            raise RuntimeError(f"{self.name}: too many resources, {block[0]} threads, {shared_mem} bytes shared")
        if len(args) != len(self.parameters):
            raise TypeError(f"{self.name} has {len(self.parameters)} parameters, not {len(args)}")
        given = [self.argument(number, value) for number, value in enumerate(args)]
        places = (ctypes.c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
        backwards = os.environ.get("CONGRUENCE_CUDA_STAND_IN_ORDER") == "backwards"
        with _lock:
            error = self.library.launch(
                (ctypes.c_uint * 4)(*shape, block[0]), ctypes.c_uint(shared_mem), ctypes.c_int(backwards), places
            )
        if error:
            raise RuntimeError(f"{self.name}: {ERRORS[error]}")
        for number, value in enumerate(args):
            if isinstance(value, ndarray) and not value.block.is_intact():
                raise RuntimeError(f"{self.name} wrote beyond the memory of argument {number}")

    def argument(self, number: int, value: Any) -> Any:
        """The bytes of an argument, if it has the type of its parameter."""
        wanted = self.parameters[number]
        if isinstance(value, ndarray):
            kind = f"p{value.dtype.kind}{value.itemsize}"
            # small elements may be read several at a time
            fits = wanted[0] == "p" and (wanted == kind or value.itemsize < int(wanted[2:]))
            if value.block.device != memory.current():
                raise RuntimeError(f"{self.name}: argument {number} is on another GPU")
            content = np.uint64(value.data.ptr).tobytes()
        elif isinstance(value, np.generic):
            kind = f"{value.dtype.kind}{value.itemsize}"
            null = wanted[0] == "p" and kind == "u8" and value == 0
            fits = null or wanted == kind
            content = value.tobytes()
        else:
            raise TypeError(f"{self.name}: argument {number} is {type(value)}")
        if not fits:
            raise TypeError(f"{self.name}: argument {number} is {kind}, but its parameter {wanted}")
        return ctypes.create_string_buffer(content, len(content))
