"""Random labels, memberships, matrices, tables and other values, usual or spoiled."""

from __future__ import annotations

import datetime
import decimal
import fractions
import inspect
import uuid
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import congruence as cg
from hostile import oracle


class Nothing:
    """A useless object."""

    def __repr__(self) -> str:
        return "Nothing()"


ODD: list[Callable[[Random], Any]] = [
    lambda r: r.choice([None, 0, 1, -1, 2, 3.5, float("nan"), float("inf"), True, "", "x", b"x", 10**30, -(10**30)]),
    lambda r: r.choice(
        [[], (), {}, set(), [None], [[]], [[], []], {"a": []}, {"a": 1}, [1, [2]], {1: 2}, range(0), range(3)]
    ),
    lambda r: r.choice(
        [np.array(3), np.array([]), np.zeros((0, 2)), np.zeros((2, 0)), np.zeros((2, 2, 2)), np.float64(2), np.int64(2)]
    ),
    lambda r: r.choice([Nothing(), object, Exception("x"), iter([1, 2]), (x for x in "ab"), ...]),
    lambda r: r.choice(["\udcff", "a\x00b", "\x1b[31m", "nope.csv", Path("nope.parquet"), "é" * 500, "=1", "2", "all"]),
    lambda r: r.choice(
        [np.array([1, 2], object), np.array([[1], [2, 3]], object), np.ma.masked_array([1, 2], [True, False])]
    ),
    lambda r: r.choice(
        [1e308, 1e-308, -0.0, 2**63, 2**64, -(2**63) - 1, 1j, decimal.Decimal("NaN"), fractions.Fraction(1, 3)]
    ),
    lambda r: r.choice(
        [pa.array([]), pa.nulls(3), pa.array([[1], [2]]), pa.table({"a": [1]}), pa.scalar(3), pa.table({})]
    ),
]


def odd(rng: Random) -> Any:
    """A value that is invalid for almost every argument."""
    return rng.choice(ODD)(rng)


def label_vector(rng: Random, n: int) -> Any:
    """n labels in one of many forms, mostly valid."""
    codes = [rng.randrange(rng.choice([1, 2, 3, n])) for _ in range(n)]
    gaps = [None if rng.random() < 0.15 else c for c in codes]
    makers: list[Callable[[], Any]] = [
        lambda: codes,
        lambda: np.array(codes),
        lambda: tuple(f"c{c}" for c in codes),
        lambda: np.array(codes, dtype=rng.choice(["u1", "i2", ">i4", "u8", "f4", "f8", "?", "S3", "U3", "f2", "c16"])),
        lambda: gaps,
        lambda: [float("nan") if c is None else float(c) for c in gaps],
        lambda: pa.array(gaps),
        lambda: pa.array([None if c is None else str(c) for c in gaps]).dictionary_encode(),
        lambda: pa.chunked_array([pa.array(codes)]),
        lambda: [uuid.UUID(int=c) for c in codes],
        lambda: [datetime.date(2024, 1, 1 + c % 28) for c in codes],
        lambda: [datetime.datetime(2024, 1, 1 + c % 28, tzinfo=datetime.UTC) for c in codes],
        lambda: [decimal.Decimal(c) for c in codes],
        lambda: [fractions.Fraction(c, 3) for c in codes],
        lambda: [(c, "x") for c in codes],
        lambda: [frozenset([c]) for c in codes],
        lambda: [b"\xff%d" % c for c in codes],
        lambda: [f"\udcff{c}" for c in codes],
        lambda: [10**20 + c for c in codes],
        lambda: [2**63 + c for c in codes],
        lambda: [2**53 + c for c in codes],
        lambda: np.array(codes, object),
        lambda: np.array(codes, "datetime64[D]"),
        lambda: np.array(["NaT" if c is None else f"2024-01-{1 + c % 28:02}" for c in gaps], "datetime64[ns]"),
        lambda: [float("inf") if c else -float("inf") for c in codes],
        lambda: [-0.0 if c else 0.0 for c in codes],
        lambda: [rng.choice([c, str(c)]) for c in codes],
        lambda: iter(codes),
        lambda: "".join(str(c % 10) for c in codes),
        lambda: np.array(codes).reshape(-1, 1),
        lambda: np.array(codes)[::-1],
        lambda: range(n),
        lambda: np.ma.masked_array(codes, [c is None for c in gaps]),
        lambda: _pandas(rng, codes, gaps),
        lambda: _polars(rng, gaps),
        lambda: odd(rng),
    ]
    return rng.choice(makers[:6] if rng.random() < 0.5 else makers)()


