"""Which clusterings `cg.rank` calls equal, where it is known: copies of a truth whose labels were redrawn with known rates.

Beside it the rule that draws the other clusterings with replacement. Run `python -m reproductions.equal_clusterings`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

import congruence as cg
from reproductions.rows import Claim, claims_text, grid, paragraph

#: shares of labels redrawn in each collection; the first clustering is among the best ones
DESIGNS = {
    "5 of one level": (0.2,) * 5,
    "10 of one level": (0.2,) * 10,
    "10 of one level, noisier": (0.4,) * 10,
    "30 of one level": (0.2,) * 30,
    "one better, 4 others": (0.05, *(0.3,) * 4),
    "one better, 9 others": (0.05, *(0.3,) * 9),
    "one better, 29 others": (0.05, *(0.3,) * 29),
    "4 better, 6 others": (*(0.1,) * 4, *(0.4,) * 6),
    "each worse by .1": (0.0, 0.1, 0.2, 0.3),
}
#: collections of each kind, and ensembles drawn for the other rule
COLLECTIONS, DRAWS = 20, 200
#: the rules
RULES = {"rank": "rank", "members": "resampled members"}


def outcomes(levels: Sequence[float], many: int) -> Iterator[dict[str, tuple[float, float, bool]]]:
    """By rule: shares of the others of the best level and of worse ones that are equal, and whether a worse score is alone so."""
    rate, truth = np.array(levels), np.repeat([0, 1, 2], 50)
    for seed in range(many):
        rng = np.random.default_rng([7, seed])
        runs = [np.where(rng.random(150) < x, rng.integers(0, 3, 150), truth) for x in levels]
        r = cg.rank(runs, progress=False)
        best, found = r.order[0], {}
        for rule, equal in (("rank", np.isin(r.names, r.equal)), ("members", _by_members(r, runs, rng))):
            others = np.arange(len(rate)) != best
            good, ordered = others & (rate == rate.min()), equal[r.order]
            found[rule] = (_mean(equal[good]), _mean(equal[rate > rate.min()]), bool((np.diff(ordered * 1) > 0).any()))
        yield found


def _by_members(r: cg.Ranking, runs: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Those with at least the score of the best one in 5% of the ensembles drawn from the other clusterings."""
    square, many = cg.compare_all(runs, "ari")["ari"], len(runs)
    best, equal = r.order[0], np.ones(len(runs), bool)
    for i in range(many):
        others = np.array([j for j in range(many) if j not in (i, best)])
        if i != best:
            drawn = rng.choice(square[i, others] - square[best, others], (DRAWS, len(others))).mean(axis=1)
            above = drawn * len(others) / (many - 1) + (r.nearness[i] - r.nearness[best]) / 2
            equal[i] = (above >= 0).mean() >= 0.05
    return equal


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    many = int(argv[0]) if argv else COLLECTIONS
    lines, rank = [], {}
    for design, levels in DESIGNS.items():
        found = list(outcomes(levels, many))
        rank[design] = [_mean(_known([o["rank"][i] for o in found])) for i in range(3)]
        for rule, title in RULES.items():
            values = [_mean(_known([o[rule][i] for o in found])) for i in range(3)]
            lines.append([design, title, *("" if np.isnan(x) else f"{x:.2f}" for x in values)])
    print(paragraph(f"""Shares of clusterings that are called equal to the best one, in {many} collections of 150 points of each
        kind: of those with the same rate of redrawn labels as the best, and of those with a higher one. Last column: share of
        collections in which a clustering is called equal, and one with a higher score is not."""))  # fmt: skip
    print()
    print(grid(["", "rule", "as good", "worse", "out of order"], lines))
    print()
    as_good, worse, order = (_known([x[i] for x in rank.values()]) for i in range(3))
    print(claims_text([
        Claim.of("most clusterings as good as the best one are equal", as_good.min() > 0.5, f"at least {as_good.min():.2f}"),
        Claim.of("at most 5% of the worse ones are equal", worse.max() <= 0.05, f"at most {worse.max():.2f}"),
        Claim.of("a higher score is never less equal", order.max() == 0, f"in {order.max():.2f} of the collections"),
    ]))  # fmt: skip
    return 0


def _known(values: Sequence[float]) -> np.ndarray:
    found = np.array(values, dtype=float)
    return found[~np.isnan(found)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
