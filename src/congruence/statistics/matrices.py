"""Pair sums of similarity matrices and ensembles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from congruence.errors import Call, NotApplicable
from congruence.statistics.information import Info
from congruence.statistics.pairs import Pairs
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Table, Tables


@dataclass(frozen=True, eq=False)
class MatrixSums(Pairs):
    """Pair sums of two similarity matrices P and Q, the sums of their squares, and those of their diagonals."""

    n: Array
    squares_a: Array
    squares_b: Array
    diagonal: Array
    diagonal_a: Array
    diagonal_b: Array
    symbols: ClassVar[tuple[str, ...]] = (
        "n", "pairs", "s_p", "s_q", "s_pq", "s_pp", "s_qq", "d_pq", "d_pp", "d_qq",
    )  # fmt: skip

    @classmethod
    def of(
        cls, *, n: float, pairs: float, s_p: float, s_q: float, s_pq: float, s_pp: float, s_qq: float,
        diagonal: tuple[float, float, float],
    ) -> Self:  # fmt: skip
        """One pair of matrices: sums over i < j, then Σ P_ii Q_ii, Σ P_ii², Σ Q_ii²."""
        p, q, pq, every = (np.array([float(x)]) for x in (s_p, s_q, s_pq, pairs))
        same = np.abs(p - q) <= 1e-12 * every
        if (
            s_pp == s_pp and s_qq == s_qq
        ):  # with squares, the distance of the matrices shows equality, diagonals included
            far = 2 * (s_pp + s_qq - 2 * s_pq) + diagonal[1] + diagonal[2] - 2 * diagonal[0]
            same &= far <= 1e-12 * (2 * (s_pp + s_qq) + diagonal[1] + diagonal[2])
        return cls(
            every, p, q, pq, p - pq, q - pq, same, np.maximum(1e-13 * np.maximum(p, q), 1e-15 * every),
            *(np.array([float(x)]) for x in (n, s_pp, s_qq, *diagonal)),
        )  # fmt: skip

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Of the co-association matrices of two clusterings: entries are 0 and 1, so sums of squares equal the sums."""
        if t.gram is not None:
            raise NotApplicable(
                f"squares of soft co-memberships are not in the table; compare {Call('cg.Ensemble([u])')} instead"
            )
        if t.within is None:
            return cls.of_partitions(Pairs.from_tables(t), t.n, t.own)
        with np.errstate(divide="ignore", invalid="ignore"):  # weights of mean 1, as in Pairs
            scale = np.where(t.n > 0, t.n_used / t.n, 0.0)
        return cls.of_partitions(Pairs.from_tables(t), t.n * scale, t.own * np.square(scale))

    @classmethod
    def of_partitions(cls, p: Pairs, n: Array, own: Array) -> Self:
        """From pairs of points together in two partitions."""
        total, diagonal = np.asarray(n, dtype=np.float64), np.asarray(own, dtype=np.float64)
        return cls(**vars(p), n=total, squares_a=p.same_a, squares_b=p.same_b, diagonal=diagonal, diagonal_a=diagonal,
                   diagonal_b=diagonal)  # fmt: skip

    def alone(self, side: str) -> Self:
        """The sums of one of the two matrices with itself."""
        own, squares, diagonal = (
            (self.same_a, self.squares_a, self.diagonal_a)
            if side == "a"
            else (self.same_b, self.squares_b, self.diagonal_b)
        )
        return replace(
            self, same_a=own, same_b=own, same_both=squares, only_a=own - squares, only_b=own - squares,
            identical=np.ones_like(self.identical), squares_a=squares, squares_b=squares, diagonal=diagonal,
            diagonal_a=diagonal, diagonal_b=diagonal, rest_a=None, rest_b=None,
        )  # fmt: skip

    s_p = property(lambda self: self.same_a, doc="Σ P over i < j.")
    s_q = property(lambda self: self.same_b, doc="Σ Q over i < j.")
    s_pq = property(lambda self: self.same_both, doc="Σ P·Q over i < j.")
    s_pp = property(lambda self: self.squares_a, doc="Σ P² over i < j.")
    s_qq = property(lambda self: self.squares_b, doc="Σ Q² over i < j.")
    d_pq = property(lambda self: self.diagonal, doc="Σ P_ii·Q_ii.")
    d_pp = property(lambda self: self.diagonal_a, doc="Σ P_ii².")
    d_qq = property(lambda self: self.diagonal_b, doc="Σ Q_ii².")


@dataclass(frozen=True, eq=False)
class MemberInfo(TwoSided):
    """Entropies of each member of an ensemble with one partition; for two partitions, their own entropies."""

    info: Info
    #: weights of the members, or None if every entry is a separate pair
    weights: Array | None = None
    symbols: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """One member per table."""
        return cls(Info.from_tables(t))

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """The single table of a pair."""
        return cls.from_tables(Tables.of(table))

    @property
    def identical(self) -> Array:
        """Whether the two are the same partition."""
        return self.info.identical if self.weights is None else np.array([bool(self.info.identical.all())])

    def mean(self, values: Array) -> Array:
        """Weighted mean over the members."""
        return values if self.weights is None else np.array([float(values @ self.weights)])

    def swapped(self) -> Self:
        """The same with the two clusterings swapped."""
        return replace(super().swapped(), info=self.info.swapped())


@dataclass(frozen=True, eq=False)
class PooledInfo(MemberInfo):
    """The same with the numbers of clusters, which determine the expected information."""

    k_a: Array = field(default_factory=lambda: np.empty(0))
    k_b: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """One member per table."""
        counts = (over(lambda sizes: (sizes > 0).astype(np.float64)) for over in (t.over_rows, t.over_cols))
        return cls(Info.from_tables(t), None, *counts)

    @property
    def E_MI(self) -> Array:
        """Mutual information expected by chance, to first order, at most the possible maximum."""
        first = (self.k_a - 1) * (self.k_b - 1) / (2 * np.maximum(self.info.n, 1))
        return np.asarray(np.minimum(first, np.minimum(self.info.H_a, self.info.H_b)))


@dataclass(frozen=True, eq=False)
class Alone:
    """One matrix or ensemble by itself: its sums with itself, and the mean of a measure over pairs of its members."""

    sums: MatrixSums
    members: int
    mean_of_members: Callable[[str], Array]
    symbols: ClassVar[tuple[str, ...]] = ()
    identical: Array = field(default_factory=lambda: np.array([True]))