def _pandas(rng: Random, codes: list[int], gaps: list[int | None]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return codes
    return rng.choice(
        [
            lambda: pd.Series(codes),
            lambda: pd.Series(gaps, dtype="Int64"),
            lambda: pd.Series(
                pd.Categorical(
                    [None if c is None else f"k{min(c, 2)}" for c in gaps], categories=["k0", "k1", "k2", "unused"]
                )
            ),
            lambda: pd.Series(gaps, dtype=object),
            lambda: pd.Series([pd.NA if c is None else str(c) for c in gaps], dtype="string"),
            lambda: pd.Series(pd.to_datetime(codes)),
            lambda: pd.Series(pd.to_timedelta(codes)),
            lambda: pd.Index(codes),
            lambda: pd.Series(codes, index=codes),
            lambda: pd.Series([pd.Period("2024", "Y") + c for c in codes]),
            lambda: pd.Series([c % 2 == 0 for c in codes], dtype="boolean"),
        ]
    )()


def _polars(rng: Random, gaps: list[int | None]) -> Any:
    try:
        import polars as pl
    except ImportError:
        return gaps
    return rng.choice(
        [
            lambda: pl.Series(gaps),
            lambda: pl.Series([None if c is None else str(c) for c in gaps]).cast(pl.Categorical),
            lambda: pl.Series([None if c is None else c / 2 for c in gaps]),
        ]
    )()


def told_apart(x: Any) -> list[Any] | None:
    """The labels as plain values if they are unambiguous, else None."""
    if isinstance(x, str | bytes | dict | set) or x is None or callable(x) or isinstance(x, pa.Table):
        return None
    try:
        if isinstance(x, np.ma.MaskedArray):
            return None
        if isinstance(x, np.ndarray):
            if x.dtype.kind in "cV" or x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[1] != 1):
                return None
            x = x.reshape(-1)
        listed = x.to_pylist() if hasattr(x, "to_pylist") else x.tolist() if hasattr(x, "tolist") else list(x)
        if inspect.isgenerator(x) or hasattr(x, "__next__"):
            return None
        listed = [None if v is None or str(v) in ("<NA>", "NaT", "nan", "NaN") else v for v in listed]
        if len({type(v) for v in listed if v is not None}) > 1 or any(
            isinstance(v, list | dict | tuple) for v in listed
        ):
            return None
        hash(tuple(listed))
    except Exception:
        return None
    return [oracle.plain(v) for v in listed]


def memberships(rng: Random, n: int) -> Any:
    """Memberships of n points, usual or spoiled."""
    draws = np.random.default_rng(rng.randrange(2**32))
    u = draws.dirichlet(np.ones(3), n)
    spoils = [lambda: u, lambda: u, lambda: u * 2, lambda: -u, lambda: u * np.nan, lambda: u[:, :0], lambda: u.astype("f4"),
              lambda: u.tolist(), lambda: [[0.5, 0.5], [1.0]], lambda: u.astype(object), lambda: u * 1e-300, lambda: u + np.inf,
              lambda: np.eye(3)[draws.integers(0, 3, n)], lambda: np.zeros((n, 2))]  # fmt: skip
    return rng.choice(spoils)()


def square(rng: Random, n: int) -> Any:
    """A similarity matrix, usual or spoiled."""
    draws = np.random.default_rng(rng.randrange(2**32))
    m = draws.random((n, n))
    m = (m + m.T) / 2
    np.fill_diagonal(m, 1)
    spoils = [lambda: m, lambda: m, lambda: m[:, :-1], lambda: m * np.nan, lambda: -m, lambda: m + np.arange(n), lambda: m * 1e300,
              lambda: m.astype(int), lambda: np.zeros((n, n)), lambda: cg.Similarity(m), lambda: m[:0], lambda: m.tolist()]  # fmt: skip
    return rng.choice(spoils)()


