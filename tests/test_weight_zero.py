"""A point of weight 0 or frequency 0 changes no measure, on any route.

Only `mirkin`, `partition_difference`, `chi_square` and `nsf_printed` change with a weight of 0: they depend on the number of
points, and weights have a mean of 1 over all points.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg

Case = tuple[np.ndarray, np.ndarray, np.ndarray]
KINDS = ["sample_weight", "frequency"]
#: depends on the order of equal overlaps, and so on the names of empty clusters
KEYS = [m.key for m in cg.measures() if m.key != "irm_greedy"]


def _cases(kind: str) -> Iterator[tuple[Case, Case]]:
    """Labels of two clusterings and weights: without points that weigh nothing, and with five of them."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
        w = rng.integers(1, 5, n) if kind == "frequency" else rng.choice([0.5, 1.0, 3.0, 7.25], n)
        order = rng.permutation(n + 5)
        more_a, more_b = (np.append(x, rng.integers(0, 9, 5))[order] for x in (a, b))
        yield (a, b, w), (more_a, more_b, np.append(w, np.zeros(5, w.dtype))[order])


#: count pairs or points, and so change with a point of weight 0
COUNTS = ("mirkin", "partition_difference", "chi_square", "nsf_printed")


def _of(result: cg.Comparison) -> dict[str, float]:
    return {key: value for key, value in result.to_dict().items() if key in KEYS}


