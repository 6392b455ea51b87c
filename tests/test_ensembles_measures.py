"""Measures of ensembles and partial members, compared with slow definitions."""

from __future__ import annotations

import math
from typing import Any

import naive_matrices as dense
import numpy as np
import pytest
from doors import close
from ensemble_cases import OF_TWO, A, partial, scores, several, with_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import clusterings, memberships, weights

import congruence as cg
from congruence.engine import matrices, tiles

# --- measures of ensembles -------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels())
def test_an_ensemble_and_a_partition(given_):
    """arimp, anmi and all others of an ensemble and labels, either way round and by the methods, as the definitions."""
    runs, q = given_
    e = cg.Ensemble(runs)
    expected = {
        **dense.measures(dense.consensus(runs), dense.consensus([q])),
        "anmi": dense.anmi(runs, q),
        "pooled_ami": dense.pooled_ami(runs, q),
    }
    assert cg.nsf_printed(e, q) == close(expected.pop("nsf_printed"))  # only by name
    if len(runs) == 1:
        expected["ari_gram"] = expected["arimm"]  # of two partitions it has both names
    assert dict(cg.compare(e, q)) == close(expected)
    assert dict(cg.compare(q, e)) == close(expected)
    for key in ("arimp", "arimm", "kas", "nsf", "sms", "ssms", "anmi", "pooled_ami"):
        assert [getattr(e, key)(q), getattr(cg, key)(e, q), getattr(cg, key)(q, e)] == [close(expected[key])] * 3, key
    matrix = cg.Similarity(dense.consensus(runs))
    of_matrix = {k: v for k, v in expected.items() if k not in ("anmi", "pooled_ami", "ari_gram")}
    assert dict(cg.compare(matrix, q)) == close(of_matrix)


@pytest.mark.slow
@given(several())
def test_one_ensemble_alone(runs):
    """certainty is Var(M) / (m(1 − m)) and arimm of the ensemble with itself; pnmi and consensus_index are means."""
    e, m = cg.Ensemble(runs), dense.consensus(runs)
    assert cg.certainty(e) == e.certainty() == close(dense.certainty(m))
    assert cg.certainty(e) == close(cg.arimm(e, e)) == close(cg.certainty(m))
    assert cg.uncertainty(e) == e.uncertainty() == close(1 - dense.certainty(m))
    if len(runs) != len(runs[0]):  # a square array would be a matrix
        assert cg.certainty(np.array(runs).T) == cg.certainty(e)
    if len(runs) > 1:
        assert cg.pnmi(e) == e.pnmi() == close(dense.consensus_index(runs, "nmi_sqrt"))
        assert cg.pnmi_sum(e) == close(len(runs) * (len(runs) - 1) * cg.pnmi(e))
        for key in ("nmi_sum", "vi", "ari", "wallace_ab"):
            assert cg.consensus_index(runs, key) == e.consensus_index(key) == close(dense.consensus_index(runs, key))
    else:
        assert math.isnan(cg.pnmi(e))
        assert cg.pnmi_sum(e) == 0.0


@pytest.mark.parametrize("a", [[1, 2, 4], [1, 1, 1], [3, 1, 7], [1, 10, 100], [2, 5, 6]])
def test_equal_constant_matrices_score_1_for_any_weights(a):
    """All points together in every member, or all apart, on both sides: 0/0, which is 1 for equal matrices."""
    u = [[1.0, 0.0]] * 5
    for same in ([0] * 5, list(range(5))):
        e = cg.Ensemble([same] * 3, member_weight=a)
        assert cg.arimm(e, same) == cg.arimp(same, e) == cg.arimm(e, cg.consensus_matrix(e)) == 1.0
        assert cg.arimm(partial([[*same[:4], None], same, same], member_weight=a), same) == 1.0
    assert cg.arimm(cg.Ensemble([cg.Memberships(u)] * 3, member_weight=a), [0] * 5) == 1.0


