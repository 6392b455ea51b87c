"""Columns with few clusters are counted together, and give the tables and values of each pair alone."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from engine_cases import counted, random_labels, take

import congruence as cg
from congruence.engine import fused
from congruence.engine.joint_codes import MOST, JointCodes, JointTables
from congruence.scanning import cells

KEYS = ["ari", "vi", "rand", "van_dongen", "purity"]


@pytest.mark.parametrize("widths", [[2, 3, 4], [16, 16, 16], [1, 1, 5], [256, 2], [30, 8, 40, 6, 2, 2], [9] * 7])
def test_groups_hold_every_column_once_and_fit_into_a_byte(widths):
    """No group of several columns has more joint codes than a byte holds; digits give the codes back."""
    joint = JointCodes(widths, n=100_000)
    assert sorted(joint.order.tolist()) == list(range(len(widths)))
    assert joint.widths.max() <= MOST
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, k, 500) for k in widths]
    found = joint.encoded(codes)
    for row, group in zip(found, joint.groups, strict=True):
        for column in group:
            assert joint.digits[column][row].tolist() == codes[column].tolist()


@pytest.mark.parametrize(("n", "most"), [(10, 3), (100, 10), (10_000, 100), (10**6, 256)])
def test_the_table_of_two_groups_has_at_most_as_many_cells_as_points(n, most):
    """Few points form small groups, so that splitting a table costs less than counting it."""
    joint = JointCodes([2] * 20, n)
    assert joint.widths.max() <= most
    assert joint.widths.max() ** 2 <= n


def test_the_tables_of_all_pairs_follow_from_the_tables_of_groups():
    """Within a group and across groups, in both orders, the tables are those of a plain dictionary."""
    vectors = random_labels(3_000, [2, 3, 5, 7, 11, 40, 3])
    joint = JointCodes([int(v.max()) + 1 for v in vectors], n=3_000)
    assert any(len(group) > 1 for group in joint.groups)
    tables = JointTables(joint)
    for piece in np.array_split(np.arange(3_000), 3):
        tables.add(joint.encoded([v[piece] for v in vectors]))
    found = tables.split()
    for i, j in product(range(len(vectors)), repeat=2):
        table = found[i, j]
        cells = {(r, c): int(table[r, c]) for r, c in zip(*np.nonzero(table), strict=True)}
        assert cells == counted(vectors[i], vectors[j]), (i, j)
    assert not tables.counts.any()


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [[4] * 9, [2, 3, 5, 10, 14, 20, 60], [1, 2, 2, 2]], ids=str)
@pytest.mark.parametrize("blocks", [False, True])
def test_all_pairs_counted_together_have_the_bits_of_each_pair_alone(monkeypatch, clusters, blocks):
    """Sums and maxima of all pairs are the same by groups, by blocks of points, and one pair at a time."""
    take(monkeypatch, "compiled")
    vectors = random_labels(5_000, clusters)
    used = []
    real = JointTables.add if blocks else fused._jointly
    if blocks:
        monkeypatch.setattr(fused, "BLOCKED_FROM", 1)
        monkeypatch.setattr(fused, "BLOCK", 1_000)
        monkeypatch.setattr(JointTables, "add", lambda self, codes: used.append(codes) or real(self, codes))
    else:
        monkeypatch.setattr(fused, "_jointly", lambda *args: used.append(args) or real(*args))
    done: list[tuple[int, int]] = []
    found = cg.compare_all(vectors, KEYS, progress=lambda *said: done.append(said))
    assert used
    assert done[-1][0] == done[-1][1] == len(vectors) * (len(vectors) + 1) // 2
    monkeypatch.setattr(fused, "MOST_JOINT", 0)
    alone = cg.compare_all(vectors, KEYS)
    for key in KEYS:
        assert found[key].tobytes() == alone[key].tobytes(), key
        assert found[key][0, 1] == getattr(cg, key)(vectors[0], vectors[1])


def scanned(pieces: list[dict[str, np.ndarray]], **options: object) -> cg.AllPairs:
    return cg.compare_all(cg.scan(lambda: iter(pieces), **options), KEYS)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["plain", "split early", "little memory", "one wide column"])
def test_scanned_columns_counted_together_have_the_bits_of_labels_in_memory(monkeypatch, case):
    """New labels in later batches, gaps, counts split early, and memory too small for groups change no value."""
    take(monkeypatch, "compiled")
    rng = np.random.default_rng(1)
    whole = {f"c{x}": rng.integers(0, k, 6_000) for x, k in enumerate([3, 4, 5, 6, 7])}
    for x, labels in enumerate(whole.values()):
        labels[5_000 + 100 * x :] += 3  # labels that the first batches lack
    if case == "one wide column":
        whole["wide"] = rng.integers(0, 400, 6_000)
    pieces = [{name: x[at] for name, x in whole.items()} for at in np.array_split(np.arange(6_000), 5)]
    if case == "split early":
        monkeypatch.setattr(cells, "MOST_POINTS", 2_000)
    if case == "little memory":
        monkeypatch.setattr(cells, "MOST_CELLS", 10)
    seen = []
    real = JointTables.add
    monkeypatch.setattr(JointTables, "add", lambda self, codes: seen.append(codes.shape[1]) or real(self, codes))
    found, expected = scanned(pieces), None
    assert sum(seen) == (0 if case == "little memory" else 6_000)
    monkeypatch.undo()
    expected = cg.compare_all(whole, KEYS)
    for key in KEYS:
        assert found[key].tobytes() == expected[key].tobytes(), key
    some = cg.partial_tables(pieces[0]) + cg.partial_tables(pieces[4])
    both = {name: np.concatenate([pieces[0][name], pieces[4][name]]) for name in whole}
    for a, b in combinations(whole, 2):
        assert some.table(a, b).to_array().tolist() == cg.contingency(both[a], both[b]).to_array().tolist()