def _close(found: dict[str, float], expected: dict[str, float], kind: str) -> bool:
    here, there = (
        {key: x for key, x in values.items() if kind == "frequency" or key not in COUNTS}
        for values in (found, expected)
    )
    return here == pytest.approx(there, rel=1e-11, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_of_weight_0_changes_no_measure_of_labels(kind: str) -> None:
    """Every measure that takes weights, and the number of points."""
    for few, more in _cases(kind):
        without, with_zeros = (cg.compare(a, b, "all", **{kind: w}) for a, b, w in (few, more))
        assert with_zeros.n_used == (without.n_used if kind == "frequency" else len(more[0]))
        assert len(_of(without)) > 30
        assert _close(_of(with_zeros), _of(without), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_of_weight_0_changes_no_measure_of_memberships_and_covers(kind: str) -> None:
    """The same for soft clusterings and overlapping clusters."""
    for _, (a, b, w) in _cases(kind):
        u, v = np.eye(9)[a] * 0.75 + 0.25 / 9, np.eye(9)[b]
        kept = w > 0
        soft = [cg.compare(u[x], v[x], "all", **{kind: w[x]}) for x in (kept, np.ones(len(w), bool))]
        assert _close(_of(soft[1]), _of(soft[0]), kind)
        both = [(np.eye(9, dtype=int)[x] | np.eye(9, dtype=int)[y]) for x, y in ((a, b), (b, (a + b) % 4))]
        covers = [
            cg.compare(*(cg.Cover(m[x]) for m in both), ["omega", "ndc", "bcubed_f", "element_centric"], **{kind: w[x]})
            for x in (kept, np.ones(len(w), bool))
        ]
        assert _close(_of(covers[1]), _of(covers[0]), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_of_weight_0_changes_nothing_in_scans_and_merged_tables(kind: str, tmp_path: Path) -> None:
    """The same through files, partial tables, all pairs and a reference."""
    keys = ["mirkin", "ari", "nmi_sum", "psi", "accuracy", "nsf_printed", "nsf", "kas"]
    for case, (few, more) in enumerate(_cases(kind)):
        expected = cg.compare(few[0], few[1], keys, **{kind: few[2]}).to_dict()
        columns = dict(zip("abw", more, strict=True))
        path = tmp_path / f"{case}.parquet"
        parquet.write_table(pa.table(columns), path, row_group_size=3)
        s = cg.scan(path)
        batches = [{k: v[i : i + 4] for k, v in columns.items()} for i in range(0, len(more[0]), 4)]
        total = sum(cg.partial_tables(batch, ["a", "b"], **{kind: "w"}) for batch in batches)
        weights = {kind: more[2]}
        pairs, against = cg.compare_all(more[:2], keys, **weights), cg.compare_to(more[0], [more[1]], keys, **weights)
        scanned = cg.compare(s["a"], s["b"], keys, **{kind: s["w"]})
        assert (
            scanned.n_used
            == pairs.n_used[0, 1]
            == against.n_used[0]
            == (few[2].sum() if kind == "frequency" else len(more[2]))
        )
        assert _close(scanned.to_dict(), expected, kind)
        assert _close(cg.compare(total["a"], total["b"], keys).to_dict(), expected, kind)
        assert _close({k: pairs[k][0, 1] for k in keys}, expected, kind)
        assert _close({k: against[k][0] for k in keys}, expected, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_of_weight_0_changes_no_measure_of_ensembles(kind: str, tmp_path: Path) -> None:
    """Measures of consensus matrices, in memory and scanned; with gaps as well."""
    keys = ["arimm", "kas", "nsf", "nsf_printed", "sms"]
    for case, (few, more) in enumerate(_cases(kind)):
        found = []
        for a, b, w in (few, more):
            members = np.column_stack([a, b, (a + b) % 3])
            e = cg.Ensemble(members, **{kind: w})
            other = cg.Ensemble(members[:, :2], **{kind: w})
            path = tmp_path / f"{case}-{len(a)}.parquet"
            parquet.write_table(pa.table({"a": a, "b": b, "c": (a + b) % 3, "w": w}), path)
            s = cg.scan(path)
            lazy, fewer = (cg.Ensemble(s[x], **{kind: s["w"]}) for x in (["a", "b", "c"], ["a", "b"]))
            values = {key: getattr(cg, key)(e, other) for key in keys}
            assert _close({key: getattr(cg, key)(lazy, fewer) for key in keys}, values, kind)
            values |= {"certainty": e.certainty(), "pnmi": e.pnmi(), "index": e.consensus_index("vi")}
            values |= {
                "arimp": e.arimp(b),
                **{f"cluster {k}": x for k, x in e.cluster_consensus(b).items() if k in few[1]},
            }
            values |= {"area": e.cdf().area, "pac": e.cdf().pac(0.1, 0.9)} if kind == "frequency" else {}
            found.append(values)
        assert _close(found[1], found[0], kind)


def test_weights_whose_products_underflow_are_refused(tmp_path: Path) -> None:
    """Next to a weight of 1e200, pairs of weight 1 would be lost, and jaccard be 0, not 0.5: in memory, scanned and merged."""
    a, b, w = [0, 1, 2, 2, 3, 3], [0, 1, 2, 2, 3, 4], [1e140, 1e140, 1.0, 1.0, 1.0, 1.0]
    assert cg.jaccard(a, b, sample_weight=w) == pytest.approx(0.5, rel=1e-12)
    wide = [1e200, 1e200, *w[2:]]
    with pytest.raises(cg.InputError, match=r"from about 1e0 to 1e200: the largest weight may be at most 1e150 times"):
        cg.jaccard(a, b, sample_weight=wide)
    path = tmp_path / "w.parquet"
    parquet.write_table(pa.table({"a": a, "b": b, "w": wide}), path, row_group_size=2)
    s = cg.scan(path)
    with pytest.raises(cg.InputError, match=r"'w' reaches from about 1e0 to 1e200"):
        cg.jaccard(s["a"], s["b"], sample_weight=s["w"])
    parts = [
        cg.partial_tables({"a": a[x], "b": b[x], "w": wide[x]}, sample_weight="w") for x in (slice(2), slice(2, 6))
    ]
    parts = [cg.PartialTables.from_bytes(part.to_bytes()) for part in parts]
    with pytest.raises(cg.InputError, match="the largest weight may be at most 1e150 times"):
        cg.merge(*parts)