def mass(rng: Random, n: int, usual: list[list[Any]]) -> Any:
    """Weights or counts of n points in one of many forms, usual or spoiled."""
    values = rng.choice([*usual, usual[0], [1] * n, [0] * n, [-1] * n, ["x"] * n, [None] * n, ["1"] * n])
    makers: list[Callable[[], Any]] = [
        lambda: values, lambda: values, lambda: np.array(values), lambda: tuple(values), lambda: pa.array(values), lambda: np.array([values]).T,
        lambda: np.array(values, object), lambda: values[:-1], lambda: iter(values), lambda: np.array(values).astype("f4"),
        lambda: np.array([v == 1 for v in values]), lambda: _series(values), lambda: pa.chunked_array([pa.array(values)]), lambda: None, lambda: odd(rng),
    ]  # fmt: skip
    try:
        with np.errstate(over="ignore"):
            return rng.choice(makers)()
    except (ValueError, TypeError, pa.ArrowException):
        return values


def _series(values: list[Any]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return values
    return pd.Series(values, index=range(1, len(values) + 1))


def ensemble(rng: Random, n: int) -> Any:
    """Several clusterings of n points in one of the forms an ensemble comes in."""
    count = rng.choice([1, 2, 3, 4])
    one = [label_vector(rng, n) if rng.random() < 0.3 else [rng.randrange(3) for _ in range(n)] for _ in range(count)]
    if rng.random() < 0.05:
        one[0] = [0] * (n + 1)
    makers: list[Callable[[], Any]] = [
        lambda: one,
        lambda: {f"m{i}": x for i, x in enumerate(one)},
        lambda: np.array([[rng.randrange(3) for _ in range(count)] for _ in range(n)]),
        lambda: cg.Ensemble(one, unassigned=rng.choice(["error", "partial", "drop", "cluster"])),
        lambda: [memberships(rng, n) for _ in range(count)],
        lambda: pa.table({f"m{i}": [rng.randrange(3) for _ in range(n)] for i in range(count)}),
        lambda: odd(rng),
    ]
    return rng.choices(makers, [6, 4, 4, 4, 2, 2, 1])[0]()


def points(rng: Random, n: int) -> Any:
    """A table of numbers, usual or spoiled."""
    draws = np.random.default_rng(rng.randrange(2**32))
    X = draws.normal(size=(n, 2)) + 4 * draws.integers(0, 2, (n, 1))
    spoils = [lambda: X, lambda: X, lambda: X, lambda: X * np.nan, lambda: X * 1e200, lambda: X[:, :0], lambda: X[:1], lambda: X * 0,
              lambda: X.tolist(), lambda: X.astype(str), lambda: np.where(X > 4, np.inf, X), lambda: X[:, 0], lambda: X.astype(object),
              lambda: {"x": X[:, 0], "y": X[:, 1]}, lambda: X.astype("f4"), lambda: X > 1, lambda: X * 1e-300]  # fmt: skip
    return rng.choice(spoils)()


def tree(rng: Random, n: int) -> Any:
    """A hierarchy, usual or spoiled."""
    from scipy.cluster.hierarchy import linkage

    draws = np.random.default_rng(rng.randrange(2**32))
    z = linkage(draws.random((max(n, 2), 2)))
    spoils = [lambda: z, lambda: z, lambda: cg.Hierarchy(z), lambda: z[:-1], lambda: z * np.nan, lambda: "((a,b),c);", lambda: "((a,b",
              lambda: [[0, 1], 2], lambda: z[:, :3], lambda: -z, lambda: z + 100, lambda: [0, 0, 1]]  # fmt: skip
    return rng.choice(spoils)()


def whole(rng: Random) -> Any:
    """A count, usual or odd."""
    return rng.choice(
        [1, 2, 2, 3, 3, 4, np.int64(2), 0, -1, 1.5, 2.0, "2", None, True, float("nan"), 10**12, [2], np.array([2])]
    )
