"""The consensus of scanned columns: a search on a sample of the rows and the tables of all, and a pass that places them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from congruence.comparison.presenting import Result, plain
from congruence.consensus_clustering import search
from congruence.consensus_clustering.judging import without_cluster
from congruence.consensus_clustering.method_names import METHODS
from congruence.consensus_clustering.methods import find
from congruence.consensus_clustering.placing import Placing
from congruence.consensus_clustering.population import counted_beside, of_columns
from congruence.consensus_clustering.results import Consensus, grid_of_scores
from congruence.errors import InputError, NotApplicable, Option, counted, joined
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.scanning.checkpoint import digest
from congruence.scanning.rows import Rows, values_of_rows, written_rows
from congruence.scanning.sampling import Sample
from congruence.statistics.tables import Array
from congruence.typing import Frame, PathLike, Record

if TYPE_CHECKING:
    from congruence.scanning.columns import Column


def scanned_consensus(e: Ensemble, request: search.Request, out: PathLike | None) -> Consensus | ConsensusFiles:
    """The consensus of scanned members: in memory, or written to a folder."""
    started = time.perf_counter()
    if e.mass is not None:
        raise InputError("the consensus of scanned columns does not take row weights; read the columns into memory")
    rows = Rows(cast("Sequence[Column]", e.members))
    counts = rows.counts()
    n = sum(map(sum, counts))
    if not n:
        raise InputError(f"{rows.scan.text} has no rows")
    if request.n_clusters is not None and request.n_clusters > n:
        raise InputError(
            f"{Option('n_clusters')} must be a whole number from 1 to the number of points ({n}), not {request.n_clusters}"
        )
    sampled = request.sample(n)
    if sampled is None and n > search.ALL_UP_TO:
        able = ["auto", *(key for key in METHODS if find(key).takes_sample(None))]
        named = [m.key for m in request.records if not m.takes_sample(request.options["variant"])] or [
            "so many clusters"
        ]
        raise InputError(
            f"{joined(named)}: needs all {n:,} rows at once, but scanned rows are sampled above {search.ALL_UP_TO:,}; "
            f"methods that take a sample: {', '.join(able)}, and average and lwea with {Option('variant', 'sample')}"
        )
    sample = Sample(rows.reading.names, np.arange(n) if sampled is None else sampled, counts)
    blocks = counted_beside(rows, sample) if sampled is not None and request.takes_tables else None
    codes, labels = rows.codes_of(sample)
    few = Ensemble(
        {name: own.astype(np.int64) for name, own in zip(e.names, codes, strict=True)}, noise=0, unassigned="partial",
        member_weight=e.member_weight,
    )  # fmt: skip
    tables = None if blocks is None else of_columns(rows.columns, codes, labels, blocks)
    found = search.searched(few, request, tables)
    widths = [len(names) + 2 for names in labels]  # no label, the labels of the sample, and other labels
    if sampled is None:
        everyone, sure, _ = found.of_points()
        values = Values.known(everyone, sure, np.cumsum([0, *map(sum, counts)])[:-1])
    else:
        values = Values.placed(found.placing(codes, widths, [0] * len(codes)))
    notes = [*found.notes, *([] if sampled is None else [found.said_of_sample(n)])]
    row = found.tried[0].row
    facts: Record = {"n_clusters": values.n_clusters, "method": row["method"], "solver": row["solver"]}
    if out is None:
        by_name, left_out = values_of_rows(rows, values, labels)
        notes += [*left_out, *without_cluster(int((by_name["cluster"] < 0).sum()))]
        return Consensus(
            labels=by_name["cluster"].astype(np.int64), confidence=by_name["confidence"], votes=_not_kept,
            notes=tuple(dict.fromkeys(notes)), seconds=time.perf_counter() - started, kind=e.kind,
            scored=found.scored(), **facts,
        )  # fmt: skip
    done = written_rows(rows, replace(values, single=True), labels, out, values.digest)
    sizes = np.asarray([x["sizes"] for x in done.about if "sizes" in x], dtype=np.int64).sum(axis=0)
    sure_of = float(sum(x["sure"] for x in done.about if "sizes" in x) / max(int(sizes[1:].sum()), 1))
    notes += [*done.notes, *without_cluster(int(sizes[0]))]
    return ConsensusFiles(
        folder=done.folder, columns=done.columns, n_points=done.n_rows, n_files=done.n_files, sizes=tuple(sizes[1:].tolist()),
        mean_confidence=sure_of, notes=tuple(dict.fromkeys(notes)), seconds=time.perf_counter() - started,
        tried=found.scored()(), **facts,
    )  # fmt: skip


def _not_kept() -> Array:
    raise NotApplicable("the votes of scanned rows for each cluster are not stored; read the columns into memory")


@dataclass(frozen=True, eq=False)
class Values:
    """Cluster and confidence of scanned rows, batch by batch."""

    #: both for a batch, from the codes of its labels, the number of its group, and its first row there
    of_batch: Callable[[list[Array], int, int], tuple[Array, Array]]
    n_clusters: int
    #: a digest of what they come from
    digest: str
    #: whether confidence is stored in single precision, as it is written
    single: bool = False

    @classmethod
    def placed(cls, p: Placing) -> Values:
        """By the rule found on a sample."""
        rule = (p.rule.table, p.rule.bias, np.zeros(0) if p.rule.centres is None else p.rule.centres)
        parts = (*rule, p.chances, p.prior, p.shares, p.said)
        return cls(partial(_placed, p), p.n_clusters, digest(*(np.ascontiguousarray(x).tobytes() for x in parts)))

    @classmethod
    def known(cls, labels: Array, sure: Array, firsts: Array) -> Values:
        """Of rows that were all in memory; `firsts` are the first rows of the groups."""
        few = digest(labels.tobytes(), sure.tobytes())
        return cls(partial(_known, labels.astype(np.int32), sure, firsts), int(labels.max()) + 1, few)

    def __call__(self, codes: list[Array], group: int, first: int) -> dict[str, Array]:
        """Cluster and confidence of the rows of a batch."""
        labels, sure = self.of_batch(codes, group, first)
        return {"cluster": labels, "confidence": sure.astype(np.float32) if self.single else sure}

    def about(self, found: Sequence[dict[str, Array]]) -> Record:
        """Numbers of rows without a cluster and in each, and the sum of their confidence."""
        sizes = sum(np.bincount(x["cluster"] + 1, minlength=self.n_clusters + 1) for x in found)
        sure = float(sum(np.nansum(x["confidence"], dtype=float) for x in found))
        return {"sizes": np.asarray(sizes).tolist(), "sure": sure}


def _placed(placing: Placing, codes: list[Array], group: int, first: int) -> tuple[Array, Array]:
    return placing.run(codes, 1)


def _known(
    labels: Array, sure: Array, firsts: Array, codes: list[Array], group: int, first: int
) -> tuple[Array, Array]:
    here = slice(firsts[group] + first, firsts[group] + first + len(codes[0]))
    return labels[here], sure[here]


@dataclass(frozen=True, eq=False, kw_only=True)
class ConsensusFiles(Result):
    """A consensus of scanned rows, written to a folder of Parquet files, with its cluster sizes and how it was found.

    Attributes:
        folder: The folder; one row per row of the source, in its order.
        columns: Columns of the files: the row ids, cluster (−1: no member labels the row), confidence.
        n_points: Number of rows.
        n_files: Number of files.
        n_clusters: Number of clusters.
        sizes: Number of rows in each cluster.
        mean_confidence: Mean confidence of the rows that have a cluster.
        method: The method that was kept.
        solver: Its solver.
        notes: Approximations and other notes.
        seconds: Time used.
        tried: One row per method tried, the kept one first; scores are those of the sample.

    >>> import congruence as cg
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> runs = pathlib.Path(folder.name, "runs.csv")
    >>> _ = runs.write_text("a,b\\n" + "0,x\\n" * 4 + "1,y\\n" * 3 + "1,x\\n")
    >>> files = cg.consensus(cg.scan(runs), 2, out=pathlib.Path(folder.name, "labels"), random_state=0, progress=False)
    >>> files.columns, sorted(files.sizes)
    (('cluster', 'confidence'), [4, 4])
    >>> folder.cleanup()
    """

    folder: Path
    columns: tuple[str, ...]
    n_points: int
    n_files: int
    n_clusters: int
    sizes: tuple[int, ...]
    mean_confidence: float
    method: str
    solver: str
    notes: tuple[str, ...]
    seconds: float
    tried: tuple[Record, ...] = field(repr=False)

    @property
    def scores(self) -> Frame:
        """A frame with one row per clustering tried: the one kept first, the others by pooled_ami."""
        return make_frame({name: [row[name] for row in self.tried] for name in self.tried[0]}, self.kind)

    def table_columns(self) -> Record:
        """One row per cluster: its size."""
        return {"cluster": list(range(self.n_clusters)), "size": list(self.sizes)}

    def to_dict(self) -> Record:
        """Everything, as plain Python values."""
        found: Record = plain({**super().to_dict(), "folder": str(self.folder), "scores": list(self.tried)})
        return found

    def __repr__(self) -> str:
        shown = ", ".join(f"{s:,}" for s in self.sizes[:8]) + (", …" if len(self.sizes) > 8 else "")
        found = f"{counted(self.n_clusters, 'cluster')} of {counted(self.n_points, 'point')}"
        head = f"{self.method}: {found} ({shown}), mean confidence {self.mean_confidence:.3f}"
        files = f"written to {self.folder}: {counted(self.n_files, 'file')}, columns {', '.join(self.columns)}"
        return "\n".join([head, files, "", grid_of_scores(self.tried, self.notes)])
