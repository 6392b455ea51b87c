"""The GPU engine beyond the limits of one grid, of one block and of one GPU."""

from __future__ import annotations

import numpy as np
import pytest
from doors import missing_card, needs_card

import congruence as cg
from congruence.machine import device

needs_two_cards = pytest.mark.skipif(
    bool(missing_card()) or len(device.cards()) < 2, reason=f"fewer than two CUDA GPUs: {missing_card() or 'one'}"
)
KEYS = ["ari", "vi", "ami_sum", "purity", "accuracy"]


@needs_card
@pytest.mark.parametrize(
    ("most", "order", "keys"),
    [(3, "C", KEYS), (3, "F", KEYS), pytest.param(65_535, "F", ["ami_sum"], marks=pytest.mark.slow)],
)
def test_more_clusterings_than_a_grid_is_high(monkeypatch, most, order, keys):
    """Rows beyond the blocks of a grid are counted in further launches: CUDA has at most 65,535 blocks in this dimension."""
    monkeypatch.setattr(device, "MOST_ACROSS", most)
    columns = np.array(np.random.default_rng(0).integers(0, 3, (6, most + 4)) * 2, order=order)  # 1 and 3 are unused
    found, expected = (cg.compare_to(columns[:, 0], columns, keys, engine=engine) for engine in ("cuda", "cpu"))
    for key in keys:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-12, atol=1e-14)


@needs_card
def test_more_pairs_of_attributes_than_a_grid_is_high(monkeypatch):
    """Profiles of all pairs of hundreds of attributes are counted in several launches."""
    monkeypatch.setattr(device, "MOST_ACROSS", 4)
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 5)), rng.integers(0, 3, 50)
    here, there = (cg.density_profile(X, labels, bivariate=True, engine=engine) for engine in ("cpu", "cuda"))
    assert here.counts.tolist() == there.counts.tolist()


@needs_card
@pytest.mark.parametrize("members", [255, 256, pytest.param(65_536, marks=pytest.mark.slow)])
def test_the_count_of_all_members_fits_its_type(members):
    """Two points that are together in all members have the consensus 1, also if 16 bits cannot count the members."""
    columns = np.zeros((3, members), dtype=np.uint8)
    columns[0, 0] = 1
    ((_, shares),) = cg.consensus_blocks(columns, engine="cuda")
    assert shares.get().tolist() == [[1, 1 - 1 / members, 1 - 1 / members], *[[1 - 1 / members, 1, 1]] * 2]
    ((_, counts),) = cg.consensus_blocks(columns, dtype=np.int64, engine="cuda")
    assert counts.get().tolist() == [[members, members - 1, members - 1], *[[members - 1, members, members]] * 2]


@needs_card
@pytest.mark.slow
def test_too_many_members_for_one_histogram_say_so():
    """A histogram that does not fit in shared memory is an error with what to pass, before anything is launched."""
    columns = np.zeros((3, 30_000), dtype=np.uint8)
    with pytest.raises(cg.InputError, match=r"up to [\d,]+ members, not 30,000; pass engine='cpu'"):
        cg.consensus_cdf(columns, engine="cuda")


@needs_two_cards
def test_pairs_are_distributed_over_two_cards(monkeypatch):
    """Two GPUs together give the bits of the CPU, wherever the labels are and whichever GPU is the current one."""
    from congruence.engine.cuda import counting

    cp = device.cupy()
    monkeypatch.setattr(counting, "DEALT_FROM", 0)
    rng = np.random.default_rng(0)
    columns = np.stack([rng.integers(0, k, 2_000) for k in (5, 9, 300, 40)], axis=1)
    expected = cg.compare_all(columns, KEYS[:4], engine="cpu")
    given = [columns]
    for card in (0, 1):
        with cp.cuda.Device(card):
            given += [cp.asarray(columns), cg.Ensemble(cp.asarray(columns))]
    given.append([*cp.asarray(columns[:, :2]).T, *given[-2].T[2:]])
    for current in (0, 1):
        with cp.cuda.Device(current):
            for data in given:
                found = cg.compare_all(data, KEYS[:4], engine="cuda")
                for key in expected:
                    assert found[key].tobytes() == expected[key].tobytes()


@needs_two_cards
def test_data_on_another_card_are_copied_to_the_current_one():
    """A kernel reads memory of its own GPU only, so labels, memberships and data on another one are copied."""
    cp = device.cupy()
    rng = np.random.default_rng(0)
    a, b, X, u = (
        rng.integers(0, 4, 500),
        rng.integers(0, 3, 500),
        rng.normal(size=(500, 3)),
        rng.dirichlet([1, 1, 1], 500),
    )
    with cp.cuda.Device(1):
        there = [cp.asarray(x) for x in (a, b, X, u)]
        e = cg.Ensemble([there[0], there[1], there[3]])
    assert cg.ari(there[0], there[1]) == cg.ari(a, b)
    assert cg.ari(there[3], e[0]) == pytest.approx(cg.ari(u, a), rel=1e-12)
    items = cg.item_consensus(cg.Ensemble([a, b, u]), b)
    np.testing.assert_allclose(cg.item_consensus(e, b, engine="cuda"), items, rtol=1e-12)
    assert cg.density_profile(there[2], e[0]).counts.tolist() == cg.density_profile(X, a).counts.tolist()
    drawn = [
        cg.permutation_test(x, y, "ari", 20, random_state=0, engine="cuda").draws for x, y in ((e[0], e[1]), (a, b))
    ]
    assert drawn[0].tolist() == drawn[1].tolist()
