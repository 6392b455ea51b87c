"""Lazy frames are counted where their rows are: a contingency table is a GROUP BY, and only counts are fetched."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from congruence.engine.plan import Progress
from congruence.errors import Call, InputError, NotApplicable, Option
from congruence.inputs.encoding import arrow_library, holds_lists
from congruence.inputs.files import existing_file, why_unreadable
from congruence.inputs.formats import database_of
from congruence.inputs.labels import unassigned_error
from congruence.inputs.weights import check_spread, whole_numbers
from congruence.scanning.accumulate import Accumulator, Counting
from congruence.scanning.parts import Held, Part
from congruence.scanning.sources import Input
from congruence.scanning.tables import PartialTables
from congruence.scanning.vocabulary import Crowded, unreadable
from congruence.typing import Dynamic, Frame, OptionValue

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa


#: most labels and rows that are fetched first, and rows from libraries that send them slowly; smaller frames are read whole
FIRST_LABELS, FIRST_ROWS, SLOW_ROWS = 1 << 21, 1 << 16, 1 << 13

#: columns are grouped together while their joint table has at most this many cells
JOINT_CELLS = 1 << 14

#: bytes of a fetched row with its codes
FETCHED = 64

#: narwhals' name of a library → how its frames are called, and the function whose batches a scan reads
LIBRARIES = {
    "polars": ("a Polars lazy frame", "frame.collect().iter_slices()"),
    "duckdb": ("a DuckDB relation", "relation.to_arrow_reader(200000)"),
    "ibis": ("an Ibis table", "table.to_pyarrow_batches()"),
    "pyspark": ("a Spark frame", "frame.toArrow().to_batches()"),
    "pyspark[connect]": ("a Spark frame", "frame.toArrow().to_batches()"),
    "sqlframe": ("an SQLFrame frame", "frame.toArrow().to_batches()"),
}


class LazyRows(Input):
    """The rows of a lazy frame, which its library counts: Spark, DuckDB, Ibis, Polars, SQLFrame."""

    def __init__(self, frame: nw.LazyFrame[Frame], text: str = "") -> None:
        self.frame = frame
        named, self.batches = LIBRARIES.get(frame.implementation.value, ("a lazy frame", "batches()"))
        self.text = text or named
        self.names = frame.collect_schema().names()
        most = FIRST_ROWS if frame.implementation.value in ("polars", "duckdb") else min(SLOW_ROWS, FIRST_ROWS)
        rows = int(np.clip(FIRST_LABELS / max(len(self.names), 1), min(1 << 10, most), most))
        self.head = self.fetched(frame.head(rows))
        self.schema, self.is_whole = self.head.schema, self.head.num_rows < rows

    def fetched(self, query: nw.LazyFrame[Frame]) -> pa.Table:
        """The rows of a query, as arrow columns."""
        try:
            return query.collect("pyarrow").to_native()
        except Exception as error:  # each library raises another error
            raise unreadable(self.text, error) from None

    def column(self, name: str) -> nw.Expr:
        """A column under its own name; Spark reads a dot in it as a field, unless it is quoted."""
        import narwhals as nw

        is_quoted = "." in name and self.frame.implementation.is_spark_like()
        return nw.col(f"`{name.replace('`', '``')}`").alias(name) if is_quoted else nw.col(name)

    @property
    def rows(self) -> int | None:
        """Number of rows, if all were fetched."""
        return self.head.num_rows if self.is_whole else None

    @property
    def held(self) -> Frame:
        """All rows as a frame, if they were fetched."""
        if not self.is_whole:
            return None
        import narwhals as nw

        polars = self.frame.implementation.is_polars()
        return nw.from_arrow(self.head, backend="polars").to_native() if polars else self.head

    def parts(self, columns: Sequence[str]) -> list[Part]:
        """The first rows, which are all rows of a small frame."""
        return [Held.of(self.head, self.text)]

    def check_rows(self) -> None:
        """Raise if single rows cannot be read: those of a query have no order."""
        if not self.is_whole:
            raise NotApplicable(
                f"{self.text} is counted where it is, and this needs the label of every row; "
                f"stream the rows: {Call(f'cg.scan(lambda: {self.batches})')}"
            )

    @property
    def joins(self) -> bool:  # type: ignore[override]
        """Whether values of rows are written by the library."""
        return not self.is_whole

    def join(
        self, joined: Sequence[tuple[str, Mapping[str, pa.Array], pa.Array]], id: str | None, folder: Path, rows: int
    ) -> tuple[str, ...]:
        """Write values for each row by joins in the library, and return the columns written.

        Args:
            joined: The columns to write: name, the labels of some cells by column, and the value of each cell. Rows in no
                cell have no value.
            id: The column to write beside it. None: all columns.
            folder: An empty folder.
            rows: The number of rows when the cells were counted.
        """
        import narwhals as nw
        from pyarrow import parquet

        names = [name for name, _, _ in joined]
        kept = [id] if id is not None else [x for x in self.names if x not in names]
        schema, file = self.frame.collect_schema(), folder / "part-000000.parquet"
        named = {f"own{c}": x for c, x in enumerate(kept)}
        columns = {own: self.column(x) for own, x in named.items()}
        here = [[f"here{i}_{c}" for c in range(len(labels))] for i, (_, labels, _) in enumerate(joined)]
        for keys, (_, labels, _) in zip(here, joined, strict=True):
            for key, x in zip(keys, labels, strict=True):
                is_text = schema[x] in (nw.Categorical, nw.Enum)
                columns[key] = self.column(x).cast(nw.String) if is_text else self.column(x)
        try:
            frame = self.frame.select(**columns)
            for i, (keys, (name, labels, values)) in enumerate(zip(here, joined, strict=True)):
                there, named[f"value{i}"] = [f"t{key}" for key in keys], name
                cells = arrow_library().table([*labels.values(), values], [*there, f"value{i}"])
                frame = frame.join(self.made_there(cells), left_on=keys, right_on=there, how="left")
            frame.select(nw.col(own).alias(name) for own, name in named.items()).sink_parquet(str(file))
        except Exception as error:  # each library raises another error
            raise unreadable(self.text, error) from None
        files = list(file.rglob("*.parquet")) if file.is_dir() else [file]
        now = sum(parquet.read_metadata(x).num_rows for x in files)
        if now != rows:
            raise self.changed(rows, now)
        return (*kept, *names)

    def changed(self, before: int, now: int) -> InputError:
        """The error for queries that see different rows."""
        return InputError(f"{self.text} changed between two queries: {before} and {now} rows")

    def made_there(self, cells: pa.Table) -> nw.LazyFrame[Frame]:
        """A small table as a frame of the library."""
        import narwhals as nw

        kind, native = self.frame.implementation, self.frame.to_native()
        made: Dynamic
        if kind.is_polars():
            import polars as pl

            made = pl.DataFrame(cells).lazy()
        elif kind.is_duckdb():  # on the connection of the relation; DuckDB finds the variable by its name
            congruence_cells = cells  # noqa: F841
            made = native.query("congruence_view", "select * from congruence_cells")
        elif kind.is_ibis():
            import ibis

            made = ibis.memtable(cells)
        else:
            rows = [tuple(row.values()) for row in cells.to_pylist()] if kind.is_sqlframe() else cells
            made = native.sparkSession.createDataFrame(rows, cells.column_names)
        found: nw.LazyFrame[Frame] = nw.from_native(made)
        return found

    def count(self, counting: Counting, progress: Progress, **options: OptionValue) -> PartialTables | None:
        """The tables by GROUP BY, or None if all rows were fetched."""
        if self.is_whole:
            return None
        for name, given in {**options, "skip_bad": counting.skip_bad}.items():
            if given:
                raise InputError(
                    f"{Option(name)} has no effect for {self.text}, which is counted where it is; leave it out"
                )
        return Grouped(self, counting).tables(progress)


class Grouped:
    """The counts of one pass: one GROUP BY for each group of columns."""

    def __init__(self, source: LazyRows, counting: Counting) -> None:
        self.source, self.counting, self.names = source, counting, counting.names
        self.total = Accumulator(counting)
        self.total.room.rows = source.head.num_rows
        self.mass = None if counting.mass is None else self._checked(*counting.mass)
        self.weighted = counting.mass is not None and not counting.mass[1]
        self.n, self.w, self.square = "rows", "mass", "squares"
        #: the columns in queries: libraries read dots in names, and may ignore case
        self.called = [f"column{c}" for c in range(len(self.names))]

    def _checked(self, name: str, is_frequency: bool) -> nw.Expr:
        """The weights of a column, after a look at their range; importance is divided by 2**exponent."""
        import narwhals as nw

        who = f"{self.source.text}: column {name!r}"
        types, kind = arrow_library().types, self.source.schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
            raise InputError(f"{who} of weights must be numbers")
        given = self.source.column(name)
        w = given.cast(nw.Float64)
        asked = {
            "low": w.min(), "high": w.max(), "total": w.sum(), "small": nw.when(w > 0).then(w).min(),
            "gaps": nw.when(given.is_null()).then(1).otherwise(0).max(),
            "parts": nw.when(w != w.round()).then(1).otherwise(0).max(),
        }  # fmt: skip
        found = self.source.fetched(self.source.frame.select(**asked)).to_pylist()[0]
        low, high, total = (float("nan") if found[x] is None else found[x] for x in ("low", "high", "total"))
        if found["gaps"] or not (low >= 0 and np.isfinite(high)) or np.isnan(total):
            raise InputError(f"{who} of weights must be finite, not missing and not negative")
        if is_frequency:
            whole_numbers(np.array([total, 0.5 if found["parts"] else 0.0]), who)
            return given.cast(nw.Int64)
        if not high:
            return w
        exponent, lowest = int(np.frexp(high)[1]), int(np.frexp(found["small"])[1])
        check_spread(lowest, exponent, f"column {name!r}")
        self.total.exponent, self.total.lowest = exponent, lowest
        return w * float(np.ldexp(1.0, -exponent))

    def tables(self, progress: Progress) -> PartialTables:
        """All tables, from as few queries as their sizes allow."""
        todo = {*self.total.pairs}
        columns = (self.source.head.column(name) for name in self.names)
        widths = [1 + len(x if holds_lists(x.type) else x.unique()) for x in columns]
        groups = list(groups_of(todo, widths))
        progress.what, progress.total = "queries", progress.done + len(groups)
        most = int(min(self.counting.limit / FETCHED, 2**31))
        while groups:
            group = groups.pop()
            here = {pair for pair in todo if {*pair} <= {*group}}
            table = self._fetched(group, most)
            if table.num_rows > most:  # more cells than memory, or than the first rows promised
                if len(group) < 3:
                    raise self.total.overfull(FETCHED * table.num_rows)
                groups += groups_of(here, [2**31] * len(widths))
                continue
            self._add(table, group, here)
            todo -= here
            progress.add(1)
        return self.total.partial()

    def _fetched(self, group: Sequence[int], most: int) -> pa.Table:
        import narwhals as nw

        keys = {self.called[c]: self.source.column(self.names[c]) for c in group}
        sums = {self.n: nw.len().cast(nw.Int64)}
        if self.mass is not None:
            keys[self.w] = self.mass
            w, kind = nw.col(self.w), nw.Float64 if self.weighted else nw.Int64
            sums[self.w] = w.sum().cast(kind)
            if self.weighted:
                sums[self.square] = (w * w).sum().cast(kind)
        made = self.source.frame.select(**keys).group_by(*(self.called[c] for c in group)).agg(**sums)
        return self.source.fetched(made.head(most + 1))

    def _add(self, table: pa.Table, group: Sequence[int], pairs: Collection[tuple[int, int]]) -> None:
        """Add the tables of some pairs from the joint table of a group of columns."""
        total = self.total
        number = table.column(self.n).to_numpy()
        count = number if self.mass is None else table.column(self.w).to_numpy()
        square = table.column(self.square).to_numpy() if self.weighted else np.zeros(0)
        rows = int(number.sum())
        if total.rows not in (0, rows):
            raise self.source.changed(total.rows, rows)
        if not total.rows:
            total.rows = total.room.rows = rows
            total.total, total.squares = count.sum(), float(square.sum())
        codes = {}
        for c in group:
            try:
                codes[c] = (
                    total.words[c].codes(table.column(self.called[c]), f"column {self.names[c]!r}").astype(np.int64)
                )
            except Crowded as error:
                raise total.overfull(error.size) from None
            total.gaps[c], called = number[codes[c] == 0].sum(), self.counting.complete[c]
            if total.gaps[c] and called is not None:
                raise unassigned_error(called, f"{total.gaps[c]} of {rows} points")
        for p, (i, j) in enumerate(total.pairs):
            if (i, j) not in pairs:
                continue
            key, at = np.unique(codes[i] << 32 | codes[j], return_inverse=True)
            cell, within = np.zeros(len(key), count.dtype), None
            np.add.at(cell, at, count)
            if self.weighted:
                within = np.maximum(cell * cell - np.bincount(at, square, len(key)), 0.0) / 2
                there = 2 * (codes[i] > 0) + (codes[j] > 0)
                np.add.at(total.used[p].ravel(), there, number)
                total.own[p] += np.bincount(there, square, 4).reshape(2, 2)
            total.put(p, key >> 32, key & 0xFFFFFFFF, cell, within)
        total.check()


def groups_of(pairs: set[tuple[int, int]], widths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Groups of columns that hold all pairs, each with a joint table of few cells, or with one pair.

    >>> sorted(groups_of({(0, 1), (0, 2), (1, 2)}, [10, 10, 10])), list(groups_of({(0, 1)}, [10**6, 10**6]))
    ([(0, 1, 2)], [(0, 1)])
    """
    left = sorted(pairs, key=lambda pair: (pair[0] == pair[1], pair))
    done: set[tuple[int, int]] = set()
    for pair in left:
        if pair in done:
            continue
        group, cells = [*dict.fromkeys(pair)], float(np.prod([float(widths[c]) for c in {*pair}]))
        for c in range(len(widths)):
            new = any((min(c, x), max(c, x)) in pairs and (min(c, x), max(c, x)) not in done for x in (*group, c))
            if c not in group and cells * widths[c] <= JOINT_CELLS and new:
                group.append(c)
                cells *= widths[c]
        done |= {(i, j) for i in group for j in group if i <= j}
        yield tuple(sorted(group))