def test_certainty_reaches_its_bounds():
    """1 for equal members; 0 for the three pairings of four points, though random members would have 1/3."""
    assert cg.certainty(cg.Ensemble([A, A, A])) == 1.0
    pairings = cg.Ensemble([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    assert cg.certainty(pairings) == pytest.approx(0, abs=1e-15)
    assert cg.certainty_random(2, 3) == close(1 / 3)


@pytest.mark.slow
@given(several(), st.data())
@settings(max_examples=20)
def test_equal_ensembles_score_exactly_1(runs, data):
    """kas, nsf and sms of equal ensembles are 1.0, not nearly: in any order of members, weighted, counted or fuzzy."""
    n = len(runs[0])
    order = data.draw(st.permutations(range(len(runs))))
    a, w = data.draw(weights(len(runs))), data.draw(weights(n))
    u = data.draw(memberships(n))
    shuffled = [runs[i] for i in order]
    pairs = [
        (cg.Ensemble(runs), cg.Ensemble(shuffled)),
        (cg.Ensemble(runs + runs), cg.Ensemble(runs)),
        (cg.Ensemble(runs, member_weight=a), cg.Ensemble(shuffled, member_weight=[a[i] for i in order])),
        (cg.Ensemble(runs, member_weight=[1] * len(runs)), cg.Ensemble(runs)),
        (cg.Ensemble(runs, sample_weight=w), cg.Ensemble(shuffled, sample_weight=w)),
        (cg.Ensemble([*runs, cg.Memberships(u)]), cg.Ensemble([cg.Memberships(u), *shuffled])),
    ]
    for p, q in pairs:
        found = scores(p, q)
        assert found["kas"] == found["nsf"] == found["nsf_printed"] == 1.0
        assert found["sms"] == 1.0 or math.isnan(found["sms"])
    m = cg.consensus_matrix(runs)
    assert cg.nsf(m, cg.Ensemble(runs)) == cg.nsf(sparse.csr_array(m), cg.Ensemble(runs)) == 1.0


@pytest.mark.slow
@given(several(gaps=True), st.data())
@settings(max_examples=15)
def test_orders_and_names_do_not_matter(runs, data):
    """Permuting points, members, or the names of clusters changes no measure."""
    n = len(runs[0])
    q = data.draw(clusterings(n, 3))
    points, order = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(len(runs))))
    other = [[runs[m][i] for i in points] for m in order]
    other = [
        [None if x is None else "zyxwvu"[x] for x in m] if max(filter(None, m), default=0) < 6 else m for m in other
    ]
    for missing in ("ratio", "plain", "pooled"):
        expected = scores(partial(runs), q, missing=missing)
        assert scores(partial(other), [q[i] for i in points], missing=missing) == close(expected)
        assert cg.certainty(partial(other), missing=missing) == close(cg.certainty(partial(runs), missing=missing))


# --- partial members -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(with_labels())
@settings(max_examples=25)
def test_complete_members_leave_nothing_to_decide(given_):
    """Without gaps, the three ways to count gaps give the same value, as a function and as a measure with a parameter."""
    runs, q = given_
    for key in ("arimp", "arimm", "kas", "sms"):
        values = [getattr(cg, key)(partial(runs), q, missing=missing) for missing in ("ratio", "plain", "pooled")]
        assert values[0] == values[1] == values[2] or np.isnan(values).all()
        assert cg.measure(key, missing="plain")(partial(runs), q) == close(values[1])


def test_the_three_meanings_of_a_gap():
    """By hand: pairs never seen together are left out (ratio), apart (plain), or counted as often as seen (pooled)."""
    e, q = partial([[0, 0, None, None], [None, 0, 0, 1]]), [0, 0, 0, 1]
    ratio = e.consensus_matrix()
    assert ratio.tolist()[0] == close([1, 1, math.nan, math.nan])
    assert ratio.tolist()[1] == [1, 1, 1, 0]
    assert e.consensus_matrix(missing="plain").tolist() == [
        [1, 0.5, 0, 0],
        [0.5, 1, 0.5, 0],
        [0, 0.5, 1, 0],
        [0, 0, 0, 1],
    ]
    # seen: 01 (together), 12 (together), 13 and 23 (apart); all as in q
    assert cg.arimp(e, q) == cg.arimp(e, q, missing="ratio") == e.arimp(q, missing="ratio") == 1.0
    # plain: 6 pairs, s_p = 1, s_q = 3, s_pq = 1
    assert cg.arimp(e, q, missing="plain") == close((1 - 0.5) / (2 - 0.5))
    # pooled over (pair, member): 1 + 3 pairs, s_p = s_q = s_pq = 2, each times 1/2
    assert cg.arimp(e, q, missing="pooled") == 1.0
    assert cg.measure("arimm", missing="plain")(e, q) == cg.arimm(e, q, missing="plain")
    assert cg.compare(e, q, [cg.measure("kas", missing="plain")])["kas"] == cg.kas(e, q, missing="plain")
    assert cg.certainty(e) == 1.0
    plain = dense.consensus([[0, 0, None, None], [None, 0, 0, 1]], missing="plain")
    assert cg.certainty(e, missing="plain") == close(dense.certainty(plain))
    with pytest.raises(cg.InputError, match="missing must be 'ratio', 'plain' or 'pooled', not 'x'"):
        cg.arimm(e, q, missing="x")
    with pytest.raises(cg.NotApplicable, match="anmi is not defined for members that label only some of the points"):
        cg.anmi(e, q)
    with pytest.raises(cg.InputError, match="missing='ratio' or 'plain', not 'pooled'"):
        e.consensus_matrix(missing="pooled")


@pytest.mark.slow
@given(with_labels(gaps=True))
@settings(max_examples=25)
def test_partial_ensembles_alone_and_with_a_partition(given_):
    """arimp, kas, nsf, sms and certainty of a partial ensemble are those of its ratio (or plain) matrix."""
    runs, q = given_
    for missing in ("ratio", "plain"):
        m = dense.consensus(runs, missing=missing)
        expected = {k: v for k, v in dense.measures(m, dense.consensus([q])).items() if k in OF_TWO}
        assert scores(partial(runs), q, missing=missing) == close(expected)
        assert cg.certainty(partial(runs), missing=missing) == close(dense.certainty(m))
    shares = [1 / len(runs)] * len(runs)
    assert cg.arimp(partial(runs), q, missing="pooled") == close(
        dense.arimm(dense.pooled_sums(runs, [q], shares, [1.0]))
    )


def nodes(n: int, count: int, seed: int) -> tuple[list[list[Any]], list[int]]:
    """The distributed scenario: each node has a random half of the points and clusters them, nearly right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    runs: list[list[Any]] = []
    for _ in range(count):
        found = (rng.permutation(3)[np.where(rng.random(n) < 0.85, truth, rng.integers(0, 3, n))]).tolist()
        runs.append([x if here else None for x, here in zip(found, rng.random(n) < 0.5, strict=True)])
    return runs, truth.tolist()


@pytest.mark.slow
def test_points_clustered_on_several_nodes(monkeypatch):
    """Overlapping subsets on nodes: arimp with the truth by patterns of observation is that of the n × n matrix."""
    runs, truth = nodes(60, 5, 1)
    e = partial(runs)
    m = dense.consensus(runs)
    assert np.isnan(m).any()
    expected = {k: v for k, v in dense.measures(m, dense.consensus([truth])).items() if k in OF_TWO}
    assert matrices.pattern_sums(e, cg.Ensemble([truth])) is not None
    assert scores(e, truth) == close(expected)
    assert cg.arimp(e, truth) == close(expected["arimm"])
    assert 0.3 < cg.arimp(e, truth) < 1
    monkeypatch.setattr(tiles, "SIDE", 16)
    monkeypatch.setattr(matrices, "pattern_sums", lambda *_: None)
    assert scores(e, truth) == close(expected)


@pytest.mark.slow
def test_more_patterns_than_the_limit():
    """If nearly every point is labelled by other members, the pairs are visited in tiles, with the same result."""
    runs, truth = nodes(300, 12, 2)
    e, q = partial(runs), cg.Ensemble([truth])
    assert matrices.pattern_sums(e, q) is None
    by_patterns = matrices.pattern_sums(e, q, limit=1000)
    assert by_patterns is not None
    tiles = matrices.sums_of(e, q)
    for name in tiles.symbols:
        assert getattr(tiles, name)[0] == pytest.approx(getattr(by_patterns, name)[0], rel=1e-12), name
    x, y = e.consensus_matrix(), np.equal.outer(truth, truth).astype(float)
    upper = np.triu(~np.isnan(x), 1)
    s_p, s_q, s_pq, pairs = x[upper].sum(), y[upper].sum(), (x * y)[upper].sum(), upper.sum()
    expected = s_p * s_q / pairs
    assert cg.arimp(e, truth) == close((s_pq - expected) / ((s_p + s_q) / 2 - expected))


@pytest.mark.parametrize("key", ["arimp", "anmi", "arimm", "kas", "pooled_ami"])
def test_measures_of_ensembles_take_what_pnmi_takes(key):
    """Lists of label vectors, label columns, frames and mappings are ensembles, as in cg.pnmi; fractions are memberships."""
    import pandas as pd

    runs = [[0, 0, 1, 1, 2], [0, 1, 1, 1, 2], [0, 0, 0, 1, 1]]
    labels = [0, 0, 1, 1, 1]
    other = cg.Ensemble(runs[:2]) if key == "arimm" else labels
    measure = getattr(cg, key)
    expected = measure(cg.Ensemble(runs), other)
    names = dict(zip("abc", runs, strict=True))
    for form in (runs, tuple(map(np.array, runs)), np.array(runs).T, pd.DataFrame(names), names):
        assert measure(form, other) == pytest.approx(expected, rel=1e-12)
        assert cg.pnmi(form) == pytest.approx(cg.pnmi(runs), rel=1e-12)
    if key == "arimm":
        assert measure(runs, runs[:2]) == pytest.approx(expected, rel=1e-12)