# --- tables of databases ------------------------------------------------------------------------------------------


def table_at(address: str) -> tuple[nw.LazyFrame[Frame], str] | None:
    """A table of a database as a lazy frame, and its name in messages; None if this is no address of one."""
    found = database_of(address)
    if found is None:
        return None
    scheme, place, table = found
    text = f"table {table!r} of {scheme}"
    try:
        import ibis
        import narwhals as nw
    except ImportError:
        raise InputError(f'{text} is read by Ibis: pip install "congruence[warehouse]"') from None
    *database, name = table.rsplit(".", 1)
    if scheme in ("duckdb", "sqlite"):
        path = str(existing_file(place))
    try:
        if scheme == "duckdb":
            connection = ibis.duckdb.connect(path, read_only=True)
        elif scheme == "sqlite":
            connection = ibis.sqlite.connect(path)
        else:
            connection = ibis.connect(_url(scheme, place))
        frame = nw.from_native(connection.table(name, database=database[0] if database else None))
        weakref.finalize(frame, connection.disconnect)
        return frame, text
    except Exception as error:  # each driver raises another error
        raise InputError(f"{text} could not be opened: {type(error).__name__}, {why_unreadable(error)}") from None


def _url(scheme: str, place: str) -> str:
    """The address with both slashes, one of which `Path` removes; without a host if there is only a database."""
    rest = place.lstrip("/")
    return f"{scheme}://{rest if '/' in rest.partition('?')[0] else '/' + rest}"
